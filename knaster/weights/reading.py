"""A model's files to `Published`: config, tables of tensors, GGUF files; or why it is none to plan with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from knaster.units import MIB
from knaster.weights import gguf, gguf_names
from knaster.weights.kinds import Unreadable, not_a_model, passed_over
from knaster.weights.published import GgufFile, Published, Tensor
from knaster.weights.reader import MalformedError, Progress, Reader, reading, whole
from knaster.weights.safetensors import json_object
from knaster.weights.shards import Shards, shards

CONFIG = "config.json"
CONFIG_BOUND = 4 * MIB
LISTED = 500
"""GGUF models of one repository that are looked at."""


def published(
    reader: Reader, want: Sequence[str] = (), *, only: str | None = None, progress: Progress | None = None
) -> Published | Unreadable:
    """All that a plan needs to know of a model, read by range: megabytes where the weights are gigabytes.

    Of safetensors, only the files that the index names are looked at, never ``original/`` or ``consolidated*``. Of GGUF
    files, the headers of those that `want` names are read, each by its path or by its precision in lower case; without
    a ``config.json`` at least one is, else nothing would say what the model is. `only` names one GGUF file in the same
    way: then nothing else is read. Raises WorldError where reading fails.
    """
    problem = not_a_model(reader)
    if problem is not None:
        return problem
    told = progress or (lambda _what, _done, _all: None)
    try:
        return _only(reader, only, told) if only is not None else _published(reader, frozenset(want), told)
    except MalformedError as error:
        return Unreadable(str(error), "download the file again; if it stays so, its publisher has to mend it")


def _published(reader: Reader, want: frozenset[str], told: Progress) -> Published:
    config: Mapping[str, object] | None = None
    found = Shards(None)
    if CONFIG in reader.files:
        told("config", 0, 1)
        with reading(CONFIG):
            config = json_object(whole(reader, CONFIG, CONFIG_BOUND))
        found = shards(reader, told)
    listed, notes = _listed(reader), []
    chosen = _chosen(listed, want, needed=config is None)
    for number, file in enumerate(chosen):
        told(file.path, number, len(chosen))
        try:
            listed[listed.index(file)] = _with_header(reader, file)
        except MalformedError as error:
            if config is None:
                raise
            notes.append(str(error))
    return Published(
        name=reader.name,
        revision=reader.revision,
        config=config,
        tensors=found.tensors,
        gguf=tuple(listed),
        notes=(*found.notes, *passed_over(reader, found.paths), *_gaps(listed), *notes),
    )


def _only(reader: Reader, only: str, told: Progress) -> Published | Unreadable:
    listed = _listed(reader)
    chosen = _chosen(listed, frozenset({only}), needed=False)
    if not chosen:
        there = sorted({kind for file in listed if (kind := gguf_names.precision(file.path)) is not None})
        hint = f"there is: {', '.join(there)}" if there else "name a repository with GGUF files, or leave the name out"
        return Unreadable(f"{reader.name} has no whole GGUF file {only}", hint)
    told(chosen[0].path, 0, 1)
    return Published(reader.name, reader.revision, gguf=(_with_header(reader, chosen[0]),), notes=())


def _listed(reader: Reader) -> list[GgufFile]:
    """The GGUF models on offer, their headers unread. A split one is as large as its parts, and has no one sum."""
    found = []
    for parts in gguf_names.models(reader.files)[:LISTED]:
        sizes = [reader.files[part][0] for part in parts]
        known = [size for size in sizes if size is not None]
        whole_size = sum(known) if len(known) == len(sizes) and not gguf_names.missing(parts) else None
        sha256 = reader.files[parts[0]][1] if len(parts) == 1 else None
        found.append(GgufFile(parts[0], whole_size, sha256, parts if len(parts) > 1 else ()))
    return found


def _chosen(listed: Sequence[GgufFile], want: frozenset[str], *, needed: bool) -> list[GgufFile]:
    """Whose headers to read. Of several files of one precision, the first whole one: they differ by little.

    Where one is needed and none is wanted: the smallest, whose header is as long as any other's.
    """
    whole_ones = [file for file in listed if not gguf_names.missing(file.parts or (file.path,))]
    chosen, seen = [], set()
    for file in whole_ones:
        kind = gguf_names.precision(file.path)
        if file.path in want or (kind in want and kind not in seen):
            chosen.append(file)
            seen.add(kind)
    if needed and not chosen:
        chosen = sorted(whole_ones, key=lambda file: (file.size or 0, file.path))[:1]
    return chosen


def _with_header(reader: Reader, file: GgufFile) -> GgufFile:
    """The file with what its header says: the metadata of the first part, the tensors of all."""
    metadata: Mapping[str, object] = {}
    tensors: list[Tensor] = []
    for number, part in enumerate(file.parts or (file.path,)):
        with reading(part):
            header = gguf.header(reader, part)
        metadata = metadata if number else header.metadata
        tensors += header.tensors
    with reading(file.path):
        if len({tensor.name for tensor in tensors}) != len(tensors):
            raise MalformedError("its parts hold two tensors of one name")
    return replace(file, metadata=metadata, tensors=tuple(tensors))


def _gaps(listed: Sequence[GgufFile]) -> list[str]:
    gone = [(file.path, gguf_names.missing(file.parts)) for file in listed if file.parts]
    gone += [(file.path, gguf_names.missing((file.path,))) for file in listed if not file.parts]
    return [f"{path}: {count} of its parts are not there, so it was not read" for path, count in gone if count]
