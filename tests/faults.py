"""Every command that writes, on a disk that fails: killed before each change, full, or read-only. Run as a program:

    python -m tests.faults kill|full|read-only CASE FOLDER

It prints how often something failed, as a number. A program of its own, because a fork needs a process without threads,
and an audit hook (which sees what C code opens, too) cannot be taken back.
"""

from __future__ import annotations

import errno
import io
import os
import resource
import shutil
import sys
from collections.abc import Callable, Mapping
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path

from knaster.cli import main
from knaster.inventory.capture import render
from tests.git_repo import Repo, remote_and_clone
from tests.llama_runs import GENERATION, PROMPT, row
from tests.repo import files, lay
from tests.stubs import linux

HOUSE = Path(__file__).parent.parent
MODEL = "mistral-7b-instruct-v0.3-q4_k_m"
Seen = Mapping[str, str]
"""What a user of the result sees: path (or name of a branch) to content."""


@dataclass(frozen=True)
class Case:
    """One command. ``lay`` prepares a new folder, ``seen`` tells what a reader finds there afterwards.

    ``whole``: all that is seen changes in one step; else each entry by itself, and the next run completes it.
    ``refused``: the exit status where it could not write. ``every`` how many-th change is tried.
    """

    lay: Callable[[Path], None]
    words: tuple[str, ...]
    seen: Callable[[Path], Seen]
    whole: bool = True
    refused: int = 2
    every: int = 1


def below(*tops: str) -> Callable[[Path], Seen]:
    """The files at and below these paths; what is hidden is nobody's business."""

    def seen(root: Path) -> Seen:
        paths = [path for top in tops for path in (root / top, *(root / top).rglob("*")) if path.is_file()]
        shown = [path for path in paths if not path.name.endswith(".part")]
        return {str(path.relative_to(root)): path.read_text("utf-8") for path in shown}

    return seen


def fleet(root: Path) -> None:
    """The small fleet with an older generation, and an older result."""
    lay(root, files(roles=files()["catalog/roles.yaml"].replace("min_vram_gb: 2", "min_vram_gb: 3")))
    quietly("-C", str(root), "render")
    lay(root, {**files(), "fleet.html": "older"})


def captured(root: Path) -> None:
    """A capture whose machine has another memory than its profile says."""
    text = render(linux(hostname="pve44\n"))
    lay(root, {**files(), "captures/pve44.capture": text})


def repository(root: Path) -> None:
    """This repository's data and a run of llama-bench from elsewhere."""
    for folder in ("inventory", "catalog"):
        shutil.copytree(HOUSE / folder, root / folder)
    (root / "run.json").write_text(f"[\n{row('2026', PROMPT)},\n{row('2026', GENERATION)}\n]\n", "utf-8")


def clone(root: Path) -> None:
    """A clone of a bare repository whose main was never landed."""
    remote_and_clone(root, files())


def landed(root: Path) -> Seen:
    """``generated/`` of the remote's main, and of the clone nothing at all: land leaves it alone."""
    remote, work = Repo(root / "remote.git"), Repo(root / "work")
    names = remote.git("ls-tree", "-r", "--name-only", "refs/heads/main").splitlines()
    generated = [name for name in names if name.startswith("generated/")]
    return {
        **{name: remote.git("show", f"refs/heads/main:{name}") for name in generated},
        "status": work.git("status", "--porcelain"),
    }


CASES: dict[str, Case] = {
    "render": Case(fleet, ("render",), below("generated", "inventory", "catalog")),
    "report": Case(fleet, ("report", "-o", "fleet.html"), below("fleet.html")),
    "validate": Case(fleet, ("validate", "-o", "fleet.html"), below("fleet.html")),
    "collect": Case(captured, ("inventory", "collect", "--from", "captures", "--all", "inventory"), below("inventory")),
    "init": Case(lambda _root: None, ("init", "new"), below("new")),
    "bench": Case(
        repository,
        ("bench", "llm", MODEL, "--card", "pve44/0", "--import", "run.json", "--date", "2026-11-29"),
        below("catalog"),
        whole=False,
        refused=1,  # what was measured is shown, with why it was not recorded
    ),
    "land": Case(clone, ("-C", "work", "land"), landed, every=5),
}
_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC
_CHANGES = frozenset(
    {"os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.chmod", "os.link", "os.symlink", "os.truncate"}
)


