"""The JSON Schema door: is this data of the right shape, and if not, what exactly is wrong with it?

`jsonschema_rs` accepts, because it costs next to nothing; only data that it refused goes to `jsonschema`, whose errors
`knaster.schema.errors` turns into diagnostics. The schemas use nothing on which the two disagree (a test compares).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from itertools import islice
from typing import Any, Literal, get_args

from knaster.diagnostics import Diagnostic, Place, Route
from knaster.schema.errors import Refusal, explain
from knaster.shipped import shipped

Kind = Literal[
    "node",
    "models",
    "roles",
    "platform",
    "benchmarks",
    "placement",
    "proxmox",
    "registry",
    "litellm",
    "tfvars",
    "moved",
    "exclude",
    "hosts",
    "targets",
    "manifest",
    "architecture",
]
_MOST = 200
"""Errors of one file that are explained; more say nothing new and cost time."""
KINDS: tuple[Kind, ...] = get_args(Kind)


def check(kind: Kind, path: str, data: Mapping[str, Any]) -> tuple[Diagnostic, ...]:
    """Everything wrong with the shape of `data`, in document order of routes; empty means accepted.

    `path` is the file that the places name; lines and columns are filled in later (`knaster.document.locate`).
    Codes: ``schema-unknown-key``, ``schema-missing-key``, ``schema-type``, ``schema-value``.
    """
    accepted = _accepts(kind, data)
    if accepted:
        return ()
    found = explain(path, schema(kind), _refusals(kind, data))
    if not found and accepted is False:
        return (Diagnostic("schema-value", f"{path} does not fit the schema {kind}", Place(path)),)
    return found


@cache
def schema(kind: Kind) -> Mapping[str, Any]:
    """The schema itself."""
    loaded: dict[str, Any] = json.loads((shipped("schemas") / f"{kind}.schema.json").read_text("utf-8"))
    return loaded


def _accepts(kind: Kind, data: Mapping[str, Any]) -> bool | None:
    """The fast verdict; None for data that the fast validator cannot even read (a lone surrogate in a text)."""
    try:
        return bool(_fast(kind).is_valid(data))
    except ValueError:
        return None


@cache
def _fast(kind: Kind) -> Any:
    import jsonschema_rs

    return jsonschema_rs.Draft202012Validator(dict(schema(kind)))


@cache
def _slow(kind: Kind) -> Any:
    import jsonschema  # costs more than all the rest of a run without errors

    return jsonschema.Draft202012Validator(schema(kind))


def _refusals(kind: Kind, data: Mapping[str, Any]) -> list[Refusal]:
    """The errors of `jsonschema` as plain values."""
    return [
        Refusal(
            route=tuple(error.absolute_path),
            keyword=str(error.validator),
            limit=error.validator_value,
            value=error.instance,
            schema=error.schema,
            on_key="propertyNames" in error.absolute_schema_path,
            beside=_beside(data, tuple(error.absolute_path)),
        )
        for error in islice(_slow(kind).iter_errors(data), _MOST)
    ]


def _beside(data: Mapping[str, Any], route: Route) -> tuple[Any, ...]:
    """The list that holds the value at `route`; nothing where it is no item of a list."""
    if not route or isinstance(route[-1], str):
        return ()
    parent: Any = data
    for step in route[:-1]:
        parent = parent[step]
    return tuple(parent)
