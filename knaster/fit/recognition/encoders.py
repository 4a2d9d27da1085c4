"""The tensors of encoders: BERT, RoBERTa and XLM-RoBERTa (bge-m3, bge-reranker-v2-m3 and their like), Nomic."""

from __future__ import annotations

from knaster.fit.recognition.config import Config
from knaster.fit.recognition.kinds import Kind
from knaster.fit.recognition.sheet import Sheet


def bert(config: Config, kinds: tuple[Kind, ...], sheet: Sheet) -> None:
    """Attention and feed-forward with biases; positions and token types beside the vocabulary; the pooler (or the
    dense part of a reranker's classifier) counts as a parameter too."""
    every, hidden = range(len(kinds)), sheet.hidden
    width = config.count("intermediate_size")
    for part in ("attn_q", "attn_k", "attn_v", "attn_output"):
        sheet.linear(every, part, hidden, hidden, bias=True)
    sheet.linear(every, "ffn_up", width, hidden, bias=True)
    sheet.linear(every, "ffn_down", hidden, width, bias=True)
    sheet.norms(every, "attn_output_norm", "layer_output_norm", bias=True)
    sheet.top("position_embd.weight", config.count("max_position_embeddings"), hidden)
    if config.zero("type_vocab_size"):
        sheet.top("token_types.weight", config.count("type_vocab_size"), hidden)
    sheet.top("token_embd_norm.weight", hidden)
    sheet.top("token_embd_norm.bias", hidden)
    sheet.top("cls.weight", hidden, hidden)
    sheet.top("cls.bias", hidden)


def nomic(config: Config, kinds: tuple[Kind, ...], sheet: Sheet) -> None:
    """Nomic Embed: rotary positions, query, key and value in one matrix, a gated feed-forward, no biases."""
    every, hidden = range(len(kinds)), sheet.hidden
    width = config.maybe("n_inner", "intermediate_size") or 4 * hidden
    sheet.linear(every, "attn_qkv", 3 * hidden, hidden)
    sheet.linear(every, "attn_output", hidden, hidden)
    sheet.linear(every, "ffn_up", width, hidden)
    sheet.linear(every, "ffn_gate", width, hidden)
    sheet.linear(every, "ffn_down", hidden, width)
    sheet.norms(every, "attn_output_norm", "layer_output_norm", bias=True)
    if config.zero("type_vocab_size"):
        sheet.top("token_types.weight", config.count("type_vocab_size"), hidden)
    sheet.top("token_embd_norm.weight", hidden)
    sheet.top("token_embd_norm.bias", hidden)
