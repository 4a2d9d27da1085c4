"""`knaster pr fetch`: bring the target branch and the heads of all open pull requests here, as git objects; list them.

The only step before planning that sees the token; nothing that it fetches is checked out or run.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from knaster.adapters import git
from knaster.commands.event import event
from knaster.commands.listed import NAME, Listed
from knaster.commands.output import refuse_input_folders, show, write
from knaster.commands.server import connect
from knaster.diagnostics import WorldError
from knaster.reports import pulls


def run(args: argparse.Namespace) -> int:
    """Writes ``DIR/pulls.json`` (`knaster.commands.listed`)."""
    refuse_input_folders(args)
    number = args.number or event().number
    if number is None:
        raise WorldError("which pull request?", "name it with --number N; in a job the event names it")
    with connect(args) as gitea:
        pull = gitea.pull(number)
        others = [one.number for one in gitea.open_pulls() if one.base_ref == pull.base_ref and one.number != number]
    base, heads = git.fetch_pulls(Path(args.directory), args.remote, pull.base_ref, [number, *others])
    if number not in heads:
        raise WorldError(f"the head of pull request {number} could not be fetched", "was it deleted?")
    url = pull.html_url.rpartition("/pulls/")[0]
    listed = Listed(pull.base_ref, base, number, heads.pop(number), url, dict(sorted(heads.items())))
    folder = Path(args.to)
    folder.mkdir(parents=True, exist_ok=True)
    write(str(folder / NAME), listed.text())
    show(args, pulls.fetched(listed.target, listed.base, listed.number, listed.head, len(listed.others)))
    return 0
