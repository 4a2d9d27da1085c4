"""Parsed mappings accepted in place of dataclasses, so that `plan` can be called with what a YAML file holds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from knaster import building, schema
from knaster.cluster import Catalog, Node, Platform, Role


@dataclass(frozen=True, slots=True)
class Inputs:
    """What `plan` reads, as dataclasses."""

    nodes: tuple[Node, ...]
    roles: dict[str, Role]
    catalog: Catalog
    platform: Platform | None


def inputs(
    nodes: Iterable[Node | Mapping[str, Any]],
    roles: Mapping[str, Any] | Iterable[Role],
    models: Catalog | Mapping[str, Any],
    platform: Platform | Mapping[str, Any] | None,
) -> Inputs:
    """Everything as dataclasses; raises `ValueError` with every problem of every mapping that misses its schema."""
    machines = tuple(nodes)
    wanted = _whole_roles(roles)
    problems = [problem for at, one in enumerate(machines) for problem in _problems("node", one, f"node {at}")]
    problems += _problems("roles", wanted) + _problems("models", models) + _problems("platform", platform)
    if problems:
        raise ValueError("; ".join(problems))
    return Inputs(
        tuple(one if isinstance(one, Node) else building.node(one) for one in machines),
        building.roles(wanted) if isinstance(wanted, Mapping) else {role.name: role for role in wanted},
        models if isinstance(models, Catalog) else building.catalog(models),
        platform if platform is None or isinstance(platform, Platform) else building.platform(platform),
    )


def _whole_roles(roles: Mapping[str, Any] | Iterable[Role]) -> Mapping[str, Any] | tuple[Role, ...]:
    """``{"roles": {…}}`` from that or from a mapping of name to role; dataclasses as they are."""
    if not isinstance(roles, Mapping):
        return tuple(roles)
    if all(isinstance(one, Role) for one in roles.values()):
        return tuple(roles.values())
    return roles if set(roles) == {"roles"} else {"roles": dict(roles)}


def _problems(kind: schema.Kind, data: object, name: str = "") -> list[str]:
    """What is wrong with a mapping; nothing for a dataclass."""
    if not isinstance(data, Mapping):
        return []
    who = f"node {data['name']}" if kind == "node" and isinstance(data.get("name"), str) else name or kind
    return [f"{who}: {problem.message}" for problem in schema.check(kind, who, data)]
