"""What was published of a model, to an architecture that can be calculated with; or why that is not possible."""

from __future__ import annotations

from knaster.fit.architecture import Architecture, CannotTell
from knaster.weights import GgufFile, Published


def recognise(
    published: Published, gguf: GgufFile | None = None, parameters: int | None = None
) -> Architecture | CannotTell:
    """The architecture of `published`, from its headers where they were read, else from its config.

    `gguf` takes the header of that file instead of the config. `parameters` overrides the published count: the layers
    are then taken to hold what embedding and output leave of it, and the result is not ``exact``.
    """
    raise NotImplementedError
