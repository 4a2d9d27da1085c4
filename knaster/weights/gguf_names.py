"""What the names of GGUF files say: the precision, the parts of a split file, and what is no language model at all.

Source of the splits: ``llama_split_path`` of llama.cpp (``%s-%05d-of-%05d.gguf``).
"""

from __future__ import annotations

import re
from collections.abc import Iterable

_PART = re.compile(r"(?P<stem>.+)-(?P<number>\d{5})-of-(?P<count>\d{5})\.gguf\Z", re.IGNORECASE)
_PRECISION = re.compile(
    r"(?<![A-Za-z0-9])(UD-)?(IQ[1-4]_(?:XXS|XS|NL|S|M)|TQ[12]_0|Q[2-8]_(?:K(?:_(?:XXL|XL|XS|S|M|L))?|[01])"
    r"|MXFP4(?:_MOE)?|NVFP4|BF16|F16|FP16|F32|FP32)(?![A-Za-z0-9])",
    re.IGNORECASE,
)
_ASIDE = re.compile(r"(?:\A|[/._-])(?:mmproj|imatrix|vocab)(?:[._-]|\Z)", re.IGNORECASE)
_SAME = {"fp16": "f16", "fp32": "f32", "mxfp4_moe": "mxfp4"}


def is_gguf(path: str) -> bool:
    """Whether the path names a GGUF file with a model in it: no projector, importance matrix, bare vocabulary."""
    return path.lower().endswith(".gguf") and not is_aside(path)


def is_aside(path: str) -> bool:
    """Whether a GGUF file accompanies a model (``mmproj-F16.gguf``, ``imatrix.gguf``, ``ggml-vocab-x.gguf``)."""
    return path.lower().endswith(".gguf") and _ASIDE.search(path.rpartition("/")[2]) is not None


def precision(path: str) -> str | None:
    """The precision that the file's name claims, in lower case (``q4_k_m``, ``ud-q4_k_xl``); None where it does not.

    The last one of several counts; a folder's name counts where the file's has none. It is a claim: the tensors decide.
    """
    for text in reversed(path.split("/")):
        found = [match.group(0).lower() for match in _PRECISION.finditer(text)]
        if found:
            return _SAME.get(found[-1], found[-1])
    return None


def models(paths: Iterable[str]) -> list[tuple[str, ...]]:
    """The GGUF models among `paths`: one tuple each, the parts of a split one in order; sorted by their first paths.

    A split model of which parts are missing has gaps, which `missing` tells.
    """
    whole: list[tuple[str, ...]] = []
    split: dict[tuple[str, str], dict[int, str]] = {}
    for path in sorted(paths):
        if is_gguf(path):
            match = _PART.match(path)
            if match is None:
                whole.append((path,))
            else:
                split.setdefault((match["stem"], match["count"]), {})[int(match["number"])] = path
    whole += [tuple(path for _, path in sorted(parts.items())) for parts in split.values()]
    return sorted(whole)


def missing(parts: tuple[str, ...]) -> int:
    """How many parts of a split model are not among `parts`; 0 for a whole one."""
    match = _PART.match(parts[0])
    return max(int(match["count"]) - len(parts), 0) if match else 0
