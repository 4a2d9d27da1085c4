"""Files that a person names: a path, a pipe, or ``-`` for standard input; of bounded size."""

from __future__ import annotations

import sys
from pathlib import Path

from knaster.diagnostics import WorldError
from knaster.units import MIB


def text_of(path: str, bound: int, hint: str | None = None) -> str:
    """Its text, bytes that are no UTF-8 replaced. Raises WorldError where there is none, or more than `bound` bytes."""
    try:
        if path == "-":
            data = sys.stdin.buffer.read(bound + 1)
        else:
            with Path(path).open("rb") as stream:  # a pipe too: <(tofu show -json PLAN)
                data = stream.read(bound + 1)
    except FileNotFoundError as error:
        raise WorldError(f"there is no file {path}", hint) from error
    except (OSError, ValueError) as error:
        raise WorldError(f"cannot read {path}: {getattr(error, 'strerror', None) or error}") from error
    if len(data) > bound:
        raise WorldError(f"{called(path)} is larger than {bound // MIB} MiB")
    return _decoded(data)


def called(path: str) -> str:
    """What it is called in a sentence."""
    return "what came in on standard input" if path == "-" else path


def _decoded(data: bytes) -> str:
    """PowerShell's ``>`` writes UTF-16 with a byte order mark."""
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return data.decode("utf-16", "replace")
    return data.decode("utf-8-sig", "replace")
