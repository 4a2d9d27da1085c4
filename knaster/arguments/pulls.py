"""The arguments of `pr` and `land`."""

from __future__ import annotations

import argparse

from knaster.arguments.parser import Parser, command


def pulls(commands: argparse._SubParsersAction[Parser], common: Parser) -> None:
    """Add them."""
    _pull(commands, common)
    land = command(commands, common, "land", "land", "Render the tip of main and push the result as one commit.")
    _remote(land)
    _target(land)
    _server(land)


def _pull(commands: argparse._SubParsersAction[Parser], common: Parser) -> None:
    pull = command(commands, common, "pr", "", "Pull requests.")
    kinds = pull.add_subparsers(
        prog="knaster pr", metavar="fetch|plan|comment|sweep", required=True, parser_class=Parser
    )

    fetch = command(
        kinds, common, "fetch", "pr_fetch", "Fetch the branch and all open pull requests as git objects; list them."
    )
    fetch.add_argument("--to", required=True, metavar="DIR", help="the folder for pulls.json")
    _remote(fetch)
    fetch.add_argument("--number", type=int, metavar="N", help="the pull request to plan (default: the event's)")
    _server(fetch)

    plan = command(kinds, common, "plan", "pr_plan", "Plan the merge of a branch into main, in memory, and compare.")
    plan.add_argument("--base", metavar="REV", help="what it is merged into (default: the fetched one, else main)")
    plan.add_argument("--head", metavar="REV", help="the branch (default: the fetched one, else HEAD)")
    plan.add_argument("--to", metavar="DIR", help="write plan.json and comment.md there; pulls.json there is read")
    _budget(plan)

    comment = command(kinds, common, "comment", "pr_comment", "Create or update the comment on the pull request.")
    comment.add_argument("--plan", required=True, metavar="DIR", help="the folder that `pr plan --to` wrote")
    comment.add_argument("--number", type=int, metavar="N", help="the pull request (default: the event's)")
    text = "add what `tofu gate --format json -o FILE` said of an OpenTofu plan of this merge"
    comment.add_argument("--gate", metavar="FILE", help=text)
    comment.add_argument("--status", action="store_true", help="post the commit status knaster/plan too")
    _server(comment)

    sweep = command(kinds, common, "sweep", "pr_sweep", "Plan all open pull requests again; update what changed.")
    sweep.add_argument("--status", action="store_true", help="post the commit status knaster/plan too")
    _budget(sweep)
    _remote(sweep)
    _target(sweep)
    _server(sweep)


def _remote(command: Parser) -> None:
    command.add_argument("--remote", default="origin", metavar="NAME", help="the git remote (default: origin)")


def _target(command: Parser) -> None:
    command.add_argument("--target", default="main", metavar="BRANCH", help="the branch (default: main)")


def _budget(command: Parser) -> None:
    text = "for a comment (default: 60000); the verdict and the counts are always there"
    command.add_argument("--budget", type=_bytes, default=60_000, metavar="BYTES", help=text)


def _bytes(text: str) -> int:
    number = int(text)
    if number < 0:
        raise ValueError
    return number


def _server(command: Parser) -> None:
    group = command.add_argument_group("Gitea; the token comes from $KNASTER_TOKEN or $GITEA_TOKEN")
    group.add_argument("--api", metavar="URL", help="such as https://git.example.org/api/v1 (default: the job's)")
    group.add_argument("--repo", metavar="OWNER/NAME", help="the repository (default: the job's)")
    group.add_argument("--bot", metavar="LOGIN", help="who writes the comments (default: the job's own user)")
