"""The one place that starts git, through GitPython: git itself reads the repository, so every kind of one will do.

The environment is cleaned of what a hook sets, nothing asks a person, nothing of the repository's own settings runs a
program, and nothing is fetched unless `online` says so.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, cast

from knaster.adapters import scratch
from knaster.adapters.git.telling import failure
from knaster.diagnostics import WorldError

if TYPE_CHECKING:
    from subprocess import Popen

# A hook runs with these set to the repository it was called for, and each would win over the folder we ask about.
# GIT_CONFIG_* stay: they are how a job says which folders are safe and with which header it may fetch.
_OF_HOOKS = (
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_IMPLICIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_COMMON_DIR",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_QUARANTINE_PATH",
    "GIT_NAMESPACE",
    "GIT_PREFIX",
    "GIT_CEILING_DIRECTORIES",
    "GIT_SHALLOW_FILE",
    "GIT_GRAFT_FILE",
    "GIT_REPLACE_REF_BASE",
    "GIT_GLOB_PATHSPECS",
    "GIT_NOGLOB_PATHSPECS",
    "GIT_ICASE_PATHSPECS",
)
_CHATTER = ("GIT_TRACE", "GIT_CURL_VERBOSE")
"""What makes git tell of its headers and addresses on stderr, which ends in messages."""
_SETTINGS = {
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_DISCOVERY_ACROSS_FILESYSTEM": "1",
    "GIT_LITERAL_PATHSPECS": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_NO_LAZY_FETCH": "1",
}
"""The last two: a repository may name a remote for missing objects, and a program to reach it. Nothing is fetched."""
_ONLINE = {"GIT_ALLOW_PROTOCOL": "file:http:https:ssh"}
_SAFE = (
    *("-c", "safe.bareRepository=explicit"),
    *("-c", f"core.hooksPath={os.devnull}"),
    *("-c", "core.fsmonitor=false"),
)
"""A pull request may hold files that make a folder of the tree look like a repository, with settings of its own."""


@dataclass(frozen=True, slots=True)
class Answer:
    """Exit status, standard output and standard error of one git command."""

    status: int
    output: bytes
    complaint: str

    def accepted(self) -> bytes:
        """The output of a command that went well. Raises WorldError, in git's words, for any other."""
        if self.status == 0:
            return self.output
        raise failure(self.complaint, self.status)


def ask(root: Path, *arguments: str, stdin: bytes = b"", bound: int | None = None) -> bytes:
    """The output of one git command run in `root` that must go well; the rest is as for `run`."""
    return run(root, *arguments, stdin=stdin, bound=bound).accepted()


def line(root: Path, *arguments: str, stdin: bytes = b"") -> str:
    """The only line that a git command prints, without its end."""
    return ask(root, *arguments, stdin=stdin).decode("utf-8", "surrogateescape").removesuffix("\n")


def run(
    root: Path,
    *arguments: str,
    stdin: bytes = b"",
    settings: Mapping[str, str] | None = None,
    online: bool = False,
    bound: int | None = None,
) -> Answer:
    """Run one git command in `root`, with `settings` added to its environment.

    Raises:
        WorldError: git cannot be started, `root` is no folder, or the output has more than `bound` bytes.
    """
    if not root.is_dir():  # GitPython would run the command in whatever folder this process is in
        raise WorldError(f"there is no folder {root}")
    environment = {**_SETTINGS, **(_ONLINE if online else {}), **(settings or {})}
    if not stdin:
        return _executed(root, arguments, None, environment, bound)
    with scratch.file(stdin) as source:  # a pipe could fill up on both sides
        return _executed(root, arguments, source, environment, bound)


def _executed(
    root: Path, arguments: Sequence[str], source: BinaryIO | None, environment: Mapping[str, str], bound: int | None
) -> Answer:
    try:
        from git.cmd import Git
        from git.exc import GitCommandNotFound
    except ImportError as error:
        raise _no_git() from error
    command = [Git.GIT_PYTHON_GIT_EXECUTABLE or "git", *_SAFE, *arguments]
    try:
        with _own_environment():
            started = Git(root).execute(command, istream=source, as_process=True, env=environment)
    except GitCommandNotFound as error:
        raise _no_git() from error
    with cast("Popen[bytes]", started.proc) as process:
        output, complaint = process.communicate() if bound is None else _bounded(process, bound)
    return Answer(process.returncode, output, complaint.decode("utf-8", "surrogateescape"))


def _bounded(process: Popen[bytes], bound: int) -> tuple[bytes, bytes]:
    """Output and complaint; for commands that complain in a few lines, since one pipe is read after the other."""
    assert process.stdout is not None
    assert process.stderr is not None
    output = process.stdout.read(bound + 1)
    if len(output) <= bound:
        return output, process.stderr.read()
    process.kill()
    raise WorldError(f"git lists more than {bound} bytes of names: a tree of this size is no fleet", "run: git fsck")


def _no_git() -> WorldError:
    return WorldError(
        "this folder is in a git repository, but git cannot be started",
        "install git (and the Python package gitpython); outside a repository knaster needs neither",
    )


@contextmanager
def _own_environment() -> Iterator[None]:
    names = [name for name in os.environ if name in _OF_HOOKS or name.startswith(_CHATTER)]
    kept = {name: os.environ.pop(name) for name in names}
    try:
        yield
    finally:
        os.environ.update(kept)
