"""A long run that is told to stop keeps what it has: it ends once, in order, whoever asks and however often."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

_NAMES = ("SIGINT", "SIGTERM", "SIGHUP")
_ENOUGH = 10.0
"""Seconds for the end of a run; who asks again after that is obeyed."""


@contextmanager
def stoppable() -> Iterator[Callable[[], None]]:
    """SIGTERM and a terminal that is closed (SIGHUP) do as Ctrl-C does: the first raises KeyboardInterrupt.

    From then on, or from a call of what is yielded (nothing is measured any more), all wait until the end is made. A
    signal that is ignored (nohup) stays so.
    """
    ending: list[float] = []

    def stop(_number: int, _frame: FrameType | None) -> None:
        now = time.monotonic()
        if not ending or now - ending[0] > _ENOUGH:
            ending.append(now)
            raise KeyboardInterrupt

    before = _put(stop)
    try:
        yield lambda: ending.append(time.monotonic())
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _put(stop: Callable[[int, FrameType | None], None]) -> dict[int, Any]:
    """The handlers that were there before; none in a thread, where signals never arrive."""
    before: dict[int, Any] = {}
    try:
        for number in (getattr(signal, name) for name in _NAMES if hasattr(signal, name)):
            if (handler := signal.getsignal(number)) not in (signal.SIG_IGN, None):
                signal.signal(number, stop)
                before[number] = handler
    except ValueError:
        return {}
    return before
