"""A profile merged with fresh facts, its lists too: cards follow their identity, disks their name."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from knaster.document import Value
from knaster.document.emitter import dump
from knaster.inventory.card_match import Card, Pair, label, pairs, pci, same_chip
from knaster.inventory.profile_facts import (
    CARD_POLICY,
    FactChange,
    Facts,
    ListPlan,
    Merged,
    fresh_item,
    merge_mapping,
    merge_root,
    unread,
)
from knaster.schema import schema

NOT_STARTING = "the VM would not start until the mapping is updated: render and apply"
_MAPPED = (".pci.address", ".pci.id", ".pci.subsystem_id", ".pci.iommu_group")

Rows = list[tuple[int | None, dict[str, Value]]]
"""The items of a merged list, each with its position in the old list (None: it is new)."""


def merge(old: Mapping[str, Any], facts: Facts) -> Merged:
    """`facts` into the data of a profile that has the schema's shape.

    A list that is None (or not there) among the facts stays as it is; an empty one empties it.
    """
    data, changes = merge_root(old, facts)
    plans: dict[str, ListPlan] = {}
    warnings: list[str] = []
    if old.get("source") == "assumed" and (missing := unread(facts)):
        warnings.append(f"{', '.join(missing)} could not be read: source stays assumed")
    for key, put in (("disks", _disks), ("gpus", _gpus)):
        if facts.get(key) is None and key in old:
            continue
        rows, gone, found, said = put(old, facts)
        plans[key] = ListPlan(tuple(origin for origin, _ in rows), gone)
        data[key] = [item for _, item in rows]
        changes += found
        warnings += said
    if facts.get("warnings") is not None:
        changes += _warnings(data, plans, old.get("warnings") or [], _still_said(old, facts))
    on_proxmox = data.get("platform") == "proxmox"
    return Merged(data, plans, tuple(map(_noted, changes) if on_proxmox else changes), tuple(warnings))


def _noted(change: FactChange) -> FactChange:
    """With the note that Proxmox compares every PCI fact of a mapping at the start of the VM."""
    gone = change.path.startswith("gpus[") and change.path.endswith("]") and change.after is None
    moved = change.path.endswith(_MAPPED) and change.before is not None
    return replace(change, note=NOT_STARTING) if gone or moved else change


_Put = tuple[Rows, dict[int, str], list[FactChange], list[str]]


def _disks(old: Mapping[str, Any], facts: Facts) -> _Put:
    before: list[dict[str, Any]] = old.get("disks") or []
    after: Any = facts.get("disks") or []
    home: dict[Any, list[int]] = {}
    for position, disk in enumerate(before):
        home.setdefault(disk.get("name"), []).append(position)
    properties = _properties("disks")
    rows: Rows = []
    changes: list[FactChange] = []
    for disk in after:
        path = f"disks[{disk['name']}]"
        if not home.get(disk["name"]):
            rows.append((None, fresh_item("disks", disk)))
            changes.append(FactChange(path, None, rows[-1][1]))
        else:
            origin = home[disk["name"]].pop(0)
            merged, found = merge_mapping(f"{path}.", before[origin], disk, properties)
            rows.append((origin, merged))
            changes += found
    gone = _gone(before, rows, lambda disk: f"a disk that is gone: {_quoted(disk.get('name'))}")
    changes += [FactChange(f"disks[{before[position].get('name')}]", before[position], None) for position in gone]
    return _ordered(rows, before, "name"), gone, changes, []


def _gpus(old: Mapping[str, Any], facts: Facts) -> _Put:
    before: list[dict[str, Any]] = old.get("gpus") or []
    after: Any = facts.get("gpus") or []
    matched = pairs(before, after, assumed=old.get("source") == "assumed")
    properties = {key: rules for key, rules in _properties("gpus").items() if key not in CARD_POLICY}
    rows: Rows = []
    changes: list[FactChange] = []
    warnings: list[str] = []
    for position, card in enumerate(after):
        pair = matched.get(position)
        if pair is None:
            rows.append((None, fresh_item("gpus", card)))
            changes.append(FactChange(f"gpus[{label(card)}]", None, rows[-1][1]))
            continue
        mine = before[pair.old]
        path = f"gpus[{_name(mine, card)}]."
        merged, found = merge_mapping(path, mine, card, properties, reset=not same_chip(mine, card))
        rows.append((pair.old, merged))
        changes += found
        warnings += _doubts(mine, card, pair, changed=bool(found))
    gone = _gone(before, rows, lambda card: f"a card that is gone: {_described(card)}")
    changes += [FactChange(f"gpus[{label(before[position])}]", before[position], None) for position in gone]
    warnings += [said for position in gone for said in _farewell(before[position])]
    return _ordered(rows, before, "index"), gone, changes, warnings


def _warnings(data: dict[str, Value], plans: dict[str, ListPlan], before: list[Value], after: Any) -> list[FactChange]:
    """The collector's own words, as a set: what it still says stays where it is, what it says anew comes last."""
    kept = [position for position, text in enumerate(before) if text in after]
    added = [text for text in dict.fromkeys(after) if text not in before]
    if not added and len(kept) == len(before):
        return []
    data["warnings"] = [*(before[position] for position in kept), *added]
    gone = {position: "a warning that is gone" for position in range(len(before)) if position not in kept}
    plans["warnings"] = ListPlan((*kept, *(None for _ in added)), gone)
    return [FactChange("warnings", before, data["warnings"])]


