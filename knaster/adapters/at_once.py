"""Several things at once, and so many seconds for all of them.

Between two bytes an answer may wait for a minute, and a server that sends one each second is never late by that: so the
asking is done by threads that nobody has to wait for.
"""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Generator, Mapping
from typing import Any, TypeVar

T = TypeVar("T")


def within(
    end: float, at_once: int, tasks: Mapping[str, Callable[[], T]]
) -> Generator[tuple[str, Callable[[], T] | None], None, None]:
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
