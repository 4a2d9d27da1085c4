"""`knaster inventory collect`: profiles printed, written, compared; and nothing written where it should not be."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from knaster.adapters.captures import script
from knaster.cli import main
from knaster.document import parse
from knaster.inventory import capture as captured
from knaster.inventory.capture import Section, render
from tests.captured import capture
from tests.repo import files, lay
from tests.sshd import Server, server
from tests.stubs import linux
from tests.test_assemble_speed import assembled, fleet, seconds

Capture = pytest.CaptureFixture[str]
HEAD = "# yaml-language-server: $schema=../schemas/node.schema.json\n"
UUID = "GPU-7f9c2b1e-3d44-4c5a-9a1b-0c2d3e4f5a6b"


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to work in with ``captures/`` and ``inventory/``, both empty."""
    (tmp_path / "captures").mkdir()
    (tmp_path / "inventory").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def collect(*words: str) -> int:
    return main(["inventory", "collect", *words])


def put(name: str, **sections: str | Section) -> None:
    """The capture of one machine."""
    hostname = sections.pop("hostname", f"{name}\n")
    Path(f"captures/{name}.capture").write_text(render(linux(hostname=hostname, **sections)), "utf-8")


def profiles() -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(Path("inventory").iterdir())}


def hosts(capsys: Capture, *words: str) -> dict[str, Any]:
    """The hosts of the JSON report by name, else by what was asked."""
    capsys.readouterr()
    collect(*words, "--format", "json")
    return {host["name"] or host["host"]: host for host in json.loads(capsys.readouterr().out)["hosts"]}


def data(text: str) -> Any:
    document, problems = parse("", text)
    assert document is not None, problems
    return document.data


def test_this_machine_gives_a_profile_that_validate_accepts(place: Path, capsys: Capture) -> None:
    assert collect("--name", "box1") == 0
    text, err = capsys.readouterr()
    assert err == ""
    assert text.startswith(f"{HEAD}name: box1\n")
    address = data(text).get("address") or "192.168.100.9"
    texts = {path: said.replace("192.168.100.", address.rpartition(".")[0] + ".") for path, said in files().items()}
    lay(place, {**texts, "inventory/box1.yaml": text})
    assert main(["validate"]) == 0, capsys.readouterr().out
    assert capsys.readouterr().out.splitlines()[-1].startswith("3 nodes")


def test_one_profile_is_written_kept_and_updated(place: Path, capsys: Capture) -> None:
    put("pve44")
    assert collect("--from", "captures/pve44.capture", "-o", "inventory/pve44.yaml") == 0
    assert capsys.readouterr().out.splitlines()[-1] == "1 host: 1 created"
    profile = place / "inventory/pve44.yaml"
    text = profile.read_text("utf-8")
    assert data(text)["memory_gb"] == 63
    edited = text.replace("cpu:", "state: cordoned  # until Monday\r\ncpu:").replace(
        "memory_gb: 63", "memory_gb:   32 # ?"
    )
    profile.write_bytes(edited.encode())
    profile.chmod(0o600)
    assert collect("--from", "captures/pve44.capture", "-o", "inventory/pve44.yaml") == 0
    out = capsys.readouterr().out
    assert ["pve44", "memory_gb", "32", "63"] in [line.split() for line in out.splitlines()]
    assert out.splitlines()[-1] == "1 host: 1 updated"
    assert profile.read_bytes() == edited.replace("32 #", "63 #").encode()
    assert profile.stat().st_mode & 0o777 == 0o600
    before = profile.stat()
    assert collect("--from", "captures/pve44.capture", "-o", "inventory/pve44.yaml") == 0
    after = profile.stat()
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    assert list(profiles()) == ["pve44.yaml"]


@pytest.mark.usefixtures("place")
def test_a_folder_of_captures(capsys: Capture) -> None:
    for name in ("box1", "box2", "box3"):
        put(name)
    Path("captures/README.md").write_text("x", "utf-8")
    Path("captures/cut.capture").write_text(render(linux()).replace("#end\n", ""), "utf-8")
    assert collect("--from", "captures", "--all", "inventory/") == 1
    out, err = capsys.readouterr()
    assert err == ""
    assert "hint: capture that machine again with the script" in out
    assert "cut: the capture is cut off: its last line should be '#end'" in out
    assert "README.md: not read: it is not named NAME.capture" in out
    assert out.splitlines()[-1] == "5 hosts: 3 created, 1 ignored, 1 failed"
    assert list(profiles()) == ["box1.yaml", "box2.yaml", "box3.yaml"]
    assert data(profiles()["box2.yaml"].decode())["name"] == "box2"


