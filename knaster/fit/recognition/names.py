"""Names of stored tensors, from those of transformers to those of GGUF (the table of ``gguf.tensor_mapping``)."""

from __future__ import annotations

import re
from types import MappingProxyType

_PREFIXES = re.compile(
    r"^(?:(?:model|language_model|text_model|thinker|transformer|backbone|bert|roberta|encoder|decoder|new)\.)+"
)
_LAYER = re.compile(r"^(?:layers|layer|h|blocks|block)\.(\d{1,4})\.(.+)$")
_EXPERT = re.compile(r"^(.*experts)\.(\d{1,5})\.(.+)$")
_OTHER = re.compile(
    r"^(?:model\.|thinker\.)?(vision_tower|visual|vision_model|vision_embed_tokens|multi_modal_projector|mm_projector|"
    r"embed_vision|patch_merger|merger|audio_tower|embed_audio|audio_model|talker|code2wav|token2wav|mtp)\b"
)
_KINDS = {"audio_tower": "audio", "embed_audio": "audio", "audio_model": "audio", "mtp": "mtp"}
_SPEECH = frozenset({"talker", "code2wav", "token2wav"})

_TOP = MappingProxyType(
    {
        "embed_tokens": "token_embd",
        "embeddings.word_embeddings": "token_embd",
        "embeddings.tok_embeddings": "token_embd",
        "embeddings": "token_embd",
        "embedding": "token_embd",
        "wte": "token_embd",
        "tok_embeddings": "token_embd",
        "embeddings.position_embeddings": "position_embd",
        "embeddings.token_type_embeddings": "token_types",
        "embeddings.LayerNorm": "token_embd_norm",
        "emb_ln": "token_embd_norm",
        "norm": "output_norm",
        "norm_f": "output_norm",
        "final_layernorm": "output_norm",
        "ln_f": "output_norm",
        "embedding_norm": "output_norm",
        "lm_head": "output",
        "pooler.dense": "cls",
        "classifier.dense": "cls",
        "classifier.out_proj": "cls.output",
        "classifier": "cls.output",
        "embed_tokens_per_layer": "per_layer_token_embd",
        "per_layer_model_projection": "per_layer_model_proj",
        "per_layer_projection_norm": "per_layer_proj_norm",
    }
)

