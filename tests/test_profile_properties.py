"""Any legal layout, any change of the machine: comments and policy stay with their cards, and an update is at rest."""

from __future__ import annotations

import copy
import json
import re
from collections import Counter
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from knaster.document import parse
from knaster.editing.sheet import comments
from knaster.inventory.profile_text import Updated, drift, update
from knaster.schema import check
from tests.profile_facts import said_by

POLICY = ("disabled", "reason")
words = st.sampled_from(["a", "RTX 4000", "580.95.05", "573.24", "on", "x: y", "it's", 'q"', "Ä # b"])
numbers = st.sampled_from([1, 8, 20.5, 24])


def uuid(number: int) -> str:
    return f"GPU-{number:08x}-0000-4000-8000-{number:012x}"


@st.composite
def cards(draw: st.DrawFn, number: int) -> dict[str, Any]:
    """Card `number`: its PCI address and id are its own, every second one has a uuid."""
    place: dict[str, Any] = {"address": f"0000:{number:02x}:00.0", "id": f"10de:{number:04x}", "subsystem_id": None}
    place["iommu_group"] = draw(st.none() | st.integers(0, 9))
    known: dict[str, Any] = {"uuid": uuid(number)} if number % 2 else {}
    return {
        "name": draw(st.none() | words),
        "memory_gb": draw(st.none() | numbers),
        "compute_cap": draw(st.none() | numbers),
        "driver": draw(st.none() | words),
        "memory_mib": draw(st.none() | st.integers(1, 99)),
        **known,
        "pci": place,
        "bound_driver": draw(st.none() | st.just("vfio-pci")),
    }


@st.composite
def machines(draw: st.DrawFn) -> dict[str, Any]:
    """The facts of n1 with some of eight cards."""
    numbers_of_cards = draw(st.lists(st.integers(0, 7), unique=True, max_size=4))
    disks = draw(st.lists(st.sampled_from(["sda", "sdb", "nvme0n1"]), unique=True, max_size=3).map(sorted))
    return {
        "name": "n1",
        "cpu": {"model": draw(words), "cores": draw(st.none() | st.integers(1, 9)), "threads": 12},
        "memory_gb": draw(numbers),
        "disks": [
            {"name": name, "size_gb": draw(st.none() | numbers), "rotational": draw(st.booleans())} for name in disks
        ],
        "gpus": [{"index": index, **draw(cards(number))} for index, number in enumerate(numbers_of_cards)],
        "platform": draw(st.sampled_from(["proxmox", "workstation"])),
        "address": draw(st.none() | st.just("10.0.0.7")),
        "source": "collected",
        "warnings": draw(st.lists(words, unique=True, max_size=3)),
    }


class Writer:
    """Writes data as YAML in a layout that is drawn, with numbered comments wherever they may stand."""

    def __init__(self, draw: st.DrawFn) -> None:
        self.draw = draw
        self.count = 0
        self.airy = draw(st.booleans())

    def maybe(self) -> bool:
        return self.airy and self.draw(st.booleans())

    def comment(self, what: str = "") -> str:
        self.count += 1
        return f'# {self.count} {what}it\'s: a "comment", [{{ #'.replace("  ", " ")

    def scalar(self, value: Any) -> str:
        if isinstance(value, str) and re.fullmatch("[a-zA-Z][a-zA-Z0-9-]+", value) and value != "on":
            return str(self.draw(st.sampled_from([value, f'"{value}"', f"'{value}'"])))
        if isinstance(value, str) and self.draw(st.booleans()):
            return "'" + value.replace("'", "''") + "'"
        return json.dumps(value, ensure_ascii=False)

    def flow(self, value: Any, pad: str) -> str:
        if not isinstance(value, dict | list):
            return self.scalar(value)
        parts = [f"{key}: {self.flow(part, pad)}" for key, part in value.items()] if isinstance(value, dict) else []
        parts = parts or [self.flow(part, pad) for part in value]
        left, right = "{}" if isinstance(value, dict) else "[]"
        if not self.maybe() or not parts:
            return left + ", ".join(parts) + right
        lines = [f"{part}{',' if number < len(parts) - 1 or self.maybe() else ''}" for number, part in enumerate(parts)]
        out = left
        for line in lines:
            out += f"\n{pad}   {self.comment()}" if self.maybe() else ""
            out += f"\n{pad}   {line}" + (f"  {self.comment()}" if self.maybe() else "")
        return out + f"\n{pad}   {right}"

    def block(self, data: dict[str, Any], pad: str) -> list[str]:
        lines: list[str] = []
        for key, value in data.items():
            if lines and self.maybe():
                lines.append(f"{pad}{self.comment()}" if self.draw(st.booleans()) else "")
            beside = f"   {self.comment()}" if self.maybe() else ""
            if value and isinstance(value, dict) and self.draw(st.booleans()):
                lines += [f"{pad}{key}:{beside}", *self.block(value, pad + "  ")]
            elif value and isinstance(value, list) and self.draw(st.booleans()):
                lines += [
                    f"{pad}{key}:{beside}",
                    *self.items(value, pad + self.draw(st.sampled_from(["", "  ", "    "]))),
                ]
            else:
                lines.append(f"{pad}{key}: {self.flow(value, pad)}{beside}")
        if self.maybe():
            lines.append(f"{pad}{self.comment()}")
        return lines

    def items(self, values: list[Any], pad: str) -> list[str]:
        lines: list[str] = []
        for value in values:
            whose = f"above {value['uuid']} " if isinstance(value, dict) and value.get("uuid") else ""
            if self.maybe():
                lines += [""] * self.draw(st.integers(0, 1)) + [f"{pad}{self.comment(whose)}"]
            if isinstance(value, dict) and self.draw(st.booleans()):
                first, *rest = self.block(value, pad + "  ")
                lines += [f"{pad}- {first.lstrip()}", *rest]
            else:
                lines.append(f"{pad}- {self.flow(value, pad)}" + (f" {self.comment()}" if self.maybe() else ""))
        return lines


