"""The module as a program: it validates, guards itself against wrong variables, and can be called by another module."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from knaster.renderers import TFVARS
from knaster.renderers.module import module_texts
from tests.tofu_fleets import BASE, edited, real
from tests.tofu_lab import TOOL, Lab, needs_tofu, rendered, right
from tests.tofu_stub.table import read

pytestmark = needs_tofu

TEXTS = module_texts()

TESTS = """
mock_provider "proxmox" {}

run "fleet" {
  command = plan

  assert {
    condition     = output.generation["main.tf"] == filesha256("main.tf")
    error_message = "The output says which files the plan was made from."
  }
}

run "cards" {
  command = plan

  assert {
    condition = alltrue(flatten([
      for vm in var.vms : [for at, card in vm.hostpci : card.device == "hostpci${at}"]
    ]))
    error_message = "Cards stand in slot order."
  }
}

run "empty" {
  command = plan

  variables {
    vms        = {}
    containers = {}
  }

  expect_failures = [var.containers]
}
"""

CHILD = """
terraform {
  required_providers {
    proxmox = {
      source  = "bpg/proxmox"
      version = "0.111.1"
    }
  }
}

provider "proxmox" {
  alias = "cluster"
}

locals {
  fleet = jsondecode(file("${path.module}/repository/generated/tofu/knaster.auto.tfvars.json"))
}

module "fleet" {
  source    = "./repository/generated/tofu/fleet"
  providers = { proxmox = proxmox.cluster }

  nodes      = local.fleet.nodes
  mappings   = local.fleet.mappings
  vms        = local.fleet.vms
  containers = local.fleet.containers
}
"""


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """The base fleet, initialised."""
    found = Lab(tmp_path_factory.mktemp("module"), rendered(BASE))
    yield found
    shutil.rmtree(found.folder)


def test_the_module_is_valid_and_formatted(lab: Lab) -> None:
    assert json.loads(lab.run("validate", "-json").stdout)["diagnostics"] == []
    assert lab.run("fmt", "-check", "-recursive", "-diff").stdout == ""


def test_the_programs_own_tests(lab: Lab) -> None:
    """With a mocked provider: its schema is the stub's, nothing is asked."""
    plain = rendered(edited(("catalog/platform.yaml", "    exists: true\n", "")))
    lab.write({**plain, "tofu/fleet.tftest.hcl": TESTS})
    assert "3 passed, 0 failed" in lab.run("test", "-no-color").stdout
    lab.write(rendered(BASE))


def test_a_module_of_somebody_else_can_call_it(tmp_path: Path) -> None:
    lab = Lab(tmp_path, rendered(BASE))
    (tmp_path / "main.tf").write_text(CHILD, encoding="utf-8")
    lab.run("init", "-input=false", at=tmp_path)
    lab.run("plan", "-input=false", "-out=child.bin", at=tmp_path)
    planned = json.loads(lab.run("show", "-json", "child.bin", at=tmp_path).stdout)
    assert {one["change"]["actions"][0] for one in planned["resource_changes"]} == {"create"}
    assert "warning" not in lab.run("validate", at=tmp_path).stdout.lower()


def test_the_state_lies_outside_of_generated_or_where_one_says(tmp_path: Path) -> None:
    assert re.search(r'path = "\.\./\.\./\.tofu/', TEXTS["tofu/versions.tf"])
    lab = Lab(tmp_path, rendered(BASE))
    other = tmp_path / "elsewhere.tfstate"
    lab.run("init", "-input=false", "-reconfigure", f"-backend-config=path={other}")
    lab.plan()
    lab.apply()
    assert other.exists()
    assert not (tmp_path / "repository" / ".tofu").exists() or not list((tmp_path / "repository" / ".tofu").iterdir())


Change = Callable[[dict[str, Any]], object]

WRONG: dict[str, tuple[Change, str]] = {
    "no guest left": (lambda data: data.update(vms={}, containers={}), "would destroy every guest"),
    "null in a VM": (lambda data: data["vms"]["gpu-pve44"].update(cores=None), "Every attribute of a VM needs a value"),
    "null in an image": (lambda data: data["vms"]["gpu-pve44"]["image"].update(url=None), "Every attribute of a VM"),
    "null in a card": (
        lambda data: data["vms"]["gpu-pve44"]["hostpci"][0].update(mapping=None),
        "Every attribute of a VM",
    ),
    "a VM that is null": (lambda data: data["vms"].update({"gpu-pve44": None}), "Every attribute of a VM"),
    "null in a mapping": (
        lambda data: data["mappings"]["gpu-p2000-pve44"].update(iommu_group=None),
        "with one missing",
    ),
    "upper case": (lambda data: data["mappings"]["gpu-p2000-pve44"].update(id="10DE:1C30"), "lower-case hex"),
    "null in a container": (lambda data: data["containers"]["ops"].update(node=None), "Every attribute of a container"),
    "an unknown node": (lambda data: data["containers"]["ops"].update(node="pve99"), "not among the nodes"),
    "an unknown mapping": (
        lambda data: data["vms"]["gpu-pve44"]["hostpci"][0].update(mapping="gpu-x"),
        "resource mapping that does not exist",
    ),
    "a card of another node": (
        lambda data: data["vms"]["gpu-pve44"]["hostpci"][0].update(mapping="gpu-p2000-pve46"),
        "of another node",
    ),
    "slots out of order": (lambda data: data["vms"]["gpu-pve44"]["hostpci"].reverse(), "in the order of their slots"),
    "one VM id twice": (lambda data: data["containers"]["ops"].update(vmid=244), "Two guests have one VM id"),
    "an attribute is missing": (lambda data: data["vms"]["gpu-pve44"].pop("vmid"), 'attribute "vmid" is required'),
    "a variable is missing": (lambda data: data.pop("vms"), "No value for required variable"),
}


