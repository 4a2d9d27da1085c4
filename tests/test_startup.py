"""Start-up: what is imported before a command has been chosen, and before a package is needed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.repo import lay

DOORS = ("yaml", "jsonschema", "jsonschema_rs", "git", "jinja2", "deepdiff")
ROOT = Path(__file__).parent.parent


def loaded(code: str) -> set[str]:
    """Top-level names and modules of ours in `sys.modules` after `code`, in a fresh interpreter."""
    script = f"import sys\n{code}\nsys.stdout.write('\\n@' + ' '.join(sys.modules))"
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    return set(done.stdout.rpartition("@")[2].split())


def test_importing_knaster_loads_the_version_alone() -> None:
    before = loaded("")
    assert loaded("import knaster") - before == {"knaster", "knaster.version"}


@pytest.mark.parametrize("code", ["import knaster.cli", "import knaster.cli; knaster.cli.main(['--help'])"])
def test_help_loads_argparse_and_nothing_of_ours_beside_it(code: str) -> None:
    free = {"__future__", "collections.abc", "_locale", "errno", "gc", "locale"}
    assert loaded(code) - loaded("import argparse, gettext") - free <= {
        "knaster",
        "knaster.arguments",
        "knaster.arguments.bench",
        "knaster.arguments.fleet",
        "knaster.arguments.inventory",
        "knaster.arguments.model",
        "knaster.arguments.page",
        "knaster.arguments.parser",
        "knaster.arguments.pulls",
        "knaster.arguments.tofu",
        "knaster.cli",
        "knaster.version",
    }


def test_validate_loads_no_more_doors_than_it_needs(tmp_path: Path) -> None:
    lay(tmp_path)
    names = loaded(f"import knaster.cli; assert knaster.cli.main(['-C', {str(tmp_path)!r}, 'validate']) == 0")
    assert {name for name in DOORS if name in names} == {"yaml", "jsonschema_rs"}


def test_explain_loads_no_third_party_package() -> None:
    names = loaded("import knaster.cli; knaster.cli.main(['explain', 'yaml-tab'])")
    assert not {name for name in DOORS if name in names}
