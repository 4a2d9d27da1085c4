"""The report of `inventory collect`: every host with what changed, what to know, and what failed."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from knaster.inventory.collected import Host
from knaster.reports.blocks import Block, Items, Line, Report, Table

_ORDER = ("created", "updated", "unchanged", "differs", "new", "ignored", "failed", "unreachable")
_LONGEST = 60
_ASKED = re.compile(r"(?:ssh://)?(?:[^@]*@)?([^@.:]*)")
"""The machine's own part of ``ssh://root@pve44.lan:22`` and of ``pve44.capture``."""
_NEXT = "next: knaster validate, which tells whether the profiles fit the fleet (names, addresses, its network)"


def report(hosts: Sequence[Host], *, check: bool, ok: bool, quiet: bool = False, profile: str | None = None) -> Report:
    """`quiet`: people see only what is wrong.

    JSON: ``{command, ok, check, hosts, profile}``; a host is ``{host, name, file, state, changes, warnings, problem,
    hint, installed_gb}`` (GiB; the profile has what is usable of it), a change ``{fact, before, after, note}``,
    ``profile`` the text where it was not written.
    """
    data = {
        "command": "inventory collect",
        "ok": ok,
        "check": check,
        "hosts": [_host(host) for host in hosts],
        "profile": profile,
    }
    seen = [host for host in hosts if not quiet or host.problem or host.state == "differs"]
    said = () if quiet else tuple(f"{_name(host)}: {warning}" for host in hosts for warning in host.warnings)
    results = tuple((_name(host), host.file or "", _result(host)) for host in seen)
    blocks: list[Block] = [
        Table(("HOST", "PROFILE", "RESULT"), results, bad=True),
        Table(("HOST", "FACT", "BEFORE", "AFTER"), tuple(row for host in seen for row in _changes(host)), bad=True),
        Items("what follows", tuple(dict.fromkeys(_notes(seen))), bad=True),
        Items("warnings", said),
        Items("failures", _failures(seen), bad=True),
    ]
    if profile is not None:
        blocks.append(Items("profile", tuple(profile.splitlines())))
    if not quiet and not check and any(host.file and host.state in ("created", "updated") for host in hosts):
        blocks.append(Line(_NEXT))
    return Report(data, (*blocks, Line(_summary(hosts, check=check), "good" if ok else "bad")))


def _host(host: Host) -> dict[str, Any]:
    changes = [
        {"fact": change.path, "before": change.before, "after": change.after, "note": change.note}
        for change in host.changes
    ]
    return {
        "host": host.host,
        "name": host.name,
        "file": host.file,
        "state": host.state,
        "changes": changes,
        "warnings": host.warnings,
        "problem": host.problem,
        "hint": host.hint,
        "installed_gb": host.installed_gb,
    }


def _name(host: Host) -> str:
    """The node; where it was asked for by another name, that too."""
    asked = _ASKED.match(host.host)
    if host.name is None or host.host == "localhost" or (asked and asked[1].casefold() == host.name.casefold()):
        return host.name or host.host
    return f"{host.host} -> {host.name}"


def _result(host: Host) -> str:
    facts = f": {len(host.changes)} fact{'' if len(host.changes) == 1 else 's'}" if host.changes else ""
    return f"{host.state}{facts}{', some could not be read' if host.problem and host.state in _ORDER[:4] else ''}"


def _changes(host: Host) -> Iterable[tuple[str, ...]]:
    return ((_name(host), change.path, _value(change.before), _value(change.after)) for change in host.changes)


def _value(value: object) -> str:
    """A fact on one line, cut where it is longer than a glance takes."""
    if value is None:
        return "-"
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."


def _notes(hosts: Sequence[Host]) -> Iterable[str]:
    return (f"{_name(host)}: {change.path}: {change.note}" for host in hosts for change in host.changes if change.note)


def _failures(hosts: Sequence[Host]) -> tuple[str, ...]:
    """Each host's problem, and below them every way out once."""
    hints = dict.fromkeys(f"hint: {host.hint}" for host in hosts if host.problem and host.hint)
    return (*(f"{_name(host)}: {host.problem}" for host in hosts if host.problem), *hints)


def _summary(hosts: Sequence[Host], *, check: bool) -> str:
    counts: Counter[str] = Counter(host.state for host in hosts)
    numbers = ", ".join(f"{counts[state]} {state}" for state in _ORDER if counts[state])
    several = "host" if len(hosts) == 1 else "hosts"
    return f"{len(hosts)} {several}: {numbers}{'; nothing was written' if check else ''}"
