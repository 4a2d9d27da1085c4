"""`knaster init`: a second team's repository, walked from the first command to a planned pull request."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path

import pytest
import yaml

import knaster
from knaster.cli import main
from knaster.starter import texts
from tests.git_repo import Repo
from tests.tool_cache import environment, set_up, stub
from tests.wheel import wheel

ROOT = Path(__file__).parent.parent
Capture = pytest.CaptureFixture[str]
INPUTS = {"catalog/models.yaml", "catalog/platform.yaml", "catalog/roles.yaml", "inventory/pve1.yaml"}


def below(folder: Path) -> dict[str, str]:
    return {str(path.relative_to(folder)): path.read_text("utf-8") for path in folder.rglob("*") if path.is_file()}


def test_it_brings_the_schemas_and_the_workflows_of_this_repository_as_they_are() -> None:
    found = texts("1.2.3")
    for folder in ("schemas", ".gitea"):
        assert {path: found[f"{folder}/{path}"] for path in below(ROOT / folder)} == below(ROOT / folder)
    assert [line for line in found[".gitea/requirements.txt"].splitlines() if line[:1] != "#"] == ["knaster==1.2.3"]


def test_every_input_names_a_schema_that_is_there() -> None:
    found = texts("1.2.3")
    assert {path for path in found if path.startswith(("catalog/", "inventory/"))} == INPUTS
    for path in INPUTS:
        modeline = found[path].partition("\n")[0]
        assert modeline.startswith("# yaml-language-server: $schema=../schemas/")
        assert modeline.partition("=../")[2] in found


def test_a_new_folder_becomes_a_repository_on_main(tmp_path: Path, capsys: Capture) -> None:
    folder = tmp_path / "deep/fleet"
    assert main(["init", str(folder), "--format", "json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["repository"], set(told["files"])) == (True, set(texts(knaster.__version__)))
    assert (folder / ".git/HEAD").read_text("utf-8") == "ref: refs/heads/main\n"
    assert os.access(folder / ".gitea/setup.sh", os.X_OK)
    assert not os.access(folder / "README.md", os.X_OK)
    assert [path.name for path in folder.parent.iterdir()] == ["fleet"]


def test_an_empty_clone_is_filled_and_keeps_its_git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clone = Repo.new(tmp_path / "clone")
    before = (clone.path / ".git/HEAD").read_text("utf-8")
    monkeypatch.chdir(clone.path)
    assert main(["init", "."]) == 0
    assert Path.cwd().samefile(clone.path), "who stands in the folder still stands in it"
    assert (clone.path / ".git/HEAD").read_text("utf-8") == before
    assert {path for path in below(clone.path) if not path.startswith(".git/")} == set(texts(knaster.__version__))


def test_inside_another_repository_the_workflows_are_told_of(tmp_path: Path, capsys: Capture) -> None:
    Repo.new(tmp_path / "mono")
    assert main(["init", str(tmp_path / "mono/lab")]) == 0
    assert "the server reads .gitea/ at the top of the repository alone" in capsys.readouterr().out
    assert not (tmp_path / "mono/lab/.git").exists()
    assert main(["init", str(tmp_path / "own")]) == 0
    assert "at the top" not in capsys.readouterr().out


def test_a_folder_with_anything_in_it_is_left_alone(tmp_path: Path, capsys: Capture) -> None:
    (tmp_path / "mine.txt").write_text("mine", "utf-8")
    assert main(["init", str(tmp_path)]) == 1
    assert "is not empty (mine.txt): nothing was written" in capsys.readouterr().out
    assert below(tmp_path) == {"mine.txt": "mine"}


def test_a_file_is_no_folder(tmp_path: Path, capsys: Capture) -> None:
    (tmp_path / "file").write_text("mine", "utf-8")
    assert main(["init", str(tmp_path / "file")]) == 2
    assert "Not a directory" in capsys.readouterr().err
    assert below(tmp_path) == {"file": "mine"}


def test_what_cannot_be_written_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_text", full)
    assert main(["init", str(tmp_path / "fleet")]) == 2
    assert list(tmp_path.iterdir()) == []


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return wheel(tmp_path_factory.mktemp("wheel"))


class Team:
    """Somebody with the wheel alone: an environment of its own, in a folder far from this checkout."""

    def __init__(self, folder: Path, site: Path) -> None:
        subprocess.run([stub(folder / "stub", site), "-m", "venv", folder / "venv"], cwd=folder, check=True)
        self.folder, self.bin = folder, folder / "venv/bin/python"

    def __call__(self, *argv: str, status: int = 0) -> str:
        """Run knaster and return what it prints."""
        done = subprocess.run(
            [self.bin, "-I", "-m", "knaster", *argv],
            cwd=self.folder,
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )
        assert (done.returncode, done.stderr) == (status, ""), done.stdout + done.stderr
        return done.stdout


def test_the_whole_way_with_the_wheel_alone(tmp_path: Path, site: Path) -> None:
    team = Team(tmp_path, site)
    team("init", "fleet")
    assert "1 node, 1 GPU, 2 roles: 4 warnings, 0 errors" in team("-C", "fleet", "validate")
    assert "2 of 2 roles placed" in team("-C", "fleet", "placement", "plan")
    team("-C", "fleet", "render")
    assert "generated/ is up to date" in team("-C", "fleet", "render", "--check")
    repo = Repo(tmp_path / "fleet")
    repo.commit()
    assert repo.git("status", "--porcelain") == "", "what is rendered is what is committed, and nothing is left over"
    assert "26 files in generated/ are what its inputs need" in team("-C", "fleet", "verify")
    repo.git("checkout", "-q", "-b", "bigger")
    models = (repo.path / "catalog/models.yaml").read_text("utf-8")
    repo.commit({"catalog/models.yaml": models.replace("vram_gb: 5.82", "vram_gb: 30.5")})
    for answer in (team("-C", "fleet", "diff", "main", "bigger"), team("-C", "fleet", "pr", "plan", "--base", "main")):
        assert "slot chat becomes unavailable" in answer
        assert "it needs 30.5 GiB, 19.49 GiB are there" in answer


def test_its_workflows_install_the_pinned_knaster(tmp_path: Path, site: Path) -> None:
    assert main(["init", str(tmp_path / "fleet")]) == 0
    repo = Repo(tmp_path / "fleet")
    repo.commit()
    python = stub(tmp_path / "stub", site)
    done = set_up(repo.path, tmp_path / "cache", python)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "stub/pip.log").read_text("utf-8") == "--disable-pip-version-check -q install -r\n"
    (installed,) = (tmp_path / "cache/knaster").iterdir()
    assert (installed / "requirements.txt").read_text("utf-8") == texts(knaster.__version__)[".gitea/requirements.txt"]
    told = subprocess.run(
        [f"{done.stdout.strip()}/knaster", "-C", str(repo.path), "validate", "-q"],
        env=environment(tmp_path / "cache", python),
        capture_output=True,
        text=True,
        check=False,
    )
    assert (told.returncode, told.stderr) == (0, "")


def test_the_hooks_of_pre_commit_say_yes_and_no(tmp_path: Path) -> None:
    """Each is a command line that looks at the whole fleet."""
    hooks = {hook["id"]: hook for hook in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"))}
    assert {name: hook["entry"] for name, hook in hooks.items()} == {
        "knaster-validate": "knaster validate",
        "knaster-render": "knaster render",
    }
    assert {(hook["language"], hook["pass_filenames"]) for hook in hooks.values()} == {("python", False)}
    for path in INPUTS:
        assert all(re.search(hook["files"], path) for hook in hooks.values())
    assert main(["init", str(tmp_path / "fleet")]) == 0
    words = [hook["entry"].split()[1:] for hook in hooks.values()]
    assert [main(["-C", str(tmp_path / "fleet"), *argv]) for argv in words] == [0, 0]
    (tmp_path / "fleet/catalog/roles.yaml").write_text("roles: {}\nroles: {}\n", "utf-8")
    assert [main(["-C", str(tmp_path / "fleet"), *argv]) for argv in words] == [1, 1]
