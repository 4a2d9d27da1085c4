"""`.gitea/setup.sh` without network: a Python whose new virtual environments lend their packages from this one."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

ROOT = Path(__file__).parent.parent
TOOL = (".gitea", "knaster", "schemas", "requirements.lock", "pyproject.toml")
"""What makes the tool: a repository needs these besides its fleet."""

_STUB = """\
#!/bin/sh
if [ "$1 $2" != "-m venv" ]; then exec '{python}' "$@"; fi
'{python}' -m venv --without-pip "$3" && cd "$3"/lib/python*/site-packages || exit 1
printf '%s\n' {packages} > lent.pth
mkdir pip && touch pip/__init__.py && cp '{pip}' pip/__main__.py
"""
_PIP = """\
import sys
from pathlib import Path
with open({log!r}, "a", encoding="utf-8") as log:
    log.write(" ".join(sys.argv[1:-1]) + "\\n")
sys.exit(Path({log!r} + ".fails").exists())
"""


def stub(folder: Path, *packages: Path) -> Path:
    """The Python. What its pip is told goes to ``folder/pip.log``; it fails while ``folder/pip.log.fails`` exists.

    Its environments find `packages` too, as if pip had installed them.
    """
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "pip.py").write_text(_PIP.format(log=str(folder / "pip.log")), "utf-8")
    lent = " ".join(f"'{path}'" for path in (*packages, sysconfig.get_path("purelib")))
    text = _STUB.format(python=sys.executable, packages=lent, pip=folder / "pip.py")
    (folder / "python").write_text(text, "utf-8")
    (folder / "python").chmod(0o755)
    return folder / "python"


def lay_tool(root: Path) -> None:
    """This checkout's tool, as it is now, below `root`."""
    for name in TOOL:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, root / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / name, root / name)


def environment(cache: Path, python: Path) -> dict[str, str]:
    """For `.gitea/setup.sh`: the tool cache and the Python it is to use."""
    return {**os.environ, "RUNNER_TOOL_CACHE": str(cache), "PYTHON": str(python)}


def set_up(root: Path, cache: Path, python: Path) -> subprocess.CompletedProcess[str]:
    """`.gitea/setup.sh` of a checkout."""
    command = [root / ".gitea/setup.sh"]
    return subprocess.run(
        command, cwd="/", env=environment(cache, python), capture_output=True, text=True, check=False, timeout=120
    )
