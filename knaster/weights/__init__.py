"""What a published model consists of: its config, the tables of its tensors, its GGUF files. Pure: bytes to data."""

from __future__ import annotations

from knaster.weights.published import GgufFile, Published, Tensor

__all__ = ["GgufFile", "Published", "Tensor"]
