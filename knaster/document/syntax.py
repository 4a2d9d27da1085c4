"""The parser's complaints in plain words: pattern, message, hint, and which of the two marks is the better place.

The wording of libyaml and of PyYAML's own parser differs; the patterns cover both.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from knaster.diagnostics import Diagnostic, Place
from knaster.document.source import MAX_DEPTH, odd_indentation, odd_space, position

_INDENT = "check the indentation of this line and the one above, and quote text that holds quotes or brackets"
_CLOSE = "add the closing quote where the text ends"
_AFTER_QUOTE = " \n,:]}"

# (pattern over "context; problem", message, hint, whether the place is where the thing began)
_TABLE: tuple[tuple[str, str, str, bool], ...] = (
    (
        "quoted scalar; .*(end of stream|document separator)",
        "this quote is never closed",
        "add the closing quote",
        True,
    ),
    (
        "unknown escape",
        "unknown escape after \\ in double quotes",
        "double the \\ or use single quotes",
        False,
    ),
    (
        "hexdecimal|hexadecimal",
        "incomplete escape after \\ in double quotes",
        "double the \\ or use single quotes",
        False,
    ),
    (
        "flow sequence; .*',' or '\\]'",
        "this list is not closed with ], or a comma is missing in it",
        "add ] or the comma, and quote text that holds brackets",
        True,
    ),
    (
        "flow mapping; .*',' or '}'",
        "this mapping is not closed with }, or a comma is missing in it",
        "add } or the comma, and quote text that holds braces",
        True,
    ),
    (
        "expected ':'",
        "a key without a colon",
        'write "key: value", or quote text that goes on over several lines',
        True,
    ),
    (
        "mapping values",
        "a second colon, or a key that is indented too far",
        "quote text that holds a colon and a space; else align this key with its neighbours",
        False,
    ),
    (
        "mapping keys are not allowed",
        "a question mark cannot begin a value here",
        "quote text that begins with ?",
        False,
    ),
    (
        "sequence entries",
        "a list item is not allowed here",
        "begin the list on a line of its own, or quote text that begins with -",
        False,
    ),
    (
        "alias; .*alphabetic",
        "text cannot begin with *",
        "quote text that begins with *",
        True,
    ),
    (
        "anchor; .*alphabetic",
        "text cannot begin with &",
        "quote text that begins with &",
        True,
    ),
    (
        "parsing a tag|scanning a tag;",
        "text cannot begin with !",
        "quote text that begins with !",
        True,
    ),
    (
        "cannot start any token",
        "text cannot begin with this character",
        "quote text that begins with @, ` or %",
        False,
    ),
    (
        "block scalar;",
        "after | or > only +, - or a digit may follow on the same line",
        "move the text to the next line, or quote it",
        False,
    ),
    (
        "node content",
        "a value is missing here, or a bracket is too many",
        "quote text that begins with a comma or a bracket",
        False,
    ),
    ("directive|incompatible YAML", "a line that begins with % is a directive", "delete this line", False),
    ("document start", "this line is not part of what stands above it", _INDENT, False),
    ("'-' indicator|block collection;", "a list item that begins with - is expected here", _INDENT, False),
    ("expected key|block end", "a key at the same indentation is expected here", _INDENT, False),
)


def diagnostic(path: str, text: str, error: Any, tokens: Iterable[Any]) -> Diagnostic:
    """One ``yaml-syntax`` (or ``yaml-encoding``, for what is no character here) for PyYAML's marked error.

    `error` has ``problem``, ``context``, ``problem_mark`` and ``context_mark``, each of which may be None; `tokens` are
    those of the text up to the error.
    """
    problem = str(getattr(error, "problem", None) or getattr(error, "reason", None) or error)
    complaint = f"{getattr(error, 'context', None) or ''}; {problem}"
    end = getattr(error, "problem_mark", None)
    begin = getattr(error, "context_mark", None)
    if "Unicode character escape" in problem:
        message = "this escape is no character (half a surrogate pair, or too large)"
        hint = "write the character itself, or its code after \\U with eight digits"
        return Diagnostic("yaml-encoding", message, _place(path, text, end), hint=hint)
    if "maximum nesting depth" in problem or isinstance(error, RecursionError):
        message = f"more than {MAX_DEPTH} levels of nesting"
        hint = "no file needs more than ten; look for a typo"
        return Diagnostic("yaml-bounds", message, _place(path, text, end), hint=hint)
    lines = {mark.line + 1 for mark in (begin, end) if mark}
    for index in odd_indentation(text):
        if position(text, index)[0] in lines:
            return odd_space(path, text, index)
    quote = _runaway_quote(text, tokens)
    if quote is not None:
        return Diagnostic("yaml-syntax", "this quote is not closed on its line", _place(path, text, quote), hint=_CLOSE)
    for pattern, message, hint, at_begin in _TABLE:
        if re.search(pattern, complaint):
            mark = (begin if at_begin else end) or end or begin
            return Diagnostic("yaml-syntax", message, _place(path, text, mark), hint=hint)
    return Diagnostic("yaml-syntax", f"not valid YAML: {problem}", _place(path, text, end or begin), hint=_INDENT)


def _runaway_quote(text: str, tokens: Iterable[Any]) -> Any:
    """Where a quote opens that ends lines later, at the quote of another value: text follows that end at once."""
    found = None
    for token in tokens:
        if token.id == "<scalar>" and token.style in ("'", '"') and token.start_mark.line < token.end_mark.line:
            after = text[token.end_mark.index : token.end_mark.index + 1]
            if after and after not in _AFTER_QUOTE:
                found = token.start_mark
    return found


def _place(path: str, text: str, mark: Any) -> Place:
    """The place of a mark; what the end of the file lacks is told at its last line that holds something."""
    if not mark:
        return Place(path, line=1, column=1)
    last = len(text.rstrip()) - 1
    if mark.index > last + 1 and last >= 0:
        line, column = position(text, last)
        if line < mark.line + 1:
            return Place(path, line=line, column=column)
    return Place(path, line=mark.line + 1, column=mark.column + 1)
