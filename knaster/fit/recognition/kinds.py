"""What kind of memory each layer of a model keeps, from the many ways in which a config says so."""

from __future__ import annotations

from typing import Literal

from knaster.fit.recognition.config import MOST_LAYERS, Config, UnknownError, quoted

Kind = Literal["full", "sliding", "delta", "mamba2", "mamba1", "conv", "both", "none"]
"""``both`` keeps a full cache and a Mamba 2 state (Falcon H1); ``none`` keeps nothing (a block of experts alone)."""

_TYPES: dict[str, Kind] = {
    "full_attention": "full",
    "attention": "full",
    "sliding_attention": "sliding",
    "linear_attention": "delta",
    "conv": "conv",
    "mamba": "mamba2",
    "moe": "none",
    "mlp": "none",
}
_PATTERN: dict[str, Kind] = {"M": "mamba2", "*": "full", "-": "none", "E": "none"}


def kinds(config: Config, windows: str, recurrent: Kind) -> tuple[Kind, ...]:
    """The kind of each layer.

    Order of trust (facts of transformers 5): ``layer_types``, ``hybrid_override_pattern``, ``full_attention_interval``,
    ``attn_layer_period``, ``full_attn_idxs``, ``sliding_window_pattern``. `windows` says how a family slides without
    a list: ``all`` layers, never, ``switch`` (Qwen 2 and 3: ``use_sliding_window``), or the number of the pattern that
    its class defaults to. `recurrent` is the kind of a family's layers that are no attention.
    """
    count = config.layers()
    for told in (_listed, _pattern, _interval, _period, _indices):
        found = told(config, count, recurrent)
        if found is not None:
            return found if window(config) else _without_windows(found)
    if recurrent == "both":
        return (recurrent,) * count
    return _windows(config, count, windows)


def window(config: Config) -> int | None:
    """The sliding window in tokens; None where there is none, it is switched off, or it spans the whole context."""
    size = config.zero("sliding_window", "sliding_window_size")
    context = config.maybe("max_position_embeddings", "max_seq_len", "n_positions")
    off = config.get("use_sliding_window") is False
    return None if not size or off or (context is not None and size >= context) else size


def _without_windows(found: tuple[Kind, ...]) -> tuple[Kind, ...]:
    full: Kind = "full"
    return tuple(full if kind == "sliding" else kind for kind in found)


def _listed(config: Config, count: int, recurrent: Kind) -> tuple[Kind, ...] | None:
    names = config.entries("layer_types") or config.entries("layers_block_type")
    if names is None:
        return None
    if len(names) < count:
        raise UnknownError(f"{config.where}: layer_types names {len(names)} layers of {count}")
    return tuple(_named(name, config, recurrent) for name in names[:count])


def _named(name: object, config: Config, recurrent: Kind) -> Kind:
    if not isinstance(name, str) or name not in _TYPES:
        raise UnknownError(f"{config.where}: what a layer of the type {quoted(name)} keeps is not modelled")
    kind = _TYPES[name]
    return recurrent if kind == "mamba2" and recurrent != "full" else kind


def _pattern(config: Config, count: int, _: Kind) -> tuple[Kind, ...] | None:
    pattern = config.text_of("hybrid_override_pattern")
    if pattern is None:
        return None
    if len(pattern) != count or not set(pattern) <= set(_PATTERN):
        raise UnknownError(
            f"{config.where}: hybrid_override_pattern {quoted(pattern)} does not describe {count} layers"
        )
    return tuple(_PATTERN[letter] for letter in pattern)


def _interval(config: Config, count: int, recurrent: Kind) -> tuple[Kind, ...] | None:
    every = config.maybe("full_attention_interval", most=count)
    if every is None:
        return None
    return tuple("full" if (layer + 1) % every == 0 else recurrent for layer in range(count))


def _period(config: Config, count: int, recurrent: Kind) -> tuple[Kind, ...] | None:
    period = config.maybe("attn_layer_period", most=count)
    if period is None:
        return None
    offset = config.zero("attn_layer_offset", most=count)
    return tuple("full" if layer % period == offset else recurrent for layer in range(count))


def _indices(config: Config, count: int, recurrent: Kind) -> tuple[Kind, ...] | None:
    full = config.entries("full_attn_idxs")
    if full is None:
        return None
    return tuple("full" if layer in full else recurrent for layer in range(count))


def _windows(config: Config, count: int, windows: str) -> tuple[Kind, ...]:
    slides: frozenset[int] = frozenset()
    if window(config) is not None and windows == "switch" and config.get("use_sliding_window") is True:
        slides = frozenset(range(config.zero("max_window_layers"), count))
    elif window(config) is not None and windows == "all":
        slides = frozenset(range(count))
    elif window(config) is not None and windows.isdecimal():
        every = config.maybe("sliding_window_pattern", "_sliding_window_pattern", most=MOST_LAYERS) or int(windows)
        slides = frozenset(layer for layer in range(count) if (layer + 1) % every)
    return tuple("sliding" if layer in slides else "full" for layer in range(count))