def test_hostile_captures_are_refused_and_the_good_are_read(place: Path, capsys: Capture) -> None:
    put("good")
    (place / "secret").write_text(render(linux()), "utf-8")
    Path("captures/link.capture").symlink_to(place / "secret")
    os.mkfifo("captures/fifo.capture")
    with Path("captures/big.capture").open("wb") as big:
        big.truncate(1 << 30)
    for name in ("a b.capture", "a.b.capture", "...capture", "x" * 64 + ".capture"):
        Path("captures", name).write_text(render(linux()), "utf-8")
    put("noname", hostname="../../etc/passwd\n")
    found = hosts(capsys, "--from", "captures", "--all", "inventory")
    assert list(profiles()) == ["good.yaml", "noname.yaml"]
    assert {name for name, host in found.items() if host["state"] == "failed"} == {
        "link.capture",
        "fifo.capture",
        "big.capture",
        "...capture",
        "a b.capture",
        "a.b.capture",
        "x" * 64 + ".capture",
    }
    assert "a symbolic link" in found["link.capture"]["problem"]
    assert {host["hint"] for host in found.values() if host["state"] == "failed"} == {
        "a capture is a regular file of at most 16 MiB, named NODE.capture after its node (letters, digits, -)"
    }


@pytest.mark.parametrize("hostname", ["../x", "..", "", "a/b", "x" * 64, "-x", "a\x1b[31m", "1.2.3.4", "nul\0l"])
def test_no_name_of_a_machine_becomes_a_path(place: Path, capsys: Capture, hostname: str) -> None:
    Path("any").write_text(render(linux(hostname=f"{hostname}\n")), "utf-8")
    assert collect("--from", "any", "--all", "inventory") == (0 if hostname == "nul\0l" else 1)
    assert list(profiles()) == (["null.yaml"] if hostname == "nul\0l" else [])
    assert "\x1b" not in capsys.readouterr().out
    assert {path.name for path in place.iterdir()} == {"captures", "inventory", "any"}


def test_nothing_is_written_through_a_link(place: Path, capsys: Capture) -> None:
    put("box1")
    put("box2")
    put("box3")
    (place / "outside.yaml").write_text(f"{HEAD}name: box1\n", "utf-8")
    Path("inventory/box1.yaml").symlink_to(place / "outside.yaml")
    Path("inventory/box2.yaml").symlink_to(place / "nowhere.yaml")
    os.mkfifo("inventory/box3.yaml")
    found = hosts(capsys, "--from", "captures", "--all", "inventory")
    assert [found[name]["problem"].partition(" is ")[2] for name in ("box1", "box2", "box3")] == [
        "a symbolic link",
        "a symbolic link",
        "a FIFO",
    ]
    assert (place / "outside.yaml").read_text("utf-8") == f"{HEAD}name: box1\n"
    assert not (place / "nowhere.yaml").exists()
    Path("linked").symlink_to("captures")
    assert collect("--from", "captures", "--all", "linked") == 2
    assert "it is a symbolic link" in capsys.readouterr().err
    assert collect("--from", "captures/box1.capture", "-o", "linked/box1.yaml") == 2


@pytest.mark.parametrize("broken", ["rename", "fsync", "fchmod"])
def test_a_write_that_fails_leaves_the_old_file_and_nothing_else(
    place: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch, broken: str
) -> None:
    put("box1")
    assert collect("--from", "captures", "--all", "inventory") == 0
    put("box1", meminfo="MemTotal:       16000000 kB\n")
    before = profiles()

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(f"knaster.adapters.profiles.os.{broken}", full)
    assert collect("--from", "captures", "--all", "inventory") == 2
    assert "cannot write inventory/box1.yaml: No space left on device" in capsys.readouterr().err
    assert profiles() == before
    assert place.is_dir()


