"""The rule that an empty guest list never follows one that was not: to OpenTofu it means "destroy everything"."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from knaster import document, foreign_json
from knaster.diagnostics import Diagnostic, Place, Severity
from knaster.names import listed

TFVARS = "tofu/knaster.auto.tfvars.json"
PROXMOX = "proxmox.yaml"
LISTS = (TFVARS, PROXMOX)
"""The generated files that name all guests, relative to ``generated/``."""


def vanished(previous: Mapping[str, str], documents: Mapping[str, Mapping[str, Any]]) -> Diagnostic | None:
    """An error when the new guest list is empty and the previous one was not, or cannot be read.

    `previous` holds the texts of `LISTS` that exist. One readable list is enough.
    """
    if documents[PROXMOX].get("guests") or not previous:
        return None
    lists = [_guests(path, previous[path]) for path in LISTS if path in previous]
    known = [names for names in lists if names is not None]
    if known and not any(known):
        return None
    names = sorted({name for found in known for name in found})
    before = (
        f"the last generation had {', '.join(names)}" if names else "the last generation's guest list cannot be read"
    )
    return Diagnostic(
        "no-guests",
        f"no guest is left, but {before}: to OpenTofu this means 'destroy everything'",
        Place(f"generated/{TFVARS}"),
        hint="restore the guests in inventory/ and catalog/platform.yaml; "
        "if the fleet really ends here, destroy it with OpenTofu by hand and remove generated/ from the repository",
    )


def dropped(
    previous: Mapping[str, str], documents: Mapping[str, Mapping[str, Any]], retire: Iterable[str]
) -> Diagnostic | None:
    """A warning where guests of the previous list are gone without the permission to destroy them."""
    lists = (_guests(path, previous[path]) for path in LISTS if path in previous)
    before = next((names for names in lists if names is not None), frozenset())
    gone = before - set(documents[PROXMOX].get("guests", {})) - set(retire)
    if not gone:
        return None
    return Diagnostic(
        "generated-drops",
        f"{listed(gone)} will be gone, and retire does not name {'it' if len(gone) == 1 else 'them'}: "
        "the plan would destroy what runs there, and `knaster tofu gate` will refuse it",
        Place(f"generated/{TFVARS}"),
        Severity.WARNING,
        hint="to allow it, name the guest under retire in catalog/platform.yaml",
    )


def _guests(path: str, text: str) -> frozenset[str] | None:
    """The names of all guests in one list; None when it cannot be read."""
    data = _json(text) if path == TFVARS else _yaml(text)
    found: set[str] = set()
    for part in ("vms", "containers") if path == TFVARS else ("guests",):
        entries = data.get(part) if data is not None else None
        if not isinstance(entries, dict):
            return None
        found.update(map(str, entries))
    return frozenset(found)


def _json(text: str) -> dict[str, Any] | None:
    return foreign_json.mapping(text)


def _yaml(text: str) -> Mapping[str, Any] | None:
    parsed, _ = document.parse(f"generated/{PROXMOX}", text)
    return parsed.data if parsed else None
