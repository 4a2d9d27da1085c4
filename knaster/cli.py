"""argv in, exit status out: 0 yes, 1 no, 2 could not tell. The one place where exceptions end."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Sequence

from knaster.arguments import parse

INTERRUPTED = 130
BROKEN_PIPE = 141


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command. Never raises; a traceback appears only with ``-v``, and only for a bug."""
    try:
        args = parse(argv)
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else 2
    gc.disable()  # one short run makes no garbage worth collecting, and searching for it grows faster than the fleet
    try:
        from importlib import import_module

        status: int = import_module(f"knaster.commands.{args.module}").run(args)
        return status
    except BrokenPipeError:
        return _deaf()
    except KeyboardInterrupt:
        return INTERRUPTED
    except Exception as problem:
        return _failed(problem, verbose=args.verbose)
    finally:
        gc.enable()


def _failed(problem: Exception, *, verbose: bool) -> int:
    """Say what failed on stderr; exit status 2."""
    from knaster.diagnostics import WorldError
    from knaster.reports.inert import inert

    if isinstance(problem, WorldError):
        lines = [f"knaster: error: {inert(problem.message)}"]
        lines += [f"hint: {inert(problem.hint)}"] if problem.hint else []
    else:
        lines = [f"This is a bug in knaster. {type(problem).__name__}: {inert(str(problem))}"]
        if verbose:
            import traceback

            lines.append("".join(traceback.format_exception(problem)).rstrip())
    _say("\n".join(lines))
    return 2


def _say(text: str) -> None:
    from contextlib import suppress

    if sys.stderr is not None:
        encoding = getattr(sys.stderr, "encoding", None) or "utf-8"
        with suppress(OSError, ValueError):  # nobody listens; the exit status still tells
            sys.stderr.write(text.encode(encoding, "backslashreplace").decode(encoding) + "\n")


def _deaf() -> int:
    """The reader of stdout left, which is its right; keep Python's own flush at exit from complaining."""
    from contextlib import suppress

    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return BROKEN_PIPE
