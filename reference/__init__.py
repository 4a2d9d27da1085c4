"""The reference in ``docs/reference``, made from the parser, the schemas and the diagnostic codes: nobody writes it."""

from __future__ import annotations

from collections.abc import Mapping

from reference.codes import codes
from reference.commands import commands
from reference.files import generated, inputs
from reference.results import results


def pages() -> Mapping[str, str]:
    """Name of a page to its text."""
    return {
        "commands.md": commands(),
        "inputs.md": inputs(),
        "generated.md": generated(),
        "codes.md": codes(),
        "results.md": results(),
    }
