"""Every code that is emitted is explained, and every explanation belongs to a code that is emitted."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from knaster.codes import CODES, Explanation

PACKAGE = Path(__file__).parent.parent / "knaster"
CASES = Path(__file__).parent / "cases"
EMITTERS = {"Diagnostic", "unknown", "Unclear"}
SHAPE = re.compile(r"[a-z]+(?:-[a-z]+)+|assumed")


def _trees() -> Iterator[ast.AST]:
    for path in sorted(PACKAGE.rglob("*.py")):
        if path.parent.name != "codes":
            yield ast.parse(path.read_text(encoding="utf-8"))


def _nodes() -> Iterator[ast.AST]:
    for tree in _trees():
        yield from ast.walk(tree)


def _first(call: ast.Call) -> str | None:
    """The constant that a call emits a code with; ``_finding("link", …)`` stands for ``generated-link``."""
    name = call.func.id if isinstance(call.func, ast.Name) else getattr(call.func, "attr", "")
    given = [key.value for key in call.keywords if key.arg == "code"] or call.args[:1]
    value = given[0].value if given and isinstance(given[0], ast.Constant) else None
    if not isinstance(value, str) or not value:
        return None
    if name == "_finding":
        return f"generated-{value}"
    return value if name in EMITTERS else None


def _emitted() -> set[str]:
    return {code for node in _nodes() if isinstance(node, ast.Call) and (code := _first(node)) is not None}


def _mentioned() -> set[str]:
    """Codes that stand in tables, not in calls."""
    texts = {node.value for node in _nodes() if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    return {text for text in texts if SHAPE.fullmatch(text)}


def test_every_code_that_is_emitted_is_explained() -> None:
    emitted = _emitted()
    assert {"yaml-tab", "memory-budget", "unknown-engine", "generated-link"} <= emitted
    assert emitted - CODES.keys() == set()


def test_every_explained_code_is_emitted() -> None:
    assert CODES.keys() - _emitted() - _mentioned() == set()


@pytest.mark.parametrize("code", CODES)
def test_an_explanation_is_three_sentences_at_least(code: str) -> None:
    explanation = CODES[code]
    assert isinstance(explanation, Explanation)
    assert SHAPE.fullmatch(code)
    for text in (explanation.summary, explanation.why, explanation.fix):
        assert text[0].isupper() or text.startswith(("memory_mib", "pip", "share_with", "required", "render"))
        assert text.endswith((".", ": "))
        assert "  " not in text


def test_every_code_about_inputs_has_a_case() -> None:
    """A code without a folder in tests/cases would be untested from end to end."""
    elsewhere = {code for code in CODES if code.startswith(("generated-", "gate-", "bench-"))}
    elsewhere |= {"current-unreadable", "internal-output", "merge-conflict"}
    assert CODES.keys() - elsewhere - {path.name for path in CASES.iterdir()} == set()
