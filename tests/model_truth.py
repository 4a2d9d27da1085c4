"""Configs of published models as far as memory depends on them, with what is known of each from elsewhere.

Sizes of the architectures: the models' own ``config.json`` files, or the defaults of their classes in transformers.
What is expected of them is published (model cards, loader logs) or computed by hand from the layer counts stated.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Truth:
    """A config, and KV bytes per token at two bytes per number: all attention layers, and those that grow for ever;
    ``params`` exactly where the inventory of the layers is published. ``told`` are parameters to be given instead."""

    config: Mapping[str, object]
    attention: int
    growing: int
    params: int | None = None
    told: int | None = None


def _base(
    model_type: str, layers: int, hidden: int, heads: tuple[int, int, int | None], **more: object
) -> dict[str, object]:
    count, kv, dim = heads
    config: dict[str, object] = {
        "model_type": model_type,
        "num_hidden_layers": layers,
        "hidden_size": hidden,
        "num_attention_heads": count,
        "num_key_value_heads": kv,
        "torch_dtype": "bfloat16",
        "tie_word_embeddings": False,
        **more,
    }
    return config if dim is None else {**config, "head_dim": dim}


def qwen3(
    layers: int, hidden: int, heads: int, ffn: int, *, tied: bool = False, vocab: int = 151936
) -> dict[str, object]:
    """A dense Qwen 3: 8 KV heads of 128."""
    return _base(
        "qwen3",
        layers,
        hidden,
        (heads, 8, 128),
        intermediate_size=ffn,
        vocab_size=vocab,
        max_position_embeddings=40960,
        max_window_layers=layers,
        sliding_window=None,
        use_sliding_window=False,
        tie_word_embeddings=tied,
    )


def _qwen3_moe(layers: int, hidden: int, heads: int, ffn: int) -> dict[str, object]:
    return _base(
        "qwen3_moe",
        layers,
        hidden,
        (heads, 4, 128),
        intermediate_size=3 * ffn,
        moe_intermediate_size=ffn,
        num_experts=128,
        decoder_sparse_step=1,
        mlp_only_layers=[],
        vocab_size=151936,
        max_position_embeddings=40960,
        use_sliding_window=False,
    )


def llama(
    layers: int, hidden: int, heads: tuple[int, int, int], ffn: int, *, tied: bool, vocab: int = 128256
) -> dict[str, object]:
    """A Llama 3."""
    return _base(
        "llama",
        layers,
        hidden,
        heads,
        intermediate_size=ffn,
        vocab_size=vocab,
        max_position_embeddings=131072,
        tie_word_embeddings=tied,
    )


def _latent(model_type: str, heads: int, experts: int, dense: int, vocab: int, context: int) -> dict[str, object]:
    return _base(
        model_type,
        61,
        7168,
        (heads, heads, None),
        intermediate_size=18432,
        moe_intermediate_size=2048,
        n_routed_experts=experts,
        n_shared_experts=1,
        first_k_dense_replace=dense,
        moe_layer_freq=1,
        kv_lora_rank=512,
        q_lora_rank=1536,
        qk_nope_head_dim=128,
        qk_rope_head_dim=64,
        v_head_dim=128,
        vocab_size=vocab,
        max_position_embeddings=context,
        num_nextn_predict_layers=1,
        quantization_config={"quant_method": "fp8", "fmt": "e4m3", "weight_block_size": [128, 128]},
    )


def gpt_oss(layers: int, experts: int) -> dict[str, object]:
    """A gpt-oss: MXFP4 experts, a window of 128 in every other layer."""
    return _base(
        "gpt_oss",
        layers,
        2880,
        (64, 8, 64),
        intermediate_size=2880,
        num_local_experts=experts,
        num_experts_per_tok=4,
        attention_bias=True,
        vocab_size=201088,
        max_position_embeddings=131072,
        sliding_window=128,
        layer_types=["sliding_attention", "full_attention"] * (layers // 2),
        quantization_config={
            "quant_method": "mxfp4",
            "modules_to_not_convert": ["model.layers.*.self_attn", "model.layers.*.mlp.router", "lm_head"],
        },
    )


def gemma4(layers: int, hidden: int, heads: tuple[int, int, int], ffn: int, **more: object) -> dict[str, object]:
    """A Gemma 4: every sixth layer is global, with heads of 512 and K = V."""
    count, kv, wide = heads
    text = _base(
        "gemma4_text",
        layers,
        hidden,
        (count, kv, 256),
        global_head_dim=512,
        num_global_key_value_heads=wide,
        attention_k_eq_v=True,
        intermediate_size=ffn,
        sliding_window=1024,
        layer_types=(["sliding_attention"] * 5 + ["full_attention"]) * (layers // 6),
        num_kv_shared_layers=0,
        vocab_size=262144,
        max_position_embeddings=262144,
        tie_word_embeddings=True,
        **more,
    )
    return {"model_type": "gemma4", "text_config": text, "vision_config": {"hidden_size": 1152}}


def qwen3_5(layers: int, hidden: int, heads: tuple[int, int], values: int, **more: object) -> dict[str, object]:
    """A Qwen 3.5 or 3.6: three gated delta nets to one attention layer, nested, with a vision tower."""
    kind = "qwen3_5_moe_text" if "num_experts" in more else "qwen3_5_text"
    text = _base(
        kind,
        layers,
        hidden,
        (*heads, 256),
        full_attention_interval=4,
        attn_output_gate=True,
        layer_types=(["linear_attention"] * 3 + ["full_attention"]) * (layers // 4),
        linear_conv_kernel_dim=4,
        linear_key_head_dim=128,
        linear_value_head_dim=128,
        linear_num_key_heads=16,
        linear_num_value_heads=values,
        mamba_ssm_dtype="float32",
        mtp_num_hidden_layers=1,
        vocab_size=248320,
        max_position_embeddings=262144,
        **more,
    )
    return {"model_type": kind.removesuffix("_text"), "text_config": text, "vision_config": {"depth": 27}}


_QWEN3_NEXT = _base(
    "qwen3_next",
    48,
    2048,
    (16, 2, 256),
    full_attention_interval=4,
    linear_conv_kernel_dim=4,
    linear_key_head_dim=128,
    linear_value_head_dim=128,
    linear_num_key_heads=16,
    linear_num_value_heads=32,
    num_experts=512,
    moe_intermediate_size=512,
    shared_expert_intermediate_size=512,
    decoder_sparse_step=1,
    intermediate_size=5120,
    vocab_size=151936,
    max_position_embeddings=262144,
)
NEMOTRON = _base(
    "nemotron_h",
    52,
    2688,
    (32, 2, 128),
    hybrid_override_pattern="MEMEM*EMEMEM*EMEMEM*EMEMEM*EMEMEM*EMEMEMEM*EMEMEMEME",
    intermediate_size=1856,
    moe_intermediate_size=1856,
    moe_shared_expert_intermediate_size=3712,
    n_routed_experts=128,
    n_shared_experts=1,
    mamba_num_heads=64,
    mamba_head_dim=64,
    ssm_state_size=128,
    n_groups=8,
    conv_kernel=4,
    mamba_ssm_cache_dtype="float32",
    vocab_size=131072,
    max_position_embeddings=262144,
    sliding_window=None,
)
XLM_ROBERTA = _base(
    "xlm-roberta",
    24,
    1024,
    (16, 16, None),
    intermediate_size=4096,
    vocab_size=250002,
    type_vocab_size=1,
    max_position_embeddings=8194,
    torch_dtype="float32",
)
LLAMA_8B = llama(32, 4096, (32, 8, 128), 14336, tied=False)

_GEMMA3_1B = {
    "model_type": "gemma3_text",
    "num_hidden_layers": 26,
    "hidden_size": 1152,
    "intermediate_size": 6912,
    "num_attention_heads": 4,
    "num_key_value_heads": 1,
    "head_dim": 256,
    "sliding_window": 512,
    "sliding_window_pattern": 6,
    "vocab_size": 262144,
    "max_position_embeddings": 32768,
}
_GEMMA3_4B = {
    "model_type": "gemma3",
    "text_config": {
        "model_type": "gemma3_text",
        "hidden_size": 2560,
        "intermediate_size": 10240,
        "num_hidden_layers": 34,
        "sliding_window": 1024,
    },
    "vision_config": {"hidden_size": 1152},
}
GEMMA3_27B = {
    "model_type": "gemma3",
    "text_config": {
        "model_type": "gemma3_text",
        "hidden_size": 5376,
        "intermediate_size": 21504,
        "num_hidden_layers": 62,
        "num_attention_heads": 32,
        "num_key_value_heads": 16,
        "head_dim": 128,
        "sliding_window": 1024,
    },
}
_GEMMA2_9B = {
    "model_type": "gemma2",
    "num_hidden_layers": 42,
    "hidden_size": 3584,
    "intermediate_size": 14336,
    "num_attention_heads": 16,
    "num_key_value_heads": 8,
    "head_dim": 256,
    "sliding_window": 4096,
    "vocab_size": 256000,
    "max_position_embeddings": 8192,
}
_LFM2 = _base(
    "lfm2",
    16,
    2048,
    (32, 8, None),
    layer_types=[
        *(["conv", "conv", "full_attention"] * 2),
        *("conv", "conv"),
        *(["full_attention", "conv"] * 4),
    ],
    conv_L_cache=3,
    intermediate_size=12288,
    block_auto_adjust_ff_dim=True,
    block_multiple_of=256,
    vocab_size=65536,
    max_position_embeddings=128000,
    tie_word_embeddings=True,
)
GRANITE_4_MICRO = _base(
    "granitemoehybrid",
    40,
    2048,
    (32, 8, None),
    layer_types=(["mamba"] * 5 + ["attention"] + ["mamba"] * 4) * 4,
    mamba_n_heads=64,
    mamba_d_head=64,
    mamba_d_state=128,
    mamba_n_groups=1,
    mamba_d_conv=4,
    vocab_size=100352,
    max_position_embeddings=131072,
    tie_word_embeddings=True,
)
_DENSE = {"intermediate_size": 12800, "vocab_size": 100352, "max_position_embeddings": 131072}

TRUTH: Mapping[str, Truth] = {
    "Qwen/Qwen3-0.6B": Truth(qwen3(28, 1024, 16, 3072, tied=True), 114688, 114688, 596049920),
    "Qwen/Qwen3-4B": Truth(qwen3(36, 2560, 32, 9728, tied=True), 147456, 147456, 4022468096),
    "Qwen/Qwen3-8B": Truth(qwen3(36, 4096, 32, 12288), 147456, 147456, 8190735360),
    "Qwen/Qwen3-30B-A3B": Truth(_qwen3_moe(48, 2048, 32, 768), 98304, 98304, 30532122624),
    "Qwen/Qwen3-235B-A22B": Truth(_qwen3_moe(94, 4096, 64, 1536), 192512, 192512, 235093634560),
    "Qwen/Qwen3-Embedding-8B": Truth(qwen3(36, 4096, 32, 12288, vocab=151665), 147456, 147456),
    "meta-llama/Llama-3.2-1B-Instruct": Truth(llama(16, 2048, (32, 8, 64), 8192, tied=True), 32768, 32768, 1235814400),
    "meta-llama/Llama-3.2-3B-Instruct": Truth(
        llama(28, 3072, (24, 8, 128), 8192, tied=True), 114688, 114688, 3212749824
    ),
    "meta-llama/Llama-3.3-70B-Instruct": Truth(
        llama(80, 8192, (64, 8, 128), 28672, tied=False), 327680, 327680, 70553706496
    ),
    "google/gemma-2-9b-it": Truth(_GEMMA2_9B, 344064, 172032, 9241705984),
    "google/gemma-3-1b-it": Truth(_GEMMA3_1B, 26624, 4096, 999885952),
    "google/gemma-3-4b-it": Truth(_GEMMA3_4B, 139264, 20480, 3880263168),
    "google/gemma-3n-E4B-it": Truth({"model_type": "gemma3n_text"}, 40960, 8192, told=6_900_000_000),
    "google/gemma-4-26B-A4B-it": Truth(
        gemma4(30, 2816, (16, 8, 2), 2112, num_experts=128, moe_intermediate_size=704, top_k_experts=8),
        25 * 8192 + 20480,
        20480,
    ),
    "mistralai/Mistral-7B-Instruct-v0.3": Truth(
        _base(
            "mistral",
            32,
            4096,
            (32, 8, None),
            intermediate_size=14336,
            vocab_size=32768,
            sliding_window=None,
            max_position_embeddings=32768,
        ),
        131072,
        131072,
        7248023552,
    ),
    "mistralai/Mistral-Small-24B-Instruct-2501": Truth(
        _base(
            "mistral",
            40,
            5120,
            (32, 8, 128),
            intermediate_size=32768,
            vocab_size=131072,
            sliding_window=None,
            max_position_embeddings=32768,
        ),
        163840,
        163840,
        23572403200,
    ),
    "microsoft/phi-4": Truth(
        _base(
            "phi3",
            40,
            5120,
            (40, 10, None),
            intermediate_size=17920,
            vocab_size=100352,
            sliding_window=None,
            max_position_embeddings=16384,
        ),
        204800,
        204800,
        14659507200,
    ),
    "microsoft/Phi-4-mini-instruct": Truth(
        _base(
            "phi3",
            32,
            3072,
            (24, 8, None),
            intermediate_size=8192,
            vocab_size=200064,
            sliding_window=262144,
            max_position_embeddings=131072,
            tie_word_embeddings=True,
        ),
        131072,
        131072,
    ),
    "deepseek-ai/DeepSeek-R1": Truth(_latent("deepseek_v3", 128, 256, 3, 129280, 163840), 70272, 70272),
    "moonshotai/Kimi-K2-Instruct": Truth(_latent("kimi_k2", 64, 384, 1, 163840, 131072), 70272, 70272),
    "openai/gpt-oss-120b": Truth(gpt_oss(36, 128), 73728, 36864),
    "openai/gpt-oss-20b": Truth(gpt_oss(24, 32), 49152, 24576),
    "zai-org/GLM-4.5": Truth(
        _base(
            "glm4_moe",
            92,
            5120,
            (96, 8, 128),
            vocab_size=151552,
            max_position_embeddings=131072,
            intermediate_size=12288,
            moe_intermediate_size=1536,
            n_routed_experts=160,
            n_shared_experts=1,
            first_k_dense_replace=3,
            use_qk_norm=True,
            num_nextn_predict_layers=1,
        ),
        376832,
        376832,
    ),
    "Qwen/Qwen3-Next-80B-A3B-Instruct": Truth(_QWEN3_NEXT, 24576, 24576),
    "Qwen/Qwen3.5-9B": Truth(qwen3_5(32, 4096, (16, 4), 32, intermediate_size=12288), 32768, 32768),
    "Qwen/Qwen3.6-27B": Truth(qwen3_5(64, 5120, (24, 4), 48, intermediate_size=17408), 65536, 65536),
    "Qwen/Qwen3.6-35B-A3B": Truth(
        qwen3_5(
            40,
            2048,
            (16, 2),
            32,
            num_experts=256,
            moe_intermediate_size=512,
            shared_expert_intermediate_size=512,
        ),
        20480,
        20480,
    ),
    "nvidia/NVIDIA-Nemotron-3-Nano-30B-A3B-BF16": Truth(NEMOTRON, 6144, 6144),
    "ai21labs/Jamba-v0.1": Truth(
        _base("jamba", 32, 4096, (32, 8, None), vocab_size=65536, max_position_embeddings=262144),
        16384,
        16384,
        told=51_570_323_328,
    ),
    "LiquidAI/LFM2-1.2B": Truth(_LFM2, 12288, 12288),
    "ibm-granite/granite-4.1-8b": Truth(_base("granite", 40, 4096, (32, 8, None), **_DENSE), 163840, 163840),
    "mistralai/Ministral-3-8B-Instruct-2512": Truth(
        {
            "model_type": "mistral3",
            "text_config": _base(
                "ministral3",
                34,
                4096,
                (32, 8, None),
                intermediate_size=14336,
                vocab_size=131072,
                max_position_embeddings=262144,
            ),
        },
        139264,
        139264,
    ),
    "Qwen/Qwen2.5-72B-Instruct": Truth(
        _base(
            "qwen2",
            80,
            8192,
            (64, 8, None),
            intermediate_size=29568,
            vocab_size=152064,
            sliding_window=131072,
            use_sliding_window=False,
            max_window_layers=70,
            max_position_embeddings=32768,
        ),
        327680,
        327680,
        72706203648,
    ),
}
