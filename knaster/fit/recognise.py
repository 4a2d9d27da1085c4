"""What was published of a model, to an architecture that can be calculated with; or why that is not possible."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from knaster.cluster.architecture import Architecture, CannotTell, LayerCache, TensorGroup
from knaster.fit.recognition.config import Config, UnknownError, config_of, quoted
from knaster.fit.recognition.decoders import experts_of
from knaster.fit.recognition.families import Family, family_of
from knaster.fit.recognition.gguf import gguf_architecture
from knaster.fit.recognition.headers import Loaded, loaded
from knaster.fit.recognition.heads import Heads, heads_of
from knaster.fit.recognition.kinds import Kind, kinds
from knaster.fit.recognition.layer_caches import layer_caches
from knaster.fit.recognition.precision import Stored, stored_as
from knaster.fit.recognition.sheet import Sheet
from knaster.weights import GgufFile, Published

_MOST_SCALING = 1024
"""No RoPE is scaled by more; what claims to be is not believed."""


def recognise(
    published: Published, gguf: GgufFile | None = None, parameters: int | None = None
) -> Architecture | CannotTell:
    """The architecture of `published`, from its headers where they were read, else from its config.

    `gguf` takes the header of that file instead of the config. `parameters` overrides the published count: the layers
    are then taken to hold what embedding and output leave of it, and the result is not ``exact``.
    """
    try:
        found = _from_config(published, parameters) if gguf is None else gguf_architecture(published.name, gguf)
        return found if parameters is None else _with_parameters(found, parameters)
    except UnknownError as unknown:
        return unknown.told


def _from_config(published: Published, parameters: int | None) -> Architecture:
    if published.config is None:
        raise UnknownError("there is no config.json, which says how the model is built")
    config, name, family = _recognised(config_of(published.config))
    every = kinds(config, family.windows, family.recurrent)
    stored = stored_as(config)
    parts = _tensors(published, (config, family, every), stored, parameters)
    heads = heads_of(config)
    caches = _caches(config, family, every, heads)
    return Architecture(
        name=published.name,
        family=name,
        parameters=sum(group.elements for group in parts.tensors),
        layers=len(every),
        hidden=_hidden(config),
        heads=heads.count,
        kv_heads=max((cache.kv_heads for cache in caches), default=heads.kv) if family.caches else heads.kv,
        head_dim=heads.dim,
        vocab=config.count("vocab_size"),
        context=_context(config, family),
        stored=stored.named(parts.tensors if published.tensors else ()),
        tied=not parts.output and not family.encoder,
        encoder=family.encoder,
        caches=caches,
        tensors=parts.tensors,
        experts=experts_of(config),
        extra=parts.extra,
        exact=published.tensors is not None,
        block=stored.block,
    )


def _caches(config: Config, family: Family, every: tuple[Kind, ...], heads: Heads) -> tuple[LayerCache, ...]:
    if family.encoder:
        return ()
    return layer_caches(config, every, heads) if family.caches is None else family.caches(config)


def _recognised(config: Config) -> tuple[Config, str, Family]:
    """The config with the defaults of its family; raises UnknownError for a family that is not modelled."""
    inner, outer = config.text.get("model_type"), config.top.get("model_type")
    names = [name for name in (inner, outer) if isinstance(name, str)]
    if not names:
        raise UnknownError(f"{config.where} does not say model_type, so how the model remembers is not known")
    found = next((family for family in map(family_of, names) if family is not None), None)
    unknown = [name for name in names if family_of(name) is None]
    if found is None or inner in unknown or _sparse(config):
        raise UnknownError(
            f"the architecture {quoted((unknown or names)[0])} is not modelled: "
            "what its layers keep per token is not known"
        )
    name, family = found
    both_ways = config.get("use_bidirectional_attention") is True  # EmbeddingGemma: Gemma 3 without a cache
    return replace(config, defaults=family.defaults), name, replace(family, encoder=family.encoder or both_ways)


def _sparse(config: Config) -> bool:
    """Whether attention goes through an index or a compressed cache, whatever the family calls itself."""
    return config.get("index_topk", "index_head_dim", "compress_ratios", "linear_attn_config") is not None


def _hidden(config: Config) -> int:
    return config.count("hidden_size", "n_embd", "d_model", most=1 << 24)


def _context(config: Config, family: Family) -> int | None:
    """The trained context, or what the config scales it to; (XLM-)RoBERTa's positions begin at 2."""
    trained = config.maybe("max_position_embeddings", "n_positions", "max_seq_len")
    offset = 2 if family.encoder and config.get("model_type") in ("roberta", "xlm-roberta", "camembert") else 0
    return None if trained is None else max(_scaled(config, trained) - offset, 1)


