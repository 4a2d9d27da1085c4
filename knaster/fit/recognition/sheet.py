"""The list of tensors that a model consists of, written down block by block under GGUF's names."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

Row = tuple[str, tuple[int, ...], tuple[int, ...]]
"""Name with ``{}`` for the layer, shape with the row length last, the layers that own one (empty outside layers)."""


@dataclass(frozen=True, slots=True)
class Sheet:
    """Rows in the making, and the sizes that nearly every row needs."""

    hidden: int
    rows: list[Row] = field(default_factory=list)

    def top(self, name: str, *shape: int) -> None:
        """A tensor outside the layers."""
        self.rows.append((name, shape, ()))

    def block(self, layers: Iterable[int], part: str, *shape: int) -> None:
        """A tensor of each of `layers`; none where no layer owns it or it is empty."""
        owners = tuple(layers)
        if owners and all(shape):
            self.rows.append((f"blk.{{}}.{part}", shape, owners))

    def linear(self, layers: Iterable[int], part: str, rows: int, columns: int, *, bias: bool = False) -> None:
        """A weight and, if so, its bias."""
        owners = tuple(layers)
        self.block(owners, f"{part}.weight", rows, columns)
        if bias:
            self.block(owners, f"{part}.bias", rows)

    def norms(self, layers: Iterable[int], *parts: str, bias: bool = False) -> None:
        """Norms as wide as the model."""
        owners = tuple(layers)
        for part in parts:
            self.block(owners, f"{part}.weight", self.hidden)
            if bias:
                self.block(owners, f"{part}.bias", self.hidden)
