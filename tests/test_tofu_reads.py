"""OpenTofu (or Terraform) itself reads what is rendered: the typed variables, and the registry through yamldecode."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from knaster.placement.result import Assignment, PlacementPlan
from knaster.renderers import documents, render
from tests.builders import catalog, engine, model, role, roles, slot
from tests.small_fleet import REGISTRY, TFVARS, fleet, ground

TOOL = shutil.which("tofu") or shutil.which("terraform")
pytestmark = pytest.mark.skipif(TOOL is None, reason="neither tofu nor terraform is on PATH")

OUTPUTS = """
resource "terraform_data" "guest" {
  for_each = merge(var.vms, var.containers)
  input    = each.key
}

output "variables" {
  value = { nodes = var.nodes, mappings = var.mappings, vms = var.vms, containers = var.containers }
}

output "yaml" {
  value = {
    for name in ["placement", "proxmox", "registry"] : name => yamldecode(file("${path.module}/../${name}.yaml"))
  }
}
"""


def run(folder: Path, *argv: str) -> str:
    """The tool in `folder`, without network, telemetry or the settings of whoever runs the tests."""
    kept = {key: os.environ[key] for key in ("PATH", "SYSTEMROOT", "TMPDIR") if key in os.environ}
    found = subprocess.run(
        [str(TOOL), f"-chdir={folder}", *argv],
        env={**kept, "HOME": str(folder.parent), "CHECKPOINT_DISABLE": "1", "TF_IN_AUTOMATION": "1"},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert found.returncode == 0, found.stdout + found.stderr
    assert "Warning" not in found.stdout + found.stderr
    return found.stdout


def outputs(folder: Path, files: dict[str, str]) -> dict[str, Any]:
    """The outputs that the tool plans for these files of ``generated/``."""
    kept = {path: text for path, text in files.items() if not path.endswith((".tf", ".tf.json", ".hcl"))}
    kept["tofu/variables.tf"] = files["tofu/variables.tf"]
    for path, text in {**kept, "tofu/outputs.tf": OUTPUTS}.items():
        target = folder / "generated" / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8", newline="")
    tofu = folder / "generated" / "tofu"
    run(tofu, "plan", "-input=false", "-no-color", "-out=plan.bin")
    planned = json.loads(run(tofu, "show", "-json", "plan.bin"))["planned_values"]["outputs"]
    return {name: planned[name]["value"] for name in planned}


def same(value: Any) -> str:
    """Text in which a number, a boolean and a string differ, whatever the key order."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False)


def test_variables_and_yaml_arrive_with_type_and_text(tmp_path: Path) -> None:
    """Objects of declared type drop unknown attributes without a word, so all that is rendered must come out again."""
    found = documents(fleet())
    seen = outputs(tmp_path, render(found, input_digest="sha256:" + "a" * 64, version="0.1.0"))
    assert same(seen["variables"]) == same({key: value for key, value in TFVARS.items() if key != "//"})
    assert same(seen["yaml"]["registry"]) == same(REGISTRY)
    assert same(seen["yaml"]["placement"]) == same(found["placement.yaml"])
    assert same(seen["yaml"]["proxmox"]) == same(found["proxmox.yaml"])


ODD = ("1e3", "08", "70e4411", "y", "2026-1-2", "NO", "on", "null", "0x1f", "1_000", ".5", "0o17", "1.0", "true", "é")


def test_names_that_look_like_something_else_stay_text(tmp_path: Path) -> None:
    """As role, slot and model these are numbers, booleans or dates to one YAML reader or another."""
    some = roles(*(role(name, slots=(slot(name, model=name),)) for name in ODD))
    answer = PlacementPlan(tuple(Assignment(name, "GODE-PC-05", 0, (name,), slots=(name,)) for name in sorted(ODD)))
    odd = fleet(
        roles=some, plan=answer, catalog=catalog(engine(), *(model(name) for name in ODD)), platform=ground(external={})
    )
    found = documents(odd)
    seen = outputs(tmp_path, render(found, input_digest="sha256:" + "a" * 64, version="0.1.0"))["yaml"]["registry"]
    assert sorted(seen["slots"]) == sorted(ODD)
    assert {name: (one["role"], one["model"], one["models"]) for name, one in seen["slots"].items()} == {
        name: (name, name, [name]) for name in ODD
    }
