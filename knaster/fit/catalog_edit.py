"""A model added to the text of ``catalog/models.yaml``: behind the last one, every other byte as it was."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from knaster.diagnostics import Route
from knaster.document import Span, Value, parse, spans
from knaster.document.emitter import dump
from knaster.document.scalars import is_text
from knaster.fit.entry import Entry

_WORD = re.compile(r"[A-Za-z][A-Za-z0-9_./-]*")
_COMMENT_BELOW = re.compile(r"(?:(?:\r\n|\r|\n) *)*(?:\r\n|\r|\n)( *)#[^\r\n]*")
_NEWLINE = re.compile(r"\r\n|\r|\n")
_WIDE = 120


def lines(entry: Entry, pad: str = "  ") -> list[str]:
    """The entry as it stands under ``models:``, in the style of the catalog; `pad` before its name."""
    deeper = f"{pad}  "
    out = [f"{pad}{_key(entry.name)}:", *(f"{deeper}# {comment}".rstrip() for comment in entry.comments)]
    for key, value in entry.data.items():
        out += _entry(key, value, deeper)
    return out


def added(text: str, entry: Entry) -> str | None:
    """`text` with the entry behind the last model; None for a layout that cannot be added to in place.

    The result is read back: it says what it said before and the entry, or it is not given.
    """
    before, _ = parse("", text)
    places = spans(text)
    models = before.data.get("models") if before else None
    if before is None or not isinstance(models, dict) or entry.name in models:
        return None
    new = _put(text, places, entry)
    after, _ = parse("", new) if new else (None, ())
    wanted = {**before.data, "models": {**models, entry.name: entry.data}}
    return new if after is not None and after.data == wanted else None


def _put(text: str, places: Mapping[Route, Span], entry: Entry) -> str | None:
    found = _NEWLINE.search(text)
    newline = found[0] if found else "\n"
    at = places[("models",)]
    if text[at.start : at.end].replace(" ", "") == "{}":  # the first model
        end = _line_end(text, at.end)
        rest = text[at.end : end]
        head = text[: at.start].rstrip(" ") + (f" {rest.lstrip()}" if rest.strip() else "")
        return head + "".join(newline + line for line in lines(entry)) + text[end:]
    if text[at.start] == "{":
        return None
    first = min(span.key[0] for route, span in places.items() if span.key and route[:-1] == ("models",))
    pad = " " * (first - _line_start(text, first))
    end = _below(text, _line_end(text, at.end), len(pad))
    return text[:end] + newline + "".join(newline + line for line in lines(entry, pad)) + text[end:]


def _line_start(text: str, offset: int) -> int:
    begin = max(text.rfind("\n", 0, offset), text.rfind("\r", 0, offset)) + 1
    return begin + 1 if text.startswith("\ufeff", begin) else begin


def _line_end(text: str, offset: int) -> int:
    found = _NEWLINE.search(text, offset)
    return found.start() if found else len(text)


def _below(text: str, end: int, column: int) -> int:
    """`end` (of a line) moved behind the comments under it that are indented like a model or deeper."""
    while (match := _COMMENT_BELOW.match(text, end)) and len(match[1]) >= column > 0:
        end = match.end()
    return end


def _entry(key: str, value: Value, pad: str) -> Iterator[str]:
    if isinstance(value, list) and any(isinstance(item, dict) for item in value):
        yield f"{pad}{key}:"
        yield from (f"{pad}  - {_flow(item)}" for item in value)
        return
    line = f"{pad}{key}: {_flow(value, quoted=key == 'args')}"
    if isinstance(value, list) and len(line) > _WIDE:
        yield from _wrapped(f"{pad}{key}: [", [_flow(item, quoted=key == "args") for item in value])
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


def _flow(value: Value, *, quoted: bool = False) -> str:
    """A value on one line: words plain, other text in double quotes."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{name}: {_flow(item)}" for name, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(_flow(item, quoted=quoted) for item in value) + "]"
    if isinstance(value, str) and not quoted and _WORD.fullmatch(value) and is_text(value):
        return value
    return dump([value], "")[2:-1]


def _key(name: str) -> str:
    return name if _WORD.fullmatch(name) and is_text(name) else dump([name], "")[2:-1]
