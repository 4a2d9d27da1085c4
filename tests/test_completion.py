"""`knaster completion`: real shells take the script and complete from it."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from knaster.cli import main

Capture = pytest.CaptureFixture[str]

BASH = """
set -eu
source "$1"; shift
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMP_LINE="$*"; COMP_POINT=${#COMP_LINE}
complete -p knaster > /dev/null
$(complete -p knaster | sed 's/.*-F \\([^ ]*\\).*/\\1/')
printf '%s\\n' "${COMPREPLY[@]}"
"""


def script(shell: str, folder: Path) -> Path:
    path = folder / f"knaster.{shell}"
    assert main(["completion", shell, "-o", str(path)]) == 0
    return path


@pytest.mark.parametrize(
    ("words", "completed"),
    [
        (["pla"], {"placement"}),
        (["placement", ""], {"plan"}),
        (["placement", "plan", "--ex"], {"--explain"}),
        (["render", "--c"], {"--check", "--color"}),
        (["pr", ""], {"fetch", "plan", "comment", "sweep"}),
    ],
)
def test_bash_completes(words: list[str], completed: set[str], tmp_path: Path) -> None:
    command = ["bash", "-c", BASH, "bash", str(script("bash", tmp_path)), "knaster", *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert set(done.stdout.split()) == completed


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_take_it(shell: str, tmp_path: Path) -> None:
    program = shutil.which(shell)
    if not program:
        pytest.skip(f"there is no {shell} on this machine (apt install {shell})")
    done = subprocess.run([program, "-n", script(shell, tmp_path)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_fish_completes(tmp_path: Path) -> None:
    program = shutil.which("fish")
    if not program:
        pytest.skip("there is no fish on this machine (apt install fish)")
    command = [program, "-N", "-c", f'source {script("fish", tmp_path)}; complete -C "knaster placement plan --ex"']
    done = subprocess.run(command, capture_output=True, text=True, check=False, env={"HOME": str(tmp_path)})
    assert done.stdout.split("\t")[0] == "--explain", done.stderr


def test_another_shell_is_an_error(capsys: Capture) -> None:
    assert main(["completion", "ksh"]) == 2
    assert "hint: did you mean zsh?" in capsys.readouterr().err


LOADED = {"bash": "complete -p knaster", "zsh": 'echo "$_comps[knaster]"'}
"""What tells that the shell knows how to complete knaster."""


@pytest.mark.parametrize("shell", ["bash", "zsh"])
def test_it_is_loaded_as_the_readme_says(shell: str, tmp_path: Path) -> None:
    program = shutil.which(shell)
    if not program:
        pytest.skip(f"there is no {shell} on this machine (apt install {shell})")
    readme = (Path(__file__).parent.parent / "README.md").read_text("utf-8")
    assert '`eval "$(knaster completion bash)"`' in readme
    begin = 'autoload -U compinit; compinit -u -d "$2";' if shell == "zsh" else ""
    line = f'{begin} eval "$(cat "$1")"; {LOADED[shell]}'
    command = [program, "-c", line, shell, str(script(shell, tmp_path)), str(tmp_path / "dump")]
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, env={"HOME": str(tmp_path), "PATH": "/usr/bin:/bin"}
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "_shtab_knaster" in done.stdout
