"""The playbook that captures a fleet, with the real ansible-playbook and this machine as every host."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from knaster.cli import main
from knaster.inventory.capture import parse

ROOT = Path(__file__).parent.parent
PLAYBOOK = ROOT / "ansible/collect.yml"
HERE = "{ansible_connection: local, ansible_python_interpreter: '{{ ansible_playbook_python }}'}"
HOSTS = f"""\
all:
  vars: {HERE}
  hosts:
    box1: {{}}
    box2.example.org: {{}}
    192.0.2.7: {{}}
    192.0.2.8: {{knaster_name: box3}}
    gone: {{ansible_connection: ssh, ansible_host: 127.0.0.1, ansible_port: 1}}
"""


def play(folder: Path, *more: str) -> subprocess.CompletedProcess[str]:
    """Run the playbook in a folder that holds ``hosts.yml``. Skips where there is no Ansible."""
    program = shutil.which("ansible-playbook", path=f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    if not program:
        pytest.skip("there is no ansible-playbook on this machine (pip install ansible-core)")
    own = {"HOME": str(folder), "PWD": str(folder), "LC_ALL": "C.UTF-8", "ANSIBLE_NOCOLOR": "1"}
    return subprocess.run(
        [program, "-i", "hosts.yml", PLAYBOOK, *more],
        cwd=folder,
        env={**os.environ, **own},
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
        timeout=300,
    )


def test_the_playbook_finds_the_scripts() -> None:
    named = re.findall(r"{{ playbook_dir }}/([^\"]+)", PLAYBOOK.read_text("utf-8"))
    assert len(named) == 2
    assert all((PLAYBOOK.parent / path).is_file() for path in named)


def test_captures_of_a_fleet_become_profiles(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "hosts.yml").write_text(HOSTS, "utf-8")
    captures, inventory = tmp_path / "captures", tmp_path / "inventory"
    captures.mkdir()
    inventory.mkdir()
    (captures / "gone.capture").write_text("of last week", "utf-8")
    script = tmp_path / "a script"
    assert main(["inventory", "collect", "--print-commands", "linux", "-o", str(script)]) == 0
    done = play(tmp_path, "-e", json.dumps({"linux_script": str(script)}))
    assert done.returncode == 4, done.stdout + done.stderr  # some hosts failed, and Ansible says so
    assert "192.0.2.7 is no name for a node: set knaster_name" in done.stdout + done.stderr
    assert sorted(path.name for path in captures.iterdir()) == ["box1.capture", "box2.capture", "box3.capture"]
    for path in captures.iterdir():
        reading = parse(path.read_bytes())
        assert reading.value is not None, reading.problem
        assert reading.value["hostname"].text.strip() == os.uname().nodename
    assert main(["inventory", "collect", "--from", str(captures), "--all", str(inventory), "--format", "json"]) == 0
    hosts = json.loads(capsys.readouterr().out)["hosts"]
    assert [(host["name"], host["state"]) for host in hosts] == [
        ("box1", "created"),
        ("box2", "created"),
        ("box3", "created"),
    ]
    assert sorted(path.name for path in inventory.iterdir()) == ["box1.yaml", "box2.yaml", "box3.yaml"]


TWINS = f"""\
all:
  vars: {HERE}
  hosts:
    box1: {{}}
    a.one: {{}}
    a.two: {{}}
    third: {{knaster_name: A}}
    192.0.2.7: {{knaster_name: '{{{{ "b" ~ "2" }}}}'}}
    b2: {{}}
    'bad name': {{}}
"""


def test_hosts_of_one_name_are_refused_before_anything_is_written(tmp_path: Path) -> None:
    (tmp_path / "hosts.yml").write_text(TWINS, "utf-8")
    captures = tmp_path / "captures"
    captures.mkdir()
    for name in ("a", "A", "b2"):
        (captures / f"{name}.capture").write_text("of last week", "utf-8")
    done = play(tmp_path)
    assert done.returncode == 2, done.stdout + done.stderr
    said = done.stdout + done.stderr
    for host, node in (("a.one", "a"), ("a.two", "a"), ("third", "A"), ("192.0.2.7", "b2"), ("b2", "b2")):
        assert f"{host} is not the only host for {node}.capture: set knaster_name" in said
    assert sorted(path.name for path in captures.iterdir()) == ["A.capture", "a.capture", "b2.capture", "box1.capture"]
    assert {(captures / f"{name}.capture").read_text("utf-8") for name in ("a", "A", "b2")} == {"of last week"}
    assert play(tmp_path, "-l", "a.one").returncode == 0  # alone it is the only one
    assert parse((captures / "a.capture").read_bytes()).value is not None
