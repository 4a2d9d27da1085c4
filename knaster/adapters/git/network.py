"""The only git commands that reach other machines: a fetch and a push of one branch."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from uuid import uuid4

from knaster.adapters.git.commits import resolve
from knaster.adapters.git.runner import Answer, run
from knaster.adapters.git.telling import harmless
from knaster.diagnostics import WorldError

_PATIENCE = ("-c", "http.lowSpeedLimit=1", "-c", "http.lowSpeedTime=60")
"""A server that sends nothing for a minute is taken for dead."""
_RACE = re.compile(
    r"fetch first|non-fast-forward|stale info|cannot lock ref|failed to update ref|failed to lock|incorrect old value|"
    r"reference already exists|remote ref updated since checkout|needs force"
)
_PROTECTED = re.compile(r"(?i)\bprotected\b|not allowed to push|GH006")
_ALLOW = "let this user push generated/** in the protection of the branch (unprotected_file_patterns)"
_CHECK = "check the address, the network, and the credentials that git is set up with"


_OWN = "refs/knaster"


def fetch(root: Path, remote: str, branch: str) -> str:
    """Fetch the tip of a branch, with its history as far as this clone has any, and return its SHA.

    `remote` is a name or an address; credentials come from git's own settings.

    Raises:
        WorldError: there is no such branch, or the remote cannot be reached.
    """
    return fetch_reference(root, remote, f"refs/heads/{branch}")


def fetch_reference(root: Path, remote: str, reference: str) -> str:
    """The same for a full name of a reference (``refs/pull/7/head``)."""
    return fetch_references(root, remote, reference)[reference]


def fetch_references(root: Path, remote: str, *references: str) -> dict[str, str]:
    """The SHA of each reference, by its full name; all of them or none. Raises as `fetch`.

    They pass through names of this run's own: whoever else fetches here meanwhile (an editor, another run) writes
    FETCH_HEAD too, and what stood there would be somebody else's.
    """
    own = f"{_OWN}/{uuid4().hex}"
    kept = {_checked(root, reference): f"{own}/{number}" for number, reference in enumerate(references)}
    refspecs = tuple(f"+{reference}:{name}" for reference, name in kept.items())
    try:
        answer = _fetched(root, remote, "--no-write-fetch-head", refspecs=refspecs)
        if answer.status != 0:
            raise _failed(f"{_short(references[0])} could not be fetched", answer)
        return {reference: resolve(root, name) for reference, name in kept.items()}
    finally:
        run(root, "update-ref", "--stdin", stdin="".join(f"delete {name}\n" for name in kept.values()).encode())


def push(root: Path, remote: str, sha: str, branch: str) -> bool:
    """Move a branch of the remote to commit `sha`, never backwards. False where somebody else was faster.

    Raises:
        WorldError: the remote cannot be reached, or refuses (a protected branch, a hook), in its own words.
    """
    refspec = f"{resolve(root, sha)}:{_checked(root, f'refs/heads/{branch}')}"
    flags = ("--porcelain", "--no-verify", "--no-follow-tags", "--no-signed", "--recurse-submodules=no", "--no-force")
    answer = run(root, *_PATIENCE, "push", *flags, _remote(remote), refspec, online=True)
    if answer.status == 0:
        return True
    verdicts = [row for row in answer.output.decode("utf-8", "replace").splitlines() if row.startswith("!")]
    if any(_RACE.search(row) and "hook declined" not in row for row in verdicts):
        return False
    raise _failed(f"{branch} could not be pushed", answer)


def _fetched(root: Path, remote: str, *flags: str, refspecs: Sequence[str]) -> Answer:
    quiet = ("--quiet", "--no-tags", "--no-recurse-submodules", "--no-auto-maintenance", "--no-write-commit-graph")
    return run(root, *_PATIENCE, "fetch", *quiet, *flags, _remote(remote), *refspecs, online=True)


def _checked(root: Path, reference: str) -> str:
    if "\0" in reference or run(root, "check-ref-format", reference).status != 0:
        raise WorldError(f"{_short(reference)!r} is no name of a branch")
    return reference


def _short(reference: str) -> str:
    return reference.removeprefix("refs/heads/")


def _remote(remote: str) -> str:
    if not remote or remote.startswith("-") or "\0" in remote:
        raise WorldError(f"{harmless(remote)!r} is no remote", "name it as git does: origin, or an address")
    if re.search(r"://[^/\s@]*:[^/\s]*@", remote):
        raise WorldError(
            "an address with a password shows in the list of processes",
            "set the password as a remote's, a credential helper's or a header's (http.extraHeader) in git's settings",
        )
    return remote


def _failed(what: str, answer: Answer) -> WorldError:
    rows = [row.strip() for row in f"{answer.output.decode('utf-8', 'replace')}\n{answer.complaint}".splitlines()]
    protected = [row for row in rows if _PROTECTED.search(row)]
    if protected:
        return WorldError(f"{what}: the branch is protected: {_told(protected[0])}", _ALLOW)
    marks = ("remote: ", "fatal: ", "error: ", "!", "")
    told = (_told(row) for mark in marks for row in rows if row.startswith(mark))
    return WorldError(f"{what}: {next(filter(None, told), 'git did not say why')}", _CHECK)


def _told(row: str) -> str:
    """One line of git's, without the word at its start and without what looks like a secret."""
    return harmless(re.sub(r"^(?:(?:remote:|fatal:|error:|!)\s*)+", "", row).replace("\t", " "))
