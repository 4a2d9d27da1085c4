"""Which safetensors files make up a model, and the tables of their tensors.

A repository may hold the same weights several times (``original/``, ``metal/``, ``consolidated.safetensors``): summing
every file once doubled a published catalog's figure for gpt-oss-120b. What the index names is the model.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from knaster.units import MIB
from knaster.weights import safetensors
from knaster.weights.published import Tensor
from knaster.weights.reader import MalformedError, Progress, Reader, reading, whole

INDEX = "model.safetensors.index.json"
SINGLE = "model.safetensors"
INDEX_BOUND = 64 * MIB
SHARDS_BOUND = 2000
TENSORS_BOUND = 2_000_000
_AT_ONCE = 8


@dataclass(frozen=True, slots=True)
class Shards:
    """The tensors (None where no header could be read), the files that they come from, and what to know about them."""

    tensors: tuple[Tensor, ...] | None
    paths: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def shards(reader: Reader, told: Progress) -> Shards:
    """The headers of the model's safetensors files. Raises MalformedError, WorldError."""
    if INDEX in reader.files:
        with reading(INDEX):
            paths = _indexed(safetensors.json_object(whole(reader, INDEX, INDEX_BOUND)))
    else:
        paths = (SINGLE,) if SINGLE in reader.files else ()
    absent = [path for path in paths if path not in reader.files]
    if absent:
        return Shards(None, paths, (f"{len(absent)} of the {len(paths)} files with weights are not there",))
    if not paths:
        return Shards(None)
    tensors = _headers(reader, paths, told)
    if len({tensor.name for tensor in tensors}) != len(tensors):
        raise MalformedError("its files with weights hold two tensors of one name")
    return Shards(tensors, paths)


def _indexed(index: Mapping[str, object]) -> tuple[str, ...]:
    """The files that the index names, sorted. A name is looked up in the listing and never becomes a path on disk."""
    places = index.get("weight_map")
    if not isinstance(places, dict) or not places or len(places) > TENSORS_BOUND:
        raise MalformedError("it maps no tensors to files")
    names = set()
    for name in places.values():
        if not isinstance(name, str) or not name.endswith(".safetensors"):
            raise MalformedError("it names a file that is none of safetensors")
        names.add(name)
    if len(names) > SHARDS_BOUND:
        raise MalformedError(f"it names {len(names)} files, over the bound of {SHARDS_BOUND}")
    return tuple(sorted(names))


def _headers(reader: Reader, paths: tuple[str, ...], told: Progress) -> tuple[Tensor, ...]:
    """Of all files, several at a time: a server answers each within a tenth of a second, and large models have 160."""
    from concurrent.futures import ThreadPoolExecutor

    found: list[Tensor] = []
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        try:
            for number, header in enumerate(pool.map(lambda path: _header(reader, path), paths)):
                told("weights", number, len(paths))
                found += header
                if len(found) > TENSORS_BOUND:
                    raise MalformedError(f"its files hold more than {TENSORS_BOUND} tensors")
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
    return tuple(found)


def _header(reader: Reader, path: str) -> tuple[Tensor, ...]:
    with reading(path):
        return safetensors.header(reader, path)
