"""How the parsers get at a model's files, wherever they lie: a listing, and bytes by range."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Protocol

Listing = Mapping[str, tuple[int | None, str | None]]
"""Path in the model (``model.safetensors``, ``onnx/model.onnx``) to its bytes and its sha256, None where not known."""

Progress = Callable[[str, int, int], None]
"""Told before each slow step: what is read, how many are done, how many there are."""


class Reader(Protocol):
    """A model's files. ``name`` is what the user asked for, ``revision`` the commit where there is one."""

    @property
    def name(self) -> str:
        """The repository, folder or file."""

    @property
    def revision(self) -> str | None:
        """The commit that is read; None for folders and files."""

    @property
    def files(self) -> Listing:
        """Every file, those in sub-folders too."""

    def read(self, path: str, start: int, length: int) -> bytes:
        """At most `length` bytes from `start` on; fewer only where the file ends. Raises WorldError."""


class MalformedError(ValueError):
    """A file is not what its name says; the message tells where and why."""


@contextmanager
def reading(path: str) -> Iterator[None]:
    """Name the file in what is wrong with it."""
    try:
        yield
    except MalformedError as error:
        raise MalformedError(f"{path} cannot be read: {error}") from None


def whole(reader: Reader, path: str, bound: int) -> bytes:
    """A small file. Raises MalformedError where it is longer than `bound` bytes, WorldError."""
    text = reader.read(path, 0, bound + 1)
    if len(text) > bound:
        raise MalformedError(f"it is longer than {bound} bytes")
    return text