def _still_said(old: Mapping[str, Any], facts: Facts) -> list[Value]:
    """What the collector says now, and what it said of those facts that stay because their source failed."""
    said: Any = facts["warnings"]
    kept = [text for text in old.get("warnings") or [] if (fact := _about(text)) and facts.get(fact) is None]
    most = schema("node")["properties"]["warnings"]["maxItems"]
    return [*said, *(text for text in kept if text not in said)][:most]


def _about(warning: object) -> str | None:
    """The required fact that a warning is about: cards, of which many tools tell, where it names none of the others."""
    text = str(warning)
    found = (fact for fact in ("cpu", "memory_gb", "disks") if text.startswith(fact))
    return None if text.startswith("read inside a container") else next(found, "gpus")


def _properties(key: str) -> Mapping[str, Any]:
    found: Mapping[str, Any] = schema("node")["properties"][key]["items"]["properties"]
    return found


def _ordered(rows: Rows, before: Sequence[Mapping[str, Any]], key: str) -> Rows:
    """What was sorted by `key` stays sorted; in any other list the old items keep their order, and new ones follow."""
    keys = [item.get(key) for item in before]
    if None not in keys and keys == sorted(keys):  # type: ignore[type-var]
        return sorted(rows, key=lambda row: row[1][key])  # type: ignore[arg-type,return-value]
    return sorted(rows, key=lambda row: len(before) if row[0] is None else row[0])


def _gone(before: Sequence[Mapping[str, Any]], rows: Rows, name: Callable[[Mapping[str, Any]], str]) -> dict[int, str]:
    there = {origin for origin, _ in rows}
    return {position: name(item) for position, item in enumerate(before) if position not in there}


def _name(old: Card, new: Card) -> str:
    """The uuid, else the address that the file knows: a card that moved is called by where it was."""
    return label({"uuid": old.get("uuid") or new.get("uuid"), "pci": pci(old) or pci(new), "index": new.get("index")})


def _described(card: Card) -> str:
    name = f", {_quoted(card['name'])}" if card.get("name") else ""
    return f"{label(card)} (index {card.get('index')}{name})"


def _quoted(text: object) -> str:
    return dump([str(text)], "")[2:-1]


def _farewell(card: Card) -> list[str]:
    """What people set on a card that is gone goes with it, and not in silence."""
    reason = f"; its reason was: {card['reason']}" if card.get("reason") else ""
    if not card.get("disabled") and not reason:
        return []
    kind = "disabled card" if card.get("disabled") else "card"
    return [f"{kind} {label(card)} (index {card.get('index')}) is gone{reason}"]


def _doubts(old: Card, new: Card, pair: Pair, *, changed: bool) -> list[str]:
    """Where policy follows a card by a sign that could lead to another one as well."""
    if not (old.get("disabled") or old.get("reason")):
        return []
    card = f"card {label(new)} (index {new.get('index')})"
    if changed and pair.sign == "index" and not same_chip(old, new):
        was, now = (_quoted(name) if name else "unknown" for name in (old.get("name"), new.get("name")))
        return [f"{card} was {was} and is {now}: see whether its disabled and reason still hold"]
    if pair.alike and (changed or pair.sign != "index"):
        by = {"index": "its index", "pci": "its PCI address", "address": "its PCI address"}.get(
            pair.sign, "its product"
        )
        return [f"{card} took disabled and reason by {by} alone, and others are like it: see whether they hold"]
    return []
