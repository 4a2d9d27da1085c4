"""What a model is for (LLM, embedding, reranker) and how an embedder pools: from its config, header and name."""

from __future__ import annotations

import re
from dataclasses import dataclass

from knaster.cluster.architecture import Architecture
from knaster.weights.published import Published

_GGUF_POOLING = {1: "mean", 2: "cls", 3: "last", 4: "rank"}
"""``<architecture>.pooling_type`` of a GGUF header (enum llama_pooling_type of llama.cpp)."""
_RERANKER = re.compile(r"rerank|cross[-_]?encoder", re.IGNORECASE)
_EMBEDDER = re.compile(r"embed|(?:^|[/_-])(?:bge|e5|gte|minilm)(?:[._-]|$)", re.IGNORECASE)
_MEAN = re.compile(r"(?:^|[/_-])(?:e5|nomic|minilm|jina)(?:[._-]|$)|mpnet", re.IGNORECASE)
_CLS = re.compile(r"(?:^|[/_-])(?:bge|arctic|mxbai)(?:[._-]|$)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Purpose:
    """``kind`` as in the catalog; ``pooling`` of an embedder (``mean``, ``cls``, ``last``), None where not known;
    ``head``: a reranker has a classification head, and does not say yes or no as a language model."""

    kind: str
    pooling: str | None = None
    head: bool = False

    @property
    def whole(self) -> bool:
        """Whether llama.cpp has to take a text in one batch: all pooling but that of the last token looks back.

        Source: ``server_slot::can_split`` of llama-server.
        """
        return self.kind == "reranker" or (self.kind == "embedding" and self.pooling != "last")


def purpose(published: Published, model: Architecture) -> Purpose:
    """What the model serves. A classification head is a reranker, an encoder or a name with "embed" an embedder."""
    pooled = _pooling_of_header(published)
    name = published.name
    if pooled == "rank" or _RERANKER.search(name) or _has_head(published):
        return Purpose("reranker", head=_has_head(published))
    if pooled or model.encoder or _EMBEDDER.search(name):
        return Purpose("embedding", pooled or _pooling_of_name(name, model))
    return Purpose("llm")


def _has_head(published: Published) -> bool:
    classes = (published.config or {}).get("architectures")
    return isinstance(classes, list) and any(
        isinstance(one, str) and one.endswith("ForSequenceClassification") for one in classes
    )


def _pooling_of_header(published: Published) -> str | None:
    for file in published.gguf:
        family = file.metadata.get("general.architecture")
        pooled = file.metadata.get(f"{family}.pooling_type")
        if isinstance(pooled, int):
            return _GGUF_POOLING.get(pooled)
    return None


def _pooling_of_name(name: str, model: Architecture) -> str | None:
    """By the makers' own model cards; a decoder that embeds reads its last token."""
    if not model.encoder:
        return "last"
    if _CLS.search(name):
        return "cls"
    return "mean" if _MEAN.search(name) else None
