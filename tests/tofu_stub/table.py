"""``schema.txt`` as a tree."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

_TABLE = Path(__file__).with_name("schema.txt")


@dataclass
class Part:
    """An attribute or block: its type as the table writes it, its flags, and what is inside."""

    name: str
    kind: str
    flags: frozenset[str]
    parts: list[Part] = field(default_factory=list)

    @property
    def is_block(self) -> bool:
        """Whether it is a list of blocks, not an attribute."""
        return self.kind.startswith("block:")

    @property
    def most(self) -> int:
        """How many blocks there may be; 0 is any number."""
        limit = self.kind.removeprefix("block:")
        return int(limit) if limit.isdecimal() else 0

    @property
    def wire_type(self) -> bytes:
        """The type in cty's JSON."""
        return json.dumps(json.loads(self.kind) if self.kind.startswith("[") else self.kind).encode()

    def empty(self) -> dict[str, Any]:
        """An object of this shape that holds nothing."""
        return {part.name: [] if part.is_block else None for part in self.parts}


def read() -> dict[str, Part]:
    """The resources and the provider's own configuration by name."""
    top = Part("", "", frozenset())
    open_parts = [top]
    for line in _TABLE.read_text("utf-8").splitlines():
        if line.startswith("#"):
            continue
        depth = (len(line) - len(line.lstrip())) // 2
        name, kind, *flags = line.split()
        part = Part(name, kind, frozenset(flags))
        del open_parts[depth + 1 :]
        open_parts[depth].parts.append(part)
        open_parts.append(part)
    return {part.name: part for part in top.parts}
