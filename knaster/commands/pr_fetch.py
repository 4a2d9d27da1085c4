"""`knaster pr fetch`: bring the target branch and the heads of all open pull requests here, as git objects; list them.

The only step before planning that sees the token; nothing that it fetches is checked out or run.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path

from knaster.adapters import git
from knaster.adapters.gitea import Denied
from knaster.commands.event import event
from knaster.commands.listed import NAME, Listed
from knaster.commands.output import folder_for_results, refuse_input_folders, show, write
from knaster.commands.pr_comment import notice
from knaster.commands.server import connect
from knaster.diagnostics import WorldError
from knaster.reports import pulls


def run(args: argparse.Namespace) -> int:
    """Writes ``DIR/pulls.json`` (`knaster.commands.listed`)."""
    refuse_input_folders(args)
    folder = folder_for_results(args, args.to)
    number = args.number or event().number
    if number is None:
        raise WorldError("which pull request?", "name it with --number N; in a job the event names it")
    seen = _seen(args, number)
    base, heads = git.fetch_pulls(Path(args.directory), args.remote, seen.target, [number, *seen.others])
    if number not in heads:
        raise WorldError(f"the head of pull request {number} could not be fetched", "was it deleted?")
    listed = Listed(seen.target, base, number, heads.pop(number), seen.url, dict(sorted(heads.items())))
    write(str(folder / NAME), listed.text())
    show(args, pulls.fetched(listed.target, listed.base, listed.number, listed.head, len(listed.others)))
    return 0


@dataclass(frozen=True, slots=True)
class _Seen:
    """What is known of a pull request before anything is fetched."""

    target: str
    url: str
    others: tuple[int, ...]


def _seen(args: argparse.Namespace, number: int) -> _Seen:
    """What the server says; to the token of a private repository's fork it says nothing, and the event has to do."""
    told = event()
    try:
        with connect(args) as gitea:
            pull = gitea.pull(number)
            others = [one.number for one in gitea.open_pulls() if one.base_ref == pull.base_ref]
        return _Seen(pull.base_ref, _page(pull.html_url), tuple(other for other in others if other != number))
    except Denied as refusal:
        if told.number != number or not told.base_ref:
            raise
        notice(f"the other open pull requests are not looked at: {refusal.message}")
        return _Seen(told.base_ref, _page(told.url), ())


def _page(pull: str) -> str:
    """The page of the repository that a pull request's page belongs to."""
    return pull.rpartition("/pulls/")[0]
