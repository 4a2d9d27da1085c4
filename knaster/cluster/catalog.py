"""``catalog/models.yaml``: engines and models. Units: ``vram_gb`` and ``min_memory_gb`` are GiB."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from knaster.cluster.machines import Number
from knaster.diagnostics import Place

MODELS_FILE = "catalog/models.yaml"
BENCHMARKS = "catalog/benchmarks/"


@dataclass(frozen=True, slots=True)
class Engine:
    """An inference engine and its floors, which hold for all of its models.

    ``metrics`` is the path at which its slots show Prometheus their metrics; None: they show none.
    """

    name: str
    min_cc: Number = 0
    max_cc: Number | None = None
    os: tuple[str, ...] = ("linux",)
    gpu: Literal["required", "optional", "none"] = "required"
    port: int | None = None
    metrics: str | None = None


@dataclass(frozen=True, slots=True)
class Figure:
    """A performance figure with where and when it was taken; ``kind`` says whether anybody measured it.

    ``spread`` is the standard deviation in the figure's unit, ``card`` a card type, ``build`` that of the engine;
    ``partial``: of a run that was cut before its end.
    """

    metric: str
    value: Number
    unit: str
    kind: Literal["estimated", "measured"]
    card: str | None = None
    node: str | None = None
    engine: str | None = None
    date: str | None = None
    source: str | None = None
    spread: Number | None = None
    voice: str | None = None
    build: str | None = None
    partial: bool = False


@dataclass(frozen=True, slots=True)
class History:
    """Every figure that was ever taken of a model, in the order of its file. The plan does not depend on it."""

    model: str
    runs: tuple[Figure, ...]
    file: str


@dataclass(frozen=True, slots=True)
class Model:
    """A catalog model; ``vram_gb`` is weights plus a minimal KV cache in GiB."""

    name: str
    kind: str
    vram_gb: Number
    engines: tuple[str, ...]
    min_cc: Number = 0
    context: int | None = None
    lora: bool = False
    source: str | None = None
    precision: str | None = None
    args: tuple[str, ...] = ()
    tensor_parallel: int = 1
    nodes: int = 1
    min_memory_gb: Number = 0
    startup_timeout: int | None = None
    figures: tuple[Figure, ...] = ()


@dataclass(frozen=True, slots=True)
class Catalog:
    """The content of ``catalog/models.yaml``."""

    engines: Mapping[str, Engine] = field(default_factory=dict)
    models: Mapping[str, Model] = field(default_factory=dict)


def history_file(model: str) -> str:
    """The file of a model's history. Windows has no ``:`` in names of files, and no model has a ``%``."""
    return f"{BENCHMARKS}{model.replace(':', '%3A')}.yaml"


def models_place(*route: str | int, on: Literal["key", "value"] = "value") -> Place:
    """A place in the models file."""
    return Place(MODELS_FILE, tuple(route), on)
