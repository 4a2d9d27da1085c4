"""What ``llama-bench -o json`` printed: rows, whatever version made them.

Of each row only what every version has is needed: ``n_prompt``, ``n_gen``, ``avg_ts``, ``gpu_info`` and
``model_filename``. Versions differ in the rest: builds of 2023 and 2024 say ``"cuda": true``, later ones ``"backends":
"CUDA"``; ``n_depth`` is there since 2025. An array that was cut keeps its complete rows.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

MOST_ROWS = 1000
_SPACE = re.compile(r"[ \t\r\n]*")
_START = re.compile(r"^[ \t]*\[", re.MULTILINE)
_TOKEN = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)|[{}]', re.DOTALL)
_NO_NUMBER = re.compile(r"(?<=[ \[,])-?(?:nan|inf)(?:\(ind\))?(?=[ ,\]\r\n])")
_BUILD = re.compile(r"[A-Za-z0-9._+-]{1,40}")
_DATE = re.compile(r"([0-9]{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12][0-9]|3[01]))T[0-9:.]{5,12}")


class NoRunError(Exception):
    """The text is no output of ``llama-bench -o json``; the message says where and why."""


@dataclass(frozen=True, slots=True)
class Row:
    """One test: so many prompt or generated tokens, repeated. Rates in tokens per second, ``seconds`` of all of them.

    ``gpus`` are the names of the cards that the program saw, ``ran_on`` those it could have used; ``end`` is the offset
    behind the row in the text.
    """

    n_prompt: int
    n_gen: int
    n_depth: int
    rate: float
    spread: float | None
    seconds: float | None
    gpus: tuple[str, ...]
    ran_on: tuple[str, ...]
    model_file: str
    model_type: str
    build: str | None
    date: str | None
    end: int

    @property
    def test(self) -> str:
        """As llama-bench calls it: ``pp512``, ``tg128``, ``pp512+tg128``, ``tg128 @ d4096``."""
        parts = ([f"pp{self.n_prompt}"] if self.n_prompt else []) + ([f"tg{self.n_gen}"] if self.n_gen else [])
        return "+".join(parts) + (f" @ d{self.n_depth}" if self.n_depth else "")


@dataclass(frozen=True, slots=True)
class Run:
    """The complete rows of a run, and whether it came to its end."""

    rows: tuple[Row, ...]
    whole: bool


def read(text: str) -> Run:
    """The rows of a JSON array, what stands before it (warnings of drivers) left out.

    Raises:
        NoRunError: there is no array of rows, or a complete row is none of llama-bench.
    """
    text = _NO_NUMBER.sub(lambda found: "0".ljust(len(found[0])), text)  # C prints nan for the root of -0.0000001
    found = _START.search(text)
    if not found:
        raise NoRunError("it holds no JSON array: run llama-bench with -o json")
    rows: list[Row] = []
    whole = False
    for data, end in _objects(text, found.end()):
        if data is None:
            whole = True
            break
        if len(rows) == MOST_ROWS:
            raise NoRunError(f"it holds more than {MOST_ROWS} rows")
        rows.append(_row(data, end, f"row {len(rows) + 1}"))
    return Run(tuple(rows), whole)


def _objects(text: str, at: int) -> Iterator[tuple[Mapping[str, Any] | None, int]]:
    """Each complete object of the array with the offset behind it, then None for its end; that only if it is there."""
    decoder = json.JSONDecoder(parse_constant=_no_constant)
    first = True
    while True:
        at = _skip(text, at)
        if text.startswith("]", at):
            yield None, at + 1
            return
        if not first:
            if at < len(text) and text[at] != ",":
                raise NoRunError(f"line {_line(text, at)}: between two rows a comma is expected")
            at = _skip(text, at + 1)
        first = False
        if at >= len(text):
            return
        data, at = _decoded(decoder, text, at)
        if at < 0:
            return
        yield data, at


def _decoded(decoder: json.JSONDecoder, text: str, at: int) -> tuple[Any, int]:
    """The value that begins here and where it ends; -1 where the text ends inside of it."""
    try:
        data, end = decoder.raw_decode(text, at)
    except json.JSONDecodeError as error:
        if _cut(text, at):
            return None, -1
        raise NoRunError(f"line {_line(text, error.pos)}: {error.msg}") from error
    except RecursionError as error:
        raise NoRunError("it is nested too deep") from error
    except ValueError as error:
        raise NoRunError(f"a number in it cannot be one: {str(error)[:80]}") from error
    if not isinstance(data, dict):
        raise NoRunError(f"line {_line(text, at)}: a row is expected, and this is none")
    return data, end


def _cut(text: str, at: int) -> bool:
    """Whether the text ends inside the object that begins here."""
    depth = 0
    for token in _TOKEN.finditer(text, at):
        depth += {"{": 1, "}": -1}.get(token[0], 0)
        if depth == 0:
            return False
    return True


def _no_constant(name: str) -> float:
    raise ValueError(f"{name} is no number of JSON")


def _row(data: Mapping[str, Any], end: int, where: str) -> Row:
    gpus = _cards(_text(data, "gpu_info", where))
    time = data.get("test_time")
    day = _DATE.match(time) if isinstance(time, str) else None
    return Row(
        n_prompt=_count(data, "n_prompt", where),
        n_gen=_count(data, "n_gen", where),
        n_depth=_count(data, "n_depth", where) if "n_depth" in data else 0,
        rate=_positive(data, "avg_ts", where),
        spread=_spread(data.get("stddev_ts")),
        seconds=_seconds(data.get("samples_ns")),
        gpus=gpus,
        ran_on=_ran_on(data, gpus),
        model_file=re.split(r"[/\\]", _text(data, "model_filename", where))[-1],
        model_type=str(data.get("model_type") or "")[:100],
        build=_build(data),
        date=day[1] if day else None,
        end=end,
    )


def _text(data: Mapping[str, Any], key: str, where: str) -> str:
    value = data.get(key)
    if not isinstance(value, str):
        raise NoRunError(f"{where} has no text {key}: it is not of llama-bench")
    return value[:4000]


def _count(data: Mapping[str, Any], key: str, where: str) -> int:
    value = data.get(key)
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= 10**9:
        raise NoRunError(f"{where} has no whole number {key}: it is not of llama-bench")
    return value


def _positive(data: Mapping[str, Any], key: str, where: str) -> float:
    value = data.get(key)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < 1e9 or not math.isfinite(value):
        raise NoRunError(f"{where} has no number {key} above 0: nothing was measured in it")
    return float(value)


def _spread(value: Any) -> float | None:
    """One repetition has no spread; llama-bench says 0 then."""
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if number and 0 < value < 1e9 else None


def _seconds(samples: Any) -> float | None:
    """How long all repetitions took."""
    if not isinstance(samples, list) or not samples or len(samples) > 100_000:
        return None
    good = [one for one in samples if isinstance(one, int) and not isinstance(one, bool) and 0 < one < 10**15]
    return sum(good) / 1e9 if len(good) == len(samples) else None


def _cards(info: str) -> tuple[str, ...]:
    """``gpu_info``: names joined by ``/`` (until 2024) or by a comma."""
    return tuple(name.strip() for name in re.split(r"/|, ", info) if name.strip())


def _ran_on(data: Mapping[str, Any], gpus: tuple[str, ...]) -> tuple[str, ...]:
    """The cards that this row could use: all, or the one that it was told by ``devices`` or ``split_mode`` none.

    No card where no layer was on one.
    """
    if data.get("n_gpu_layers") == 0 or data.get("devices") == "none" or data.get("cuda") is False:
        return ()
    named = re.fullmatch(r"CUDA([0-9]{1,3})", str(data.get("devices")))
    main = data.get("main_gpu")
    at = int(named[1]) if named else main if data.get("split_mode") == "none" and isinstance(main, int) else None
    return gpus if at is None else gpus[at : at + 1]


def _build(data: Mapping[str, Any]) -> str | None:
    """``b6895 (8cf427ff)``."""
    number, commit = data.get("build_number"), data.get("build_commit")
    told = f"b{number}" if isinstance(number, int) and 0 < number < 10**9 and not isinstance(number, bool) else ""
    sha = commit if isinstance(commit, str) and _BUILD.fullmatch(commit) and commit != "unknown" else ""
    return (f"{told} ({sha})" if told and sha else told or sha) or None


def _skip(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at


def _line(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1
