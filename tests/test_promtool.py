"""Prometheus itself reads ``prometheus/``: the target lists and the scrape configuration of every fleet (design §5)."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from knaster.renderers import documents
from tests.builders import node
from tests.consumer_fleets import FLEETS, generated
from tests.programs import lay, program
from tests.small_fleet import fleet

SCRAPE = "prometheus/scrape.yaml"


def promtool(folder: Path, *argv: str) -> subprocess.CompletedProcess[str]:
    """Run promtool there."""
    tool = program("promtool", "apt install prometheus")
    return subprocess.run([tool, *argv], cwd=folder, capture_output=True, text=True, check=False, timeout=60)


def targets(name: str, job: str) -> dict[str, dict[str, str]]:
    """Target to labels."""
    found: list[dict[str, Any]] = json.loads(generated(name)[f"prometheus/{job}.json"])
    return {one["targets"][0]: one["labels"] for one in found}


@pytest.mark.parametrize("name", FLEETS)
def test_promtool_accepts_it(name: str, tmp_path: Path) -> None:
    lay(tmp_path, generated(name))
    done = promtool(tmp_path, "check", "config", SCRAPE)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "SUCCESS" in done.stdout
    assert "WARNING" not in done.stdout + done.stderr


@pytest.mark.parametrize("broken", ['[{"targets": ["a:1"], "labels": {"vmid": 244}}]', '{"//": "generated"}'])
def test_promtool_would_say_so(broken: str, tmp_path: Path) -> None:
    """That it reads the lists too, and not the configuration alone."""
    lay(tmp_path, generated("own") | {"prometheus/nodes.json": broken})
    assert promtool(tmp_path, "check", "config", SCRAPE).returncode != 0


@pytest.mark.parametrize("name", FLEETS)
def test_service_discovery_finds_what_the_lists_say(name: str, tmp_path: Path) -> None:
    lay(tmp_path, generated(name))
    for job in ("nodes", "guests", "gpus", "slots"):
        done = promtool(tmp_path, "check", "service-discovery", "--timeout=1s", SCRAPE, job)
        assert done.returncode == 0, done.stderr
        found = {
            one["labels"]["instance"]: {
                key: value
                for key, value in {**one["discoveredLabels"], "metrics": one["labels"].get("__metrics_path__")}.items()
                if key in ("host", "kind", "pve_node", "vmid", "slot", "role", "engine", "__metrics_path__")
            }
            for one in json.loads(done.stdout[done.stdout.index("[") :]) or []
        }
        expected = targets(name, job)
        assert found == {target: {"__metrics_path__": "/metrics", **labels} for target, labels in expected.items()}, job


def test_this_fleet() -> None:
    assert targets("own", "nodes") == {
        **{
            f"192.168.100.{n}:9100": {"host": f"pve{n}", "kind": "proxmox", "pve_node": f"pve{n}"}
            for n in (44, 46, 48, 52, 61)
        },
        **{f"192.168.100.10{n}:9182": {"host": f"GODE-PC-0{n}", "kind": "workstation"} for n in (5, 6)},
    }
    assert targets("own", "guests")["192.168.100.221:9100"] == {
        "host": "infra",
        "kind": "lxc",
        "pve_node": "pve52",
        "vmid": "101",
    }
    assert len(targets("own", "guests")) == 6
    assert targets("own", "gpus").keys() == {
        *(f"192.168.100.{n}:9835" for n in (224, 226, 228, 232)),
        *(f"192.168.100.{n}:9835" for n in (105, 106)),
    }
    assert targets("own", "slots")["192.168.100.224:8081"] == {
        "slot": "embedding",
        "role": "embedding",
        "engine": "llamacpp",
        "host": "gpu-pve44",
        "kind": "vm",
        "pve_node": "pve44",
        "vmid": "244",
        "__metrics_path__": "/metrics",
    }


def test_a_list_without_targets_is_an_empty_list() -> None:
    assert generated("workstations only")["prometheus/guests.json"] == "[]\n"


def test_a_machine_whose_address_nobody_knows_is_no_target() -> None:
    found = documents(fleet(node("pve44", address="10.0.0.1"), node("pve61")))["prometheus/nodes.json"]["groups"]
    assert [one["targets"] for one in found] == [["10.0.0.1:9100"]]


def test_a_speech_engine_without_metrics_has_no_target() -> None:
    assert {labels["slot"] for labels in targets("one node", "slots").values()} == {"chat", "embedding"}
