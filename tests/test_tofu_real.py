"""The real provider, where ``terraform-provider-proxmox`` is on PATH: the same plans as with the stub.

A plan of new resources asks no Proxmox. A state made from such a plan, and plans without refresh, show what changes do.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

import pytest

from knaster.gate import Fleet, Plan, judge, read_plan
from tests.test_tofu_plans import TABLE, agree, row
from tests.tofu_fleets import BASE, real
from tests.tofu_lab import TOOL, Lab, rendered

PROVIDER = shutil.which("terraform-provider-proxmox")
pytestmark = [
    pytest.mark.skipif(TOOL is None, reason="neither tofu nor terraform is on PATH"),
    pytest.mark.skipif(PROVIDER is None, reason="terraform-provider-proxmox is not on PATH"),
]

FIRST = {"type": "index", "value": {"value": 0, "type": "number"}}
PASSWORD = [
    {"type": "get_attr", "value": "initialization"},
    FIRST,
    {"type": "get_attr", "value": "user_account"},
    FIRST,
    {"type": "get_attr", "value": "password"},
]


class Real(Lab):
    """A lab whose provider is the real one. Nothing is adopted: that would ask a Proxmox."""

    environment: ClassVar[Mapping[str, str]] = {
        "PROXMOX_VE_ENDPOINT": "https://127.0.0.1:9/",
        "PROXMOX_VE_API_TOKEN": "root@pam!test=00000000-0000-0000-0000-000000000000",
    }

    def provide(self) -> None:
        """An override of the provider instead of a mirror."""
        folder = Path(str(PROVIDER)).parent
        text = (
            f'provider_installation {{\n  dev_overrides {{\n    "bpg/proxmox" = "{folder}"\n  }}\n  direct {{}}\n}}\n'
        )
        (self.folder / "mirror.tfrc").write_text(text, encoding="utf-8")

    def write(self, files: Mapping[str, str]) -> None:
        """`files` without imports."""
        main = re.sub(r"(?ms)^import \{.*?^\}\n", "", files["tofu/main.tf"])
        super().write({**files, "tofu/main.tf": main})

    def settle(self) -> None:
        """A state in which everything planned exists, planned again until nothing is left to do."""
        place = self.folder / "repository" / ".tofu" / "terraform.tfstate"
        place.parent.mkdir(exist_ok=True)
        for serial in range(1, 5):
            planned = self.plan("-refresh=false").json
            if not [one for one in planned["resource_changes"] if one["change"]["actions"] != ["no-op"]]:
                return
            place.write_text(json.dumps(state(planned, serial)), encoding="utf-8")
        raise AssertionError("the state never comes to rest")


def state(planned: dict[str, Any], serial: int) -> dict[str, Any]:
    """The state after an apply of a plan."""
    resources: dict[tuple[str, str], dict[str, Any]] = {}
    for one in planned["planned_values"]["root_module"]["child_modules"][0]["resources"]:
        entry = resources.setdefault(
            (one["type"], one["name"]),
            {
                "module": "module.fleet",
                "mode": "managed",
                "type": one["type"],
                "name": one["name"],
                "provider": f'provider["{one["provider_name"]}"]',
                "instances": [],
            },
        )
        secret = [PASSWORD] if one["values"].get("initialization") else []
        entry["instances"].append(
            {
                "index_key": one["index"],
                "schema_version": one["schema_version"],
                "attributes": known(one["type"], dict(one["values"])),
                "sensitive_attributes": secret,
            }
        )
    return {
        "version": 4,
        "terraform_version": planned["terraform_version"],
        "serial": serial,
        "lineage": "test",
        "outputs": {},
        "resources": list(resources.values()),
    }


def known(kind: str, values: dict[str, Any]) -> dict[str, Any]:
    """What the provider would have computed."""
    if kind == "proxmox_download_file":
        values["id"] = f"local:import/{values['file_name']}"
    else:
        values["id"] = str(values.get("vm_id") or values["name"])
    if kind.endswith("_vm"):
        values |= {key: [] for key in ("ipv4_addresses", "ipv6_addresses", "mac_addresses", "network_interface_names")}
        values["initialization"][0]["upgrade"] = False
        values["disk"][0]["import_from"] = "local:import/image.qcow2"
        values["cpu"][0]["units"] = 0
    if kind.endswith("_container"):
        values |= {"ipv4": {}, "ipv6": {}}
    return values


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Lab:
    """The base fleet, as if it were applied."""
    found = Real(tmp_path_factory.mktemp("real"), rendered(BASE))
    found.settle()
    return found


@pytest.mark.parametrize("what", TABLE)
def test_a_change_of_one_field(lab: Lab, what: str) -> None:
    files, expected = row(what)
    lab.write(rendered(files))
    adopted = {"lxc ops2": "create"} if "lxc ops2" in expected else {}
    found = lab.plan("-refresh=false")
    assert found.changes == {**expected, **adopted}
    agree(found, files)


def more_disks(vm: dict[str, Any]) -> None:
    """A second disk, added by hand."""
    vm["disk"].append({**vm["disk"][0], "interface": "scsi1", "import_from": ""})


def another_bus(vm: dict[str, Any]) -> None:
    """The only disk under another name."""
    vm["disk"][0]["interface"] = "virtio0"


def second_network(vm: dict[str, Any]) -> None:
    """A network device more."""
    vm["network_device"].append({**vm["network_device"][0], "bridge": "vmbr7"})


def by_hand(container: dict[str, Any]) -> None:
    """A mount point and a device, added by hand, and notes, which Proxmox ends with a new line."""
    container["description"] = "Ask Anna first.\n"
    volume = {"volume": "tank:subvol-100-disk-1", "path": "/data", "size": "100G", "backup": True, "replicate": True}
    flags = dict.fromkeys(("acl", "quota", "read_only", "shared"), False)
    container["mount_point"] = [{**volume, **flags, "mount_options": [], "path_in_datastore": "subvol-100-disk-1"}]
    device = {"path": "/dev/net/tun", "deny_write": False, "gid": 0, "mode": "0660", "uid": 0}
    container["device_passthrough"] = [device]


def notes(vm: dict[str, Any]) -> None:
    """What people write on a VM."""
    vm["description"] = "Ask Anna first."


@pytest.mark.parametrize(
    ("key", "edit", "expected"),
    [
        ("gpu-pve46", more_disks, ("refuse", "disk -scsi1", ["error"])),
        ("gpu-pve46", another_bus, ("refuse", "disk.interface virtio0 -> scsi0", ["error"])),
        ("gpu-pve46", second_network, ("update", "network_device 2 -> 1", ["warning"])),
        ("ops", by_hand, None),
        ("gpu-pve46", notes, None),
    ],
)
def test_what_a_guest_has_and_the_module_does_not_declare(lab: Lab, key: str, edit: Any, expected: Any) -> None:
    """The provider plans an update of what `vmUpdate` takes out; what a container has is left alone."""
    place = lab.folder / "repository" / ".tofu" / "terraform.tfstate"
    kept = place.read_text("utf-8")
    changed = json.loads(kept)
    edit(next(i for r in changed["resources"] for i in r["instances"] if i["index_key"] == key)["attributes"])
    place.write_text(json.dumps(changed), encoding="utf-8")
    lab.write(rendered(BASE))
    try:
        found = lab.plan("-refresh=false")
    finally:
        place.write_text(kept, encoding="utf-8")
    assert found.changes == ({f"vm {key}": "update"} if expected else {})
    plan = read_plan(json.dumps(found.json))
    assert isinstance(plan, Plan)
    verdict = judge(plan, Fleet({}, {}, frozenset(), frozenset()))
    detached = [str(one.severity) for one in verdict.diagnostics if one.code == "gate-detaches"]
    assert [(one.effect, one.cause, detached) for one in verdict.changes] == ([expected] if expected else [])


def test_the_fleet_of_this_repository_is_valid_and_planned(tmp_path: Path) -> None:
    lab = Real(tmp_path, rendered(real()))
    assert json.loads(lab.run("validate", "-json").stdout)["valid"]
    found = lab.plan()
    assert found.status == 0, found.text
    assert set(found.changes.values()) == {"create"}
