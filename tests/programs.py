"""The programs that read ``generated/``, found on this machine and run on files of a temporary folder."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


def program(name: str, how: str) -> str:
    """The path of a program, beside this Python or on PATH. Skips where it is missing; `how` says how to get it."""
    found = shutil.which(name, path=f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    if not found:
        pytest.skip(f"there is no {name} on this machine ({how})")
    return found


def lay(folder: Path, texts: Mapping[str, str]) -> Path:
    """Write texts below ``folder``, as they are."""
    for path, text in texts.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, "utf-8", newline="")
    return folder


def ansible(name: str, folder: Path, *argv: str | Path, **more: str) -> subprocess.CompletedProcess[str]:
    """Run a program of Ansible in `folder`; an inventory that does not parse is an error. `more` is environment."""
    own = {
        "HOME": str(folder),
        "PWD": str(folder),
        "LC_ALL": "C.UTF-8",
        "ANSIBLE_NOCOLOR": "1",
        "ANSIBLE_INVENTORY_ANY_UNPARSED_IS_FAILED": "1",
        "ANSIBLE_DEPRECATION_WARNINGS": "0",
    }
    return subprocess.run(
        [program(name, "pip install ansible-core"), *argv],
        cwd=folder,
        env={**os.environ, **own, **more},
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
        timeout=300,
    )


def stand_in(folder: Path, name: str, script: str) -> None:
    """A program of that name in `folder`, for the head of PATH."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_text(f"#!{sys.executable}\n{script}", "utf-8")
    path.chmod(0o755)
