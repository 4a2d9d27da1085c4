"""`make bench`: ratios measured in one run, as a table. Nothing is asserted: machines differ, budgets are read."""

from __future__ import annotations

import gc
import subprocess
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import yaml

from bench.captures import captures
from bench.fleet import fleet
from knaster.adapters.captures import read
from knaster.changes import compare
from knaster.cli import main as knaster
from knaster.files import Files
from knaster.inventory.capture import parse
from knaster.loader.loading import load
from knaster.pipeline import evaluate

NODES = 1_000
LARGE = 10_000
HOSTS = 200


@dataclass(frozen=True)
class Row:
    """One measured ratio and its budget (None: for comparison only)."""

    what: str
    ratio: float
    budget: float | None
    detail: str


def main() -> int:
    """Measure everything and print the table."""
    gc.disable()  # as `knaster.cli` does, for every side of every ratio
    small = fleet(NODES)
    rows = [
        _start_up(),
        *_against_a_plain_loader(small),
        _beside_check_jsonschema(small),
        _growth(small),
        _difference(),
        *_collecting(),
    ]
    print(f"{'what':<58} {'ratio':>7} {'budget':>7}   detail")
    for row in rows:
        budget = "-" if row.budget is None else f"{row.budget:g} x"
        print(f"{row.what:<58} {row.ratio:>5.2f} x {budget:>7}   {row.detail}")
    return 0


def _start_up() -> Row:
    bare, ours = _pairs([sys.executable, "-c", "pass"], [sys.executable, "-m", "knaster", "--help"], runs=15)
    return Row("knaster --help / a bare interpreter", ours / bare, 3, f"{ours * 1000:.0f} ms / {bare * 1000:.0f} ms")


def _pairs(one: list[str], other: list[str], runs: int) -> tuple[float, float]:
    """Median seconds of two commands that take turns, so that a slow spell hits both."""
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(runs):
        for command, found in zip((one, other), times, strict=True):
            begin = time.perf_counter()
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
            found.append(time.perf_counter() - begin)
    return median(times[0]), median(times[1])


def _against_a_plain_loader(files: Files) -> Iterable[Row]:
    texts = [text for text in files.values() if isinstance(text, str)]
    plain, loaded, whole = _turns(
        lambda: [yaml.load(text, yaml.CSafeLoader) for text in texts],
        lambda: load(files),
        lambda: evaluate(files).generated,
    )
    detail = f"{NODES:,} nodes, {4 * NODES:,} GPUs: {{:.2f}} s / {plain:.2f} s"
    yield Row("load and schema check / CSafeLoader on the same bytes", loaded / plain, 2, detail.format(loaded))
    yield Row("validate, plan and render / CSafeLoader", whole / plain, 3, detail.format(whole))


def _turns(*actions: Callable[[], object], runs: int = 5) -> list[float]:
    """Median seconds of each action, taken in turns."""
    times: list[list[float]] = [[] for _ in actions]
    for _ in range(runs):
        for action, found in zip(actions, times, strict=True):
            gc.collect()
            begin = time.perf_counter()
            action()
            found.append(time.perf_counter() - begin)
    return [median(found) for found in times]


def _beside_check_jsonschema(files: Files) -> Row:
    with tempfile.TemporaryDirectory() as folder:
        paths = []
        for path, text in files.items():
            if path.startswith("inventory/") and isinstance(text, str):
                paths.append(Path(folder, Path(path).name))
                paths[-1].write_text(text)
        command = [
            sys.executable,
            "-m",
            "check_jsonschema",
            "--schemafile",
            "schemas/node.schema.json",
            *map(str, paths),
        ]
        begin = time.perf_counter()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        theirs = time.perf_counter() - begin
    (ours,) = _turns(lambda: load(files), runs=3)
    return Row("load and schema check / check-jsonschema", ours / theirs, None, f"{ours:.2f} s / {theirs:.2f} s")


def _growth(small: Files) -> Row:
    large = fleet(LARGE)
    one, ten = _turns(lambda: evaluate(small).generated, lambda: evaluate(large).generated, runs=3)
    return Row(f"{LARGE:,} nodes / {NODES:,} nodes, whole run", ten / one, 11, f"{ten:.1f} s / {one:.2f} s")


def _difference() -> Row:
    """One line of one profile: both sides evaluated and compared, beside one evaluation."""
    large = fleet(LARGE)
    path = f"inventory/n{LARGE // 2:05}.yaml"
    edited = {**large, path: str(large[path]).replace("memory_gb: 128", "memory_gb: 96")}
    alone, both = _turns(lambda: evaluate(large), lambda: _compared(large, edited), runs=3)
    what = f"a one-line diff of {LARGE:,} nodes / one evaluation"
    return Row(what, both / alone, 1.3, f"{both:.1f} s / {alone:.1f} s")


def _compared(before: Files, after: Files) -> None:
    one = evaluate(before)
    other = evaluate(after, one.planned.plan if one.planned else None, like=one)
    if len(compare(one, other).inputs) != 1:
        raise SystemExit("the edit was not found")


def _collecting() -> Iterable[Row]:
    """``inventory collect --from`` beside reading and parsing the same bytes, and what it holds at its peak."""
    with tempfile.TemporaryDirectory() as folder:
        many, few, profiles = (Path(folder, name) for name in ("many", "few", "inventory"))
        for place in (many, few, profiles):
            place.mkdir()
        captures(many, HOSTS)
        captures(few, HOSTS // 10)
        floor, whole = _turns(lambda: _framed(many), lambda: _collected(many, profiles))
        peaks = [_peak(lambda place=place: _collected(place, profiles)) for place in (few, many)]  # type: ignore[misc]
        size = sum(path.stat().st_size for path in many.iterdir()) / 1e6
    detail = f"{HOSTS} hosts, {size:.1f} MB: {whole:.2f} s / {floor:.2f} s"
    yield Row("collect from captures / read and parse their bytes", whole / floor, 10, detail)
    detail = f"peak {peaks[1] / 1e6:.1f} MB / {peaks[0] / 1e6:.1f} MB, bytes grow 10 x"
    yield Row(f"memory of {HOSTS} hosts / {HOSTS // 10} hosts", peaks[1] / peaks[0], 2, detail)


def _framed(folder: Path) -> None:
    for entry in read(folder):
        if isinstance(entry.content, bytes):
            parse(entry.content)


def _collected(folder: Path, profiles: Path) -> None:
    if knaster(["inventory", "collect", "--from", str(folder), "--all", str(profiles), "-q"]):
        raise SystemExit("collect failed")


def _peak(action: Callable[[], object]) -> int:
    """Bytes that Python holds at most."""
    tracemalloc.start()
    action()
    used = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return used


if __name__ == "__main__":
    sys.exit(main())
