"""Headers: the tensors of safetensors files and of GGUF files become the same architecture as the config does."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import prod

import pytest

from knaster.cluster.architecture import Architecture, CannotTell, LayerCache
from knaster.fit.memory.need import Need, Serving, need
from knaster.fit.recognise import recognise
from knaster.fit.recognition.names import place
from knaster.fit.recognition.packing import Packing, weights
from knaster.weights import GgufFile, Published, Tensor
from tests.model_truth import TRUTH, XLM_ROBERTA
from tests.test_fit_recognise import architecture, stored

BYTES = {"bf16": 2, "f16": 2, "f32": 4, "f8_e4m3": 1, "i32": 4, "u8": 1}


def tensor(name: str, *shape: int, dtype: str = "bf16") -> Tensor:
    return Tensor(name, shape, dtype, prod(shape) * BYTES[dtype])


def qwen3_tensors(layers: int, hidden: int, heads: int, ffn: int, vocab: int, *, head: bool) -> Iterator[Tensor]:
    """As transformers names them in Qwen 3's checkpoints."""
    yield tensor("model.embed_tokens.weight", vocab, hidden)
    yield tensor("model.norm.weight", hidden)
    if head:
        yield tensor("lm_head.weight", vocab, hidden)
    for layer in range(layers):
        at = f"model.layers.{layer}"
        yield tensor(f"{at}.self_attn.q_proj.weight", heads * 128, hidden)
        yield tensor(f"{at}.self_attn.k_proj.weight", 1024, hidden)
        yield tensor(f"{at}.self_attn.v_proj.weight", 1024, hidden)
        yield tensor(f"{at}.self_attn.o_proj.weight", hidden, heads * 128)
        yield tensor(f"{at}.self_attn.q_norm.weight", 128)
        yield tensor(f"{at}.self_attn.k_norm.weight", 128)
        for part, rows, columns in (("gate", ffn, hidden), ("up", ffn, hidden), ("down", hidden, ffn)):
            yield tensor(f"{at}.mlp.{part}_proj.weight", rows, columns)
        yield tensor(f"{at}.input_layernorm.weight", hidden)
        yield tensor(f"{at}.post_attention_layernorm.weight", hidden)


def read(config: Mapping[str, object], *tensors: Tensor) -> Architecture:
    found = recognise(Published("some/model", config=config, tensors=tensors))
    assert isinstance(found, Architecture), found
    return found


def test_headers_and_config_agree() -> None:
    config = TRUTH["Qwen/Qwen3-0.6B"].config
    found = read(config, *qwen3_tensors(28, 1024, 16, 3072, 151936, head=False))
    expected = architecture(config)
    assert sorted(found.tensors, key=lambda group: group.name) == sorted(expected.tensors, key=lambda g: g.name)
    assert (found.parameters, found.tied, found.exact, found.extra) == (596049920, True, True, ())
    assert found.caches == expected.caches


def test_a_tied_model_that_stores_its_embedding_twice() -> None:
    config = TRUTH["Qwen/Qwen3-0.6B"].config
    found = read(config, *qwen3_tensors(28, 1024, 16, 3072, 151936, head=True))
    assert found.parameters == 596049920
    assert found.extra == (("copy of the embedding", 151936 * 1024 * 2),)


def test_an_embedding_model_without_an_output_matrix() -> None:
    """Qwen3-Embedding-8B: the flag says untied, but no lm_head is shipped; headers decide."""
    truth = TRUTH["Qwen/Qwen3-Embedding-8B"]
    found = read(truth.config, *qwen3_tensors(36, 4096, 32, 12288, 151665, head=False))
    assert found.tied
    assert found.parameters == 8190735360 - 2 * (151936 - 151665) * 4096 - 151665 * 4096


