"""The same inputs give the same bytes, whatever the hash seed, locale, time zone, folder, file order or layout."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from knaster.pipeline import evaluate
from tests.repo import files
from tests.test_loader import reordered

ROOT = Path(__file__).parent.parent
INPUTS = ("inventory", "catalog")


def inputs() -> dict[str, str]:
    """This repository's own fleet."""
    return {
        str(path.relative_to(ROOT)): path.read_text("utf-8")
        for folder in INPUTS
        for path in sorted((ROOT / folder).rglob("*.yaml"))
    }


def tree(root: Path) -> dict[str, bytes]:
    """Everything below ``generated/``."""
    top = root / "generated"
    return {str(path.relative_to(top)): path.read_bytes() for path in sorted(top.rglob("*")) if path.is_file()}


def lay(root: Path, texts: dict[str, str]) -> None:
    """Write texts as they are."""
    for path, text in texts.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(text.encode())


def rendered(root: Path, cwd: Path | None = None, environment: Mapping[str, str] | None = None) -> dict[str, bytes]:
    """What `knaster render` makes there, in a process of its own."""
    shutil.rmtree(root / "generated", ignore_errors=True)
    place = [] if cwd is None else ["-C", str(root)]
    subprocess.run(
        [sys.executable, "-m", "knaster", *place, "render"],
        cwd=cwd or root,
        env={**os.environ, "PYTHONPATH": str(ROOT), **(environment or {})},
        check=True,
        capture_output=True,
    )
    return tree(root)


@pytest.fixture(scope="module")
def expected() -> dict[str, bytes]:
    """The files of this repository's fleet, made in this process."""
    evaluation = evaluate(inputs())
    assert evaluation.ok, [item.message for item in evaluation.diagnostics]
    return {path: text.encode() for path, text in evaluation.generated.items()}


@pytest.mark.parametrize(
    "environment",
    [
        {"PYTHONHASHSEED": "1", "LC_ALL": "C", "TZ": "UTC"},
        {"PYTHONHASHSEED": "2", "LC_ALL": "de_DE.ISO-8859-1", "TZ": "Asia/Kathmandu", "PYTHONUTF8": "0"},
        {"PYTHONHASHSEED": "3", "LC_ALL": "tr_TR.UTF-8", "TZ": "Pacific/Kiritimati", "COLUMNS": "20"},
        {"PYTHONHASHSEED": "random", "LC_ALL": "POSIX", "USER": "somebody", "HOME": "/nonexistent"},
    ],
    ids=lambda environment: environment["LC_ALL"],
)
def test_environment(environment: dict[str, str], tmp_path: Path, expected: dict[str, bytes]) -> None:
    lay(tmp_path, inputs())
    assert rendered(tmp_path, environment=environment) == expected


def test_working_directory_and_place(tmp_path: Path, expected: dict[str, bytes]) -> None:
    root = tmp_path / "a folder with ümlaut"
    lay(root, inputs())
    assert rendered(root, cwd=Path("/")) == expected


def test_order_of_files_in_the_folder(tmp_path: Path, expected: dict[str, bytes]) -> None:
    lay(tmp_path, dict(reversed(inputs().items())))
    assert rendered(tmp_path) == expected


def test_a_checkout_with_crlf(tmp_path: Path, expected: dict[str, bytes]) -> None:
    lay(tmp_path, {path: text.replace("\n", "\r\n") for path, text in inputs().items()})
    assert rendered(tmp_path) == expected


def test_files_have_lf_a_final_newline_and_no_trace_of_the_machine(expected: dict[str, bytes]) -> None:
    for path, data in expected.items():
        assert data.endswith(b"\n"), path
        assert b"\r" not in data, path
        assert str(ROOT).encode() not in data, path


@pytest.mark.parametrize("texts", [files(), inputs()], ids=["small", "fleet"])
@settings(deadline=None, max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(0, 2**32))
def test_shuffled_keys_lists_and_files_change_no_byte(texts: dict[str, str], seed: int) -> None:
    dice = random.Random(seed)
    paths = list(texts)
    dice.shuffle(paths)
    shuffled = {path: reordered(texts[path], dice) for path in paths}
    assert shuffled != texts
    assert dict(evaluate(shuffled).generated) == dict(evaluate(texts).generated)
    assert evaluate(texts).generated
