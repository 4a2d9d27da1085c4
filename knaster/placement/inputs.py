"""Parsed mappings accepted in place of dataclasses, so that `plan` can be called with what a YAML file holds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from knaster import build, schema
from knaster.cluster import Catalog, Node, Platform, Role
from knaster.diagnostics import Diagnostic


def as_nodes(nodes: Iterable[Node | Mapping[str, Any]]) -> tuple[Node, ...]:
    """Node profiles; raises `ValueError` on a mapping that does not meet the schema."""
    return tuple(one if isinstance(one, Node) else build.node(_valid("node", one)) for one in nodes)


def as_catalog(models: Catalog | Mapping[str, Any]) -> Catalog:
    """Engines and models; raises `ValueError` likewise."""
    return models if isinstance(models, Catalog) else build.catalog(_valid("models", models))


def as_platform(platform: Platform | Mapping[str, Any] | None) -> Platform | None:
    """The platform, or None; raises `ValueError` likewise."""
    return (
        platform if platform is None or isinstance(platform, Platform) else build.platform(_valid("platform", platform))
    )


def as_roles(roles: Mapping[str, Any] | Iterable[Role]) -> dict[str, Role]:
    """Roles by name, from ``{"roles": {…}}``, a mapping of name to role, or roles; raises `ValueError` likewise."""
    if not isinstance(roles, Mapping):
        return {role.name: role for role in roles}
    if all(isinstance(one, Role) for one in roles.values()):
        return dict(roles)
    whole = roles if set(roles) == {"roles"} else {"roles": dict(roles)}
    return build.roles(_valid("roles", whole))


def _valid(kind: schema.Kind, data: Mapping[str, Any]) -> Mapping[str, Any]:
    problems = schema.check(kind, kind, data)
    if problems:
        raise ValueError("; ".join(_told(problem) for problem in problems))
    return data


def _told(problem: Diagnostic) -> str:
    route = "/".join(str(step) for step in problem.place.route) if problem.place else ""
    return f"{route}: {problem.message}"
