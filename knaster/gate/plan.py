"""``tofu show -json PLAN``, read without trust: whatever the text holds, the result is a `Plan` or why it is none."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

_QUIET = frozenset({"no-op", "read"})
KNOWN = frozenset({"no-op", "read", "create", "update", "delete", "forget"})
"""All actions that OpenTofu knows."""


@dataclass(frozen=True, slots=True)
class Change:
    """What happens to one resource. ``name`` is its key in ``for_each``; ``paths`` are what forces a replacement.

    ``before`` and ``after`` are its attributes, empty where it does not exist. ``unknown`` names attributes that are
    known only after the apply.
    """

    address: str
    kind: str
    name: str
    actions: tuple[str, ...]
    reason: str = ""
    paths: tuple[tuple[str, ...], ...] = ()
    before: Mapping[str, Any] = field(default_factory=dict)
    after: Mapping[str, Any] = field(default_factory=dict)
    unknown: frozenset[str] = frozenset()
    imported: bool = False
    deposed: bool = False

    @property
    def destroys(self) -> bool:
        """Whether the thing that exists goes away, for good or to be made anew."""
        return "delete" in self.actions

    @property
    def replaces(self) -> bool:
        """Whether it is made anew afterwards."""
        return self.destroys and "create" in self.actions

    @property
    def quiet(self) -> bool:
        """Whether nothing happens: neither to the resource nor to what OpenTofu knows of it."""
        return set(self.actions) <= _QUIET and not self.imported


@dataclass(frozen=True, slots=True)
class Plan:
    """A plan: its changes, what changed outside of OpenTofu, and what it was made from.

    ``files`` are the digests (hex) that the module's output ``generation`` holds, None where it has none; ``variables``
    the values of the root module's variables.
    """

    changes: tuple[Change, ...]
    drift: tuple[Change, ...]
    variables: Mapping[str, Any]
    files: Mapping[str, str] | None
    errored: bool = False
    partial: bool = False


def read_plan(text: str) -> Plan | str:
    """The plan in the text, or one sentence on what the text is instead."""
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        return _no_json(text)
    if not isinstance(data, dict) or not str(data.get("format_version", "")).startswith("1."):
        return "it is no plan: format_version is not 1.x"
    if not {"planned_values", "resource_changes"} & data.keys():
        return "it is no plan: it has neither planned_values nor resource_changes (is it a state?)"
    listed = [data.get(key) or [] for key in ("resource_changes", "resource_drift")]
    if not all(isinstance(some, list) for some in listed):
        return "it is no plan: resource_changes is no list"
    changes, drift = (tuple(map(_change, some)) for some in listed)
    if broken := [change for change in (*changes, *drift) if change is None]:
        return f"it is no plan: {len(broken)} of its changes cannot be read"
    return Plan(
        changes=tuple(change for change in changes if change),
        drift=tuple(change for change in drift if change),
        variables=_variables(data.get("variables")),
        files=_files(data),
        errored=data.get("errored") not in (None, False),
        partial=data.get("complete") is False,
    )


def _no_json(text: str) -> str:
    if text.startswith("PK"):
        return "it is a plan file; write it as JSON first"
    if '{"@level"' in text[:200]:
        return "it is the log of `plan -json`; show the plan file instead"
    return "it is no JSON"


def _change(entry: Any) -> Change | None:
    change = _mapping(_mapping(entry).get("change"))
    actions = _texts(change.get("actions"))
    address, kind = _mapping(entry).get("address"), _mapping(entry).get("type")
    if not isinstance(address, str) or not isinstance(kind, str) or not actions:
        return None
    before, after = _mapping(change.get("before")), _mapping(change.get("after"))
    return Change(
        address=address,
        kind=kind,
        name=_name(entry, before, after),
        actions=actions,
        reason=str(entry.get("action_reason") or ""),
        paths=tuple(_paths(change.get("replace_paths"))),
        before=before,
        after=after,
        unknown=frozenset(key for key, value in _mapping(change.get("after_unknown")).items() if value is True),
        imported=change.get("importing") is not None,
        deposed=bool(entry.get("deposed")),
    )


def _name(entry: Mapping[str, Any], before: Mapping[str, Any], after: Mapping[str, Any]) -> str:
    """The key in ``for_each``; of a resource from elsewhere its own name, else the address."""
    found = (entry.get("index"), before.get("name"), after.get("name"), entry["address"])
    return next(name for name in found if isinstance(name, str) and name)


def _paths(value: Any) -> Iterator[tuple[str, ...]]:
    for path in value if isinstance(value, list) else ():
        if isinstance(path, list) and path:
            yield tuple(str(step) for step in path if isinstance(step, str | int))


def _variables(value: Any) -> dict[str, Any]:
    return {name: one.get("value") for name, one in _mapping(value).items() if isinstance(one, dict)}


def _files(data: Mapping[str, Any]) -> Mapping[str, str] | None:
    output = _mapping(_mapping(_mapping(data.get("planned_values")).get("outputs")).get("generation"))
    files = output.get("value")
    if not isinstance(files, dict) or not all(isinstance(digest, str) for digest in files.values()):
        return None
    return files


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _texts(value: Any) -> tuple[str, ...]:
    """A list of texts; nothing where it is none."""
    some = value if isinstance(value, list) else []
    return tuple(some) if all(isinstance(one, str) for one in some) else ()