def quietly(*words: str) -> tuple[int, str]:
    """Run a command in this process: its exit status, and all it said."""
    said = io.StringIO()
    with redirect_stdout(said), redirect_stderr(said):
        status = main(words)
    return status, said.getvalue()


def changes(event: str, arguments: tuple[object, ...]) -> str | None:
    """The path that an audit event is about to change; a program that is started counts with its name."""
    if event == "open" and isinstance(arguments[2], int) and arguments[2] & _WRITES:
        return None if isinstance(arguments[0], int) or str(arguments[0]) == os.devnull else str(arguments[0])
    if event == "subprocess.Popen":
        return "a program"
    return str(arguments[0]) if event in _CHANGES else None


def dying(call: int) -> None:
    """End this process, cleaning nothing up, before its `call`-th change of the disk or start of a program."""
    left = call

    def hook(event: str, arguments: tuple[object, ...]) -> None:
        nonlocal left
        if changes(event, arguments) is not None:
            left -= 1
            if left == 0:
                os._exit(9)

    sys.addaudithook(hook)


def refusing(call: int) -> None:
    """From the `call`-th change on the disk is read-only."""
    left = call

    def hook(event: str, arguments: tuple[object, ...]) -> None:
        nonlocal left
        path = changes(event, arguments)
        if path is not None and path != "a program":
            left -= 1
            if left <= 0:
                raise OSError(errno.EROFS, os.strerror(errno.EROFS), path)

    sys.addaudithook(hook)


def filling(call: int) -> None:
    """No file can get longer than so many bytes: to a program that is a full disk with another number."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (call, call))


def in_child(root: Path, case: Case, fault: Callable[[int], None], call: int) -> tuple[int, str]:
    """The command in a child of its own under a fault: exit status (9: it was killed), and all it said."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            os.close(reader)
            os.chdir(root)
            fault(call)
            status, said = quietly(*case.words)
            os.write(writer, said.encode()[:60_000])
        finally:
            os._exit(status)
    os.close(writer)
    with os.fdopen(reader, "rb") as stream:
        said = stream.read().decode()
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), said


def fresh(root: Path, case: Case) -> Seen:
    """A new folder, laid; what is seen in it."""
    shutil.rmtree(root, ignore_errors=True)
    root.mkdir(parents=True)
    case.lay(root)
    return case.seen(root)


def sweep(what: str, case: Case, root: Path) -> int:
    """Every fault of one kind: after each the old or the new is seen, and the next run completes it."""
    fault = {"kill": dying, "read-only": refusing, "full": filling}[what]
    before = fresh(root, case)
    assert in_child(root, case, lambda _: None, 0)[0] == 0
    wanted = case.seen(root)
    assert wanted != before
    calls = (0, 1, 100, 700, 3000, 20_000) if what == "full" else range(1, 10_000, case.every)
    failed = 0
    for call in calls:
        assert fresh(root, case) == before
        status, said = in_child(root, case, fault, call)
        assert "This is a bug" not in said, said
        found = case.seen(root)
        if status == 0:
            assert found == wanted
            if what != "full":
                return failed
            continue
        failed += 1
        assert status == (9 if what == "kill" else case.refused), (status, said)
        assert found in (before, wanted) if case.whole else mixed(found, before, wanted), (call, said)
        if what != "kill":
            assert "cannot" in said, said
            left = [path for path in root.rglob("*.part") if ".git" not in path.parts]
            assert what == "read-only" or not left, left
        again, said = in_child(root, case, lambda _: None, 0)
        assert (again, case.seen(root)) == (0, wanted), (call, said)
    return failed


def mixed(found: Seen, before: Seen, wanted: Seen) -> bool:
    """Whether each entry is the old or the new one."""
    return all(found.get(path) in (before.get(path), wanted.get(path)) for path in {*found, *before, *wanted})


if __name__ == "__main__":
    os.environ.update({"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"})
    print(sweep(sys.argv[1], CASES[sys.argv[2]], Path(sys.argv[3]) / "root"))
