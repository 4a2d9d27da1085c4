"""``pulls.json``: what `pr fetch` hands to `pr plan`, which sees neither network nor token."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from knaster.commands.event import read_object
from knaster.diagnostics import WorldError
from knaster.units import MIB

NAME = "pulls.json"
_VERSION = 1


@dataclass(frozen=True, slots=True)
class Listed:
    """The pull request to plan (``number``, ``head``), the tip ``base`` of its target, and the page of the repository.

    ``others`` maps the numbers of the other open pull requests with the same target to their heads. All are full SHAs.
    """

    target: str
    base: str
    number: int
    head: str
    url: str
    others: dict[int, str]

    def text(self) -> str:
        """JSON: ``{version, target, base, number, head, url, others: {number: head}}``."""
        return json.dumps({"version": _VERSION, **asdict(self)}, indent=2) + "\n"


def read(folder: Path) -> Listed | None:
    """What lies in the folder; None where there is none. Raises WorldError for a file that `pr fetch` did not write."""
    path = folder / NAME
    if not path.exists():
        return None
    data = read_object(str(path), MIB, str(path))
    try:
        if data["version"] != _VERSION:
            raise ValueError
        others = {int(number): str(head) for number, head in data["others"].items()}
        texts = {key: str(data[key]) for key in ("target", "base", "head", "url")}
        return Listed(**texts, number=int(data["number"]), others=others)
    except (KeyError, ValueError, TypeError, AttributeError) as error:
        raise WorldError(f"{path} is not what knaster pr fetch writes", "run knaster pr fetch again") from error
