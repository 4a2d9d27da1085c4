"""Rearrange a list of a profile inside its text: items move with their comments, come and go, the rest stays as it is.

Comments of an item that is gone stay, at the end of the list, under a line that says whose they were.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from knaster.diagnostics import Route
from knaster.document import Value
from knaster.editing import style
from knaster.editing.chunks import chunks
from knaster.editing.sheet import NEWLINE, Edit, Sheet
from knaster.inventory.profile_facts import ListPlan


@dataclass(frozen=True, slots=True)
class ListJob:
    """One list of the root: its place, what it should hold, and how that comes about.

    ``inner`` gives the edits inside an item that stays, from its position in the old list and its new value.
    """

    page: Sheet
    key: str
    new: Sequence[Value]
    plan: ListPlan
    inner: Callable[[int, Value], list[Edit]]

    @property
    def route(self) -> Route:
        """The route of the list."""
        return (self.key,)

    def rows(self) -> list[tuple[Value, int | None]]:
        """The new items, each with its position in the old list or None."""
        return list(zip(self.new, self.plan.origins, strict=True))


def list_edits(job: ListJob, old: Any) -> list[Edit]:
    """The edits that turn the list `old` (or null, or nothing) into the new one."""
    if not old:
        return _filled(job) if job.new else []
    inner = [edit for value, origin in job.rows() if origin is not None for edit in job.inner(origin, value)]
    if job.plan.origins == tuple(range(len(old))):
        return inner
    return _in_brackets(job, inner) if job.page.is_flow(job.route) else _in_lines(job, inner)


def _filled(job: ListJob) -> list[Edit]:
    """A list that was empty begins under its key, and a comment behind the key stays there."""
    page, span = job.page, job.page.spans[job.route]
    if page.inside(span.start, span.end):
        return [Edit(span.end - 1, span.end - 1, style.flow(list(job.new), job.key)[1:-1])]
    if page.is_flow(()):
        put = style.flow(list(job.new), job.key)
        return [Edit(span.start, span.end, put if span.start < span.end else f" {put}")]
    start = span.start
    while page.text[start - 1] == " ":
        start -= 1
    end = page.line_end(span.end)
    pad = " " * (page.column(page.first_key(())) + 2)
    return [Edit(start, span.end, ""), Edit(end, end, page.newline + style.items(job.key, job.new, pad, page.newline))]


def _in_lines(job: ListJob, inner: list[Edit]) -> list[Edit]:
    page, span = job.page, job.page.spans[job.route]
    pad = " " * page.column(span.start)
    old = chunks(page, job.route)
    like_block = not page.is_flow((job.key, len(old) - 1))
    parts: list[str] = []
    for place, (value, origin) in enumerate(job.rows()):
        parts.append(old[min(place, len(old) - 1)].above)
        if origin is None:
            parts.append(pad + style.item(value, pad, page.newline, block=like_block))
        else:
            parts.append(page.with_edits(old[origin].start, old[origin].end, inner))
    for position, name in job.plan.gone.items():
        parts += [f"{page.newline}{pad}{line}" for line in _left(page, name, old[position].start, old[position].end)]
    edits = [Edit(old[0].start - len(old[0].above), old[-1].end, "".join(parts))]
    if not job.new and span.key:
        colon = page.text.index(":", span.key[1]) + 1
        edits.insert(0, Edit(colon, colon, " []"))
    return edits


def _left(page: Sheet, name: str, start: int, end: int) -> list[str]:
    """The comments of an item that is gone, under its name."""
    found = page.inside(start, end)
    return [f"# Left by {name}", *found] if found else []


def _in_brackets(job: ListJob, inner: list[Edit]) -> list[Edit]:
    page, span, items = job.page, job.page.spans[job.route], job.page.items(job.route)
    texts = [
        style.flow(value) if origin is None else page.with_edits(items[origin].start, items[origin].end, inner)
        for value, origin in job.rows()
    ]
    gaps = list(
        zip([span.start, *(item.end for item in items)], [*(item.start for item in items), span.end], strict=True)
    )
    gone = [items[position] for position in job.plan.gone]
    if any(page.inside(*gap) for gap in gaps) or any(page.inside(item.start, item.end) for item in gone):
        return [Edit(span.start, span.end, _line_by_line(job, texts, gaps))]
    if not texts:
        return [Edit(span.start, span.end, "[]")]
    between = [page.text[slice(*gap)] for gap in gaps[1:-1]] or [", "]
    put = page.text[slice(*gaps[0])] + texts[0]
    for place, text in enumerate(texts[1:]):
        put += between[min(place, len(between) - 1)] + text
    return [Edit(span.start, span.end, put + page.text[slice(*gaps[-1])])]


def _line_by_line(job: ListJob, texts: list[str], gaps: list[tuple[int, int]]) -> str:
    """A list in brackets with comments between its items, laid out anew: an item to a line, with its own comments."""
    page = job.page
    pad = " " * page.indentation(gaps[0][0])
    beside: list[list[str]] = []
    above: list[list[str]] = []
    for start, end in gaps:
        first = NEWLINE.search(page.text, start, end)
        border = first.start() if first else end
        beside.append(page.inside(start, border))
        above.append(page.inside(border, end))
    lines: list[str] = []
    for text, origin in zip(texts, job.plan.origins, strict=True):
        lines += [] if origin is None else above[origin]
        lines.append("  ".join((f"{text},", *([] if origin is None else beside[origin + 1]))))
    items = page.items(job.route)
    for position, name in job.plan.gone.items():
        own = [*above[position], *page.inside(items[position].start, items[position].end), *beside[position + 1]]
        lines += [f"# Left by {name}", *own] if own else []
    lines += above[-1]
    return (
        "  ".join(("[", *beside[0]))
        + "".join(f"{page.newline}{pad}  {line}" for line in lines)
        + f"{page.newline}{pad}]"
    )
