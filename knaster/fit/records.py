"""``catalog/architectures/<model>.yaml``: what is known of a catalog model's architecture, so that CI needs no network.

A record holds every fact of an `Architecture` and nothing else; defaults are left out. Layers are written as ranges.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields
from typing import Any

from knaster.cluster.architecture import Architecture, LayerCache, TensorGroup
from knaster.diagnostics import Diagnostic, Place, Route
from knaster.document import Value
from knaster.document.emitter import dump

FOLDER = "catalog/architectures/"
_HEAD = """yaml-language-server: $schema=../../schemas/architecture.schema.json

The architecture of {name}, as `knaster model plan` read it: `knaster validate` compares vram_gb with it.
"""
_PLAIN = (
    *("family", "parameters", "layers", "hidden", "heads", "kv_heads", "head_dim", "vocab", "context", "stored"),
    *("tied", "encoder", "experts", "exact"),
)
_CACHE = tuple(field.name for field in fields(LayerCache))
_CACHE_DEFAULTS = {"kv_heads": 0, "key_dim": 0, "value_dim": 0, "window": None, "state_bytes": 0, "conv_elements": 0}


def record_file(model: str) -> str:
    """The path of a catalog model's record. No file on Windows may have a ``:`` in its name."""
    return f"{FOLDER}{record_name(model)}.yaml"


def record_name(model: str) -> str:
    """The name under which `Cluster.architectures` has a catalog model."""
    return model.replace(":", "_")


def record_text(architecture: Architecture) -> str:
    """The text of a record; the same architecture gives the same bytes."""
    return dump(record(architecture), _HEAD.format(name=_shown(architecture.name)))


def record(architecture: Architecture) -> dict[str, Value]:
    """The data of a record, keys in the order of the schema. `architecture` gives the same `Architecture` back."""
    data: dict[str, Any] = {"source": _shown(architecture.name)}
    data |= {key: getattr(architecture, key) for key in _PLAIN}
    data["caches"] = [_cache(cache) for cache in architecture.caches]
    data["tensors"] = [_group(group) for group in architecture.tensors]
    if architecture.block:
        data["block"] = architecture.block
    if architecture.extra:
        data["extra"] = [{"name": name, "size": size} for name, size in architecture.extra]
    return data


def architecture(data: Mapping[str, Any]) -> Architecture:
    """The `Architecture` of data that the schema accepts and `problems` finds nothing wrong with."""
    return Architecture(
        name=data["source"],
        caches=tuple(LayerCache(**cache) for cache in data["caches"]),
        tensors=tuple(_tensors(data["tensors"])),
        block=data.get("block", 0),
        extra=tuple((item["name"], item["size"]) for item in data.get("extra", ())),
        **{key: data[key] for key in _PLAIN},
    )


def problems(path: str, data: Mapping[str, Any]) -> tuple[Diagnostic, ...]:
    """What no schema can say: ranges of layers that run backwards or past the last layer, caches of too many layers."""
    return tuple(_problems(path, data, data["layers"]))


def _problems(path: str, data: Mapping[str, Any], layers: int) -> Iterator[Diagnostic]:
    for number, group in enumerate(data["tensors"]):
        ranges = _ranges(group.get("layers", ""))
        route: Route = ("tensors", number, "layers")
        if not _ascend(ranges):
            yield _wrong(path, route, "the layers of a tensor are written in ascending ranges, each layer once")
        elif ranges and ranges[-1][1] >= layers:
            message = f"a tensor is in layer {ranges[-1][1]}, and the model has the layers 0 to {layers - 1}"
            yield _wrong(path, route, message)
        elif ("{}" in group["name"]) != bool(ranges):
            yield _wrong(path, route[:-1], "a tensor has layers where its name has {}, and only there")
    for number, cache in enumerate(data["caches"]):
        if cache["layers"] > layers:
            message = f"{cache['layers']} layers keep a cache, and the model has {layers}"
            yield _wrong(path, ("caches", number, "layers"), message)


def _shown(name: str) -> str:
    """A name without what YAML, a terminal or a file of text could not bear (a path may hold any byte)."""
    return "".join(mark if mark.isprintable() else "?" for mark in name) or "?"


def _wrong(path: str, route: Route, message: str) -> Diagnostic:
    return Diagnostic(
        "schema-value", message, Place(path, route), hint="take the record as `knaster model plan --write` makes it"
    )


def _cache(cache: LayerCache) -> dict[str, Any]:
    data = {key: getattr(cache, key) for key in _CACHE}
    return {key: value for key, value in data.items() if _CACHE_DEFAULTS.get(key, ()) != value}


def _group(group: TensorGroup) -> dict[str, Any]:
    data: dict[str, Any] = {
        "name": group.name,
        "shape": "x".join(map(str, group.shape)),
        "dtype": group.dtype,
        "size": group.size,
    }
    return {**data, "layers": _written(group.layers)} if group.layers else data


def _tensors(groups: Iterable[Mapping[str, Any]]) -> Iterator[TensorGroup]:
    for group in groups:
        shape = tuple(int(length) for length in group["shape"].split("x"))
        layers = tuple(layer for first, last in _ranges(group.get("layers", "")) for layer in range(first, last + 1))
        yield TensorGroup(group["name"], shape, group["dtype"], group["size"], layers)


def _ranges(text: str) -> list[tuple[int, int]]:
    """``0-3,7`` as (0, 3), (7, 7)."""
    parts = (part.partition("-") for part in text.split(",") if part)
    return [(int(first), int(last or first)) for first, _, last in parts]


def _ascend(ranges: list[tuple[int, int]]) -> bool:
    before = -1
    for first, last in ranges:
        if first <= before or last < first:
            return False
        before = last
    return True


def _written(layers: tuple[int, ...]) -> str:
    """(0, 1, 2, 3, 7) as ``0-3,7``."""
    runs: list[list[int]] = []
    for layer in layers:
        if runs and layer == runs[-1][1] + 1:
            runs[-1][1] = layer
        else:
            runs.append([layer, layer])
    return ",".join(str(first) if first == last else f"{first}-{last}" for first, last in runs)
