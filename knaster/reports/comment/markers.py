"""The first lines of a comment: what finds it again, and what it was made from, for machines.

They stand inside HTML comments, which Gitea keeps in the text and does not show. Nothing from a repository can write
one: every value is percent-encoded, down to letters, digits and ``_./``, so that no ``--`` and no ``>`` is left.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import sha256

from knaster.changes.result import Change
from knaster.diagnostics import Diagnostic
from knaster.pull import PullPlan

_HEAD = re.compile(
    r"<!-- knaster plan v1 target=([A-Za-z0-9_./%]+) -->\r?\n"
    r"<!-- knaster head=([0-9a-f]+) base=([0-9a-f]+) plan=([0-9a-f]+|-) result=([0-9a-f]{16}) "
    r"verdict=([a-z]+) destructive=([0-9]{1,9}) -->(?:\r?\n|\Z)"
)


@dataclass(frozen=True, slots=True)
class Marker:
    """What the first lines of a comment say; ``plan`` is "" where nothing could land."""

    target: str
    head: str
    base: str
    plan: str
    result: str
    verdict: str
    destructive: int


def marker(target: str) -> str:
    """The first line of every plan comment for a target branch, without a line break."""
    return f"<!-- knaster plan v1 target={encoded(target)} -->"


def alert_marker(target: str, result: str, head: str) -> str:
    """The first line of the short comment about one result of one head, without a line break."""
    return f"{alert_start(target)}result={encoded(result)} head={encoded(head)} -->"


def alert_start(target: str) -> str:
    """How the first line of every such comment for a target branch begins."""
    return f"<!-- knaster alert v1 target={encoded(target)} "


def head_lines(plan: PullPlan) -> str:
    """The two lines that `read_marker` reads."""
    values = {
        "head": plan.head,
        "base": plan.base,
        "plan": plan.plan_id or "-",
        "result": result_id(plan),
        "verdict": plan.verdict,
        "destructive": str(len(plan.comparison.destructive)),
    }
    told = " ".join(f"{key}={value if value == '-' else encoded(value)}" for key, value in values.items())
    return f"{marker(plan.target)}\n<!-- knaster {told} -->"


def read_marker(body: str) -> Marker | None:
    """What a comment says of itself at its very start; None for other texts, one that quotes a comment included."""
    found = _HEAD.match(body)
    if found is None:
        return None
    target, head, base, plan, result, verdict, destructive = found.groups()
    try:
        return Marker(_decoded(target), head, base, plan.removeprefix("-"), result, verdict, int(destructive))
    except UnicodeDecodeError:  # somebody edited the comment
        return None


def result_id(plan: PullPlan) -> str:
    """16 hex digits, equal for equal results whatever the commits: verdict, changes, problems, new diagnostics, notes.

    Lines are left out: a problem that only moved is the same problem.
    """
    result = [
        plan.verdict,
        plan.comparison.complete,
        [_change(change) for change in plan.comparison.changes],
        _diagnostics(plan.problems),
        _diagnostics(plan.comparison.new),
        plan.notes,
    ]
    return sha256(json.dumps(result, default=str).encode()).hexdigest()[:16]


def _change(change: Change) -> list[object]:
    fields = [[field.path, field.before, field.after] for field in change.fields]
    return [change.effect, change.kind, change.name, change.summary, change.before, change.after, change.cause, fields]


def _diagnostics(some: Iterable[Diagnostic]) -> list[list[str]]:
    return sorted([one.code, one.severity, one.place.file if one.place else "", one.message] for one in some)


def encoded(text: str) -> str:
    """Percent-encoded UTF-8; letters, digits and ``_./`` stay."""
    return "".join(_encode(byte) for byte in text.encode("utf-8", "surrogatepass"))


def _encode(byte: int) -> str:
    character = chr(byte)
    plain = character.isascii() and (character.isalnum() or character in "_./")
    return character if plain else f"%{byte:02X}"


def _decoded(text: str) -> str:
    raw = re.sub(rb"%([0-9A-F]{2})", lambda found: bytes([int(found[1], 16)]), text.encode())
    return raw.decode("utf-8", "surrogatepass")
