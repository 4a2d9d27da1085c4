"""The playbooks, with the real ansible-playbook: every host is this machine, Proxmox and cards are stand-ins."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.consumer_fleets import FLEETS, generated
from tests.programs import ROOT, ansible, lay, stand_in

LOCAL = """\
all:
  vars:
    ansible_connection: local
    ansible_become: false
    ansible_python_interpreter: "{{ ansible_playbook_python }}"
"""
PLAYBOOKS = sorted(path.name for path in (ROOT / "ansible").glob("*.yml"))

PVESH = """\
import json, os, sys
argv, place = sys.argv[1:], os.environ["STATE"]
state = json.load(open(place))
given = dict(zip((word[2:] for word in argv[2::2]), argv[3::2]))
if argv[0] == "get":
    names = {"/version": "version", "/cluster/resources": "guests", "/cluster/replication": "jobs"}
    print(json.dumps(state[names[argv[1]]]))
    sys.exit()
state["log"].append(" ".join(argv))
if argv[0] == "create":
    guest = given["id"].split("-")[0]
    state["jobs"].append({"guest": guest, **{key: given[key] for key in ("id", "target", "schedule", "type")}})
job = argv[1].rpartition("/")[2]
if argv[0] == "set":
    [one.update(schedule=given["schedule"]) for one in state["jobs"] if one["id"] == job]
if argv[0] == "delete":
    state["jobs"] = [one for one in state["jobs"] if one["id"] != job]
json.dump(state, open(place, "w"))
"""

MACHINE = """\
import json, os, sys
name, argv, place = os.path.basename(sys.argv[0]), sys.argv[1:], os.environ["STATE"]
state = json.load(open(place))
said = " ".join([name, *argv])
state["log"].append(said)
json.dump(state, open(place, "w"))
if any(said.startswith(start) for start in state["fails"]):
    sys.exit(f"no {said}")
if name == "nvidia-smi":
    print("\\n".join(state["cards"]))
if name == "apt-get" and "--yes" in argv:
    state["installed"] = state["brings"]
if name == "qm" and argv[0] == "start" and "installed" in state:
    state["cards"] = [state["installed"]] * len(state["cards"])
if name == "qm" and argv[0] == "snapshot":
    state["kept"] = state["cards"]
if name == "qm" and argv[0] == "rollback":
    state["cards"] = state["kept"]
    del state["installed"]
json.dump(state, open(place, "w"))
"""


def play(
    folder: Path, playbook: str, state: dict[str, Any], *argv: str, fleet: str = "own"
) -> subprocess.CompletedProcess[str]:
    """Play on this repository's fleet, or another; what the stand-ins know is `state`, before and after."""
    lay(folder, generated(fleet) | {"local.yml": LOCAL, "state": json.dumps(state)})
    stand_in(folder / "bin", "pvesh", PVESH)
    for name in ("qm", "apt-get", "apt-mark", "nvidia-smi"):
        stand_in(folder / "bin", name, MACHINE)
    done = ansible(
        "ansible-playbook",
        folder,
        *("-i", "ansible/hosts.yaml", "-i", "local.yml", str(ROOT / "ansible" / playbook), *argv),
        STATE=str(folder / "state"),
        PATH=f"{folder / 'bin'}:{os.environ['PATH']}",
    )
    state |= json.loads((folder / "state").read_text("utf-8"))
    return done


def changed(done: subprocess.CompletedProcess[str]) -> int:
    """How many tasks changed something, over all hosts."""
    return sum(map(int, re.findall(r"changed=(\d+)", done.stdout)))


@pytest.mark.parametrize("name", FLEETS)
def test_the_syntax_is_right_for_every_fleet(name: str, tmp_path: Path) -> None:
    lay(tmp_path, generated(name))
    argv = ("-i", "ansible/hosts.yaml", "--syntax-check", *(str(ROOT / "ansible" / playbook) for playbook in PLAYBOOKS))
    assert len(PLAYBOOKS) == 3
    done = ansible("ansible-playbook", tmp_path, *argv)
    assert done.returncode == 0, done.stderr
    assert "ERROR" not in done.stdout + done.stderr


# -- replication: infra (101) is declared on pve52 with targets pve44 and pve48, ops (100) without any


