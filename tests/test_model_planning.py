"""From what is published to what is planned with: the model that its files are of."""

from __future__ import annotations

from knaster.cluster.architecture import CannotTell
from knaster.model_plan.candidates import Model
from knaster.model_plan.engines import KV_PRECISIONS
from knaster.model_plan.question import cache_warnings, model_of
from knaster.weights import GgufFile, Published, Tensor


def file(path: str, hidden: int, heads: int) -> GgufFile:
    """A GGUF file of one layer of a Llama: the metadata and tensors that its header would say."""
    shapes = {
        "token_embd.weight": (1024, hidden),
        "output_norm.weight": (hidden,),
        "blk.0.attn_q.weight": (hidden, hidden),
        "blk.0.attn_k.weight": (hidden, hidden),
        "blk.0.attn_v.weight": (hidden, hidden),
        "blk.0.attn_output.weight": (hidden, hidden),
    }
    metadata = {
        "general.architecture": "llama",
        "llama.block_count": 1,
        "llama.embedding_length": hidden,
        "llama.attention.head_count": heads,
        "llama.context_length": 4096,
    }
    tensors = tuple(
        Tensor(name, shape, "f16", 2 * hidden * (shape[0] if len(shape) > 1 else 1)) for name, shape in shapes.items()
    )
    return GgufFile(path, 1, metadata=metadata, tensors=tensors)


def test_kernels_that_released_builds_lack_are_told() -> None:
    """``ggml_cuda_get_best_fattn_kernel``: q4_1, q5_0 and q5_1 only with GGML_CUDA_FA_ALL_QUANTS."""
    assert [kind for kind in KV_PRECISIONS if cache_warnings(kind)] == ["q5_1", "q5_0", "q4_1"]
    assert "GGML_CUDA_FA_ALL_QUANTS" in cache_warnings("q5_1")[0]


def test_files_of_one_model_are_its_precisions() -> None:
    found = model_of(Published("o/m", gguf=(file("m-Q8_0.gguf", 256, 4), file("m-Q4_K_M.gguf", 256, 4))))
    assert isinstance(found, Model), found
    assert (sorted(found.files), found.only_files) == (["q4_k_m", "q8_0"], True)


def test_a_folder_of_several_models_is_no_model() -> None:
    found = model_of(Published("models", gguf=(file("a-Q8_0.gguf", 256, 4), file("b-Q4_K_M.gguf", 512, 8))))
    told = "there are GGUF files of several models (a-Q8_0.gguf, b-Q4_K_M.gguf): name one of them"
    assert found == CannotTell(told)
