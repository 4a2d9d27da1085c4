"""Profiles in every layout that people write: the exact text before and after."""

from __future__ import annotations

import pytest

from knaster.document import parse
from knaster.editing.sheet import comments
from knaster.inventory.profile_text import Facts
from knaster.schema import check
from tests.profile_facts import P2000, card, facts, pci, said_by, updated
from tests.yaml_readers import pyyaml, ruamel

SLOW = {"name": "sda", "size_gb": 2000, "rotational": True}
FAST = {"name": "nvme0n1", "size_gb": 512, "rotational": False}
HEAD = "name: n1\ncpu: {model: X, cores: 6, threads: 12}\nmemory_gb: 32\ndisks: []\n"

# name: (profile, facts, profile after)
CASES: dict[str, tuple[str, Facts, str]] = {
    "values are replaced before their comments, quotes stay": (
        f"""{HEAD}gpus:
  - index: 0
    name: 'Quadro M4000'  # single
    memory_gb: 7.5  # was measured
    compute_cap:   # not known
    driver: "580.95.05"#no comment
""".replace('"#no comment', '"   # quoted'),
        facts(card(0, name="Quadro M4000 'B'", memory_gb=8, compute_cap=5.2, driver="581.57")),
        f"""{HEAD}gpus:
  - index: 0
    name: 'Quadro M4000 ''B'''  # single
    memory_gb: 8  # was measured
    compute_cap: 5.2   # not known
    driver: "581.57"   # quoted
""",
    ),
    "null does not overwrite, null is overwritten": (
        f'{HEAD}gpus:\n- index: 0\n  name: null\n  driver: "580"\n  pci: null\naddress: 10.0.0.7\nfabric: f\n',
        facts(card(0, name="T4", pci=pci("0000:01:00.0", "10de:1eb8")), memory_gb=None, cpu=None),
        f'{HEAD}gpus:\n- index: 0\n  name: T4\n  driver: "580"\n'
        '  pci: {address: "0000:01:00.0", id: "10de:1eb8"}\naddress: 10.0.0.7\nfabric: f\n',
    ),
    "missing keys go to their place in the schema": (
        """\
name: n1
# Which machine.
platform: proxmox
# Its parts.
cpu:
  # Made by Intel.
  model: X
  # Six.
  cores: 6
gpus:
  - name: Quadro
    # Seen on the label.
    memory_gb: 8
    # End of the card.
# End.
""",
        facts(
            card(0, name="Quadro", memory_gb=8, vendor="nvidia"), address="10.0.0.7", platform="proxmox", warnings=["w"]
        ),
        """\
name: n1
# Which machine.
platform: proxmox
address: 10.0.0.7
warnings:
  - w
# Its parts.
cpu:
  # Made by Intel.
  model: X
  # Six.
  cores: 6
  threads: 12
memory_gb: 32
disks: []
gpus:
  - index: 0
    name: Quadro
    # Seen on the label.
    memory_gb: 8
    vendor: nvidia
    # End of the card.
# End.
""",
    ),
    "a stub with nothing but policy": (
        "name: n1\n# Kiosk.\ncpu_roles: false\n",
        facts(card(0, P2000), disks=[FAST]),
        """\
name: n1
cpu: {model: X, cores: 6, threads: 12}
memory_gb: 32
disks:
  - {name: nvme0n1, size_gb: 512, rotational: false}
gpus:
  - index: 0
    name: "Quadro P2000"
    memory_gb: 5
    compute_cap: 6.1
    driver: "580.95.05"
# Kiosk.
cpu_roles: false
""",
    ),
    "keys without a value": (
        "name: n1\ncpu:\nmemory_gb:  # soon\ndisks:   # one\ngpus:\n",
        facts(card(0), disks=[FAST]),
        """\
name: n1
cpu: {model: X, cores: 6, threads: 12}
memory_gb: 32  # soon
disks:   # one
  - {name: nvme0n1, size_gb: 512, rotational: false}
gpus:
  - index: 0
    name: null
    memory_gb: null
    compute_cap: null
    driver: null
""",
    ),
    "disks come, go and change": (
        """\
name: n1
cpu: {model: X, cores: 6, threads: 12}
memory_gb: 32
disks:
  # System.
  - {name: nvme0n1, size_gb: 500, rotational: false}  # fast
  - {name: sdb, size_gb: 1000}  # borrowed
gpus: []
""",
        facts(disks=[FAST, SLOW]),
        """\
name: n1
cpu: {model: X, cores: 6, threads: 12}
memory_gb: 32
disks:
  # System.
  - {name: nvme0n1, size_gb: 512, rotational: false}  # fast
  - {name: sda, size_gb: 2000, rotational: true}
  # Left by a disk that is gone: "sdb"
  # borrowed
gpus: []
""",
    ),
    "the last disk goes, the first card comes": (
        "name: n1\ncpu: {model: X, cores: 6, threads: 12}\nmemory_gb: 32\n"
        "disks:  # none?\n- name: sda\ngpus: []  # soon\n",
        facts(card(0, P2000)),
        """\
name: n1
cpu: {model: X, cores: 6, threads: 12}
memory_gb: 32
disks: []  # none?
gpus:  # soon
  - index: 0
    name: "Quadro P2000"
    memory_gb: 5
    compute_cap: 6.1
    driver: "580.95.05"
""",
    ),
    "cards that people did not sort stay where they are": (
        f"{HEAD}gpus:\n  - {{index: 1, name: b}}\n  - {{index: 0, name: a}}\n",
        facts(card(0, name="b"), card(1, name="a"), card(2, name="c")),
        f"{HEAD}gpus:\n  - {{index: 0, name: b}}\n  - {{index: 1, name: a}}\n"
        "  - {index: 2, name: c, memory_gb: null, compute_cap: null, driver: null}\n",
    ),
    "warnings are the collector's own": (
        f'{HEAD}gpus: []\nwarnings:\n  - old\n  - "stays here"\n',
        facts(warnings=["new: one", "stays here"]),
        f'{HEAD}gpus: []\nwarnings:\n  - "stays here"\n  - "new: one"\n',
    ),
    "no warning is left": (
        f"{HEAD}gpus: []\nwarnings: [old, older]\n",
        facts(),
        f"{HEAD}gpus: []\nwarnings: []\n",
    ),
    "everything on one line": (
        "{name: n1, cpu: {model: X, cores: 6, threads: 12}, memory_gb: 32, disks: [], "
        "gpus: [{index: 0, name: a, disabled: true}, {index: 1, name: b}], groups: [k]}\n",
        facts(card(0, name="b"), card(1, name="a", driver="580"), disks=[FAST], address="10.0.0.7"),
        "{name: n1, cpu: {model: X, cores: 6, threads: 12}, memory_gb: 32, "
        "disks: [{name: nvme0n1, size_gb: 512, rotational: false}], gpus: [{index: 0, name: b},"
        ' {index: 1, name: a, driver: "580", disabled: true}], address: 10.0.0.7, groups: [k]}\n',
    ),
    "a list in brackets with comments": (
        f"""{HEAD}gpus: [  # two slots
    # the old one
    {{index: 0, name: a,  # loud
      disabled: true}},  # since May

    {{index: 1, name: b}}  # quiet
    # no more
  ]
groups: [k]
""",
        facts(card(0, name="b"), card(1, name="a")),
        f"""{HEAD}gpus: [  # two slots
  {{index: 0, name: b}},  # quiet
  # the old one
  {{index: 1, name: a,  # loud
      disabled: true}},  # since May
  # no more
]
groups: [k]
""",
    ),
    "a card of a list in brackets is gone": (
        f"{HEAD}gpus: [{{index: 0, name: a}}, # old\n  {{index: 1, name: b}}]\n",
        facts(card(0, name="b")),
        f'{HEAD}gpus: [\n  {{index: 0, name: b}},\n  # Left by a card that is gone: 0 (index 0, "a")\n  # old\n]\n',
    ),
    "comments between empty brackets": (
        f"{HEAD}gpus: [ # none\n  # yet\n  ]\n",
        facts(card(0, P2000)),
        f'{HEAD}gpus: [ # none\n  # yet\n  {{index: 0, name: "Quadro P2000", memory_gb: 5, compute_cap: 6.1,'
        ' driver: "580.95.05"}]\n',
    ),
    "brackets over several lines without comments": (
        f"{HEAD}gpus: [\n  {{index: 0, name: a}},\n  {{index: 1, name: b}},\n]\n",
        facts(card(0, name="b"), card(1, name="a"), card(2, name="c", driver="1")),
        f"{HEAD}gpus: [\n  {{index: 0, name: b}},\n  {{index: 1, name: a}},\n"
        '  {index: 2, name: c, memory_gb: null, compute_cap: null, driver: "1"},\n]\n',
    ),
    "odd but legal": (
        """\
---
"name": 'n1'
cpu:
    model: >-
        Xeon

        one
    # after
    "cores":
        4
memory_gb: 16 # a
disks:
    [{"name":"sda","size_gb":1}]
gpus:
-
  # inside
  index: 0
  name: two
    words
...
""",
        facts(card(0, name="T4"), disks=[{"name": "sda", "size_gb": 2, "rotational": None}]),
        """\
---
"name": 'n1'
cpu:
    model: X
    # after
    "cores":
        6
    threads: 12
memory_gb: 32 # a
disks:
    [{"name":"sda","size_gb":2}]
gpus:
-
  # inside
  index: 0
  name: T4
...
""",
    ),
}


