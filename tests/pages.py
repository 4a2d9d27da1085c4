"""Markdown pages as programs: their fenced blocks are run, applied or written, in order."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, what else stands behind that, and its text."""

    language: str
    about: str
    text: str


def blocks(path: Path) -> Iterator[Block]:
    """The fenced blocks of a page, in order."""
    for language, about, text in re.findall(r"(?ms)^```(\w+)([^\n]*)\n(.*?)^```$", path.read_text("utf-8")):
        yield Block(language, about.strip(), text)


def commands(text: str) -> Iterator[tuple[str, list[str]]]:
    """Each command of a console block, with the output shown below it."""
    for part in re.split(r"(?m)^\$ ", text)[1:]:
        command, *output = part.rstrip("\n").split("\n")
        yield command, output


def pattern(output: list[str]) -> str:
    """Shown output as a pattern: a line ``...`` stands for any lines, ``...`` at a line's end for its rest."""
    parts = []
    for line in output:
        if line == "...":
            parts.append(r"(?:.*\n)*?")
        else:
            head = line.removesuffix("...")
            parts.append(re.escape(head) + (".*" if head != line else "") + r"\n")
    return "".join(parts)


def patched(text: str, change: str) -> str:
    """`text` after a change in the form of a diff without line numbers; what it takes away stands there once."""
    old = "".join(line[1:] for line in change.splitlines(keepends=True) if line[0] in " -")
    new = "".join(line[1:] for line in change.splitlines(keepends=True) if line[0] in " +")
    assert text.count(old) == 1, f"these lines do not stand there once:\n{old}"
    return text.replace(old, new)
