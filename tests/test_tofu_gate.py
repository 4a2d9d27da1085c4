"""`knaster tofu gate` on real plans: a repository, its rendered module, a plan by terraform or tofu, the verdict."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest

from knaster.cli import main
from knaster.files import Files
from tests.repo import lay
from tests.tofu_fleets import BASE, edited
from tests.tofu_lab import Lab, Outcome, needs_tofu, rendered

PLATFORM, PVE46 = "catalog/platform.yaml", "inventory/pve46.yaml"


class Case:
    """A repository beside the lab that plans its ``generated/``."""

    def __init__(self, lab: Lab, files: Files, root: Path) -> None:
        self.lab, self.root = lab, root
        lay(root, dict(files))  # type: ignore[arg-type]
        assert main(["-C", str(root), "render", "-q"]) == 0

    def plan(self, *argv: str) -> Outcome:
        """The plan of what was rendered, and its JSON as a file."""
        self.lab.write(
            {
                str(path.relative_to(self.root / "generated")): path.read_text("utf-8")
                for path in (self.root / "generated").rglob("*")
                if path.is_file()
            }
        )
        found = self.lab.plan(*argv)
        self.file.write_text(json.dumps(found.json), encoding="utf-8")
        return found

    @property
    def file(self) -> Path:
        """Where the plan's JSON is."""
        return self.lab.folder / "plan.json"

    def gate(self, capsys: pytest.CaptureFixture[str], *argv: str) -> tuple[int, str]:
        """The exit status and what is printed."""
        capsys.readouterr()
        status = main(["-C", str(self.root), "tofu", "gate", str(self.file), *argv])
        return status, capsys.readouterr().out


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Lab:
    """The base fleet, applied."""
    found = Lab(tmp_path_factory.mktemp("gate"), rendered(BASE))
    found.plan()
    found.apply()
    return found


