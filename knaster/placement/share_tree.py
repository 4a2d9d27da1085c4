"""The tree that ``share_with`` makes: who owns a card, and who on it runs at the same time.

Two roles of one tree are concurrent where every step on the path between them is ``concurrent``; one ``alternating``
step on it makes them mutually exclusive. So each concurrent group has one topmost role: equal tops mean concurrent.
"""

from __future__ import annotations

from collections.abc import Mapping

from knaster.cluster import Role

MOST = 64
"""Roles of one tree. Each excludes, or runs beside, each other one, so what is said of them grows with the square."""


def trees(roles: Mapping[str, Role]) -> dict[str, tuple[str, ...]]:
    """Every tree that ``share_with`` makes: the role with a card of its own to all roles of its tree, sorted.

    A role that shares with nobody is a tree of one. Of a circle (a check reports it) any member stands for all.
    """
    owner: dict[str, str] = {}
    for name in sorted(roles):
        walked: dict[str, None] = {}
        at: str = name
        while at not in owner and at not in walked:
            walked[at] = None
            above = roles[at].share_with
            at = above if above is not None and above in roles else at
        owner.update(dict.fromkeys(walked, owner.get(at, at)))
    members: dict[str, list[str]] = {}
    for name, top in sorted(owner.items()):
        members.setdefault(top, []).append(name)
    return {top: tuple(names) for top, names in members.items()}


def concurrent_top(role: Role, roles: Mapping[str, Role]) -> str:
    """The topmost role over ``concurrent`` steps only: equal for two roles that run at the same time on one card.

    An unknown target and a cycle end the climb (a check reports both).
    """
    seen = {role.name}
    while role.share_with is not None and role.share_mode == "concurrent":
        upper = roles.get(role.share_with)
        if upper is None or upper.name in seen:
            break
        role = upper
        seen.add(role.name)
    return role.name