@st.composite
def profiles(draw: st.DrawFn) -> str:
    """A profile of some machine, with policy, as somebody may have written it."""
    data = draw(machines())
    for gpu in data["gpus"]:
        gpu.update(draw(st.sampled_from([{}, {"disabled": True}, {"disabled": True, "reason": "Fan: loud."}])))
    data["gpus"] = [
        {
            key: gpu[key]
            for key in draw(st.permutations(list(gpu)))
            if key == "index" or gpu[key] is not None or draw(st.booleans())
        }
        for gpu in draw(st.permutations(data["gpus"]))
    ]
    data |= draw(
        st.sampled_from([{}, {"cpu_roles": False, "groups": ["kiosk"]}, {"state": "down", "reason": "Moved."}])
    )
    data = {key: data[key] for key in draw(st.permutations(list(data)))}
    writer = Writer(draw)
    text = "\n".join(writer.block(data, "")) + draw(st.sampled_from(["", "\n", "\n\n"]))
    text = draw(st.sampled_from(["", "\ufeff"])) + (f"{writer.comment()}\n" if writer.maybe() else "") + text
    return text.replace("\n", draw(st.sampled_from(["\n", "\r\n"])))


def identity(card: dict[str, Any]) -> str:
    return str(card["pci"]["address"])


def data_of(text: str) -> dict[str, Any]:
    document, diagnostics = parse("f", text)
    assert document, diagnostics
    return dict(document.data)


def policy_of(data: dict[str, Any]) -> dict[str, Any]:
    return {identity(gpu): {key: gpu[key] for key in POLICY if key in gpu} for gpu in data["gpus"]}


def success(text: str, facts: dict[str, Any]) -> Updated:
    reading = update(text, facts)
    assert reading.problem is None, reading.problem
    assert reading.value is not None
    return reading.value


@given(profiles(), machines())
@settings(max_examples=100, deadline=None)
def test_an_update(text: str, facts: dict[str, Any]) -> None:
    old = data_of(text)
    given_facts = copy.deepcopy(facts)
    result = success(text, facts)
    assert facts == given_facts
    assert drift(text, facts).value == result.changes
    new = data_of(result.text)
    assert check("node", "f", new) == ()

    again = success(result.text, facts)
    assert (again.text, again.changes) == (result.text, ())

    for key in ("cpu_roles", "groups", "state", "reason"):
        assert new.get(key) == old.get(key)
    before, after = policy_of(old), policy_of(new)
    assert {card: policy for card, policy in after.items() if policy} == {
        card: policy for card, policy in before.items() if policy and card in after
    }
    lost = [card for card, policy in before.items() if policy and card not in after]
    assert len(result.warnings) == len(lost)
    assert all("is gone" in said for said in result.warnings)

    kept = Counter(comments(result.text))
    assert not Counter(comments(text)) - kept
    assert all("Left by" in comment for comment in kept - Counter(comments(text)))

    fresh = {identity(gpu): gpu for gpu in facts["gpus"]}
    assert fresh.keys() == after.keys()
    for gpu in new["gpus"]:
        assert all(
            gpu[key] == value for key, value in fresh[identity(gpu)].items() if value is not None and key != "pci"
        )


@given(profiles())
@settings(max_examples=80, deadline=None)
def test_an_unchanged_machine(text: str) -> None:
    result = success(text, said_by(text))
    assert (result.text, result.changes, result.warnings) == (text, (), ())


@given(profiles(), st.randoms(use_true_random=False))
@settings(max_examples=80, deadline=None)
def test_comments_follow_their_card_when_numbers_shift(text: str, random: Any) -> None:
    facts = said_by(text)
    numbers = [gpu["index"] for gpu in facts["gpus"]]
    random.shuffle(numbers)
    facts["gpus"] = [gpu | {"index": number} for gpu, number in zip(facts["gpus"], numbers, strict=True)]
    result = success(text, facts)
    assert sorted(comments(result.text)) == sorted(comments(text))
    for match in re.finditer(r"# \d+ above (GPU-\S+)", result.text):
        beyond = re.compile(r"^(?! *#).*?(GPU-[0-9a-f-]+)", re.MULTILINE)
        following = beyond.search(result.text, result.text.index("\n", match.end()))
        assert following
        assert following[1] == match[1]


@given(st.text(max_size=60) | st.text("gpus:- {}[]index0,#\n name1", max_size=80), machines())
@settings(deadline=None)
def test_any_text_gives_a_reading(text: str, facts: dict[str, Any]) -> None:
    reading = update(text, facts)
    assert (reading.value is None) == (reading.problem is not None)
    drift(text, facts)


@given(st.text("gpus: -[{}]index0,#\n", max_size=60), machines())
@settings(deadline=None)
def test_any_profile_gives_a_reading(text: str, facts: dict[str, Any]) -> None:
    reading = update("name: n1\n" + text, facts)
    assert (reading.value is None) == (reading.problem is not None)