@pytest.mark.usefixtures("place")
def test_check_names_each_fact(capsys: Capture) -> None:
    put("box1")
    put("box2")
    assert collect("--from", "captures", "--check") == 1
    said = capsys.readouterr().out
    assert "there is no profile of this machine: inventory/box1.yaml" in said
    assert said.endswith("2 hosts: 2 new; nothing was written\n")
    assert {host["file"] for host in hosts(capsys, "--from", "captures", "--check").values()} == {None}
    assert profiles() == {}
    assert collect("--from", "captures", "--all") == 0
    before = profiles()
    assert collect("--from", "captures", "--check") == 0
    assert capsys.readouterr().out.splitlines()[-1] == "2 hosts: 2 unchanged; nothing was written"
    put("box2", meminfo="MemTotal:       16000000 kB\n", lsblk='{"blockdevices": []}')
    assert collect("--from", "captures", "--check") == 1
    out = capsys.readouterr().out
    rows = [line.split() for line in out.splitlines()]
    assert ["box2", "memory_gb", "63", "15"] in rows
    assert any(row[:2] == ["box2", "disks[nvme0n1]"] and row[-1] == "-" for row in rows)
    assert out.splitlines()[-1] == "2 hosts: 1 unchanged, 1 differs; nothing was written"
    assert collect("--from", "captures/box2.capture", "--check", "-o", "inventory/box2.yaml") == 1
    assert profiles() == before


@pytest.mark.usefixtures("place")
def test_a_card_that_moved_is_called_out(capsys: Capture) -> None:
    card = capture("lspci/proxmox-vfio-3090.txt")
    status = Section('{"memory":{"total":33567154176}}')
    put("pve44", lspci=card, pve_status=status, pve_pci=capture("pve/pci-vfio.json"))
    assert collect("--from", "captures", "--all") == 0
    put("pve44", lspci=card.replace("0000:01:00", "0000:02:00"), pve_status=status, pve_pci="[]")
    assert collect("--from", "captures", "--check") == 1
    out = capsys.readouterr().out
    assert "what follows" in out
    assert "pci.address: the VM would not start until the mapping is updated: render and apply" in out


@pytest.mark.usefixtures("place")
def test_a_failed_source_overwrites_nothing_and_is_reported(capsys: Capture) -> None:
    put("box1")
    assert collect("--from", "captures", "--all") == 0
    put("box1", lsblk=Section("", 127), meminfo="MemTotal:       16000000 kB\n")
    found = hosts(capsys, "--from", "captures", "--all")["box1"]
    assert (found["state"], [change["fact"] for change in found["changes"]]) == ("updated", ["memory_gb"])
    assert "required fact missing: disks (lsblk: there is no such program)" in found["problem"]
    profile = data(profiles()["box1.yaml"].decode())
    assert profile["disks"] == [{"name": "nvme0n1", "size_gb": 512, "rotational": False}]
    assert profile["memory_gb"] == 15
    assert collect("--from", "captures", "--all") == 1
    Path("inventory/box1.yaml").unlink()
    assert hosts(capsys, "--from", "captures", "--all")["box1"]["file"] is None
    assert profiles() == {}
    capsys.readouterr()
    assert collect("--from", "captures/box1.capture") == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert "required fact missing: disks" in err


DISKS = json.dumps({"blockdevices": [{"name": f"sd{number}", "size": 10**12, "rota": True} for number in range(2000)]})


@pytest.mark.usefixtures("place")
@pytest.mark.parametrize("failed", [{}, {"meminfo": Section("", 1)}, {"meminfo": Section("", 1), "cpuinfo": ""}])
def test_facts_that_no_profile_may_hold_are_not_written_whatever_else_is_missing(
    capsys: Capture, failed: dict[str, Any]
) -> None:
    put("box1")
    assert collect("--from", "captures", "--all") == 0
    before = profiles()
    many = {"nvidia_smi": "".join(f"{number}, A, 1024, 6.1, 580\n" for number in range(200))}
    for wrong, what in (({"lsblk": DISKS}, "disks"), (many, "gpus")):
        put("box1", **wrong, **failed)
        problem = hosts(capsys, "--from", "captures", "--all")["box1"]["problem"]
        assert problem.startswith(f"no machine is like this: {what}: ")
        assert profiles() == before


@pytest.mark.usefixtures("place")
def test_an_empty_bus_removes_no_card(capsys: Capture) -> None:
    put("box1", lspci=capture("lspci/proxmox-vfio-3090.txt"))
    assert collect("--from", "captures", "--all") == 0
    before = profiles()
    put("box1", lspci="", sysfs_pci="")
    found = hosts(capsys, "--from", "captures", "--all")["box1"]
    assert (found["state"], found["changes"]) == ("unchanged", [])
    assert "required fact missing: gpus (nvidia-smi: there is no such program; lspci: it shows no" in found["problem"]
    assert profiles() == before
    put("box1", lspci=capture("lspci/cpu-node-bmc-only.txt"), sysfs_pci="")
    assert collect("--from", "captures", "--all") == 0
    assert data(profiles()["box1.yaml"].decode())["gpus"] == []


