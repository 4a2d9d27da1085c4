"""Reports as text for a terminal or a log. Every piece of data passes `inert`; colour is ours alone."""

from __future__ import annotations

from collections.abc import Iterator

from knaster.diagnostics import Diagnostic, Place, Severity
from knaster.reports.blocks import Block, Code, Items, Line, Problems, Report, Style, Table
from knaster.reports.inert import inert, width
from knaster.reports.snippet import snippet

_COLORS = {
    "error": "1;31",
    "warning": "1;33",
    "note": "1;36",
    "good": "32",
    "bad": "1;31",
    "title": "1",
    "caret": "1;31",
}
PLAIN = Style()
_WITHOUT_LINE = "literal-secret"
"""The diagnostic whose line holds what must not be shown."""
_ALONE = 3
_SHOWN = 5


def render(report: Report, style: Style = PLAIN) -> str:
    """The whole report; empty, or ending with a line break."""
    parts = ["\n".join(lines) for block in report.blocks if (lines := tuple(_block(block, style)))]
    return "\n\n".join(parts) + "\n" if parts else ""


def _block(block: Block, style: Style) -> Iterator[str]:
    match block:
        case Table() if not style.quiet or block.bad:
            yield from _table(block, style)
        case Items() if not style.quiet or block.bad:
            yield from _items(block, style)
        case Problems():
            yield from _problems(block, style)
        case Code() if block.lines and not style.quiet:
            yield _paint(inert(block.title), "title", style)
            yield from map(inert, block.lines)
        case Line() if not style.quiet or block.tone == "bad":
            yield _paint(inert(block.text), block.tone, style)


def _table(table: Table, style: Style) -> Iterator[str]:
    if not table.rows:
        return
    rows = [tuple(inert(cell) for cell in row) for row in (table.head, *table.rows)]
    widths = [max(width(row[column]) for row in rows) for column in range(len(table.head))]
    if table.title:
        yield _paint(inert(table.title), "title", style)
    for number, row in enumerate(rows):
        line = "  ".join(cell + " " * (room - width(cell)) for cell, room in zip(row, widths, strict=True)).rstrip()
        yield _paint(line, "title", style) if number == 0 else line


def _items(items: Items, style: Style) -> Iterator[str]:
    if items.lines:
        yield _paint(inert(items.title), "title", style)
        yield from (f"  {inert(line)}" for line in items.lines)


def _problems(problems: Problems, style: Style) -> Iterator[str]:
    """Notes and warnings first, grouped by code; errors last, where the eye is when the command ends."""
    if not style.quiet:
        for severity in (Severity.NOTE, Severity.WARNING):
            groups: dict[str, list[Diagnostic]] = {}
            for diagnostic in problems.diagnostics:
                if diagnostic.severity is severity:
                    groups.setdefault(diagnostic.code, []).append(diagnostic)
            for group in groups.values():
                yield from _group(group, problems, style)
    for diagnostic in problems.diagnostics:
        if diagnostic.severity is Severity.ERROR:
            yield from _full(diagnostic, problems, style)


def _group(group: list[Diagnostic], problems: Problems, style: Style) -> Iterator[str]:
    if style.verbose or len(group) <= _ALONE:
        for diagnostic in group:
            yield from _full(diagnostic, problems, style)
        return
    yield f"{len(group)} times {_label(group[0], style)} [{inert(group[0].code)}]"
    shown = group if len(group) <= _SHOWN + 1 else group[:_SHOWN]
    yield from (f"  {_where(diagnostic.place)}{inert(diagnostic.message)}" for diagnostic in shown)
    if len(group) > len(shown):
        yield f"  and {len(group) - len(shown)} more (-v shows all)"
    hints = {diagnostic.hint: None for diagnostic in group if diagnostic.hint}
    if len(hints) == 1:
        yield f"  hint: {inert(next(iter(hints)))}"


def _full(diagnostic: Diagnostic, problems: Problems, style: Style) -> Iterator[str]:
    place = diagnostic.place
    label = _label(diagnostic, style)
    yield f"{_where(place)}{label}: {inert(diagnostic.message)} [{inert(diagnostic.code)}]"
    text = problems.texts.get(place.file) if place else None
    if place and isinstance(text, str):
        for line in snippet(text, place, secret=diagnostic.code == _WITHOUT_LINE):
            yield _paint(line, "caret", style) if line.endswith("^") and style.color else line
    if diagnostic.hint:
        yield f"  hint: {inert(diagnostic.hint)}"
    for related in diagnostic.related:
        yield f"  see {_where(related.place)}{inert(related.message)}"


def _label(diagnostic: Diagnostic, style: Style) -> str:
    return _paint(diagnostic.severity.value, diagnostic.severity.value, style)


def _where(place: Place | None) -> str:
    """``file:line:column: ``, as far as known, in the form that editors and terminals make clickable."""
    if place is None:
        return ""
    line = f":{place.line}:{place.column}" if place.line else ""
    return f"{inert(place.file)}{line}: "


def _paint(text: str, what: str, style: Style) -> str:
    return f"\x1b[{_COLORS[what]}m{text}\x1b[0m" if style.color and what in _COLORS else text
