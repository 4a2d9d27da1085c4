"""What every generated document has in common: the head, and no null in it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Data = dict[str, Any]

HEAD = "Made by `knaster render` from inventory/ and catalog/.\nDo not edit: change those and run `knaster render`."
"""Constant, so that two pull requests never conflict over it; digests live in ``manifest.json`` alone."""

JSON_HEAD = HEAD.replace("\n", " ")


def known(values: Mapping[str, Any]) -> Data:
    """The mapping without what nobody knows: a key whose value is None is left out. Key order is kept."""
    return {key: value for key, value in values.items() if value is not None}
