"""Profiles brought up to date: cards that move, come and go, the real fleet, new files."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest

from knaster.document import parse
from knaster.editing.sheet import comments
from knaster.inventory.profile_text import update
from tests.profile_facts import M4000, P2000, UUID_A, UUID_B, card, facts, pci, said_by, updated

INVENTORY = sorted((Path(__file__).parent.parent / "inventory").glob("*.yaml"))
A = {**M4000, "uuid": UUID_A}
B = {**P2000, "uuid": UUID_B}
FAST = {"name": "nvme0n1", "size_gb": 512, "rotational": False}

BLOCK = f"""\
# Rack 3.
name: n1   # on the label
cpu: {{model: X, cores: 6, threads: 12}}

memory_gb: 32   # four modules
disks: []
gpus:
  # The old one.
  - index: 0
    name: "Quadro M4000"   # loud
    memory_gb: 8
    compute_cap: 5.2
    driver: "580.95.05"
    uuid: {UUID_A}
    # Since May.
    disabled: true
    reason: "Fan."
    # It may come back.

  # The new one.
  - index: 1
    name: "Quadro P2000"
    memory_gb: 5
    compute_cap: 6.1
    driver: "580.95.05"
    uuid: {UUID_B}
  # More cards do not fit.
# Policy
groups: [kiosk]
"""

SWAPPED = f"""\
# Rack 3.
name: n1   # on the label
cpu: {{model: X, cores: 6, threads: 12}}

memory_gb: 32   # four modules
disks: []
gpus:
  # The new one.
  - index: 0
    name: "Quadro P2000"
    memory_gb: 5
    compute_cap: 6.1
    driver: "580.95.05"
    uuid: {UUID_B}

  # The old one.
  - index: 1
    name: "Quadro M4000"   # loud
    memory_gb: 8
    compute_cap: 5.2
    driver: "580.95.05"
    uuid: {UUID_A}
    # Since May.
    disabled: true
    reason: "Fan."
    # It may come back.
  # More cards do not fit.
# Policy
groups: [kiosk]
"""

HEAD = "name: n1\ncpu: {model: X, cores: 6, threads: 12}\nmemory_gb: 32\ndisks: []\n"


def test_an_index_swap_moves_the_block_with_its_comments() -> None:
    result = updated(BLOCK, facts(card(0, B), card(1, A)))
    assert result.text == SWAPPED
    assert [(change.path, change.before, change.after) for change in result.changes] == [
        (f"gpus[{UUID_B}].index", 1, 0),
        (f"gpus[{UUID_A}].index", 0, 1),
    ]
    assert result.warnings == ()
    assert updated(SWAPPED, facts(card(0, A), card(1, B))).text == BLOCK


def test_a_card_that_is_gone_leaves_its_comments_and_a_warning() -> None:
    result = updated(BLOCK, facts(card(0, B)))
    _, _, tail = BLOCK.partition("  # The new one.\n")
    kept = tail.replace("index: 1", "index: 0").replace(
        "  # More cards",
        f"""\
  # Left by a card that is gone: {UUID_A} (index 0, "Quadro M4000")
  # The old one.
  # loud
  # Since May.
  # It may come back.
  # More cards""",
    )
    assert result.text == BLOCK.partition("  # The old one.\n")[0] + "  # The new one.\n" + kept
    assert result.warnings == (f"disabled card {UUID_A} (index 0) is gone; its reason was: Fan.",)
    assert [change.path for change in result.changes] == [f"gpus[{UUID_B}].index", f"gpus[{UUID_A}]"]
    assert result.changes[1].after is None


def test_a_card_that_came_stands_at_its_index() -> None:
    t4 = card(1, name="Tesla T4", memory_gb=16, compute_cap=7.5, pci=pci("0000:0a:00.0", "10de:1eb8"))
    result = updated(BLOCK, facts(card(0, A), t4, card(2, B)))
    new = """\
  - index: 1
    name: "Tesla T4"
    memory_gb: 16
    compute_cap: 7.5
    driver: null
    pci: {address: "0000:0a:00.0", id: "10de:1eb8"}

"""
    assert result.text == BLOCK.replace("  # The new one.\n", new + "  # The new one.\n").replace(
        'index: 1\n    name: "Quadro', 'index: 2\n    name: "Quadro'
    )
    assert [change.path for change in result.changes] == ["gpus[0000:0a:00.0]", f"gpus[{UUID_B}].index"]
    assert result.changes[0].before is None


