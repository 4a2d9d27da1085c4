"""The heads of pull requests, which a forge keeps under ``refs/pull/``; nothing of them is ever checked out."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from knaster.adapters.git.commits import resolve
from knaster.adapters.git.network import fetch, fetch_references
from knaster.diagnostics import WorldError

_KEPT = "refs/knaster/pull"


def fetch_pulls(root: Path, remote: str, branch: str, numbers: Collection[int]) -> tuple[str, dict[int, str]]:
    """The tip of `branch`, and the head of each pull request by number; one that is gone is left out.

    Raises:
        WorldError: there is no such branch, or the remote cannot be reached.
    """
    tip = fetch(root, remote, branch)
    wanted = {number: f"+refs/pull/{number}/head:{_KEPT}/{number}" for number in numbers}
    if not wanted:
        return tip, {}
    try:
        fetch_references(root, remote, *wanted.values())
    except WorldError:  # one of them may be gone, which fails all
        for number, reference in tuple(wanted.items()):
            try:
                fetch_references(root, remote, reference)
            except WorldError:
                del wanted[number]
    return tip, {number: resolve(root, f"{_KEPT}/{number}") for number in wanted}
