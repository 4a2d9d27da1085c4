"""What the OpenTofu module declares, against what is emitted for it.

OpenTofu drops an undeclared attribute of an object without a word, only warns of an undeclared variable, and takes null
for a required attribute. So the types in ``variables.tf`` are read here and compared value by value. The reader knows
what type constraints are made of and no more: python-hcl2 would hand the types over as text, to be parsed all the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from knaster.renderers.module import module_texts

_TOKEN = re.compile(
    r'(?s)\s+|#[^\n]*|//[^\n]*|/\*.*?\*/|(?P<token>"(?:[^"\\]|\\.)*"|[\w.-]+|<=|>=|==|!=|&&|\|\||=>|[^\s\w])'
)
_OPEN, _CLOSE = frozenset("([{"), frozenset(")]}")
_SCALARS = {"string": (str,), "number": (int, float), "bool": (bool,)}
_COLLECTIONS = frozenset({"list", "set", "map"})


@dataclass(frozen=True, slots=True)
class Type:
    """A type constraint: ``kind`` is string, number, bool, any, list, set, map or object.

    ``of`` is what a collection holds, ``attributes`` what an object has, ``optional`` those that may be left out.
    """

    kind: str
    of: Type | None = None
    attributes: Mapping[str, Type] = field(default_factory=dict)
    optional: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Variable:
    """A declared variable. Only one with a default may be missing."""

    type: Type
    has_default: bool


def declared(text: str) -> dict[str, Variable]:
    """The variables that a ``.tf`` text declares, by name. Raises ValueError for a type that is none."""
    tokens = [found for match in _TOKEN.finditer(text) if (found := match.group("token"))]
    variables: dict[str, Variable] = {}
    at = 0
    while at < len(tokens):
        if tokens[at] == "variable":
            end = _end(tokens, at + 2)
            variables[tokens[at + 1].strip('"')] = _variable(tokens[at + 3 : end])
            at = end
        at += 1
    return variables


def broken(values: Mapping[str, Any], variables: Mapping[str, Variable] | None = None) -> tuple[str, ...]:
    """Every way in which the data of the tfvars is not what the module declares, each with where; sorted."""
    known = _module_variables() if variables is None else variables
    emitted = {name: value for name, value in values.items() if name != "//"}
    missing = [f"{name}: not emitted" for name in known.keys() - emitted.keys() if not known[name].has_default]
    undeclared = [f"{name}: the module declares no such variable" for name in emitted.keys() - known.keys()]
    wrong = [
        problem for name in emitted.keys() & known.keys() for problem in _wrong(name, emitted[name], known[name].type)
    ]
    return tuple(sorted((*missing, *undeclared, *wrong)))


@lru_cache(maxsize=1)
def _module_variables() -> Mapping[str, Variable]:
    return declared(module_texts()["tofu/variables.tf"])


def _wrong(where: str, value: Any, wanted: Type) -> Iterator[str]:
    if value is None:
        yield f"{where}: null"
    elif wanted.kind in _SCALARS:
        if not isinstance(value, _SCALARS[wanted.kind]) or (isinstance(value, bool) and wanted.kind != "bool"):
            yield f"{where}: no {wanted.kind}"
    elif wanted.kind == "object":
        yield from _wrong_object(where, value, wanted)
    elif wanted.of is not None:
        if not isinstance(value, dict if wanted.kind == "map" else list):
            yield f"{where}: no {wanted.kind}"
            return
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _wrong(f"{where}[{key}]", inner, wanted.of)


def _wrong_object(where: str, value: Any, wanted: Type) -> Iterator[str]:
    """An optional attribute that is left out counts too: every default is written out."""
    if not isinstance(value, dict):
        yield f"{where}: no object"
        return
    yield from (f"{where}.{name}: not emitted" for name in wanted.attributes if name not in value)
    yield from (f"{where}.{name}: the module has no such attribute" for name in value if name not in wanted.attributes)
    for name, inner in wanted.attributes.items():
        if name in value:
            yield from _wrong(f"{where}.{name}", value[name], inner)


def _end(tokens: list[str], start: int) -> int:
    """The index of the bracket that closes the one at `start`."""
    depth = 0
    for at in range(start, len(tokens)):
        depth += (tokens[at] in _OPEN) - (tokens[at] in _CLOSE)
        if depth == 0:
            return at
    raise ValueError("a bracket is not closed")


def _variable(body: list[str]) -> Variable:
    """`body` are the tokens inside the variable's braces."""
    kind, has_default, at = Type("any"), False, 0
    while at < len(body):
        if body[at] in _OPEN:
            at = _end(body, at)
        elif body[at : at + 2] == ["type", "="]:
            kind, at, _ = _type(body, at + 2)
            continue
        elif body[at : at + 2] == ["default", "="]:
            has_default = True
        at += 1
    return Variable(kind, has_default)


def _type(tokens: list[str], at: int) -> tuple[Type, int, bool]:
    """The type that begins at `at`, the index behind it, and whether it is wrapped in ``optional``."""
    word = tokens[at] if at < len(tokens) else ""
    if word in _SCALARS or word == "any":
        return Type(word), at + 1, False
    if tokens[at + 1 : at + 2] != ["("]:
        raise ValueError(f"no type constraint: {word!r}")
    end = _end(tokens, at + 1)
    if word == "optional":
        return _type(tokens, at + 2)[0], end + 1, True
    if word in _COLLECTIONS:
        return Type(word, of=_type(tokens, at + 2)[0]), end + 1, False
    if word == "object" and tokens[at + 2] == "{":
        return _object(tokens[at + 3 : end - 1]), end + 1, False
    raise ValueError(f"no type constraint: {word!r}")


def _object(inside: list[str]) -> Type:
    attributes: dict[str, Type] = {}
    optional: set[str] = set()
    at = 0
    while at < len(inside):
        if inside[at] == ",":
            at += 1
            continue
        name = inside[at]
        attributes[name], at, may_lack = _type(inside, at + 2)
        optional |= {name} if may_lack else set()
    return Type("object", attributes=attributes, optional=frozenset(optional))
