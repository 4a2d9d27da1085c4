"""A model as its repository, folder or file publishes it, before anybody interprets it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import prod


@dataclass(frozen=True, slots=True)
class Tensor:
    """One stored tensor: its name, its shape (rows first, the row length last) and its storage type in lower case.

    The type is that of the file: ``bf16``, ``f16``, ``f32``, ``f8_e4m3``, ``i32``, ``u8`` … of safetensors, or one of
    GGUF (``q4_k``, ``mxfp4`` …). ``size`` is its bytes in the file.
    """

    name: str
    shape: tuple[int, ...]
    dtype: str
    size: int

    @property
    def elements(self) -> int:
        """How many numbers the tensor holds; packed ones (``i32`` of AWQ and GPTQ) count as stored."""
        return prod(self.shape)


@dataclass(frozen=True, slots=True)
class GgufFile:
    """One GGUF model (all parts of a split one): path of the first part, bytes, and what its header says.

    ``metadata`` and ``tensors`` are empty as long as the header was not read, which a listing does not need.
    """

    path: str
    size: int | None
    sha256: str | None = None
    parts: tuple[str, ...] = ()
    metadata: Mapping[str, object] = field(default_factory=dict)
    tensors: tuple[Tensor, ...] = ()


@dataclass(frozen=True, slots=True)
class Published:
    """All that was read of a model.

    ``name`` is the repository (``Qwen/Qwen3-14B``), folder or file as asked for; ``config`` the raw ``config.json``;
    ``tensors`` those of the files that the index names, None where no header could be read; ``gguf`` the GGUF models on
    offer, with their headers where they were read; ``notes`` what a reader should know (files passed over, and why).
    """

    name: str
    revision: str | None = None
    config: Mapping[str, object] | None = None
    tensors: tuple[Tensor, ...] | None = None
    gguf: tuple[GgufFile, ...] = ()
    notes: tuple[str, ...] = ()
