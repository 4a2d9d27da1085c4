"""Commands: the capture script, here and on other machines through the system's own ssh.

Nothing asks anybody anything (no terminal, ``BatchMode``), everything ends (a deadline, a bound on what is read), and
a host is one argument behind ``--``: no name of a host can become an option.
"""

from __future__ import annotations

import contextlib
import os
import re
import selectors
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import IO

from knaster.adapters import scratch
from knaster.diagnostics import WorldError
from knaster.units import MIB

OUTPUT_BOUND = 16 * MIB
SECONDS = 300.0
AT_ONCE = 32

_HOST = re.compile(r"(?:ssh://)?(?:[A-Za-z0-9_][A-Za-z0-9._+-]*@)?[A-Za-z0-9_\[:][A-Za-z0-9._:%\[\]-]*")
_OPTIONS = (
    *("-T", "-x", "-a"),
    *("-o", "BatchMode=yes"),
    *("-o", "ConnectTimeout=15"),
    *("-o", "ServerAliveInterval=10"),
    *("-o", "ServerAliveCountMax=3"),
)
_COMPLAINTS = 8192
_KEPT = 64 * 1024


@dataclass(frozen=True, slots=True)
class Ran:
    """What a host answered. ``problem`` is None if the script ran to its end; `output` may hold a part even if not."""

    host: str
    output: bytes = b""
    problem: str | None = None
    hint: str | None = None


def local(script: str, *, seconds: float = SECONDS) -> Ran:
    """The script, run by this machine's ``sh``.

    Raises:
        WorldError: ``sh`` cannot be started.
    """
    return _ran("localhost", ["sh", "-s"], script, seconds, threading.Event())


def remote(
    hosts: Sequence[str],
    script: str,
    *,
    options: Sequence[str] = (),
    seconds: float = SECONDS,
    at_once: int = AT_ONCE,
    progress: Callable[[Ran], None] | None = None,
) -> Iterator[Ran]:
    """The script, run by ``sh`` on every host over ssh, `at_once` hosts at a time, one connection each.

    Answers come as they arrive, one for every host (a host named twice is asked once); `progress` sees each first.
    `options` go before the host (``-F FILE``, ``-p 2222``). Memory holds the answers that nobody has taken yet.

    Raises:
        WorldError: ssh cannot be started.
    """
    stop = threading.Event()
    waiting = iter(dict.fromkeys(hosts))
    with ThreadPoolExecutor(max_workers=at_once) as pool:
        running: set[Future[Ran]] = set()
        try:
            while True:
                for host in waiting:
                    running.add(pool.submit(_over_ssh, host, script, tuple(options), seconds, stop))
                    if len(running) >= at_once:
                        break
                if not running:
                    return
                finished, running = wait(running, return_when=FIRST_COMPLETED)
                for future in finished:
                    if progress is not None:
                        progress(future.result())
                    yield future.result()
        finally:
            stop.set()  # whoever waits no longer leaves no ssh behind


def label(host: str) -> str | None:
    """What a name of a host (``root@pve44.lan``, ``ssh://pve44:22``) calls the machine: its first label; None for an
    address."""
    name = re.sub(r":[0-9]*$", "", host.removeprefix("ssh://").rpartition("@")[2])
    return None if re.fullmatch(r"[0-9.]+|.*[:\[].*", name) else name.partition(".")[0] or None


def _over_ssh(host: str, script: str, options: tuple[str, ...], seconds: float, stop: threading.Event) -> Ran:
    if not _HOST.fullmatch(host):
        return Ran(
            host, problem="this is no name of a host", hint="name hosts as HOST, USER@HOST or ssh://USER@HOST:PORT"
        )
    return _ran(host, ["ssh", *_OPTIONS, *options, "--", host, "sh -s"], script, seconds, stop)


def _ran(host: str, command: list[str], script: str, seconds: float, stop: threading.Event) -> Ran:
    with scratch.file(script.encode()) as text:  # a file, not a pipe: who never reads it blocks nobody
        try:
            process = subprocess.Popen(
                command, stdin=text, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
            )
        except OSError as error:
            raise WorldError(f"cannot start {command[0]}: {error.strerror}", f"install {command[0]}") from error
    try:
        output, complaints, problem = _listen(process, seconds, stop)
        status = None if problem else _status(process)
    finally:
        _end(process)
    if problem is None and status:
        problem, hint = _explain(command[0], status, complaints)
        return Ran(host, output, problem, hint)
    return Ran(host, output, problem)


def _listen(process: subprocess.Popen[bytes], seconds: float, stop: threading.Event) -> tuple[bytes, bytes, str | None]:
    """Both streams to their ends; else what is there, and why no more was read."""
    assert process.stdout is not None
    assert process.stderr is not None
    kept: dict[IO[bytes], bytearray] = {process.stdout: bytearray(), process.stderr: bytearray()}
    deadline, problem = time.monotonic() + seconds, None
    with selectors.DefaultSelector() as ready:
        for stream in kept:
            ready.register(stream, selectors.EVENT_READ)
        while ready.get_map() and problem is None:
            for key, _ in ready.select(timeout=0.2):
                part = os.read(key.fd, _KEPT)
                if not part:
                    ready.unregister(key.fileobj)
                kept[key.fileobj] += part  # type: ignore[index]  # what was registered
            del kept[process.stderr][:-_COMPLAINTS]
            if len(kept[process.stdout]) > OUTPUT_BOUND:
                problem = f"it printed more than {OUTPUT_BOUND // MIB} MiB"
            elif time.monotonic() > deadline:
                problem = f"no answer within {seconds:g} s"
            elif stop.is_set():
                problem = "given up"
    return bytes(kept[process.stdout]), bytes(kept[process.stderr]), problem


def _status(process: subprocess.Popen[bytes]) -> int:
    try:
        return process.wait(timeout=5)
    except subprocess.TimeoutExpired:
        return 0  # both streams are closed: all is said


def _end(process: subprocess.Popen[bytes]) -> None:
    """The whole session: a proxy of ssh, and what the script left running, go too."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    for stream in (process.stdout, process.stderr):
        if stream:
            stream.close()


def _explain(program: str, status: int, complaints: bytes) -> tuple[str, str | None]:
    lines = [line.strip() for line in complaints.decode("utf-8", "backslashreplace").splitlines() if line.strip()]
    said = lines[-1] if lines else f"{program} ended with status {status}"
    if "Host key verification failed" in said or any("host key" in line.lower() for line in lines):
        return said, "log in once by hand to accept the host's key, or put it into known_hosts"
    if "Permission denied" in said:
        return said, "load a key that the host accepts into your ssh agent; passwords are never asked for"
    return said, None