def test_towers_and_prediction_layers_are_counted_apart() -> None:
    config = {
        "model_type": "qwen3_vl",
        "text_config": {**TRUTH["Qwen/Qwen3-0.6B"].config, "model_type": "qwen3_vl_text"},
    }
    tensors = [
        Tensor(t.name.replace("model.", "model.language_model.", 1), t.shape, t.dtype, t.size)
        for t in qwen3_tensors(28, 1024, 16, 3072, 151936, head=False)
    ]
    tower = tensor("model.visual.blocks.0.attn.qkv.weight", 3456, 1152)
    audio = tensor("audio_tower.layers.0.fc1.weight", 64, 64)
    mtp = (tensor("mtp.fc.weight", 1024, 2048), tensor("model.layers.28.mlp.up_proj.weight", 3072, 1024))
    found = read(config, *tensors, tower, audio, *mtp)
    assert found.parameters == 596049920
    assert dict(found.extra) == {"vision": tower.size, "audio": audio.size, "mtp": mtp[0].size + mtp[1].size}


def test_experts_of_a_layer_are_one_tensor() -> None:
    config = {**TRUTH["Qwen/Qwen3-30B-A3B"].config, "num_hidden_layers": 1, "num_experts": 4}
    experts = [
        tensor(f"model.layers.0.mlp.experts.{expert}.{part}_proj.weight", *shape)
        for expert in range(4)
        for part, shape in (("gate", (768, 2048)), ("up", (768, 2048)), ("down", (2048, 768)))
    ]
    groups = {group.name: group for group in read(config, *experts).tensors}
    assert groups["blk.{}.ffn_down_exps.weight"].shape == (4, 2048, 768)
    assert groups["blk.{}.ffn_down_exps.weight"].size == 4 * 2048 * 768 * 2
    assert len(groups) == 3


def test_mxfp4_blocks_and_scales() -> None:
    """gpt-oss: 90 groups of 32 numbers for each of 5760 rows, 16 bytes and a scale each."""
    blocks = tensor("model.layers.0.mlp.experts.gate_up_proj_blocks", 32, 5760, 90, 16, dtype="u8")
    scales = tensor("model.layers.0.mlp.experts.gate_up_proj_scales", 32, 5760, 90, dtype="u8")
    bias = tensor("model.layers.0.mlp.experts.gate_up_proj_bias", 32, 5760)
    weight, other = weights((blocks, scales, bias), Packing("mxfp4"))
    assert (weight.shape, weight.dtype) == ((32, 5760, 2880), "mxfp4")
    assert weight.size == 32 * 5760 * 2880 * 17 // 32
    assert (other.kind, other.shape) == ("bias", (32, 5760))


def test_headers_of_a_part_of_a_model_are_no_model() -> None:
    """Thirteen layers of twenty-eight: the sum of those would fit where the model does not."""
    config = TRUTH["Qwen/Qwen3-0.6B"].config
    few = tuple(qwen3_tensors(13, 1024, 16, 3072, 151936, head=False))
    told = "the headers hold weights of 13 layers, and the model has 28"
    assert recognise(Published("some/model", config=config, tensors=few)) == CannotTell(told)


def gpt_oss_tensors(layers: int, experts: int) -> Iterator[Tensor]:
    """As transformers names them in gpt-oss's checkpoints: gate and up of all experts in one tensor."""
    yield tensor("model.embed_tokens.weight", 201088, 2880)
    yield tensor("lm_head.weight", 201088, 2880)
    yield tensor("model.norm.weight", 2880)
    for layer in range(layers):
        at = f"model.layers.{layer}"
        for part, rows, columns in (("q", 4096, 2880), ("k", 512, 2880), ("v", 512, 2880), ("o", 2880, 4096)):
            yield tensor(f"{at}.self_attn.{part}_proj.weight", rows, columns)
            yield tensor(f"{at}.self_attn.{part}_proj.bias", rows)
        yield tensor(f"{at}.self_attn.sinks", 64)
        yield tensor(f"{at}.input_layernorm.weight", 2880)
        yield tensor(f"{at}.post_attention_layernorm.weight", 2880)
        yield tensor(f"{at}.mlp.router.weight", experts, 2880)
        yield tensor(f"{at}.mlp.router.bias", experts)
        for part, rows in (("gate_up", 5760), ("down", 2880)):
            yield tensor(f"{at}.mlp.experts.{part}_proj_blocks", experts, rows, 90, 16, dtype="u8")
            yield tensor(f"{at}.mlp.experts.{part}_proj_scales", experts, rows, 90, dtype="u8")
            yield tensor(f"{at}.mlp.experts.{part}_proj_bias", experts, rows)