@pytest.mark.parametrize("what", WRONG)
def test_variables_that_would_kill_a_guest_are_refused(lab: Lab, what: str) -> None:
    change, message = WRONG[what]
    files = rendered(BASE)
    data = json.loads(files[TFVARS])
    change(data)
    lab.write({**files, TFVARS: json.dumps(data)})
    found = lab.plan("-refresh=false")
    assert found.status == 1
    assert message in re.sub(r"[\s│]+", " ", found.text)


def test_no_nodes_and_no_guests_is_no_error(lab: Lab) -> None:
    files = rendered(BASE)
    nothing: dict[str, Any] = {"nodes": [], "mappings": {}, "vms": {}, "containers": {}}
    lab.write({**files, TFVARS: json.dumps(nothing)})
    assert lab.plan("-refresh=false").status == 0


def test_both_resources_of_containers_say_the_same_but_for_the_node() -> None:
    """Terraform has no way to share a body between two lifecycles."""
    fixed, replicated = (
        re.sub(r"(?m)^#.*\n", "", TEXTS[f"tofu/fleet/{name}.tf"]) for name in ("containers", "replicated")
    )
    body, lifecycle = fixed.split("  lifecycle {")
    other, other_lifecycle = replicated.split("  lifecycle {")
    assert body.replace('"fixed"', '"replicated"').replace("!guest", "guest") == other
    assert "prevent_destroy = true" in lifecycle
    assert "prevent_destroy = true" in other_lifecycle
    assert "node_name" in other_lifecycle
    assert "node_name" not in lifecycle


def test_cards_are_handed_over_by_mapping_and_never_by_address() -> None:
    """Only root may name an address, and no token can (bpg 495)."""
    block = re.search(r'(?s)dynamic "hostpci" \{.*?\n  \}\n', TEXTS["tofu/fleet/vms.tf"])
    assert block is not None
    assert re.findall(r"(?m)^      (\w+)", block.group()) == ["device", "mapping", "pcie", "rombar", "xvga"]


def test_what_replaces_a_guest_behind_ones_back_is_not_used() -> None:
    """Mount points (3028), clones and file ids (1998), snippets (1636), and flags that a token may not set (344)."""
    text = "".join(re.sub(r"(?m)#.*$", "", TEXTS[path]) for path in TEXTS if path.endswith(".tf"))
    text = re.sub(r"(?s)ignore_changes\s*= \[.*?\]\n", "", text)
    for word in ("mount_point", "clone", "file_id ", "user_data_file_id", "keyctl", "affinity", "hugepages"):
        assert not re.search(rf"\b{word}", text), word


def test_every_attribute_exists_in_the_provider() -> None:
    """The stub's table is what the real provider says of itself: a typing mistake ends in validate, not here alone."""
    vm = {part.name for part in read()["proxmox_virtual_environment_vm"].parts}
    assert {"hostpci", "efi_disk", "reboot_after_update", "agent"} <= vm


def test_the_lock_file_is_tofus_and_pins_the_version_of_the_module() -> None:
    """One made by terraform would be upgraded in silence (opentofu 2775)."""
    lock = TEXTS["tofu/.terraform.lock.hcl"]
    assert re.findall(r'provider "([^"]+)"', lock) == ["registry.opentofu.org/bpg/proxmox"]
    versions = {
        re.findall(r'version\s*= "([0-9.]+)"', TEXTS[path])[0]
        for path in ("tofu/versions.tf", "tofu/fleet/versions.tf")
    }
    assert versions == set(re.findall(r'version\s*= "([0-9.]+)"', lock)) == {"0.111.1"}
    assert {hash_[:3] for hash_ in re.findall(r'"((?:h1|zh):[^"]+)"', lock)} == {"h1:", "zh:"}


def test_guests_of_a_node_that_is_down_stay_and_are_listed_for_exclusion(tmp_path: Path) -> None:
    down = edited(("inventory/pve46.yaml", "memory_gb: 64", 'memory_gb: 64\nstate: down\nreason: "power supply"'))
    found = right(down)
    assert found.documents[TFVARS] == right(BASE).documents[TFVARS]
    listed = [line for line in found.generated["tofu/down.exclude"].splitlines() if not line.startswith("#")]
    assert listed == [
        'module.fleet.proxmox_virtual_environment_vm.gpu["gpu-pve46"]',
        'module.fleet.proxmox_virtual_environment_container.fixed["ops"]',
    ]
    if not str(TOOL).endswith("tofu"):
        pytest.skip("terraform has no -exclude-file")
    lab = Lab(tmp_path, found.generated)
    assert lab.plan().changes.keys() >= {"vm gpu-pve44", "vm gpu-pve46"}
    left = lab.plan("-refresh=false", f"-exclude-file={lab.module}/down.exclude").changes
    assert {"vm gpu-pve44", "lxc infra", "image pve44"} <= left.keys()
    assert not {"vm gpu-pve46", "lxc ops"} & left.keys()


def test_the_exclusions_of_a_fleet_that_is_up_exclude_nothing(tmp_path: Path) -> None:
    found = rendered(real())
    assert all(line.startswith("#") for line in found["tofu/down.exclude"].splitlines())
    if not str(TOOL).endswith("tofu"):
        pytest.skip("terraform has no -exclude-file")
    lab = Lab(tmp_path, found)
    assert lab.plan(f"-exclude-file={lab.module}/down.exclude").changes == lab.plan().changes
