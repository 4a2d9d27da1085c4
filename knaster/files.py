"""Files as the core sees them: a mapping of path to text, whatever they were read from.

A working tree, a commit and a merge all become `Files`, so nothing in the core knows where a text came from.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Refused:
    """An entry that was not read, and why (``a symbolic link``, ``3 MiB, over the bound of 2 MiB``)."""

    reason: str


Entry = str | Refused
"""Text, or a refusal. Invalid UTF-8 bytes are lone surrogates (``surrogateescape``), so that a place can be named."""

Files = Mapping[str, Entry]
"""Path relative to the repository (``inventory/pve44.yaml``, always with ``/``) to entry."""
