"""Bounds for what a Proxmox VE API answers: so many bytes of one answer, so many seconds for all of them.

Between two bytes an answer may wait for a minute, and a server that sends one each second is never late by that: so the
asking is done by threads that nobody has to wait for.
"""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from knaster.adapters.files import MIB

ANSWER_BOUND = 4 * MIB
"""A node with two thousand PCI functions answers with one."""

T = TypeVar("T")
_PART = 64 * 1024


class UnboundedError(Exception):
    """An answer that is not read to its end."""


@dataclass(frozen=True, slots=True)
class Reply:
    """As much of a response as proxmoxer looks at."""

    status_code: int
    reason: str
    content: bytes

    @property
    def text(self) -> str:
        """The content as text."""
        return self.content.decode("utf-8", "replace")


@dataclass(frozen=True, slots=True)
class Bounded:
    """A session of requests whose answers come plain and have a bound. Compressed ones are not asked for, nor read."""

    session: Any

    def request(self, method: str, url: str, **more: Any) -> Reply:
        """The whole answer. Raises `UnboundedError`, and what requests raises."""
        headers = {"Accept-Encoding": "identity"}
        with self.session.request(method, url, headers=headers, stream=True, **more) as response:
            if response.headers.get("Content-Encoding", "identity").lower() != "identity":
                raise UnboundedError("it sends a compressed answer, which was not asked for")
            content = bytearray()
            for part in response.iter_content(_PART):
                content += part
                if len(content) > ANSWER_BOUND:
                    raise UnboundedError(f"it answers with more than {ANSWER_BOUND // MIB} MiB")
            return Reply(response.status_code, response.reason, bytes(content))


def within(
    end: float, at_once: int, tasks: Mapping[str, Callable[[], T]]
) -> Iterator[tuple[str, Callable[[], T] | None]]:
    """Each task's name as it ends, with what gives its result or raises; None for all that have not ended at `end`.

    `end` is a time of the monotonic clock. Nobody waits for a thread that is late, not even the end of the program.
    """
    waiting, done = queue.SimpleQueue[str](), queue.SimpleQueue[tuple[str, Callable[[], T]]]()
    for name in tasks:
        waiting.put(name)
    for _ in range(min(at_once, len(tasks))):
        threading.Thread(target=_work, args=(tasks, waiting, done), daemon=True).start()
    left = dict.fromkeys(tasks)
    try:
        while left:
            name, answer = done.get(timeout=max(0.0, end - time.monotonic()))
            del left[name]
            yield name, answer
    except queue.Empty:
        yield from ((name, None) for name in left)
    finally:
        while not waiting.empty():  # what has not begun never does
            _next(waiting)


def _work(tasks: Mapping[str, Callable[[], T]], waiting: queue.SimpleQueue[str], done: queue.SimpleQueue[Any]) -> None:
    while (name := _next(waiting)) is not None:
        done.put((name, _outcome(tasks[name])))


def _next(waiting: queue.SimpleQueue[str]) -> str | None:
    try:
        return waiting.get_nowait()
    except queue.Empty:
        return None


def _outcome(task: Callable[[], T]) -> Callable[[], T]:
    """The task's result, kept; an exception is raised where the result is asked for."""
    try:
        result = task()
    except BaseException as error:  # it belongs to whoever asks
        return _raiser(error)
    return lambda: result


def _raiser(error: BaseException) -> Callable[[], Any]:
    def raised() -> Any:
        raise error

    return raised