def complete(text: str) -> bool:
    """Whether nothing is missing that an update would add."""
    document, _ = parse("f", text)
    return document is not None and check("node", "f", document.data) == ()


@pytest.mark.parametrize("case", CASES)
def test_before_and_after(case: str) -> None:
    before, fresh, after = CASES[case]
    result = updated(before, fresh)
    assert result.text == after
    assert {*comments(before)} <= {*comments(after)}
    assert complete(after)
    document, _ = parse("f", after)
    assert document
    assert pyyaml(after) == ruamel(after) == document.data


@pytest.mark.parametrize("case", CASES)
def test_carriage_returns_stay(case: str) -> None:
    before, fresh, after = CASES[case]
    assert updated(before.replace("\n", "\r\n"), fresh).text == after.replace("\n", "\r\n")
    assert updated("\ufeff" + before, fresh).text == "\ufeff" + after


@pytest.mark.parametrize("case", CASES)
def test_a_missing_final_line_end_stays_missing(case: str) -> None:
    before, fresh, after = CASES[case]
    if not before.endswith("...\n"):
        assert updated(before[:-1], fresh).text == after[:-1]


TEXTS = [text for before, _, after in CASES.values() for text in (before, after) if complete(text)]


@pytest.mark.parametrize("text", TEXTS)
def test_a_machine_that_did_not_change_gives_the_same_bytes(text: str) -> None:
    for form in (text, text.replace("\n", "\r\n"), text.rstrip("\n"), "\ufeff" + text):
        assert updated(form, said_by(form)).text == form
