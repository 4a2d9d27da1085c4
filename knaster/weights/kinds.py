"""What kind of repository this is, told by the names of its files: a language model's, or why not and the way out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass

from knaster.weights import gguf_names
from knaster.weights.reader import Listing, Reader

_PICKLES = (".bin", ".pt", ".pth", ".ckpt")
_NO_WEIGHTS = (
    "knaster plans with language models, embedders and rerankers: a config.json of transformers, or a GGUF file"
)


@dataclass(frozen=True, slots=True)
class Unreadable:
    """Why nothing can be planned with what was named, and the way out. The texts may quote names from outside."""

    reason: str
    hint: str | None = None


def not_a_model(reader: Reader) -> Unreadable | None:
    """Why the files of `reader` are no model to plan with, from their names alone; None where they may be one."""
    files = reader.files
    if any(gguf_names.is_gguf(path) for path in files):
        return None
    if "model_index.json" in files:
        return Unreadable(
            f"{reader.name} is a pipeline of diffusers (images, video or sound), not a language model", _NO_WEIGHTS
        )
    if (
        "adapter_config.json" in files
        and "model.safetensors" not in files
        and "model.safetensors.index.json" not in files
    ):
        return Unreadable(
            f"{reader.name} is an adapter (LoRA), not a model",
            "plan with the model that it adapts: base_model_name_or_path in its adapter_config.json",
        )
    if "config.json" not in files:
        return _without_config(reader)
    if _only_onnx(files):
        return Unreadable(
            f"{reader.name} holds weights for ONNX only",
            "name the repository that they were made from, or one with a GGUF file",
        )
    return None


def _without_config(reader: Reader) -> Unreadable:
    files = reader.files
    nested = sorted({path.split("/")[0] for path in files if path.count("/") == 1 and path.endswith("/config.json")})
    if "modules.json" in files and nested:
        return Unreadable(
            f"{reader.name} keeps its model in the folder {nested[0]}, as old sentence-transformers do",
            "download it, and name that folder",
        )
    if "params.json" in files:
        return Unreadable(
            f"{reader.name} is published in Mistral's or Meta's own format only (params.json, no config.json)",
            "name a repository of the same model with a config.json, often with -HF or -hf at the end of its name",
        )
    if any(gguf_names.is_aside(path) for path in files):
        return Unreadable(
            f"{reader.name} has no model among its GGUF files, only what accompanies one (mmproj, imatrix)",
            "name the repository or file of the model itself",
        )
    return Unreadable(f"{reader.name} has no config.json and no GGUF file", _NO_WEIGHTS)


def _only_onnx(files: Listing) -> bool:
    return any(path.endswith(".onnx") for path in files) and not any(
        path.endswith((".safetensors", *_PICKLES)) for path in files
    )


def passed_over(reader: Reader, read: Collection[str]) -> tuple[str, ...]:
    """A word on each kind of file with weights that was not read, and why its bytes count nowhere."""
    aside = [path for path in reader.files if path.endswith(".safetensors") and path not in read]
    notes = []
    if aside and read:
        folders = Counter(f"{path.split('/')[0]}/" if "/" in path else path for path in aside)
        names = ", ".join(sorted(folders)[:5])
        notes.append(f"passed over, because the index does not name them: {names}{' …' if len(folders) > 5 else ''}")
    if not read and _pickled(reader.files):
        notes.append(
            "the weights are pickles (.bin), whose tables are not read: reading one means to run what it holds"
        )
    elif not read and not aside and not any(gguf_names.is_gguf(path) for path in reader.files):
        notes.append("no weights are there: everything is worked out from config.json")
    elif not read and aside and "config.json" in reader.files:
        notes.append(f"no index and no model.safetensors: {len(aside)} other safetensors files were not read")
    if any(gguf_names.is_aside(path) for path in reader.files):
        notes.append("a projector for images (mmproj) is a file of its own, and is not counted")
    return tuple(notes)


def _pickled(files: Listing) -> bool:
    return any(path.endswith(_PICKLES) and "/" not in path for path in files)
