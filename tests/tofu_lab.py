"""terraform or tofu at work on a fleet, with the stub in the provider's place. Nothing here needs a network."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import pytest

from knaster.files import Files
from knaster.pipeline import Evaluation, evaluate

TOOL = shutil.which("tofu") or shutil.which("terraform")
REASON = (
    "neither tofu nor terraform is on PATH"
    if TOOL is None
    else "the package tf (a Terraform plugin in Python) is not installed"
    if importlib.util.find_spec("tf") is None
    else ""
)
needs_tofu = pytest.mark.skipif(bool(REASON), reason=REASON)

STUB = Path(__file__).parent / "tofu_stub" / "provider.py"
HOSTS = ("registry.opentofu.org", "registry.terraform.io")

OPS: dict[str, Any] = {
    "template": False,
    "unprivileged": True,
    "start_on_boot": True,
    "started": True,
    "cpu": [{"cores": 2}],
    "memory": [{"dedicated": 4096, "swap": 512}],
    "disk": [{"datastore_id": "local-lvm", "size": 32}],
    "initialization": [
        {"hostname": "ops", "ip_config": [{"ipv4": [{"address": "192.168.100.220/24", "gateway": "192.168.100.1"}]}]}
    ],
    "network_interface": [{"name": "eth0", "bridge": "vmbr0", "enabled": True, "firewall": False}],
    "operating_system": [{"type": "debian", "template_file_id": ""}],
}
"""What a container that somebody made by hand looks like when it is imported."""

SHORT = {
    "proxmox_virtual_environment_vm": "vm",
    "proxmox_virtual_environment_container": "lxc",
    "proxmox_hardware_mapping_pci": "mapping",
    "proxmox_download_file": "image",
}


_ACTIONS = {"replace": "delete+create"}


@dataclass(frozen=True)
class Outcome:
    """A plan: the program's exit status and words, and what `show -json` makes of it."""

    status: int
    text: str
    json: dict[str, Any]

    @property
    def changes(self) -> dict[str, str]:
        """``vm gpu-pve44`` to its actions (``delete+create``) where anything happens."""
        some = [one for one in self.json.get("resource_changes", ()) if one["change"]["actions"] != ["no-op"]]
        return {f"{SHORT[one['type']]} {one['index']}": "+".join(one["change"]["actions"]) for one in some}


class Lab:
    """One folder with a fleet's ``generated/``, its state beside it."""

    environment: ClassVar[Mapping[str, str]] = {}
    """What the real provider wants to know; the stub wants nothing."""

    def __init__(self, folder: Path, files: Mapping[str, str]) -> None:
        self.folder = folder
        self.module = folder / "repository" / "generated" / "tofu"
        self.imports: dict[str, Any] = {"pve46/100": OPS, "pve44/101": OPS}
        self.gone: list[int] = []
        self.provide()
        self.write(files)
        self.run("init", "-input=false", ok=not self.environment)  # an override has no package to install

    def provide(self) -> None:
        """The stub where the program looks for the provider."""
        _mirror(self.folder)

    def write(self, files: Mapping[str, str]) -> None:
        """`files` as ``generated/``. Without the lock file: no stub has the hashes of the real provider."""
        generated = self.module.parent
        kept = self.module / ".terraform.lock.hcl"
        lock = kept.read_text("utf-8") if kept.exists() else None
        for old in [path for path in generated.rglob("*") if path.is_file() and ".terraform" not in path.parts]:
            old.unlink()
        for path, text in files.items():
            target = generated / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, encoding="utf-8", newline="")
        kept.unlink(missing_ok=True)
        if lock is not None:
            kept.write_text(lock, encoding="utf-8")

    def run(self, *argv: str, at: Path | None = None, ok: bool = True) -> subprocess.CompletedProcess[str]:
        """The program in the module, or in another folder."""
        kept = {key: os.environ[key] for key in ("PATH", "SYSTEMROOT", "TMPDIR") if key in os.environ}
        own = {
            **self.environment,
            "HOME": str(self.folder),
            "CHECKPOINT_DISABLE": "1",
            "TF_IN_AUTOMATION": "1",
            "TF_CLI_CONFIG_FILE": str(self.folder / "mirror.tfrc"),
            "STUB_IMPORTS": json.dumps(self.imports),
            "STUB_GONE": json.dumps(self.gone),
        }
        found = subprocess.run(
            [str(TOOL), f"-chdir={at or self.module}", *argv],
            env={**kept, **own},
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )
        assert found.returncode == 0 or not ok, found.stdout + found.stderr
        return found

    def plan(self, *argv: str) -> Outcome:
        """A plan of what is written."""
        file = self.folder / "plan.bin"
        file.unlink(missing_ok=True)
        found = self.run("plan", "-input=false", "-no-color", f"-out={file}", *argv, ok=False)
        shown = self.run("show", "-json", str(file)).stdout if file.exists() else "{}"
        return Outcome(found.returncode, found.stdout + found.stderr, json.loads(shown))

    def told(self, *argv: str) -> dict[str, str]:
        """The changes that ``plan -json`` reports, like `Outcome.changes`; one program run instead of two."""
        lines = [
            json.loads(line) for line in self.run("plan", "-input=false", "-json", *argv, ok=False).stdout.splitlines()
        ]
        some = [one["change"] for one in lines if one["type"] == "planned_change"]
        found = {f"{SHORT[one['resource']['resource_type']]} {one['resource']['resource_key']}": one for one in some}
        acted = {name: _ACTIONS.get(one["action"], one["action"]) for name, one in found.items()}
        return {name: action for name, action in acted.items() if action != "move"}

    def apply(self) -> None:
        """The last plan, carried out."""
        self.run("apply", "-input=false", "-no-color", str(self.folder / "plan.bin"))


def _mirror(folder: Path) -> None:
    """The stub where the program looks for bpg/proxmox 0.111.1."""
    start = folder / "start.py"
    start.parent.mkdir(parents=True, exist_ok=True)
    code = f"import runpy, sys\nsys.path[:0] = {sys.path!r}\nrunpy.run_path({str(STUB)!r}, run_name='__main__')\n"
    start.write_text(code, encoding="utf-8")
    for host in HOSTS:
        program = folder / "mirror" / host / "bpg" / "proxmox" / "0.111.1" / "linux_amd64"
        program = program / "terraform-provider-proxmox_v0.111.1"
        program.parent.mkdir(parents=True, exist_ok=True)
        program.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{start}" "$@"\n', encoding="utf-8")
        program.chmod(0o755)
    config = f'provider_installation {{\n  filesystem_mirror {{\n    path = "{folder / "mirror"}"\n  }}\n}}\n'
    (folder / "mirror.tfrc").write_text(config, encoding="utf-8")


def rendered(files: Files) -> Mapping[str, str]:
    """``generated/`` of a repository that has to be right."""
    return right(files).generated


def right(files: Files) -> Evaluation:
    """The evaluation of a repository that has to be right."""
    found = evaluate(files)
    assert found.ok, [one.message for one in found.diagnostics if one.severity == "error"]
    return found