@pytest.mark.usefixtures("place")
def test_what_to_do_next_is_said_where_something_was_written(capsys: Capture) -> None:
    put("box1")
    for words, said in ((["--all"], True), (["--all"], False), (["--check"], False), ([], False)):
        assert collect("--from", "captures", *words) == 0
        assert ("next: knaster validate" in capsys.readouterr().out) is said


@pytest.mark.usefixtures("place")
def test_policy_follows_its_card(capsys: Capture) -> None:
    def cards(*indices: int) -> dict[str, str]:
        rows = [(indices[0], "Quadro M4000, 8192, 5.2", UUID), (indices[1], "Quadro P2000, 5120, 6.1", UUID[:-1] + "c")]
        rows.sort()
        return {
            "nvidia_smi": "".join(f"{index}, {card}, 580.95.05\n" for index, card, _ in rows),
            "nvidia_smi_identity": "".join(f"{index}, {uuid}, 00000000:0{index + 1}:00.0\n" for index, _, uuid in rows),
        }

    put("box1", **cards(0, 1))
    assert collect("--from", "captures", "--all") == 0
    profile = Path("inventory/box1.yaml")
    text = profile.read_text("utf-8")
    marked = text.replace("index: 0\n", "index: 0\n    disabled: true  # fan\n")
    assert marked != text
    profile.write_text(marked, "utf-8")
    put("box1", **cards(1, 0))
    assert collect("--from", "captures", "--all") == 0
    found = {card["name"]: card for card in data(profile.read_text("utf-8"))["gpus"]}
    assert (found["Quadro M4000"]["index"], found["Quadro M4000"]["disabled"]) == (1, True)
    assert "disabled" not in found["Quadro P2000"]
    assert "disabled: true  # fan\n" in profile.read_text("utf-8")
    put("box1")
    capsys.readouterr()
    assert collect("--from", "captures", "--all") == 0
    assert f"disabled card {UUID} (index 1) is gone" in capsys.readouterr().out


@pytest.mark.usefixtures("place")
def test_profiles_that_cannot_be_updated_stay(capsys: Capture) -> None:
    put("box1")
    put("box2")
    Path("inventory/box1.yaml").write_text("name: [\n", "utf-8")
    Path("inventory/BOX2.yaml").write_text("name: other\n", "utf-8")
    before = profiles()
    found = hosts(capsys, "--from", "captures", "--all")
    assert found["box1"]["problem"].startswith("line ")
    assert "the profile is of other, the facts are of box2" in found["box2"]["problem"]
    assert found["box2"]["file"] == "inventory/BOX2.yaml"
    assert "-o inventory/box2.yaml" in found["box2"]["hint"]
    assert profiles() == before


@pytest.mark.usefixtures("place")
@pytest.mark.parametrize("check", [[], ["--check"]])
def test_of_two_machines_of_one_name_neither_is_believed(capsys: Capture, check: list[str]) -> None:
    put("box1")
    put("box2")
    assert collect("--from", "captures", "--all") == 0
    before = profiles()
    for name in ("box1", "BOX1"):
        put(name, meminfo=f"MemTotal:       {'16' if name == 'box1' else '32'}000000 kB\n")
    capsys.readouterr()
    assert collect("--from", "captures", "--all", *check, "--format", "json") == 1
    found = {host["host"]: host for host in json.loads(capsys.readouterr().out)["hosts"]}
    assert found["box1.capture"]["problem"] == "BOX1.capture is called BOX1 too: nothing of either was used"
    assert found["BOX1.capture"]["problem"] == "box1.capture is called box1 too: nothing of either was used"
    assert {host["file"] for host in found.values()} == {None, "inventory/box2.yaml"}
    assert found["box2.capture"]["state"] == "unchanged"
    assert profiles() == before