@needs_tofu
def test_a_plan_of_what_is_here_may_be_applied(lab: Lab, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    case = Case(lab, BASE, tmp_path)
    assert case.plan().changes == {}
    assert case.gate(capsys) == (0, "nothing to do: the plan may be applied\n")
    case = Case(lab, edited((PLATFORM, "memory_gb: 12", "memory_gb: 14")), tmp_path / "more")
    case.plan()
    assert case.gate(capsys) == (
        0,
        "the apply would do this\n"
        "  ~! guest gpu-pve44 is changed and restarts: memory.dedicated 12288 -> 14336\n"
        "  ~! guest gpu-pve46 is changed and restarts: memory.dedicated 12288 -> 14336\n"
        "\n"
        "2 changes: the plan may be applied\n",
    )


@needs_tofu
def test_a_first_apply_is_told_and_allowed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    case = Case(Lab(tmp_path / "lab", rendered(BASE)), BASE, tmp_path / "repository")
    case.plan()
    status, text = case.gate(capsys)
    assert status == 0
    assert "  ~! guest ops is adopted, changed and restarts: " in text  # its swap, at least
    assert "memory.swap 512 -> 0" in text
    assert "  + mapping gpu-m4000-pve44 is created" in text


@needs_tofu
@pytest.mark.parametrize(
    ("edits", "code", "message"),
    [
        (
            [(PLATFORM, "  infra:", "  infra2:"), ("catalog/roles.yaml", "guest: infra", "guest: infra2")],
            "gate-destroys",
            "guest infra is destroyed: it is no longer among the guests",
        ),
        (
            [(PLATFORM, "gpu-{node}", "ai-{node}")],
            "gate-destroys",
            "guest gpu-pve44 is destroyed: it is no longer among the guests",
        ),
        ([(PLATFORM, "vmid: 101", "vmid: 102")], "gate-replaces", "vm_id 101 -> 102"),
        ([(PLATFORM, "vmid_base: 200", "vmid_base: 300")], "gate-replaces", "vm_id 244 -> 344"),
        (
            [(PLATFORM, "storage: tank", "storage: tank2"), (PLATFORM, "  tank:", "  tank2:")],
            "gate-replaces",
            "disk.datastore_id tank -> tank2",
        ),
        ([(PLATFORM, "disk_gb: 60", "disk_gb: 50")], "gate-shrinks", "from 60 to 50 GiB"),
        (
            [(PVE46, "memory_gb: 64", "memory_gb: 64\nsource: assumed"), (PVE46, "group: 29", "group: 30")],
            "gate-assumed",
            "nobody has read the cards of pve46",
        ),
    ],
)
def test_what_must_not_be_applied(
    edits: list[tuple[str, str, str]],
    code: str,
    message: str,
    lab: Lab,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    case = Case(lab, edited(*edits), tmp_path)
    case.plan()
    status, text = case.gate(capsys, "--format", "json")
    found = json.loads(text)
    assert (status, found["ok"]) == (1, False)
    assert any(one["code"] == code and message in one["message"] for one in found["diagnostics"]), found["diagnostics"]


@needs_tofu
def test_retire_is_the_permission(lab: Lab, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    renamed = edited((PLATFORM, "gpu-{node}", "ai-{node}"), (PLATFORM, "vmid_base: 200", "vmid_base: 400"))
    case = Case(lab, renamed, tmp_path / "no")
    case.plan()
    assert case.gate(capsys)[0] == 1
    allowed = edited((PLATFORM, "workers:", "retire: [gpu-pve44, gpu-pve46]\nworkers:"), files=renamed)
    case = Case(lab, allowed, tmp_path / "yes")
    case.plan()
    status, text = case.gate(capsys)
    assert status == 0
    assert "- guest gpu-pve44 is destroyed: it is no longer among the guests, retire allows it" in text


@needs_tofu
def test_an_import_that_would_replace(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lab = Lab(tmp_path / "lab", rendered(BASE))
    lab.imports = {"pve46/100": {"template": False, "unprivileged": False}}
    case = Case(lab, BASE, tmp_path / "repository")
    case.plan()
    status, text = case.gate(capsys)
    assert status == 1
    assert (
        "guest ops exists and is to be adopted, but would be destroyed and made anew: unprivileged false -> true"
        in text
    )


@needs_tofu
def test_a_guest_that_failed_over(lab: Lab, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    case = Case(lab, BASE, tmp_path)
    lab.gone = [101]
    try:
        case.plan()
    finally:
        lab.gone = []
    status, text = case.gate(capsys)
    assert status == 1
    assert "guest infra was not found on pve44, and would be made a second time" in text


@needs_tofu
def test_a_plan_made_from_other_files_is_refused(lab: Lab, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A saved plan follows its own files and values, whatever lies in ``generated/`` by now."""
    old = Case(lab, BASE, tmp_path)
    old.plan()
    Case(lab, edited((PLATFORM, "cores: 6", "cores: 8")), tmp_path)
    status, text = old.gate(capsys)
    assert status == 1
    assert "the plan was made from other files than manifest.json records: knaster.auto.tfvars.json" in text
    assert "the plan was made with other values than the inputs give: vms" in text


@needs_tofu
def test_a_variable_from_outside_or_a_file_beside_is_refused(
    lab: Lab, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    case = Case(lab, BASE, tmp_path)
    case.plan("-var", 'nodes=["pve44","pve46","pve61","pve99"]')
    assert "with other values than the inputs give: nodes" in case.gate(capsys)[1]
    (tmp_path / "generated" / "tofu" / "local_override.tf").write_text("locals {}\n", encoding="utf-8")
    case.plan()
    status, text = case.gate(capsys)
    assert status == 1
    assert "from other files than manifest.json records: local_override.tf" in text


@needs_tofu
def test_a_plan_that_leaves_guests_out_says_so(lab: Lab, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    case = Case(lab, BASE, tmp_path)
    case.plan('-target=module.fleet.proxmox_virtual_environment_vm.gpu["gpu-pve44"]')
    status, text = case.gate(capsys)
    assert status == 0
    assert "warning: the plan leaves out gpu-pve46, infra, ops (-target or -exclude)" in text


def test_a_module_and_a_manifest_changed_by_hand_judge_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lay(tmp_path)
    assert main(["-C", str(tmp_path), "render", "-q"]) == 0
    manifest = tmp_path / "generated" / "manifest.json"
    data = json.loads(manifest.read_text("utf-8"))
    data["files"]["tofu/fleet/vms.tf"] = "sha256:" + "0" * 64
    manifest.write_text(json.dumps(data), encoding="utf-8")
    (tmp_path / "plan.json").write_text('{"format_version": "1.2", "resource_changes": []}', encoding="utf-8")
    assert main(["-C", str(tmp_path), "tofu", "gate", str(tmp_path / "plan.json")]) == 1
    assert "generated/ was not made from the inputs that are here" in capsys.readouterr().out


@needs_tofu
def test_a_plan_to_destroy_everything_is_refused(lab: Lab, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    case = Case(lab, BASE, tmp_path)
    case.plan("-destroy")
    status, text = case.gate(capsys)
    assert status == 1
    assert "guest gpu-pve44 is destroyed" in text
    assert "does not say which files" in text


def test_generated_that_is_not_of_the_inputs_cannot_be_judged(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lay(tmp_path)
    plan = tmp_path / "plan.json"
    plan.write_text("{}", encoding="utf-8")
    assert main(["-C", str(tmp_path), "tofu", "gate", str(plan)]) == 1
    assert "generated/ was not made from the inputs that are here" in capsys.readouterr().out
    assert main(["-C", str(tmp_path), "render", "-q"]) == 0
    assert main(["-C", str(tmp_path), "tofu", "gate", str(plan)]) == 1
    assert "it is no plan: format_version is not 1.x" in capsys.readouterr().out


@pytest.mark.parametrize(
    "content",
    ["[" * 1_000_000, '{"a":' * 100_000, "\0", "\ufeff{}", '{"format_version":"1.2","resource_changes":null}'],
)
def test_hostile_files(content: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lay(tmp_path)
    assert main(["-C", str(tmp_path), "render", "-q"]) == 0
    plan = tmp_path / "plan.json"
    plan.write_text(content, encoding="utf-8")
    assert main(["-C", str(tmp_path), "tofu", "gate", str(plan)]) == 1
    assert "bug" not in capsys.readouterr().err


def test_a_file_that_is_not_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lay(tmp_path)
    assert main(["-C", str(tmp_path), "tofu", "gate", str(tmp_path / "none.json")]) == 2
    assert "there is no file" in capsys.readouterr().err


def test_inputs_with_errors_are_said_first(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lay(tmp_path, {**dict(BASE), "catalog/roles.yaml": "roles: 1\n"})  # type: ignore[arg-type]
    plan = tmp_path / "plan.json"
    plan.write_text("{}", encoding="utf-8")
    assert main(["-C", str(tmp_path), "tofu", "gate", str(plan)]) == 1
    assert "the plan was not judged" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("data", "status", "said"),
    [
        (b'\xef\xbb\xbf{"format_version": "1.2", "resource_changes": []}', 1, "the plan was made with other values"),
        (b"", 1, "what came in on standard input cannot be used: it is no JSON"),
        (b" " * 5, 2, "what came in on standard input is larger than 0 MiB"),
    ],
)
def test_a_plan_on_standard_input(
    data: bytes, status: int, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: Any
) -> None:
    lay(tmp_path)
    assert main(["-C", str(tmp_path), "render", "-q"]) == 0
    capsys.readouterr()
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(data)))
    if status == 2:
        monkeypatch.setattr("knaster.commands.tofu._BOUND", 4)
    assert main(["-C", str(tmp_path), "tofu", "gate", "-"]) == status
    assert said in "".join(capsys.readouterr())
