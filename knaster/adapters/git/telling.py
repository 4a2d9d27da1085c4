"""What git complains of, as an error for a person: its own first words, without secrets, and the way out."""

from __future__ import annotations

import re

from knaster.diagnostics import WorldError
from knaster.redact import redact

_USERINFO = re.compile(r"(?<=://)[^/\s@'\"]*@")
UNSHALLOW = "run: git fetch --unshallow"


def failure(complaint: str, status: int = 1, hint: str | None = None) -> WorldError:
    """The error for a command that failed: git's own words, and the command that git advises, else `hint`."""
    lines = [line.strip() for line in complaint.splitlines() if line.strip()] or [f"exit status {status}"]
    said = next((line for line in lines if line.startswith("fatal: ")), lines[0])
    advice = next((line for line in lines if line.startswith("git config ")), None)
    if "promisor remote" in said:  # a clone made with --filter has no contents, and nothing is fetched on the way
        advice = "git fetch --refetch --no-filter"
    words = said.removeprefix("fatal: ").removeprefix("error: ")
    if words.startswith("not a git repository"):
        return no_repository()
    if words.startswith("cannot use bare repository"):
        return WorldError("this is a bare repository, which holds no fleet to work on", "run knaster in a clone of it")
    return WorldError(f"git: {harmless(words)}", f"run: {advice}" if advice else hint or "run: git fsck")


def no_repository() -> WorldError:
    """Git found no repository at the folder, nor above it; to git one whose HEAD is broken is none either."""
    return WorldError(
        "this is no git repository",
        "run knaster in a clone of the fleet's repository, or name it with -C DIR; if it is one: git fsck",
    )


def harmless(text: str) -> str:
    """The text without user names, passwords and tokens: git repeats an address as it was given."""
    return redact(_USERINFO.sub("[redacted]@", text))


def cut_off(rev: str) -> WorldError:
    """The history of `rev` is needed beyond the point where a shallow clone ends."""
    return WorldError(
        f"the history of {rev} is cut off (a shallow clone), and the placement in force may lie beyond",
        f"{UNSHALLOW}; in a job: fetch-depth: 0",
    )


def refuse_option(treeish: str) -> str:
    """`treeish` itself. Raises WorldError for one that git would take for an option."""
    if not treeish or treeish.startswith("-") or "\0" in treeish:
        raise WorldError(f"there is no tree {treeish!r}")
    return treeish