def _scaled(config: Config, trained: int) -> int:
    """What RoPE scaling makes of it, as vLLM counts (``_get_and_verify_max_len``): factor x original context."""
    scaling = config.get("rope_parameters", "rope_scaling")
    if not isinstance(scaling, Mapping):
        return trained
    kind, factor = scaling.get("rope_type", scaling.get("type")), scaling.get("factor")
    if kind not in ("yarn", "linear", "dynamic") or not isinstance(factor, int | float):
        return trained
    original = scaling.get("original_max_position_embeddings") if kind == "yarn" else None
    base = original if isinstance(original, int) and 0 < original <= trained else trained
    return max(trained, int(base * factor)) if 1 <= factor <= _MOST_SCALING else trained


def _tensors(
    published: Published, model: tuple[Config, Family, tuple[Kind, ...]], stored: Stored, parameters: int | None
) -> Loaded:
    config, family, every = model
    tied = config.flag("tie_word_embeddings", default=family.tied) and not family.encoder
    if published.tensors:
        after = family.tied and family.windows != "never"
        return loaded(published.tensors, stored.packing, len(every), tied=tied, norms_after=after)
    vocab, hidden = config.count("vocab_size"), _hidden(config)
    sheet = Sheet(hidden)
    sheet.top("token_embd.weight", vocab, hidden)
    if not tied and not family.encoder:
        sheet.top("output.weight", vocab, hidden)
    if family.inventory is None and parameters is None:
        raise UnknownError(
            f"the config of the family {quoted(config.get('model_type'))} does not say every tensor, and no header of "
            "safetensors was read: give the number of parameters with --params"
        )
    if family.inventory is not None:
        if not family.encoder:
            sheet.top("output_norm.weight", hidden)
        family.inventory(config, every, sheet)
    return Loaded(tuple(stored.group(row) for row in sheet.rows), _towers(config), not tied and not family.encoder)


def _towers(config: Config) -> tuple[tuple[str, int], ...]:
    """Towers that the config names; how many bytes they have only their headers say, so 0."""
    kinds = (("audio", "audio_config"), ("vision", "vision_config"))
    return tuple((name, 0) for name, key in kinds if isinstance(config.top.get(key), Mapping))


def _with_parameters(found: Architecture, parameters: int) -> Architecture:
    """The same model with as many parameters as told: what its embedding and output leave is spread over the layers.

    Rows are as long as in the model, for some types pack only certain lengths. A third of a layer counts as
    ``ffn_down``, which the mixes of llama.cpp give more bits in about half of the layers; in a Llama or a Qwen it is
    27-33 %, and ``attn_v``, which they treat alike, 1-5 %.
    """
    top = tuple(group for group in found.tensors if group.name in ("token_embd.weight", "output.weight"))
    rest = parameters - sum(group.elements for group in top)
    if rest <= 0:
        raise UnknownError(f"{parameters} parameters are fewer than the vocabulary alone takes ({parameters - rest})")
    each, row = rest // found.layers, found.hidden
    width = next((group.shape[-1] for group in found.tensors if "ffn_down" in group.name and len(group.shape) > 1), row)
    down = max(each // 3 // width, 1)
    other = max((each - down * width) // row, 1)
    shapes = {"blk.{}.layer.weight": (other, row), "blk.{}.ffn_down.weight": (down, width)}
    kind = top[0].dtype if top else "bf16"
    stored, layers = sum(group.size * group.count for group in found.tensors), tuple(range(found.layers))
    groups = (
        TensorGroup(name, shape, kind, shape[0] * shape[1] * stored // max(found.parameters, 1), layers)
        for name, shape in shapes.items()
    )
    return replace(found, parameters=parameters, tensors=(*top, *groups), exact=False, block=0)