def cluster(node: str, *jobs: tuple[str, str, str]) -> dict[str, Any]:
    """A cluster where infra runs on `node`, with jobs (id, target, schedule); Proxmox leaves a default schedule out."""
    return {
        "version": {"version": "9.0.3"},
        "guests": [
            {"id": "lxc/101", "vmid": 101, "node": node, "type": "lxc"},
            {"id": "lxc/100", "vmid": 100, "node": "pve46", "type": "lxc"},
            {"id": "qemu/1010", "vmid": 1010, "node": "pve44", "type": "qemu"},
        ],
        "jobs": [
            {"id": id_, "guest": int(id_.split("-")[0]), "target": target, "type": "local"}
            | ({"schedule": schedule} if schedule else {})
            for id_, target, schedule in jobs
        ],
        "log": [],
    }


SOME = ("--limit", "pve46", "-e", '{"guests_only": ["infra", "ops"]}')

CASES = {
    "from nothing": (
        cluster("pve52"),
        [
            "create /cluster/replication --id 101-0 --type local --target pve44 --schedule */15",
            "create /cluster/replication --id 101-1 --type local --target pve48 --schedule */15",
        ],
    ),
    "as declared": (cluster("pve52", ("101-0", "pve44", ""), ("101-1", "pve48", "*/15")), []),
    "a new target takes the free number": (
        cluster("pve52", ("101-1", "pve48", "")),
        ["create /cluster/replication --id 101-0 --type local --target pve44 --schedule */15"],
    ),
    "another schedule": (
        cluster("pve52", ("101-0", "pve44", "*/5"), ("101-1", "pve48", "")),
        ["set /cluster/replication/101-0 --schedule */15"],
    ),
    "nobody declares it": (
        cluster(
            "pve52", ("101-0", "pve44", ""), ("101-1", "pve48", ""), ("101-2", "pve46", ""), ("100-0", "pve44", "")
        ),
        ["delete /cluster/replication/101-2", "delete /cluster/replication/100-0"],
    ),
    "after a failover the direction is turned round": (
        cluster("pve44", ("101-0", "pve52", ""), ("101-1", "pve48", "")),
        [],
    ),
    "a failover before the first job": (
        cluster("pve44"),
        [
            "create /cluster/replication --id 101-0 --type local --target pve48 --schedule */15",
            "create /cluster/replication --id 101-1 --type local --target pve52 --schedule */15",
        ],
    ),
    "guests that nobody here declares are left alone": (
        cluster("pve52", ("101-0", "pve44", ""), ("101-1", "pve48", ""), ("1010-0", "pve46", "")),
        [],
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_replication_becomes_what_is_declared_and_then_rests(case: str, tmp_path: Path) -> None:
    state, expected = json.loads(json.dumps(CASES[case][0])), CASES[case][1]
    done = play(tmp_path, "replication.yml", state, *SOME)
    assert done.returncode == 0, done.stdout + done.stderr
    assert state["log"] == expected
    if case in ("from nothing", "another schedule", "nobody declares it"):
        done = play(tmp_path, "replication.yml", state, *SOME)
        assert (state["log"], changed(done)) == (expected, 0)
    if not expected:
        assert changed(done) == 0


def test_a_guest_that_does_not_exist_yet_is_left_out(tmp_path: Path) -> None:
    state = cluster("pve52") | {"guests": []}
    assert play(tmp_path, "replication.yml", state, *SOME).returncode == 0
    assert state["log"] == []


def test_check_mode_tells_and_changes_nothing(tmp_path: Path) -> None:
    state = cluster("pve52")
    done = play(tmp_path, "replication.yml", state, "--check")
    assert "infra runs on pve52; jobs: {}; wanted: {'pve44': '*/15', 'pve48': '*/15'}" in done.stdout
    assert (done.returncode, state["log"]) == (0, [])


# -- drivers: gpu-pve44 (244) has two cards and is to have 580.95.05


def vm(*cards: str, brings: str = "580.95.05", fails: tuple[str, ...] = ()) -> dict[str, Any]:
    """A VM whose cards have these drivers; what the packages bring, and which commands fail."""
    return {"cards": list(cards), "brings": brings, "fails": list(fails), "log": []}


def steps(state: dict[str, Any]) -> list[str]:
    """The commands that change something, cut to their first three words."""
    quiet = ("nvidia-smi", "apt-get update")
    real = [one for one in state["log"] if not one.startswith(quiet) and "--simulate" not in one]
    return [" ".join(one.split()[:3]) for one in real]


FAST = ("-e", '{"looks": 1, "patience": 20}')
ONE = ("--limit", "gpu-pve44", *FAST)


def test_a_driver_is_updated_behind_a_snapshot(tmp_path: Path) -> None:
    state = vm("570.1", "570.1")
    done = play(tmp_path, "driver.yml", state, *ONE)
    assert done.returncode == 0, done.stdout + done.stderr
    assert steps(state) == [
        "qm shutdown 244",
        "qm snapshot 244",
        "qm start 244",
        "apt-get install --quiet",
        "apt-mark hold nvidia-headless-580-server",
        "qm shutdown 244",
        "qm start 244",
        "qm delsnapshot 244",
    ]
    assert state["cards"] == ["580.95.05", "580.95.05"]
    (install,) = [one for one in state["log"] if "--yes" in one]
    assert install.endswith("nvidia-headless-580-server=580.95.05* nvidia-utils-580-server=580.95.05*")


def test_only_nvidia_cards_have_to_answer(tmp_path: Path) -> None:
    """gpu-pve1 has a Radeon and is left out; of the two cards of gpu-pve2 one is an Ada."""
    state = vm("595.45.04")
    done = play(tmp_path, "driver.yml", state, *FAST, fleet="two makers")
    assert (done.returncode, state["log"]) == (0, ["nvidia-smi --query-gpu=driver_version --format=csv,noheader"])


def test_a_vm_that_has_the_driver_is_left_alone(tmp_path: Path) -> None:
    state = vm("580.95.05", "580.95.05")
    assert (play(tmp_path, "driver.yml", state, *ONE).returncode, steps(state)) == (0, [])


def test_a_card_that_does_not_answer_is_no_update(tmp_path: Path) -> None:
    """One of two cards is missing: the VM is rolled back, and the other VMs are never touched."""
    state = vm("580.95.05")
    done = play(tmp_path, "driver.yml", state, *FAST)
    assert done.returncode != 0
    assert steps(state)[-4:] == ["qm stop 244", "qm rollback 244", "qm start 244", "qm delsnapshot 244"]
    assert not [one for one in state["log"] if " 246" in one]


@pytest.mark.parametrize(
    "failing", ["apt-get install --quiet --allow-downgrades --allow-change-held-packages --yes", "apt-mark"]
)
def test_what_fails_behind_the_snapshot_is_rolled_back(failing: str, tmp_path: Path) -> None:
    state = vm("570.1", "570.1", fails=(failing,))
    state["installed"] = "570.1"
    done = play(tmp_path, "driver.yml", state, *ONE)
    assert done.returncode != 0
    assert "gpu-pve44 has its old driver back" in done.stdout
    assert steps(state)[-4:] == ["qm stop 244", "qm rollback 244", "qm start 244", "qm delsnapshot 244"]
    assert state["cards"] == ["570.1", "570.1"]


def test_without_a_snapshot_nothing_is_installed_and_the_vm_runs_again(tmp_path: Path) -> None:
    state = vm("570.1", "570.1", fails=("qm snapshot",))
    done = play(tmp_path, "driver.yml", state, *ONE)
    assert done.returncode != 0
    assert "gpu-pve44 was not changed: no qm snapshot 244 before-580-95-05" in done.stdout
    assert steps(state) == ["qm shutdown 244", "qm snapshot 244", "qm start 244"]


def test_a_version_that_the_archive_does_not_have_stops_nothing(tmp_path: Path) -> None:
    state = vm("570.1", "570.1", fails=("apt-get install",))
    assert play(tmp_path, "driver.yml", state, *ONE).returncode != 0
    assert steps(state) == []


def test_check_mode_says_which_vm_would_change(tmp_path: Path) -> None:
    state = vm("570.1", "570.1")
    done = play(tmp_path, "driver.yml", state, *ONE, "--check")
    assert "gpu-pve44: 570.1, 570.1 -> 580.95.05" in done.stdout
    assert (done.returncode, steps(state)) == (0, [])