@pytest.mark.parametrize(
    ("name", "layers", "experts", "size"),
    [
        ("openai/gpt-oss-20b", 24, 32, 13_761_264_768),
        ("openai/gpt-oss-120b", 36, 128, 65_248_815_744),
    ],
)
def test_gpt_oss_by_its_headers(name: str, layers: int, experts: int, size: int) -> None:
    """The sizes that the hub states; in GGUF 11.6 GB as Q4_K_M and 13.8 as F16, whatever gate and up are called."""
    found = read(TRUTH[name].config, *gpt_oss_tensors(layers, experts))
    expected = architecture(TRUTH[name].config)
    assert (stored(found), found.parameters, found.stored) == (size, expected.parameters, "mxfp4")
    for precision in ("q4_k_m", "f16"):
        one, other = (need(model, Serving("llamacpp", precision, 8192)) for model in (found, expected))
        assert isinstance(one, Need)
        assert isinstance(other, Need)
        assert (one.weights, one.compute) == (other.weights, other.compute)


@pytest.mark.parametrize(
    ("method", "stored_as", "extra"),
    [
        ("awq", tensor("m.qweight", 4096, 1536, dtype="i32"), tensor("m.scales", 32, 12288)),
        ("gptq", tensor("m.qweight", 512, 12288, dtype="i32"), tensor("m.scales", 32, 12288)),
        ("nvfp4", tensor("m.weight", 12288, 2048, dtype="u8"), tensor("m.weight_scale", 12288, 256, dtype="f8_e4m3")),
        ("int4", tensor("m.weight_packed", 12288, 512, dtype="i32"), tensor("m.weight_scale", 12288, 32)),
    ],
)
def test_packed_weights_have_their_real_shape(method: str, stored_as: Tensor, extra: Tensor) -> None:
    """12288 rows of 4096 numbers, whichever way round they are stored and packed."""
    (weight,) = weights((stored_as, extra), Packing(method))
    assert (weight.shape, weight.size) == ((12288, 4096), stored_as.size + extra.size)


def test_fp8_with_block_scales() -> None:
    parts = (tensor("m.weight", 256, 256, dtype="f8_e4m3"), tensor("m.weight_scale_inv", 2, 2, dtype="f32"))
    (weight,) = weights(parts, Packing("fp8", 8))
    assert (weight.shape, weight.dtype, weight.size) == ((256, 256), "f8_e4m3", 256 * 256 + 16)


def test_xlm_roberta_names() -> None:
    config = {**XLM_ROBERTA, "num_hidden_layers": 1}
    expected = {group.name for group in architecture(config).tensors}
    at, hidden, ffn = "encoder.layer.0", 1024, 4096
    linear = {
        f"{at}.attention.self.query": (hidden, hidden),
        f"{at}.attention.self.key": (hidden, hidden),
        f"{at}.attention.self.value": (hidden, hidden),
        f"{at}.attention.output.dense": (hidden, hidden),
        f"{at}.intermediate.dense": (ffn, hidden),
        f"{at}.output.dense": (hidden, ffn),
        "pooler.dense": (hidden, hidden),
    }
    norms = ("embeddings.LayerNorm", f"{at}.attention.output.LayerNorm", f"{at}.output.LayerNorm")
    tensors = [tensor(f"roberta.{name}.weight", *shape, dtype="f32") for name, shape in linear.items()]
    tensors += [tensor(f"roberta.{name}.bias", shape[0], dtype="f32") for name, shape in linear.items()]
    tensors += [tensor(f"roberta.{name}.{kind}", hidden, dtype="f32") for name in norms for kind in ("weight", "bias")]
    for part, rows in (("word", 250002), ("position", 8194), ("token_type", 1)):
        tensors.append(tensor(f"roberta.embeddings.{part}_embeddings.weight", rows, hidden, dtype="f32"))
    found = read(config, *tensors)
    assert {group.name for group in found.tensors} == expected
    assert found.parameters == architecture(config).parameters


# -- GGUF


