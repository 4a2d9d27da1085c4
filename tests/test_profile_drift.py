"""Drift names each fact with before and after; policy follows its card; and what cannot be edited is left alone."""

from __future__ import annotations

from typing import Any

import pytest

from knaster.document import parse
from knaster.inventory.profile_text import FactChange, Facts, drift, update
from tests.profile_facts import M4000, P2000, UUID_A, UUID_B, card, facts, pci, updated

NOTE = "the VM would not start until the mapping is updated: render and apply"
HEAD = "name: n1\ncpu: {model: X, cores: 6, threads: 12}\nmemory_gb: 32\ndisks: []\n"
CARD = f"""\
{HEAD}platform: proxmox
gpus:
  - index: 0
    name: "Quadro P2000"
    memory_gb: 5
    compute_cap: 6.1
    driver: "580.95.05"
    uuid: {UUID_A}
    pci: {{address: "0000:01:00.0", id: "10de:1c30", subsystem_id: "10de:11b3", iommu_group: 12}}
"""


def on_proxmox(*gpus: dict[str, Any], **more: Any) -> Facts:
    return facts(*gpus, **{"platform": "proxmox", **more})


def drifted(text: str, fresh: Facts) -> list[FactChange]:
    """The drift, which has to be what an update would change."""
    reading = drift(text, fresh)
    assert reading.value is not None
    result = updated(text, fresh)
    assert (result.changes, result.warnings) == (reading.value, reading.warnings)
    return list(reading.value)


def policy(text: str) -> dict[str, tuple[Any, Any]]:
    """``disabled`` and ``reason`` by the address or the name of the card."""
    document: Any = parse("f", text)[0]
    return {
        (gpu.get("pci") or {}).get("address") or gpu["name"]: (gpu["disabled"], gpu.get("reason"))
        for gpu in document.data["gpus"]
        if "disabled" in gpu
    }


def p2000(address: str = "0000:01:00.0", group: int | None = 12, **more: Any) -> dict[str, Any]:
    return card(0, P2000, **{"uuid": UUID_A, "pci": pci(address, "10de:1c30", "10de:11b3", group), **more})


@pytest.mark.parametrize(
    ("fresh", "changes"),
    [
        (p2000(), []),
        (p2000(group=30), [FactChange(f"gpus[{UUID_A}].pci.iommu_group", 12, 30, NOTE)]),
        (p2000("0000:02:00.0"), [FactChange(f"gpus[{UUID_A}].pci.address", "0000:01:00.0", "0000:02:00.0", NOTE)]),
        (
            p2000("0000:02:00.0", 30, uuid=None),
            [
                FactChange(f"gpus[{UUID_A}].pci.address", "0000:01:00.0", "0000:02:00.0", NOTE),
                FactChange(f"gpus[{UUID_A}].pci.iommu_group", 12, 30, NOTE),
            ],
        ),
        (
            p2000(pci=pci("0000:01:00.0", "10de:1c30", "103c:11b3", None)),
            [FactChange(f"gpus[{UUID_A}].pci.subsystem_id", "10de:11b3", "103c:11b3", NOTE)],
        ),
        (p2000(driver="581.57"), [FactChange(f"gpus[{UUID_A}].driver", "580.95.05", "581.57")]),
        (p2000(memory_mib=5120), [FactChange(f"gpus[{UUID_A}].memory_mib", None, 5120)]),
        (p2000(memory_kind="unified"), [FactChange(f"gpus[{UUID_A}].memory_kind", None, "unified")]),
    ],
)
def test_facts_of_a_card(fresh: dict[str, Any], changes: list[FactChange]) -> None:
    assert drifted(CARD, on_proxmox(fresh)) == changes


def test_no_vm_no_note() -> None:
    text = CARD.replace("proxmox", "workstation")
    (change,) = drifted(text, facts(p2000(group=30), platform="workstation"))
    assert change.note is None


