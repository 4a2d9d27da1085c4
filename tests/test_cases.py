"""Whole repositories in, diagnostics out: one folder per code under ``tests/cases``, found by walking.

A folder holds only the files that differ from ``base/``: it is laid over a copy of it. ``absent.txt`` names files that
are taken away, ``generated/placement.yaml`` is the placement in force, ``expected.txt`` what is said, line by line.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from knaster.adapters import files
from knaster.codes import CODES
from knaster.diagnostics import Diagnostic
from knaster.in_force.landed import recorded_placement
from knaster.pipeline import evaluate

CASES = Path(__file__).parent / "cases"
NAMES = sorted(path.name for path in CASES.iterdir() if path.name != "base")


def line(diagnostic: Diagnostic) -> str:
    """``file:line:column: severity code message``; ``-`` for what has no place."""
    place = diagnostic.place
    where = f"{place.file}:{place.line}:{place.column}" if place else "-"
    return f"{where}: {diagnostic.severity} {diagnostic.code} {diagnostic.message}"


def laid(case: str, root: Path) -> Path:
    """The repository of a case, in a new folder below `root`."""
    target = root / "repository"
    shutil.copytree(CASES / "base", target)
    shutil.copytree(CASES / case, target, symlinks=True, dirs_exist_ok=True)
    absent = target / "absent.txt"
    for path in absent.read_text(encoding="utf-8").split() if absent.exists() else ():
        (target / path).unlink()
    return target


@pytest.mark.parametrize("case", NAMES)
def test_case(case: str, tmp_path: Path) -> None:
    root = laid(case, tmp_path)
    force = root / "generated" / "placement.yaml"
    current, problems = recorded_placement(force.read_text(encoding="utf-8")) if force.exists() else (None, ())
    assert problems == ()
    found = evaluate(files.read(root), current).diagnostics
    expected = (CASES / case / "expected.txt").read_text(encoding="utf-8").splitlines()
    assert [line(diagnostic) for diagnostic in found] == expected


@pytest.mark.parametrize("case", [name for name in NAMES if name in CODES and name != "check-skipped"])
def test_a_case_is_about_its_code_and_little_else(case: str) -> None:
    """The smallest bad repository has one mistake; what follows from it is the note on skipped checks alone."""
    expected = (CASES / case / "expected.txt").read_text(encoding="utf-8").splitlines()
    codes = {re.findall(r": (?:error|warning|note) ([a-z-]+) ", text)[0] for text in expected}
    assert case in codes
    assert codes - {case} <= {"check-skipped"}


def test_a_good_repository_says_nothing() -> None:
    assert (CASES / "ok" / "expected.txt").read_text(encoding="utf-8") == ""
