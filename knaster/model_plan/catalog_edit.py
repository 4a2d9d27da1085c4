"""A model added to the text of ``catalog/models.yaml``: behind the last one, every other byte as it was."""

from __future__ import annotations

from collections.abc import Iterator

from knaster.document import Value, parse
from knaster.editing import style
from knaster.editing.sheet import sheet
from knaster.model_plan.entry import Entry

_WIDE = 120


def lines(entry: Entry, pad: str = "  ") -> list[str]:
    """The entry as it stands under ``models:``, in the style of the catalog; `pad` before its name."""
    deeper = f"{pad}  "
    out = [f"{pad}{style.scalar(entry.name)}:", *(f"{deeper}# {comment}".rstrip() for comment in entry.comments)]
    for key, value in entry.data.items():
        out += _entry(key, value, deeper)
    return out


def added(text: str, entry: Entry) -> str | None:
    """`text` with the entry behind the last model; None for a layout that cannot be added to in place.

    The result is read back: it says what it said before and the entry, or it is not given.
    """
    before, _ = parse("", text)
    models = before.data.get("models") if before else None
    if before is None or not isinstance(models, dict) or entry.name in models:
        return None
    new = _put(text, entry)
    after, _ = parse("", new) if new else (None, ())
    wanted = {**before.data, "models": {**models, entry.name: entry.data}}
    return new if after is not None and after.data == wanted else None


def _put(text: str, entry: Entry) -> str | None:
    page = sheet(text)
    at = page.spans[("models",)]
    if text[at.start : at.end].replace(" ", "") == "{}":  # the first model
        end = page.line_end(at.end)
        rest = text[at.end : end]
        head = text[: at.start].rstrip(" ") + (f" {rest.lstrip()}" if rest.strip() else "")
        return head + "".join(page.newline + line for line in lines(entry)) + text[end:]
    if page.is_flow(("models",)):
        return None
    column = page.column(page.first_key(("models",)))
    end = page.line_end(at.end)
    if column:  # comments under the last model that are indented like a model or deeper
        end = page.below(end, column - 1)
    new = "".join(page.newline + line for line in lines(entry, " " * column))
    return text[:end] + page.newline + new + text[end:]


def _entry(key: str, value: Value, pad: str) -> Iterator[str]:
    if isinstance(value, list) and any(isinstance(item, dict) for item in value):
        yield f"{pad}{key}:"
        yield from (f"{pad}  - {style.flow(item)}" for item in value)
        return
    line = f"{pad}{key}: {style.flow(value, key)}"
    if isinstance(value, list) and len(line) > _WIDE:
        yield from _wrapped(f"{pad}{key}: [", [style.flow(item, key) for item in value])
    else:
        yield line


def _wrapped(head: str, items: list[str]) -> Iterator[str]:
    """``key: [a, b,`` and the rest below it, each line as full as it may be."""
    line, pad = head, " " * len(head)
    for number, item in enumerate(items):
        last = "]" if number == len(items) - 1 else ", "
        if len(line) + len(item) + len(last) > _WIDE and line.strip() and line not in (head, pad):
            yield line.rstrip()
            line = pad
        line += item + last
    yield line