def test_facts_of_the_machine() -> None:
    fresh = on_proxmox(
        p2000(),
        cpu={"model": "Y", "cores": 6, "threads": None},
        memory_gb=64,
        disks=[{"name": "sda", "size_gb": 1000, "rotational": True}],
        os="windows",
        address="10.0.0.7",
        warnings=["a"],
    )
    assert [(change.path, change.before, change.after) for change in drifted(CARD, fresh)] == [
        ("cpu.model", "X", "Y"),
        ("memory_gb", 32, 64),
        ("os", None, "windows"),
        ("address", None, "10.0.0.7"),
        ("disks[sda]", None, {"name": "sda", "size_gb": 1000, "rotational": True}),
        ("warnings", [], ["a"]),
    ]
    before = updated(CARD, fresh).text
    fresh = {**fresh, "disks": [{"name": "sda", "size_gb": 1024, "rotational": None}, {"name": "sdb"}]}
    assert [(change.path, change.before, change.after) for change in drifted(before, fresh)] == [
        ("disks[sda].size_gb", 1000, 1024),
        ("disks[sdb]", None, {"name": "sdb", "size_gb": None, "rotational": None}),
    ]
    (change,) = drifted(before, {**fresh, "disks": []})
    assert (change.path, change.after, change.note) == ("disks[sda]", None, None)


def test_a_card_that_came_and_one_that_went() -> None:
    came, gone = drifted(CARD, on_proxmox(p2000(uuid=UUID_B)))
    assert (came.path, came.before, came.note) == (f"gpus[{UUID_B}]", None, None)
    assert (gone.path, gone.after, gone.note) == (f"gpus[{UUID_A}]", None, NOTE)


@pytest.mark.parametrize("key", ["cpu", "memory_gb", "disks", "gpus", "os", "platform", "address", "warnings"])
def test_a_source_that_failed_changes_nothing(key: str) -> None:
    text = f"{CARD}os: linux\naddress: 10.0.0.7\nwarnings: [w]\n".replace("disks: []", "disks: [{name: sda}]")
    known = {"address": "10.0.0.7", "warnings": ["w"], "disks": [{"name": "sda", "size_gb": None, "rotational": None}]}
    for fresh in (on_proxmox(p2000(), **{**known, key: None}), {**on_proxmox(p2000(), **known)}):
        assert drifted(text, fresh) == []
    without = {name: value for name, value in on_proxmox(p2000(), **known).items() if name != key}
    assert drifted(text, without) == []


def test_the_whole_card_stays_whole() -> None:
    text = CARD.replace("01:00.0", "01:00")
    assert drifted(text, on_proxmox(p2000())) == []
    (change,) = drifted(text, on_proxmox(p2000("0000:02:00.0")))
    assert (change.before, change.after) == ("0000:01:00", "0000:02:00")


TWINS = f"""\
{HEAD}platform: proxmox
gpus:
  - {{index: 0, name: "Quadro P2000", pci: {{address: "0000:02:00.0", id: "10de:1c30"}}, disabled: true, reason: Fan.}}
  - {{index: 1, name: "Quadro P2000", pci: {{address: "0000:03:00.0", id: "10de:1c30"}}}}
"""


def twin(index: int, address: str) -> dict[str, Any]:
    return card(index, P2000, pci=pci(address, "10de:1c30"))


TOOK = "card {} took disabled and reason by its {} alone, and others are like it: see whether they hold"


@pytest.mark.parametrize(
    ("cards", "disabled", "warning"),
    [
        ([twin(0, "0000:03:00.0"), twin(1, "0000:02:00.0")], "0000:02:00.0", ""),
        ([twin(0, "0000:02:00.0")], "0000:02:00.0", TOOK.format("0000:02:00.0 (index 0)", "PCI address")),
        ([twin(0, "0000:03:00.0")], "", "disabled card 0000:02:00.0 (index 0) is gone; its reason was: Fan."),
        (
            [twin(0, "0000:03:00.0"), twin(1, "0000:04:00.0")],
            "0000:04:00.0",
            TOOK.format("0000:04:00.0 (index 1)", "product"),
        ),
        (
            [twin(0, "0000:41:00.0"), twin(1, "0000:42:00.0")],
            "0000:41:00.0",
            TOOK.format("0000:41:00.0 (index 0)", "index"),
        ),
    ],
)
def test_policy_follows_twins(cards: list[dict[str, Any]], disabled: str, warning: str) -> None:
    result = updated(TWINS, on_proxmox(*cards))
    assert policy(result.text) == ({disabled: (True, "Fan.")} if disabled else {})
    assert result.warnings == ((warning,) if warning else ())


