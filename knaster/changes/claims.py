"""What a change newly takes: the cards, VM ids and addresses that two pull requests cannot both have. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations

from knaster.names import spot
from knaster.planned import Planned


@dataclass(frozen=True, slots=True, order=True)
class Claim:
    """One thing that only one can have: a ``card`` (``pve46/1``), a ``VM id`` or an ``address``, and what wants it."""

    kind: str
    name: str
    by: str


def claims(before: Planned | None, after: Planned | None) -> frozenset[Claim]:
    """What `after` takes and `before` did not; nothing where a side could not be planned."""
    if before is None or after is None:
        return frozenset()
    return frozenset(_held(after)) - frozenset(_held(before))


def competing(wanted: Mapping[int, frozenset[Claim]]) -> Mapping[int, tuple[str, ...]]:
    """Number of a pull request to one sentence for each thing that another one wants for something else."""
    found: dict[int, list[str]] = {number: [] for number in wanted}
    for one, other in combinations(sorted(wanted), 2):
        mine, theirs = _users(wanted[one]), _users(wanted[other])
        for kind, name in sorted(mine.keys() & theirs.keys()):
            if mine[kind, name] != theirs[kind, name]:
                found[one].append(_sentence(other, kind, name, theirs[kind, name]))
                found[other].append(_sentence(one, kind, name, mine[kind, name]))
    return {number: tuple(sentences) for number, sentences in found.items()}


def _users(wanted: frozenset[Claim]) -> dict[tuple[str, str], list[str]]:
    users: dict[tuple[str, str], list[str]] = {}
    for claim in sorted(wanted):
        users.setdefault((claim.kind, claim.name), []).append(claim.by)
    return users


def _sentence(number: int, kind: str, name: str, users: list[str]) -> str:
    return f"pull request #{number} wants {kind} {name} too, for {', '.join(users)}"


def _held(planned: Planned) -> Iterator[Claim]:
    roles = planned.cluster.roles or {}
    for one in planned.plan.assignments:
        role = roles.get(one.role)
        takes_turns = role is not None and role.share_with is not None and role.share_mode == "alternating"
        if one.gpu_index is not None and not takes_turns:
            yield Claim("card", spot(one.node, one.gpu_index), one.role)
    for guest in planned.guests:
        if guest.vmid is not None:
            yield Claim("VM id", str(guest.vmid), guest.name)
        if guest.address is not None:
            yield Claim("address", str(guest.address), guest.name)