@pytest.mark.usefixtures("place")
def test_names(capsys: Capture) -> None:
    put("box1", hostname="srv-7\n")
    assert "the machine itself is called srv-7" in hosts(capsys, "--from", "captures", "--all")["box1"]["warnings"][0]
    assert list(profiles()) == ["box1.yaml"]
    assert collect("--from", "captures/box1.capture", "--name", "box9", "--all") == 0
    assert list(profiles()) == ["box1.yaml", "box9.yaml"]
    found = hosts(capsys, "--from", "captures/box1.capture", "-o", "elsewhere.yaml")["box1"]
    assert "inventory/box1.yaml" in found["warnings"][-1]
    assert (
        hosts(capsys, "--from", "captures/box1.capture", "--name", "../x", "--all")["box1.capture"]["state"] == "failed"
    )


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--from", "captures"], "more than one host, and one profile"),
        (["--from", "captures", "-o", "inventory/x.yaml"], "--all inventory/"),
        (["--from", "captures", "--name", "x", "--all"], "more than one host"),
        (["--ssh", "a", "b"], "more than one host"),
        (["--all", "-o", "x.yaml"], "use one of the two"),
        (["--from", "nowhere", "--all"], "cannot read nowhere"),
        (["--from", "inventory", "--all"], "there is no capture in inventory"),
        (["--from", "captures", "--all", "nowhere"], "there is no folder nowhere"),
        (["--from", "captures", "--ssh", "x"], "not allowed with"),
        (["--print-commands", "bsd"], "invalid choice"),
        (["--pve", "http://pve44"], "not encrypted"),
        (["--print-commands", "linux", "--all"], "leave out --all; run the script"),
        (["--print-commands", "linux", "--check", "--name", "x"], "leave out --check and --name"),
        (["--ssh"], "expected at least one argument"),
    ],
)
@pytest.mark.usefixtures("place")
def test_what_cannot_be_answered_is_2_and_writes_nothing(words: list[str], said: str, capsys: Capture) -> None:
    put("box1")
    put("box2")
    assert collect(*words) == 2
    out, err = capsys.readouterr()
    assert (out, said in err) == ("", True), err
    assert profiles() == {}


@pytest.mark.usefixtures("place")
def test_formats(capsys: Capture) -> None:
    put("box1")
    assert collect("--from", "captures", "--format", "json") == 0
    report = json.loads(capsys.readouterr().out)
    assert list(report) == ["format_version", "command", "ok", "check", "hosts", "profile"]
    assert list(report["hosts"][0]) == [
        "host",
        "name",
        "file",
        "state",
        "changes",
        "warnings",
        "problem",
        "hint",
        "installed_gb",
    ]
    assert collect("--from", "captures") == 0
    assert capsys.readouterr().out == report["profile"]
    assert collect("--from", "captures", "--all", "--format", "markdown") == 0
    assert "| `box1` | `inventory/box1.yaml` | `created` |" in capsys.readouterr().out
    assert collect("--from", "captures", "--all", "-q") == 0
    assert capsys.readouterr().out == ""
    Path("captures/bad.capture").write_text("x", "utf-8")
    assert collect("--from", "captures", "--all", "-q") == 1
    out = capsys.readouterr().out
    assert "bad" in out
    assert "box1" not in out


@pytest.mark.parametrize("system", ["linux", "proxmox", "windows"])
def test_the_scripts_are_printed(system: Any, place: Path, capsys: Capture) -> None:
    assert collect("--print-commands", system) == 0
    assert capsys.readouterr().out == script(system)
    assert collect("--print-commands", system, "-o", "out") == 0
    assert (place / "out").read_text("utf-8") == script(system)
    if system == "linux":
        done = subprocess.run(["sh", "out"], stdin=subprocess.DEVNULL, capture_output=True, check=True)
        assert captured.parse(done.stdout).problem is None


@pytest.mark.parametrize("folder", ["inventory", "catalog", "generated", "schemas"])
@pytest.mark.parametrize("words", [["--print-commands", "linux"], ["--print-commands", "windows"]])
@pytest.mark.usefixtures("place")
def test_a_script_is_never_written_among_the_fleet_s_files(words: list[str], folder: str, capsys: Capture) -> None:
    Path(folder).mkdir(exist_ok=True)
    assert collect(*words, "-o", f"{folder}/x.yaml") == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert f"cannot write {folder}/x.yaml: {folder}/ holds the fleet's own files, not results" in err
    assert list(Path(folder).iterdir()) == []


@pytest.mark.parametrize("folder", ["catalog", "generated", "schemas"])
@pytest.mark.usefixtures("place")
def test_a_profile_belongs_into_no_other_folder_of_the_fleet(folder: str, capsys: Capture) -> None:
    put("box1")
    Path(folder).mkdir()
    assert collect("--from", "captures", "-o", f"{folder}/box1.yaml") == 2
    assert f"{folder}/ holds the fleet's own files" in capsys.readouterr().err
    assert list(Path(folder).iterdir()) == []