def gguf(arch: str, tensors: tuple[Tensor, ...], metadata: Mapping[str, object]) -> GgufFile:
    told = {"general.architecture": arch, **{f"{arch}.{key}": value for key, value in metadata.items()}}
    return GgufFile("model.gguf", None, metadata=told, tensors=tensors)


def blocks(layers: object, *parts: str, rows: int = 256, columns: int = 256) -> list[Tensor]:
    assert isinstance(layers, range | list)
    return [tensor(f"blk.{layer}.{part}.weight", rows, columns, dtype="f16") for layer in layers for part in parts]


def caches(file: GgufFile) -> tuple[LayerCache, ...]:
    found = recognise(Published("model.gguf", gguf=(file,)), file)
    assert isinstance(found, Architecture), found
    return found.caches


EMBEDDING = tensor("token_embd.weight", 1000, 256, dtype="f16")
SIZES = {"embedding_length": 256, "block_count": 4, "attention.head_count": 4, "attention.head_count_kv": 2}


@pytest.mark.parametrize("name", ["Qwen/Qwen3-8B", "Qwen/Qwen3-4B", "Qwen/Qwen3-30B-A3B", "openai/gpt-oss-20b"])
def test_a_gguf_file_and_the_config_agree(name: str) -> None:
    """The header of a file in f16 that was made of the model has the same parameters and caches."""
    model = architecture(TRUTH[name].config)
    tensors = tuple(
        Tensor(group.name.format(layer), group.shape, "f16", 2 * prod(group.shape))
        for group in model.tensors
        for layer in (group.layers or (0,))
    )
    arch = {"qwen3_moe": "qwen3moe", "gpt_oss": "gpt-oss"}.get(model.family, model.family)
    file = gguf(
        arch,
        tensors,
        {
            "block_count": model.layers,
            "embedding_length": model.hidden,
            "attention.head_count": model.heads,
            "attention.head_count_kv": model.kv_heads,
            "attention.key_length": model.head_dim,
            "attention.value_length": model.head_dim,
            "attention.sliding_window": 128 if arch == "gpt-oss" else 0,
            "context_length": model.context,
            "expert_count": model.experts,
        },
    )
    found = recognise(Published("model.gguf", gguf=(file,)), file)
    assert isinstance(found, Architecture), found
    assert (found.parameters, found.vocab, found.context, found.tied) == (
        model.parameters,
        model.vocab,
        model.context,
        model.tied,
    )
    assert sorted(found.caches, key=lambda c: c.kind) == sorted(model.caches, key=lambda c: c.kind)
    assert found.stored == "f16"
    assert found.experts == model.experts


def test_a_published_file_is_served_with_its_own_sizes() -> None:
    tensors = (
        Tensor("token_embd.weight", (1000, 256), "q4_k", 144_000),
        *(Tensor(f"blk.{i}.attn_k.weight", (128, 256), "q6_k", 26_880) for i in range(4)),
        Tensor("output.weight", (1000, 256), "q6_k", 210_000),
    )
    file = gguf("llama", tensors, SIZES)
    found = recognise(Published("model.gguf", gguf=(file,)), file)
    assert isinstance(found, Architecture)
    answer = need(found, Serving("llamacpp", "stored", 1024))
    assert isinstance(answer, Need)
    assert answer.weights == 4 * 26_880 + 210_000
    assert answer.ram_bytes == 144_000
    refused = need(found, Serving("vllm", "stored", 1024))
    assert isinstance(refused, CannotTell)
    assert "vLLM is not planned with GGUF files" in refused.reason


def test_kv_heads_by_layer() -> None:
    """Nemotron-NAS (deci): layers without attention, and lists of heads."""
    tensors = (EMBEDDING, *blocks([0, 2, 3], "attn_k"), *blocks(range(4), "ffn_up"))
    file = gguf(
        "deci", tensors, {**SIZES, "attention.head_count": [4, 0, 4, 4], "attention.head_count_kv": [2, 0, 1, 1]}
    )
    assert caches(file) == (LayerCache("full", 1, 2, 64, 64), LayerCache("full", 2, 1, 64, 64))