@pytest.mark.parametrize("text", [BLOCK, SWAPPED])
def test_the_same_bytes_whatever_the_line_ends(text: str) -> None:
    for form in (text, text.replace("\n", "\r\n"), text.rstrip("\n"), "\ufeff" + text):
        assert updated(form, said_by(form)).text == form


@pytest.mark.parametrize("path", INVENTORY, ids=lambda path: path.stem)
def test_the_real_fleet_at_rest(path: Path) -> None:
    text = path.read_text("utf-8")
    result = updated(text, said_by(text))
    assert (result.text, result.changes, result.warnings) == (text, (), ())


@pytest.mark.parametrize("path", INVENTORY, ids=lambda path: path.stem)
def test_the_first_collect_onto_the_real_fleet(path: Path) -> None:
    text = path.read_text("utf-8")
    fresh = copy.deepcopy(said_by(text))
    fresh["source"] = "collected"
    for gpu in fresh["gpus"]:
        gpu["pci"] |= {"subsystem_id": "10de:aaaa", "iommu_group": 77}
    result = updated(text, fresh)
    after: Any = parse("f", result.text)
    before: Any = parse("f", text)
    expected = before[0].data | {"source": "collected"}
    expected["gpus"] = [
        gpu | {"pci": gpu["pci"] | {"subsystem_id": "10de:aaaa", "iommu_group": 77}} for gpu in expected["gpus"]
    ]
    assert after[0].data == expected
    assert comments(result.text) == comments(text)
    changed = [(old, new) for old, new in zip(text.splitlines(), result.text.splitlines(), strict=True) if old != new]
    assert [old.split(":")[0].strip() for old, _ in changed] == ["source"] + ["pci"] * len(fresh["gpus"])


def test_a_new_file() -> None:
    gpu = card(0, P2000, vendor="nvidia", uuid=UUID_B, pci=pci("0000:01:00.0", "10de:1c30"), bound_driver="vfio-pci")
    fresh = facts(gpu, card(1), disks=[FAST, {"name": "sda", "size_gb": None, "rotational": None}], warnings=["no: x"])
    fresh = {**fresh, "platform": "proxmox", "address": "192.168.100.44"}
    result = update(None, fresh).value
    assert result is not None
    assert (
        result.text
        == f"""\
# yaml-language-server: $schema=../schemas/node.schema.json
name: n1
cpu: {{model: X, cores: 6, threads: 12}}
memory_gb: 32
disks:
  - {{name: nvme0n1, size_gb: 512, rotational: false}}
  - {{name: sda, size_gb: null, rotational: null}}
gpus:
  - index: 0
    name: "Quadro P2000"
    memory_gb: 5
    compute_cap: 6.1
    driver: "580.95.05"
    vendor: nvidia
    uuid: {UUID_B}
    pci: {{address: "0000:01:00.0", id: "10de:1c30"}}
    bound_driver: vfio-pci
  - index: 1
    name: null
    memory_gb: null
    compute_cap: null
    driver: null
os: linux
platform: proxmox
address: 192.168.100.44
source: collected
warnings:
  - "no: x"
"""
    )
    assert updated(result.text, fresh).text == result.text


@pytest.mark.parametrize(
    "word", ["573.24", "on", "", "~", "1e3", "0x1F", "a: b", "#", "10de:1c30", "Ä\u202e", 'q"\\', "-", "a\nb"]
)
def test_every_text_survives(word: str) -> None:
    fresh = facts(card(0, name=word, driver=word), disks=[{"name": word, "size_gb": 1, "rotational": None}])
    for existing in (None, f"{HEAD}gpus:\n  - {{index: 0, name: a, driver: 'b'}}\n"):
        reading = update(existing, fresh)
        if existing and not word:  # no text for the schema
            assert reading.problem is not None
            assert reading.problem.cause == "impossible"
            continue
        result = reading.value
        assert result is not None
        document: Any = parse("f", result.text)[0]
        assert [gpu["name"] for gpu in document.data["gpus"]] == [word]
        assert [gpu["driver"] for gpu in document.data["gpus"]] == [word]
        assert [disk["name"] for disk in document.data["disks"]] == [word]


def test_an_empty_profile_in_braces_is_filled_where_it_stands() -> None:
    reading = update("{} # mine\n", {"name": "n1", "memory_gb": 1})
    assert reading.value is not None
    said = said_by(reading.value.text)
    assert (said["name"], said["memory_gb"]) == ("n1", 1)
    assert reading.value.text.endswith("} # mine\n")