_PARTS = MappingProxyType(
    {
        "self_attn.q_proj": "attn_q",
        "self_attn.k_proj": "attn_k",
        "self_attn.v_proj": "attn_v",
        "self_attn.o_proj": "attn_output",
        "self_attn.out_proj": "attn_output",
        "self_attn.qkv_proj": "attn_qkv",
        "self_attn.q_norm": "attn_q_norm",
        "self_attn.k_norm": "attn_k_norm",
        "self_attn.q_layernorm": "attn_q_norm",
        "self_attn.k_layernorm": "attn_k_norm",
        "self_attn.sinks": "attn_sinks",
        "self_attn.q_a_proj": "attn_q_a",
        "self_attn.q_a_layernorm": "attn_q_a_norm",
        "self_attn.q_b_proj": "attn_q_b",
        "self_attn.kv_a_proj_with_mqa": "attn_kv_a_mqa",
        "self_attn.kv_a_layernorm": "attn_kv_a_norm",
        "self_attn.kv_b_proj": "attn_kv_b",
        "input_layernorm": "attn_norm",
        "operator_norm": "attn_norm",
        "norm": "attn_norm",
        "post_attention_layernorm": "ffn_norm",
        "pre_ff_layernorm": "ffn_norm",
        "pre_feedforward_layernorm": "ffn_norm",
        "post_feedforward_layernorm": "post_ffw_norm",
        "mlp.gate_proj": "ffn_gate",
        "mlp.up_proj": "ffn_up",
        "mlp.down_proj": "ffn_down",
        "mlp.gate_up_proj": "ffn_up",
        "feed_forward.gate_proj": "ffn_gate",
        "feed_forward.up_proj": "ffn_up",
        "feed_forward.down_proj": "ffn_down",
        "feed_forward.w1": "ffn_gate",
        "feed_forward.w3": "ffn_up",
        "feed_forward.w2": "ffn_down",
        "mlp.gate": "ffn_gate_inp",
        "mlp.router": "ffn_gate_inp",
        "router.proj": "ffn_gate_inp",
        "feed_forward.router": "ffn_gate_inp",
        "block_sparse_moe.gate": "ffn_gate_inp",
        "mixer.gate": "ffn_gate_inp",
        "mlp.gate.e_score_correction_bias": "exp_probs_b.bias",
        "mixer.gate.e_score_correction_bias": "exp_probs_b.bias",
        "mlp.shared_expert_gate": "ffn_gate_inp_shexp",
        "linear_attn.in_proj_qkv": "attn_qkv",
        "linear_attn.in_proj_qkvz": "ssm_in",
        "linear_attn.in_proj_z": "attn_gate",
        "linear_attn.in_proj_ba": "ssm_ba",
        "linear_attn.in_proj_a": "ssm_alpha",
        "linear_attn.in_proj_b": "ssm_beta",
        "linear_attn.conv1d": "ssm_conv1d",
        "linear_attn.dt_bias": "ssm_dt.bias",
        "linear_attn.A_log": "ssm_a",
        "linear_attn.norm": "ssm_norm",
        "linear_attn.out_proj": "ssm_out",
        "conv.in_proj": "shortconv.in_proj",
        "conv.out_proj": "shortconv.out_proj",
        "conv.conv": "shortconv.conv",
        "mixer.q_proj": "attn_q",
        "mixer.k_proj": "attn_k",
        "mixer.v_proj": "attn_v",
        "mixer.o_proj": "attn_output",
        "mixer.up_proj": "ffn_up",
        "mixer.down_proj": "ffn_down",
        "attention.self.query": "attn_q",
        "attention.self.key": "attn_k",
        "attention.self.value": "attn_v",
        "attention.output.dense": "attn_output",
        "attention.output.LayerNorm": "attn_output_norm",
        "intermediate.dense": "ffn_up",
        "output.dense": "ffn_down",
        "output.LayerNorm": "layer_output_norm",
        "attn.Wqkv": "attn_qkv",
        "attn.out_proj": "attn_output",
        "mlp.fc11": "ffn_up",
        "mlp.fc12": "ffn_gate",
        "mlp.fc2": "ffn_down",
        "attn.Wo": "attn_output",
        "mlp.Wi": "ffn_up",
        "mlp.Wo": "ffn_down",
        "norm1": "attn_output_norm",
        "norm2": "layer_output_norm",
    }
)
_EXPERTS = MappingProxyType(
    {"gate_proj": "gate", "up_proj": "up", "down_proj": "down", "w1": "gate", "w3": "up", "w2": "down"}
)
_SHARED = re.compile(r"^(?:mlp|mixer|feed_forward)\.shared_experts?\.(gate|up|down)_proj$")
_FUSED = re.compile(r"^(?:mlp\.|mixer\.|feed_forward\.)?experts\.(gate_up|gate|up|down)_proj$")
_MAMBA = re.compile(r"^(?:mixer|mamba)\.(in_proj|conv1d|x_proj|dt_proj|out_proj|A_log|D|dt_bias|norm)$")
_SSM = {
    "in_proj": "ssm_in",
    "conv1d": "ssm_conv1d",
    "x_proj": "ssm_x",
    "dt_proj": "ssm_dt",
    "out_proj": "ssm_out",
    "A_log": "ssm_a",
    "D": "ssm_d",
    "dt_bias": "ssm_dt.bias",
    "norm": "ssm_norm",
}


def outside(name: str) -> str | None:
    """What a tensor that a text model does not load belongs to: ``vision``, ``audio``, ``mtp``, ``speech``."""
    found = _OTHER.match(name)
    if found is None:
        return None
    return "speech" if found[1] in _SPEECH else _KINDS.get(found[1], "vision")


def place(base: str, *, norms_after: bool = False) -> tuple[str, int | None, bool]:
    """GGUF's name (``blk.{}.`` for a layer, without ``.weight``), the layer, and whether it is one expert of many.

    An unknown name stays as it is: its bytes still count. `norms_after`: the family has norms after attention and
    feed-forward too, so that ``post_attention_layernorm`` is just that (Gemma 2 and later).
    """
    plain = _PREFIXES.sub("", base)
    layer = _LAYER.match(plain)
    if layer is None:
        return _TOP.get(plain, plain), None, False
    part = layer[2]
    expert = _EXPERT.match(part)
    if expert is not None and expert[3] in _EXPERTS:
        return f"blk.{{}}.ffn_{_EXPERTS[expert[3]]}_exps", int(layer[1]), True
    if norms_after and part == "post_attention_layernorm":
        return "blk.{}.post_attention_norm", int(layer[1]), False
    return f"blk.{{}}.{_part(part)}", int(layer[1]), False


def _part(part: str) -> str:
    if part in _PARTS:
        return _PARTS[part]
    tables: tuple[tuple[re.Pattern[str], str], ...] = ((_SHARED, "ffn_{}_shexp"), (_FUSED, "ffn_{}_exps"))
    for pattern, name in tables:
        found = pattern.match(part)
        if found:
            return name.format(found[1])
    mamba = _MAMBA.match(part)
    return _SSM[mamba[1]] if mamba else part
