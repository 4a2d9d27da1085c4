"""What a published model consists of: its config, the tables of its tensors, its GGUF files. Pure: bytes to data."""

from __future__ import annotations

from knaster.weights.kinds import Unreadable
from knaster.weights.published import GgufFile, Published, Tensor
from knaster.weights.reader import Listing, Progress, Reader
from knaster.weights.reading import published

__all__ = ["GgufFile", "Listing", "Progress", "Published", "Reader", "Tensor", "Unreadable", "published"]