def test_policy_follows_pci_ids_through_an_index_swap() -> None:
    text = TWINS.replace(
        '"Quadro P2000", pci: {address: "0000:02:00.0", id: "10de:1c30"}',
        'M, pci: {address: "0000:02:00.0", id: "10de:13f1"}',
    )
    old, new = card(1, M4000, pci=pci("0000:41:00.0", "10de:13f1")), twin(0, "0000:02:00.0")
    assert policy(updated(text, on_proxmox(new, old)).text) == {"0000:41:00.0": (True, "Fan.")}


ASSUMED = f"""\
{HEAD}source: assumed
platform: proxmox
gpus:
  - index: 0
    name: "Quadro M4000"
    memory_gb: 8
    memory_mib: 8192
    driver: "580.95.05"
    pci: {{address: "0000:02:00.0", id: "10de:13f1", subsystem_id: "10de:1153", iommu_group: 28}}
    disabled: true
"""


def test_the_first_collect_finds_what_was_assumed() -> None:
    fresh = card(0, M4000, driver=None, pci=pci("0000:41:00.0", "10de:13f1", "103c:1153", 5))
    result = updated(ASSUMED, on_proxmox(fresh))
    assert result.text == ASSUMED.replace("assumed", "collected").replace("02:00.0", "41:00.0").replace(
        "10de:1153", "103c:1153"
    ).replace("28}", "5}").replace("    memory_mib", "    compute_cap: 5.2\n    memory_mib")


def test_the_first_collect_finds_another_card() -> None:
    """What was assumed of another product is forgotten, and what people set is kept with a warning."""
    fresh = card(0, P2000, driver=None, pci=pci("0000:41:00.0", "10de:1c30"))
    result = updated(ASSUMED, on_proxmox(fresh))
    assert (
        result.text
        == f"""\
{HEAD}source: collected
platform: proxmox
gpus:
  - index: 0
    name: "Quadro P2000"
    memory_gb: 5
    compute_cap: 6.1
    memory_mib: null
    driver: null
    pci: {{address: "0000:41:00.0", id: "10de:1c30", subsystem_id: null, iommu_group: null}}
    disabled: true
"""
    )
    assert result.warnings == (
        'card 0000:41:00.0 (index 0) was "Quadro M4000" and is "Quadro P2000": '
        "see whether its disabled and reason still hold",
    )


def twins(*slots: str) -> tuple[dict[str, Any], ...]:
    """Equal cards without uuid, by address."""
    return tuple(
        card(index, P2000, pci=pci(f"0000:{slot}:00.0", "10de:1c30", "10de:11b3")) for index, slot in enumerate(slots)
    )


@pytest.mark.parametrize(
    ("marked", "now", "by"),
    [
        ("01", ("02", "03"), ("0000:03:00.0 (index 1)", "its product")),
        ("02", ("02", "03"), ("0000:02:00.0 (index 0)", "its PCI address")),
        ("01", ("01", "02", "03"), ("0000:01:00.0 (index 0)", "its PCI address")),
        ("02", ("02",), ("0000:02:00.0 (index 0)", "its PCI address")),
        ("01", ("01", "02"), None),
    ],
)
def test_disabled_never_goes_to_a_twin_in_silence(
    marked: str, now: tuple[str, ...], by: tuple[str, str] | None
) -> None:
    text = updated(f"{HEAD}platform: bare\ngpus: []\n", facts(*twins("01", "02"))).text
    before = text.split("\n")
    place = next(at for at, line in enumerate(before) if f"0000:{marked}:00.0" in line)
    before.insert(place, "    disabled: true")
    result = updated("\n".join(before), facts(*twins(*now)))
    said = () if by is None else (f"card {by[0]} took disabled and reason by {by[1]} alone, and others are like it: ",)
    assert tuple(one.removesuffix("see whether they hold") for one in result.warnings) == said
    assert updated(result.text, facts(*twins(*now))).warnings == ()