def test_latent_attention_with_and_without_its_keys() -> None:
    """Files of 2024 have no ``*_mla`` keys and keep 192 + 128 for each head: 276,480 bytes a token for V2-Lite."""
    tensors = (EMBEDDING, *blocks(range(27), "attn_kv_a_mqa"))
    told = {
        "block_count": 27,
        "embedding_length": 2048,
        "attention.head_count": 16,
        "attention.head_count_kv": 16,
        "attention.key_length": 192,
        "attention.value_length": 128,
        "attention.kv_lora_rank": 512,
        "rope.dimension_count": 64,
    }
    (old,) = caches(gguf("deepseek2", tensors, told))
    assert old.layers * old.elements * 2 == 276_480
    (new,) = caches(gguf("deepseek2", tensors, {**told, "attention.key_length_mla": 192}))
    assert (new.kind, new.layers * new.elements * 2) == ("latent", 31_104)


def test_recurrent_layers_of_a_file() -> None:
    """Qwen 3.5 27B: 48 delta nets of 3 MiB, 16 attention layers."""
    full = [layer for layer in range(64) if layer % 4 == 3]
    tensors = (
        EMBEDDING,
        *blocks(full, "attn_k"),
        *blocks([layer for layer in range(64) if layer % 4 != 3], "ssm_conv1d", "attn_qkv"),
    )
    told = {
        "block_count": 64,
        "embedding_length": 5120,
        "attention.head_count": 24,
        "attention.head_count_kv": 4,
        "attention.key_length": 256,
        "attention.value_length": 256,
        "ssm.inner_size": 6144,
        "ssm.state_size": 128,
        "ssm.group_count": 16,
        "ssm.conv_kernel": 4,
    }
    expected = architecture(TRUTH["Qwen/Qwen3.6-27B"].config)
    assert caches(gguf("qwen35", tensors, told)) == expected.caches


def test_layers_that_reuse_a_cache_and_layers_beyond() -> None:
    tensors = (EMBEDDING, *blocks(range(5), "attn_k"))
    shared = caches(gguf("gemma3n", tensors, {**SIZES, "attention.shared_kv_layers": 2}))
    assert sum(group.layers for group in shared) == 2
    file = gguf("qwen3", tensors, {**SIZES, "block_count": 5, "nextn_predict_layers": 1})
    found = recognise(Published("model.gguf", gguf=(file,)), file)
    assert isinstance(found, Architecture)
    assert (found.layers, found.extra) == (4, (("mtp", 256 * 256 * 2),))
    assert stored(found) == EMBEDDING.size + 4 * 256 * 256 * 2


def test_encoders_keep_nothing() -> None:
    file = gguf("bert", (EMBEDDING, *blocks(range(4), "attn_q", "attn_k")), SIZES)
    found = recognise(Published("model.gguf", gguf=(file,)), file)
    assert isinstance(found, Architecture)
    assert (found.encoder, found.caches, found.tied) == (True, (), False)


@pytest.mark.parametrize(
    ("metadata", "reason"),
    [
        ({}, "model.gguf does not say general.architecture"),
        ({"general.architecture": "clip"}, "the projector of a vision model"),
        ({"general.architecture": "llama", "general.type": "adapter"}, "of the type adapter, not a model"),
        ({"general.architecture": "rwkv7"}, "the architecture rwkv7 is not modelled"),
        ({"general.architecture": 7}, "general.architecture is 7, not text"),
        ({"general.architecture": "llama"}, "does not say llama.block_count"),
        ({"general.architecture": "deepseek2", "deepseek2.attention.indexer.top_k": 2048}, "is not modelled"),
    ],
)
def test_files_that_tell_too_little(metadata: dict[str, object], reason: str) -> None:
    file = GgufFile("model.gguf", None, metadata=metadata, tensors=(EMBEDDING,))
    found = recognise(Published("model.gguf", gguf=(file,)), file)
    assert isinstance(found, CannotTell)
    assert reason in found.reason


