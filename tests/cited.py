"""Tests that a page of docs/ names, as `` `test_land::test_name` ``: which they are, and whether they exist."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

TESTS = Path(__file__).parent
_NAME = re.compile(r"`(test_[a-z0-9_]+)((?:::[A-Za-z0-9_]+)+)`")


def cited(text: str) -> list[str]:
    """``test_land::test_name`` and ``test_faults::TestLocks::test_name``, in the order of the text."""
    return [f"{file}{names}" for file, names in _NAME.findall(text)]


def missing(text: str) -> list[str]:
    """Those of them that are no test."""
    return [one for one in cited(text) if one.partition("::")[2] not in _tests(one.partition("::")[0])]


def rows(page: Path) -> list[str]:
    """The rows of a page's tables, without heads and rules."""
    lines = page.read_text("utf-8").splitlines()
    rules = {at for at, line in enumerate(lines) if re.fullmatch(r"\|[-| ]+\|", line)}
    return [line for at, line in enumerate(lines) if line.startswith("|") and not {at, at + 1} & rules]


@cache
def _tests(file: str) -> frozenset[str]:
    path = TESTS / f"{file}.py"
    if not path.exists():
        return frozenset()
    found = set()
    for node in ast.parse(path.read_text("utf-8")).body:
        if isinstance(node, ast.FunctionDef):
            found.add(node.name)
        elif isinstance(node, ast.ClassDef):
            found |= {f"{node.name}::{one.name}" for one in node.body if isinstance(one, ast.FunctionDef)}
    return frozenset(name for name in found if name.rpartition("::")[2].startswith("test_"))
