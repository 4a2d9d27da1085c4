"""The heads of pull requests, which a forge keeps under ``refs/pull/``; nothing of them is ever checked out."""

from __future__ import annotations

from collections.abc import Collection
from contextlib import suppress
from pathlib import Path

from knaster.adapters.git.network import fetch_references
from knaster.diagnostics import WorldError


def fetch_pulls(root: Path, remote: str, branch: str, numbers: Collection[int]) -> tuple[str, dict[int, str]]:
    """The tip of `branch`, and the head of each pull request by number; one that is gone is left out.

    Raises:
        WorldError: there is no such branch, or the remote cannot be reached.
    """
    target, heads = f"refs/heads/{branch}", {f"refs/pull/{number}/head": number for number in numbers}
    try:
        found = fetch_references(root, remote, target, *heads)
    except WorldError:  # one that is gone fails all
        found = fetch_references(root, remote, target)
        for reference in heads:
            with suppress(WorldError):
                found |= fetch_references(root, remote, reference)
    return found[target], {number: found[reference] for reference, number in heads.items() if reference in found}