def test_a_misnamed_file_is_what_its_tensors_are() -> None:
    tensors = (EMBEDDING, *blocks(range(4), "attn_k"))
    for declared, name in ((15, "f16"), (1, "f16")):
        file = gguf("llama", tensors, SIZES)
        told = GgufFile("m.gguf", None, metadata={**file.metadata, "general.file_type": declared}, tensors=tensors)
        found = recognise(Published("m.gguf", gguf=(told,)), told)
        assert isinstance(found, Architecture)
        assert found.stored == name


# -- names, against the table of the converter itself

_ATTENTION = [f"model.layers.0.self_attn.{part}_proj" for part in "qkvo"]
_SWIGLU = [f"model.layers.0.mlp.{part}_proj" for part in ("gate", "up", "down")]
_TOP = ["model.embed_tokens", "lm_head", "model.norm"]
_NAMES: Mapping[str, list[str]] = {
    "LLAMA": [
        *_TOP,
        *_ATTENTION,
        *_SWIGLU,
        "model.layers.0.input_layernorm",
        "model.layers.0.post_attention_layernorm",
    ],
    "QWEN3": [*_ATTENTION, *_SWIGLU, "model.layers.0.self_attn.q_norm", "model.layers.0.self_attn.k_norm"],
    "QWEN3MOE": [*_ATTENTION, "model.layers.0.mlp.gate"],
    "QWEN2MOE": [*(f"model.layers.0.mlp.shared_expert.{part}_proj" for part in ("gate", "up", "down"))],
    "PHI3": ["model.layers.0.self_attn.qkv_proj", "model.layers.0.self_attn.o_proj", "model.layers.0.mlp.gate_up_proj"],
    "DEEPSEEK2": [
        *(f"model.layers.0.self_attn.{part}" for part in ("q_a_proj", "q_b_proj", "kv_a_proj_with_mqa", "kv_b_proj")),
        *(f"model.layers.0.mlp.shared_experts.{part}_proj" for part in ("gate", "up", "down")),
        "model.layers.0.mlp.gate",
    ],
    "GPT_OSS": [*_ATTENTION, "model.layers.0.self_attn.sinks", "model.layers.0.mlp.router"],
    "QWEN3NEXT": [
        *_ATTENTION,
        *(f"model.layers.0.linear_attn.{part}" for part in ("in_proj_ba", "conv1d", "norm", "out_proj", "A_log")),
        "model.layers.0.mlp.shared_expert_gate",
    ],
    "NEMOTRON_H": [
        *(f"backbone.layers.0.mixer.{part}" for part in ("in_proj", "conv1d", "out_proj", "A_log", "D", "norm")),
        *(f"backbone.layers.0.mixer.{part}_proj" for part in ("q", "k", "v", "o", "up", "down")),
        "backbone.norm_f",
    ],
    "JAMBA": [f"model.layers.0.mamba.{part}" for part in ("in_proj", "conv1d", "x_proj", "dt_proj", "out_proj")],
    "LFM2": [
        *(f"model.layers.0.conv.{part}" for part in ("in_proj", "conv", "out_proj")),
        *(f"model.layers.0.feed_forward.w{number}" for number in (1, 2, 3)),
    ],
    "BERT": [
        *(f"encoder.layer.0.attention.self.{part}" for part in ("query", "key", "value")),
        "encoder.layer.0.attention.output.dense",
        "encoder.layer.0.intermediate.dense",
        "encoder.layer.0.output.dense",
        *(f"embeddings.{part}_embeddings" for part in ("word", "position", "token_type")),
    ],
    "NOMIC_BERT": [
        f"encoder.layers.0.{part}" for part in ("attn.Wqkv", "attn.out_proj", "mlp.fc11", "mlp.fc12", "mlp.fc2")
    ],
}


@pytest.mark.parametrize(("arch", "name"), [(arch, name) for arch, names in _NAMES.items() for name in names])
def test_names_are_those_of_the_converter(arch: str, name: str) -> None:
    """``gguf.tensor_mapping`` of llama.cpp decides which rule of the quantisation a tensor falls under."""
    mapping = pytest.importorskip("gguf.tensor_mapping", reason="gguf is not installed")
    table = mapping.get_tensor_name_map(getattr(mapping.MODEL_ARCH, arch), 1)
    found, layer, _ = place(name)
    assert found.format(layer) == table.get_name(name)
