"""``lscpu -p``: one row per CPU, columns named in a comment. It names no model."""

from __future__ import annotations

from collections import Counter

from knaster.cluster import Cpu
from knaster.inventory.parsers.values import checked_cpu, integer
from knaster.inventory.reading import Problem, Reading

_HEAD = "# cpu,"
_OFF = {"n", "no"}


def is_table(text: str) -> bool:
    """Whether a text is ``lscpu -p`` with its comment of columns."""
    return any(line.casefold().startswith(_HEAD) for line in text.split("\n"))


def parse_table(text: str) -> Reading[Cpu]:
    """Threads are the rows that are on line, cores the distinct (socket, core). Cause: ``malformed`` with the line."""
    columns: list[str] = []
    threads, cores = 0, Counter[tuple[str, str]]()
    for number, line in enumerate(text.split("\n"), 1):
        if line.casefold().startswith(_HEAD):
            columns = [name.strip() for name in line.removeprefix("#").casefold().split(",")]
        if not line.strip() or line.startswith("#"):
            continue
        cells = [cell.strip() for cell in line.split(",")]
        if len(cells) != len(columns) or integer(cells[0]) is None:
            reason = f"{len(cells)} columns where {len(columns)} were expected, or no CPU number"
            return Reading(problem=Problem("malformed", f"line {number}: {reason}", number))
        row = dict(zip(columns, cells, strict=True))
        if row.get("online", "y").casefold() in _OFF:
            continue
        threads += 1
        if row.get("core"):
            cores[(row.get("socket", ""), row["core"])] += 1
    if not threads:
        return Reading(problem=Problem("malformed", "lscpu -p: there is no CPU that is on line"))
    return checked_cpu(None, len(cores) or None, threads, _doubts(cores), "lscpu -p")


def _doubts(cores: Counter[tuple[str, str]]) -> list[str]:
    doubts = ["cpu.model: lscpu -p names none"]
    most = max(cores.values(), default=0)
    if not cores:
        doubts.append("cpu.cores: lscpu -p has no column of cores")
    elif most > 2:
        doubts.append(f"cpu.cores: lscpu -p puts {most} threads on one core; on ARM its core ids repeat")
    return doubts
