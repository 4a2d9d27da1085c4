"""From what was published and what was asked to the question that `candidates.plan` answers."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from knaster.cluster.architecture import Architecture, CannotTell
from knaster.document.scalars import shown
from knaster.fit.recognise import recognise
from knaster.fit.recognition.config import quoted
from knaster.model_plan.candidates import Model
from knaster.model_plan.engines import DEFAULT, PLAIN, PRECISIONS, is_gguf, order
from knaster.weights import gguf_names
from knaster.weights.published import Published

_LONGEST_NAME = 100
MOST_CONTEXT = 100_000_000
"""Tokens (the bound of ``context`` in the catalog's schema)."""
_UNITS: dict[str, int] = {"": 1, "k": 2**10, "m": 10**6, "b": 10**9, "t": 10**12}


@dataclass(frozen=True, slots=True)
class Refused:
    """An option that cannot be used, and the way out."""

    reason: str
    hint: str


def model_of(published: Published, parameters: int | None = None) -> Model | CannotTell:
    """The model with what each GGUF file of it that was read says; without a config the first file speaks for it."""
    files: dict[str, Architecture] = {}
    unknown: CannotTell | None = None
    for file in published.gguf:
        if not file.tensors:
            continue
        found = recognise(published, file, parameters)
        if isinstance(found, CannotTell):
            unknown = unknown or found
        else:
            files.setdefault(gguf_names.precision(file.path) or found.stored, found)
    if published.config is not None:
        base = recognise(published, None, parameters)
        return base if isinstance(base, CannotTell) else Model(base, files)
    if len({(one.hidden, one.heads) for one in files.values()}) > 1:
        names = ", ".join(quoted(file.path) for file in published.gguf if file.tensors)
        return CannotTell(f"there are GGUF files of several models ({names}): name one of them")
    if not files:
        return unknown or CannotTell("neither a config.json nor the header of a GGUF file was read")
    return Model(next(iter(files.values())), files, only_files=True)


def precisions(text: str | None) -> tuple[str, ...] | Refused:
    """What ``--precision`` asks for, the defaults for None; names that no file and no engine has are refused."""
    if text is None:
        return DEFAULT
    names = tuple(dict.fromkeys(part.strip().lower() for part in text.split(",") if part.strip()))
    known = [name for name in names if name in PRECISIONS or is_gguf(name.removeprefix("ud-"))]
    if names and len(known) == len(names):
        return names
    return _unknown_precision(next((name for name in names if name not in known), text))


def planned_precisions(model: Model, asked: tuple[str, ...], *, given: bool) -> tuple[str, ...] | Refused:
    """The precisions to plan: those asked for, else the defaults and what the model is stored as."""
    if given:
        strange = [name for name in asked if name not in PRECISIONS and name not in model.files]
        return _unknown_precision(strange[0]) if strange else asked
    if model.only_files:
        return tuple(sorted(model.files, key=order))
    stored = model.architecture.stored
    nothing_new = stored in PLAIN or stored in asked or stored not in PRECISIONS
    return asked if nothing_new else tuple(sorted((*asked, stored), key=order))


def context(model: Architecture, asked: int | None) -> int | Refused:
    """The tokens of one sequence: those asked for, else the trained context."""
    trained = model.context
    if asked is None:
        hint = "say how long a text may be: --context 8192"
        return trained if trained else Refused("its trained context is not published", hint)
    if model.encoder and trained and asked > trained:
        return Refused(f"it reads {trained:,} tokens at most, not {asked:,}", f"--context {trained} or less")
    return asked


def warnings(model: Architecture, asked: int) -> tuple[str, ...]:
    """What to know of a context that the model was not trained for."""
    if model.context is None or asked <= model.context:
        return ()
    told = f"{asked:,} tokens are more than the {model.context:,} that it was trained for: both engines need RoPE"
    return (f"{told} scaling (YaRN) for that, and vLLM refuses without it",)


def cache_warnings(kv_precision: str) -> tuple[str, ...]:
    """What to know of a KV cache that llama.cpp has, and its released CUDA builds have no kernel for."""
    if kv_precision not in ("q5_1", "q5_0", "q4_1"):
        return ()
    told = f"released CUDA builds of llama.cpp leave attention over a KV cache in {kv_precision} to the CPU"
    return (f"{told}: build it with GGML_CUDA_FA_ALL_QUANTS, or take q8_0 or q4_0",)


def tokens(text: str, option: str) -> int | Refused:
    """``32768``, ``32,768`` or ``32k`` (32 x 1024)."""
    what = "sequences, such as 4" if option == "--parallel" else "tokens, such as 32768 or 32k"
    return _number(text, option, "k", MOST_CONTEXT, what)


def entry_named(name: str | None) -> str | Refused | None:
    """``--name``, where the catalog's schema takes it as the name of a model."""
    if name is None or (len(name) <= _LONGEST_NAME and re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._:+-]*", name)):
        return name
    hint = "letters, digits, dot, colon, plus, hyphen and underscore, beginning with a letter or digit, 100 at most"
    return Refused(f"--name {shown(name[:40])} is no name of a model", hint)


def parameters(text: str) -> int | Refused:
    """``14.8B``, ``596M`` or the whole number."""
    return _number(text, "--params", "mbt", 10**15, "parameters, such as 14.8B or 596M")


def _number(text: str, option: str, units: str, most: int, what: str) -> int | Refused:
    match = re.fullmatch(rf"([0-9]{{1,18}}(?:\.[0-9]{{1,9}})?)([{units}]?)", text.strip().replace(",", "").lower())
    if match:
        whole, _, part = match[1].partition(".")
        scale = _UNITS[match[2]]
        number, rest = divmod(int(whole + part) * scale, int("1" + "0" * len(part)))
        if not rest and 1 <= number <= most:
            return number
    return Refused(f"{option} {text[:40]} is no number that can be used", f"give a number of {what}")


def _unknown_precision(name: str) -> Refused:
    return Refused(f"there is no precision {name[:40]}", f"known: {_listed(PRECISIONS)}")


def _listed(names: Iterable[str]) -> str:
    return ", ".join(names)
