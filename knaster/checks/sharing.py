"""Roles that share a card, and slots that stand in for one another, must not go round in circles."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache

from knaster.checks.common import slot_place
from knaster.checks.roles import conflicted
from knaster.cluster import Cluster, Role, Slot, role_place
from knaster.diagnostics import Diagnostic, Place, Related
from knaster.names import listed
from knaster.placement.share_tree import concurrent_top
from knaster.slots.chains import LONGEST, expand_chain
from knaster.units import exact, show


def share_cycles(cluster: Cluster) -> Iterator[Diagnostic]:
    """``share_with`` leads to a role that has a card of its own. One diagnostic per cycle, at its first role."""
    roles = cluster.roles or {}
    done: set[str] = set()
    for name in sorted(roles):
        walked: dict[str, None] = {}
        at: str | None = name
        while at is not None and at in roles and at not in done and at not in walked:
            walked[at] = None
            at = roles[at].share_with
        if at in walked and roles[at].share_with != at:
            yield _share_cycle(_turned(tuple(walked)[tuple(walked).index(at) :]))
        done.update(walked)


def _share_cycle(cycle: tuple[str, ...]) -> Diagnostic:
    return Diagnostic(
        "share-cycle",
        f"roles share in a circle: {' -> '.join((*cycle, cycle[0]))}; none of them has a card of its own",
        role_place(cycle[0], "share_with"),
        hint="take share_with away from the role that should own the card",
        related=tuple(
            Related(role_place(one, "share_with"), f"{one} shares with {then}")
            for one, then in zip(cycle[1:], (*cycle[2:], cycle[0]), strict=True)
        ),
    )


def _turned(cycle: tuple[str, ...]) -> tuple[str, ...]:
    """The cycle from its smallest name on, so that it is told the same way wherever it was entered."""
    start = cycle.index(min(cycle))
    return cycle[start:] + cycle[:start]


def vram_shares(cluster: Cluster) -> Iterator[Diagnostic]:
    """What concurrent users of one card take together is at most the whole card; nobody gets more by sharing."""
    roles = cluster.roles or {}
    users: dict[str, list[Role]] = {}
    for name, role in sorted(roles.items()):
        share = role.vram_share
        if share is None:
            continue
        if exact(share.shared) > exact(share.alone):
            message = (
                f"role {name} may take {show(share.shared)} of a card beside others, but only {show(share.alone)} alone"
            )
            yield Diagnostic(
                "vram-share", message, role_place(name, "vram_share", "shared"), hint="shared is at most alone"
            )
            continue  # the sum with a share that is wrong itself would be a second error for one mistake
        users.setdefault(concurrent_top(role, roles), []).append(role)
    for owner, some in users.items():
        total = sum(exact(role.vram_share.shared) for role in some if role.vram_share is not None)
        if len(some) > 1 and total > 1:
            yield _over_the_card(owner, some, show(total))


def _over_the_card(owner: str, users: list[Role], total: str) -> Diagnostic:
    parts = [f"{role.name} {show(role.vram_share.shared)}" for role in users if role.vram_share is not None]
    places = [role_place(role.name, "vram_share", "shared") for role in users]
    return Diagnostic(
        "vram-share",
        f"roles that run at the same time on the card of {owner} take {total} of it together ({', '.join(parts)})",
        places[-1],
        hint="lower vram_share.shared until the sum is at most 1",
        related=tuple(Related(place, "also on this card") for place in places[:-1]),
    )


def fallback_cycles(cluster: Cluster) -> Iterator[Diagnostic]:
    """A fallback chain does not lead back to a slot that already failed. One diagnostic per cycle."""
    places = _slot_places(cluster)
    declared = {name: slot for name, (slot, _, _) in places.items()}
    told: set[tuple[str, ...]] = set()
    for name in sorted(declared):
        _, cycle = expand_chain(declared[name], declared)
        if cycle is None or _turned(cycle) in told:
            continue
        cycle = _turned(cycle)
        told.add(cycle)
        message = f"the fallback of slot {cycle[0]} leads back to itself: {' -> '.join((*cycle, cycle[0]))}"
        related = tuple(Related(places[one][2], f"the fallback of {one}") for one in cycle[1:] if one in places)
        hint = "end the chain at an external endpoint"
        yield Diagnostic("fallback-cycle", message, places[cycle[0]][2], hint=hint, related=related)


def fallback_ends(cluster: Cluster) -> Iterator[Diagnostic]:
    """A chain is empty or ends at an external endpoint; for speech it may end at a slot that runs on a CPU."""
    if cluster.platform is None:
        return
    external = cluster.platform.external
    places = _slot_places(cluster)
    declared = {name: slot for name, (slot, _, _) in places.items()}
    conflicting = conflicted(cluster)

    def loose_end(name: str) -> str | None:
        """The slot at which the chain of `name` ends although it should not."""
        slot, role, _ = places[name]
        chain, cycle = expand_chain(slot, declared)
        if (
            cycle is not None
            or not 0 < len(chain) <= LONGEST
            or any(entry not in places and entry not in external for entry in chain)
        ):
            return None
        end = chain[-1]
        if any(places[one][1].name in conflicting for one in (name, end) if one in places):
            return None
        if end in places and _strangers(places[end][1], role):  # `fallback_kinds` says so
            return None
        speech = "tts" in role.kinds and end in places and not places[end][1].needs.gpu
        return None if end in external or speech else end

    for name, (slot, _, place) in sorted(places.items()):
        end = loose_end(name)
        # A chain that runs on through another slot is told once, at that slot.
        if end is not None and not (slot.fallback[-1] in places and loose_end(slot.fallback[-1])):
            message = f"the fallback of slot {name} ends at {end}, which may be down too"
            yield Diagnostic("fallback-end", message, place, hint=_end_hint(external))


def fallback_kinds(cluster: Cluster) -> Iterator[Diagnostic]:
    """A slot is stood in for by one that understands its requests: their roles have a kind of model in common."""
    places = _slot_places(cluster)

    @cache
    def akin(kinds: tuple[str, ...]) -> tuple[str, ...]:
        """The slots with a kind in common."""
        return tuple(sorted(one for one in places if set(places[one][1].kinds) & set(kinds)))

    for name, (slot, role, _) in sorted(places.items()):
        for at, entry in enumerate(slot.fallback):
            other = places[entry][1] if entry in places else role
            if _strangers(other, role):
                serves = " and ".join(sorted(other.kinds))
                message = f"{_kinds(role)} slot {name} falls back to {entry}, which serves {serves}"
                fit = [one for one in akin(role.kinds) if one != name]
                yield Diagnostic(
                    "fallback-kind",
                    message,
                    slot_place(role.name, slot.position, "fallback", at),
                    hint=f"name a slot that serves {' or '.join(sorted(role.kinds))}"
                    + (f" ({listed(fit)})" if fit else ", or an external endpoint"),
                    related=(Related(role_place(other.name, "kinds"), f"the role of {entry}"),),
                )


def _strangers(one: Role, other: Role) -> bool:
    return not set(one.kinds) & set(other.kinds)


def _kinds(role: Role) -> str:
    return " and ".join("speech" if kind == "tts" else kind for kind in sorted(role.kinds))


def _end_hint(external: Mapping[str, object]) -> str:
    if not external:
        return "declare an endpoint under external in catalog/platform.yaml and end the chain there"
    return f"end the chain at an external endpoint ({', '.join(sorted(external))}), or, for speech, at a slot on a CPU"


def _slot_places(cluster: Cluster) -> dict[str, tuple[Slot, Role, Place]]:
    """Every slot by name, with its role and the place of its fallback. Of twins the first counts (`duplicate-name`)."""
    found: dict[str, tuple[Slot, Role, Place]] = {}
    for name, role in sorted((cluster.roles or {}).items()):
        for slot in role.slots:
            found.setdefault(slot.name, (slot, role, slot_place(name, slot.position, "fallback")))
    return found