@pytest.mark.usefixtures("place")
def test_memory_that_is_installed_is_in_the_report_and_not_in_the_profile(capsys: Capture) -> None:
    put("box1", memory_blocks="block_size_bytes:8000000\nonline_blocks:512\n")
    found = hosts(capsys, "--from", "captures", "--all")["box1"]
    assert found["installed_gb"] == 64
    assert data(profiles()["box1.yaml"].decode())["memory_gb"] == 63
    assert hosts(capsys, "--from", "captures", "--check")["box1"]["state"] == "unchanged"


@pytest.fixture(scope="module")
def sshd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with server(tmp_path_factory.mktemp("sshd")) as running:
        yield running


@pytest.fixture
def ssh(sshd: Server, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The system's ssh, which knows the hosts of the server."""
    (place / "bin").mkdir()
    program = place / "bin/ssh"
    program.write_text(f'#!/bin/sh\nexec {shutil.which("ssh")} -F {sshd.config} "$@"\n', "utf-8")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{place}/bin:{os.environ['PATH']}")


HERE = os.uname().nodename.partition(".")[0]


@pytest.mark.usefixtures("ssh")
def test_over_ssh(capsys: Capture) -> None:
    assert collect("--ssh", "plain-1", "closed", "dies-1", "--all", "--format", "json") == 2
    found = json.loads(capsys.readouterr().out)["hosts"]
    assert sorted(host["state"] for host in found) == ["created", "unreachable", "unreachable"]
    problems = {host["host"]: host["problem"] for host in found}
    assert "Connection refused" in problems["closed"]
    assert problems["dies-1"] == "no sh here"
    warnings = next(host["warnings"] for host in found if host["host"] == "plain-1")
    assert warnings[0] == f"asked as plain-1, the machine itself is called {HERE}"
    assert list(profiles()) == [f"{HERE}.yaml"]
    assert collect("--ssh", "motd-1", "--name", "box7") == 0
    assert data(capsys.readouterr().out)["name"] == "box7"


@pytest.mark.usefixtures("ssh")
def test_no_host_over_ssh_becomes_another_by_its_word(capsys: Capture) -> None:
    Path(f"inventory/{HERE}.yaml").write_text(f"name: {HERE}\nmemory_gb: 1\ngpus: []\n", "utf-8")
    before = profiles()
    assert collect("--ssh", "plain-1", "plain-2", "--all") == 1
    out = capsys.readouterr().out
    assert profiles() == before
    for one, other in (("plain-1", "plain-2"), ("plain-2", "plain-1")):
        assert f"{one} -> {HERE}: {other} is called {HERE} too: nothing of either was used" in out
    assert collect("--ssh", "plain-1", "--all") == 0
    out = capsys.readouterr().out
    assert [row for row in out.splitlines() if row.startswith(f"plain-1 -> {HERE}  inventory/{HERE}.yaml  updated")]
    assert f"  plain-1 -> {HERE}: asked as plain-1, the machine itself is called {HERE}" in out


@pytest.mark.usefixtures("place")
def test_progress_is_for_terminals(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    put("box1")
    assert collect("--from", "captures", "--all") == 0
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    assert collect("--from", "captures", "--all") == 0
    err = capsys.readouterr().err
    assert "1 captures: box1.capture" in err
    assert err.endswith("\r\x1b[K")
    assert collect("--from", "captures", "--all", "-q") == 0
    assert capsys.readouterr().err == ""


@pytest.mark.usefixtures("place")
def test_two_hundred_hosts(capsys: Capture) -> None:
    folder = fleet(Path("captures"))
    list(assembled(fleet(Path("captures"), 2)))  # the table and the schema are read once
    floor = min(seconds(lambda: sum(1 for _ in assembled(folder))) for _ in range(2))
    for words in (["--all"], ["--check"]):
        start = time.perf_counter()
        assert collect("--from", "captures", *words) == 0
        whole = time.perf_counter() - start
        assert whole < 10 * floor, f"{words}: {whole:.3f} s, floor {floor:.3f} s"
    assert capsys.readouterr().out.splitlines()[-1] == "200 hosts: 200 unchanged; nothing was written"
    assert len(profiles()) == 200


@pytest.mark.usefixtures("place")
def test_memory_stays_flat() -> None:
    def peak(hosts: int) -> int:
        fleet(Path("captures"), hosts)
        tracemalloc.start()
        assert collect("--from", "captures", "--check") == 1
        used = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return used

    collect("--from", str(fleet(Path("captures"), 2)), "--check")
    few, size = peak(3), Path("captures/node0.capture").stat().st_size
    assert peak(60) < few + 10 * size