KEPT = "gpus[0].memory_gb: 10de:2bb3: 48 or 72 GB: the subsystem decides"
SAID = [
    KEPT,
    "nvidia-smi: status 14, a corrupt infoROM",
    "0000:01:00.0: the device does not answer (rev ff)",
    "cpu.model: lscpu gives nothing",
    "disks[sda].rotational: lsblk printed nothing",
    "read inside a container (lxc): disks and PCI devices are those of its host",
]


def test_warnings_stay_with_the_facts_that_stay() -> None:
    text = updated(f"{HEAD}gpus: []\n", facts(p2000(), warnings=SAID)).text
    for failed, gone in (("gpus", SAID[3:]), ("disks", [*SAID[:4], SAID[5]]), ("cpu", [*SAID[:3], *SAID[4:]])):
        fresh = facts(p2000(), **{"warnings": [], failed: None})
        document: Any = parse("f", updated(text, fresh).text)[0]
        assert document.data["warnings"] == [said for said in SAID if said not in gone]
    said_again = facts(warnings=SAID[3:], gpus=None)
    assert updated(text, said_again).text == text
    back = updated(text, facts(p2000(), warnings=[]))
    assert "warnings: []" in back.text
    fresh = facts(warnings=["cpu.cores: other", *SAID[3:]], gpus=None)
    document = parse("f", updated(text, fresh).text)[0]
    assert document.data["warnings"] == [*SAID, "cpu.cores: other"]


def test_assumed_stays_assumed_while_something_could_not_be_read() -> None:
    result = updated(ASSUMED, on_proxmox(gpus=None, memory_gb=64))
    assert result.text == ASSUMED.replace("memory_gb: 32", "memory_gb: 64")
    assert result.warnings == ("gpus could not be read: source stays assumed",)


@pytest.mark.parametrize(
    ("text", "cause", "line", "words"),
    [
        ("", "unreadable", 1, "empty"),
        ("name: n1\nname: n1\n", "unreadable", 2, "twice"),
        (CARD + "\tx: 1\n", "unreadable", 14, "tab"),
        (HEAD + "gpus: 3\n", "unreadable", 5, ""),
        (HEAD + "gpus: [3]\n", "unreadable", 5, ""),
        (HEAD + "gpus:\n  - index: 0\n    pci: no\n", "unreadable", 7, "quotes"),
        (HEAD + "gpus:\n  - index: 0\n    pci: none\n", "unreadable", 7, ""),
        (CARD.replace("n1", "n2"), "another-machine", 0, "n2"),
    ],
)
def test_what_is_no_profile_of_the_machine_is_left_alone(text: str, cause: str, line: int, words: str) -> None:
    for problem in (update(text, facts()).problem, drift(text, facts()).problem):
        assert problem is not None
        assert (problem.cause, problem.line) == (cause, line)
        assert words in problem.message


def test_a_machine_that_writes_its_name_otherwise_keeps_the_name_of_its_file() -> None:
    assert drifted(CARD, on_proxmox(p2000(), name="N1")) == []
    assert drifted(CARD, on_proxmox(p2000(), name=None)) == []


def test_what_the_schema_would_refuse_is_not_written() -> None:
    problem = update(CARD, on_proxmox(*(card(index, P2000) for index in range(65)))).problem
    assert problem is not None
    assert problem.cause == "impossible"
    assert "gpus" in problem.message
    assert update(CARD.replace("memory_gb: 32", "memory_gb: 99999"), on_proxmox(p2000(), memory_gb=None)).value


def test_a_layout_that_cannot_be_edited_is_refused() -> None:
    text = HEAD + "? gpus\n: - index: 0\n  - index: 1\n"
    problem = update(text, facts(card(1))).problem
    assert problem is not None
    assert problem.cause == "layout"
    assert drift(text, facts(card(1))).value
