"""The way out of a schema error: the name that was meant, the spelling that would do, what the field is for."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from knaster.schema.words import echo

Schema = Mapping[str, Any]

_NUMBER = re.compile(r"-?[0-9]+(?:\.[0-9]+)?")


def respelled(value: str, pattern: str) -> str | None:
    """The same text without surrounding blanks or in lower case, where that would be accepted."""
    for candidate in (value.strip(), value.lower(), value.strip().lower()):
        if candidate != value and re.search(pattern, candidate):
            return candidate
    return None


def example(schema: Schema) -> str | None:
    """The first example of a field, if it is a scalar."""
    examples = schema.get("examples") or [None]
    return None if isinstance(examples[0], (list, dict, type(None))) else echo(examples[0])


def usage(schema: Schema) -> str | None:
    """What a field is for, with an example."""
    description, model = schema.get("description"), example(schema)
    return f"{description} For example: {model}" if description and model else description


def missing_hint(keys: Sequence[str], properties: Mapping[str, Schema]) -> str:
    """What missing keys are for: one in full, several in a sentence each."""
    if len(keys) == 1:
        return f"{keys[0]}: {usage(properties.get(keys[0], {})) or 'required'}"
    return " ".join(f"{key}: {_sentence(properties.get(key, {}))}" for key in keys)


def _sentence(schema: Schema) -> str:
    description = str(schema.get("description", "required."))
    return f"{description.split('. ', maxsplit=1)[0].rstrip('.')}."


def remedy(value: Any, schema: Schema) -> str | None:
    """What to do about a value of the wrong type."""
    allowed = schema.get("type", ())
    wanted = {allowed} if isinstance(allowed, str) else set(allowed)
    for hint in (_quotes, _digits, _list, _truth, _empty):
        text = hint(value, wanted)
        if text:
            return text
    return usage(schema)


def _quotes(value: Any, wanted: set[str]) -> str | None:
    if "string" in wanted and isinstance(value, (bool, int, float)):
        return "put it in quotes, so that it stays text"
    return None


def _digits(value: Any, wanted: set[str]) -> str | None:
    if not wanted & {"integer", "number"} or not isinstance(value, str):
        return None
    if _NUMBER.fullmatch(value):
        return "remove the quotes"
    if _NUMBER.match(value):
        return "write the number alone; the key's name says the unit"
    return None


def _list(value: Any, wanted: set[str]) -> str | None:
    if "array" in wanted and isinstance(value, (str, int, float, dict)) and value != {}:
        return "write it as a list, also when there is only one item"
    return None


def _truth(value: Any, wanted: set[str]) -> str | None:
    if "boolean" in wanted and isinstance(value, (str, int, float)):
        return "write true or false, without quotes"
    return None


def _empty(value: Any, wanted: set[str]) -> str | None:
    if value is None and wanted & {"array", "object"}:
        return f"write {'[]' if 'array' in wanted else '{}'} if there is nothing in it"
    return None
