"""llama-bench as a child, and nvidia-smi asked beside it. No shell; whatever happens, no child outlives the call."""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import IO

from knaster.diagnostics import WorldError
from knaster.units import MIB

OUTPUT_BOUND = 16 * MIB
EVERY = 1.0
"""Seconds between two questions for the power."""

_PATIENCE = 5.0
_KEPT = 8192
_PART = 64 * 1024

Tell = Callable[[int, float, str | None], None]
"""Bytes so far, seconds so far, the last answer for the power."""


@dataclass
class Ran:
    """What a run came to, whole or not. Times are of one clock that only rises.

    ``arrivals``: so many bytes were there at a time. ``readings``: what nvidia-smi said at a time, None where it
    failed; ``silence`` says why. ``problem``: why the run is not whole. ``interrupted``: by Ctrl-C.
    """

    output: bytes = b""
    arrivals: list[tuple[int, float]] = field(default_factory=list)
    readings: list[tuple[float, str | None]] = field(default_factory=list)
    silence: str | None = None
    problem: str | None = None
    interrupted: bool = False


def run(command: Sequence[str], visible: Mapping[str, str], card: str | None, seconds: float, tell: Tell) -> Ran:
    """`command` to its end, with the environment variables `visible`, the power of `card` read once a second.

    `card` is a uuid, an index or a PCI address; None: its power is not asked for.

    A run that is cut, by a crash, the deadline of `seconds` or Ctrl-C, gives what it printed until then.

    Raises:
        WorldError: the program cannot be started.
    """
    found = Ran()
    process = _start(command, visible)
    try:
        with _asking(card, found.readings, found):
            _listen(process, found, seconds, tell)
    except KeyboardInterrupt:
        found.interrupted, found.problem = True, "it was interrupted"
    finally:
        _end(process)
    return found


def _start(command: Sequence[str], visible: Mapping[str, str]) -> subprocess.Popen[bytes]:
    try:
        return subprocess.Popen(
            list(command),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, **visible},
            start_new_session=True,  # Ctrl-C is for us: what was measured is kept, then the child ends
        )
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise WorldError(
            f"cannot start {command[0]}: {reason}", "name the program with --llama-bench PATH, or run it where it is"
        ) from error


def _listen(process: subprocess.Popen[bytes], found: Ran, seconds: float, tell: Tell) -> None:
    assert process.stdout is not None
    assert process.stderr is not None
    kept: dict[IO[bytes], bytearray] = {process.stdout: bytearray(), process.stderr: bytearray()}
    begin = time.monotonic()
    with selectors.DefaultSelector() as ready:
        for stream in kept:
            ready.register(stream, selectors.EVENT_READ)
        try:
            while ready.get_map() and found.problem is None:
                for key, _ in ready.select(timeout=0.2):
                    part = os.read(key.fd, _PART)
                    if not part:
                        ready.unregister(key.fileobj)
                    kept[key.fileobj] += part  # type: ignore[index]  # what was registered
                    if part and key.fileobj is process.stdout:
                        found.arrivals.append((len(kept[process.stdout]), time.monotonic()))
                del kept[process.stderr][:-_KEPT]
                found.problem = _too_much(len(kept[process.stdout]), time.monotonic() - begin, seconds)
                tell(
                    len(kept[process.stdout]),
                    time.monotonic() - begin,
                    found.readings[-1][1] if found.readings else None,
                )
        finally:
            found.output = bytes(kept[process.stdout])
    found.problem = found.problem or _ended(process, bytes(kept[process.stderr]))


def _too_much(size: int, passed: float, seconds: float) -> str | None:
    if size > OUTPUT_BOUND:
        return f"it printed more than {OUTPUT_BOUND // MIB} MiB"
    return f"it did not end within {seconds:g} s" if passed > seconds else None


def _ended(process: subprocess.Popen[bytes], complaints: bytes) -> str | None:
    """Why it ended, where not well, with the last lines that it complained in."""
    try:
        status = process.wait(timeout=_PATIENCE)
    except subprocess.TimeoutExpired:
        return "it closed its output and did not end"
    if status == 0:
        return None
    lines = [line.strip() for line in complaints.decode("utf-8", "backslashreplace").splitlines() if line.strip()]
    how = f"signal {signal.Signals(-status).name}" if -status in set(signal.Signals) else f"status {status}"
    return f"it ended with {how}" + (f": {' | '.join(line[:300] for line in lines[-3:])}" if lines else "")


def _end(process: subprocess.Popen[bytes]) -> None:
    """The whole session: what the child started goes too."""
    for kind in (signal.SIGTERM, getattr(signal, "SIGKILL", signal.SIGTERM)):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            if hasattr(os, "killpg"):
                os.killpg(process.pid, kind)
            else:
                process.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(timeout=1)
    for stream in (process.stdout, process.stderr):
        if stream:
            stream.close()


@contextlib.contextmanager
def _asking(card: str | None, readings: list[tuple[float, str | None]], found: Ran) -> Iterator[None]:
    """nvidia-smi in a thread of its own: an answer that takes its time delays nothing."""
    stop = threading.Event()

    def ask() -> None:
        while card is not None and not stop.is_set():
            begin = time.monotonic()
            said, problem = nvidia_smi("--query-gpu=power.draw", "--format=csv,noheader,nounits", "-i", card)
            readings.append(((begin + time.monotonic()) / 2, said.strip() if said is not None else None))
            found.silence = problem or found.silence
            stop.wait(max(0.0, begin + EVERY - time.monotonic()))

    asker = threading.Thread(target=ask, daemon=True)
    asker.start()
    try:
        yield
    finally:
        stop.set()
        asker.join(timeout=_PATIENCE)


def nvidia_smi(*arguments: str) -> tuple[str | None, str | None]:
    """What nvidia-smi prints; else None and why not. Never raises, and never waits longer than five seconds."""
    try:
        done = subprocess.run(
            ["nvidia-smi", *arguments],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_PATIENCE,
            check=False,
            start_new_session=True,
        )
    except FileNotFoundError:
        return None, "there is no nvidia-smi here"
    except subprocess.TimeoutExpired:
        return None, f"nvidia-smi did not answer within {_PATIENCE:g} s"
    except OSError as error:
        return None, f"nvidia-smi cannot be started: {error.strerror}"
    text = done.stdout[:_PART].decode("utf-8", "replace")
    if done.returncode:
        lines = [*text.splitlines(), *done.stderr[:_PART].decode("utf-8", "replace").splitlines()]
        said = next((line.strip() for line in reversed(lines) if line.strip()), "")
        return None, f"nvidia-smi ended with status {done.returncode}" + (f": {said[:200]}" if said else "")
    return text, None
