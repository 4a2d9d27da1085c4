"""The precision of a GGUF file in one word."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from knaster.cluster.architecture import TensorGroup
from knaster.fit.recognition.config import Config

_FILE_TYPES: Mapping[int, tuple[str, str]] = {
    0: ("f32", "f32"),
    1: ("f16", "f16"),
    2: ("q4_0", "q4_0"),
    3: ("q4_1", "q4_1"),
    7: ("q8_0", "q8_0"),
    8: ("q5_0", "q5_0"),
    9: ("q5_1", "q5_1"),
    10: ("q2_k", "q2_k"),
    11: ("q3_k_s", "q3_k"),
    12: ("q3_k_m", "q3_k"),
    13: ("q3_k_l", "q3_k"),
    14: ("q4_k_s", "q4_k"),
    15: ("q4_k_m", "q4_k"),
    16: ("q5_k_s", "q5_k"),
    17: ("q5_k_m", "q5_k"),
    18: ("q6_k", "q6_k"),
    25: ("iq4_nl", "iq4_nl"),
    26: ("iq3_s", "iq3_s"),
    30: ("iq4_xs", "iq4_xs"),
    32: ("bf16", "bf16"),
    38: ("mxfp4", "mxfp4"),
}
"""``general.file_type`` (enum llama_ftype of llama.h) to its name and the type that most of its tensors have."""


def precision_of(config: Config, groups: tuple[TensorGroup, ...]) -> str:
    """The declared precision where the tensors agree with it (files are often misnamed), else their commonest type."""
    counted: Counter[str] = Counter()
    for group in groups:
        counted[group.dtype] += group.elements
    commonest = counted.most_common(1)[0][0]
    declared = config.get("general.file_type")
    name, base = _FILE_TYPES.get(declared, ("", "")) if isinstance(declared, int) else ("", "")
    return name if base == commonest else commonest
