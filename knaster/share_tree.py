"""The tree that ``share_with`` makes: who owns a card, and who on it runs at the same time.

Two roles of one tree are concurrent where every step on the path between them is ``concurrent``; one ``alternating``
step on it makes them mutually exclusive. So each concurrent group has one topmost role: equal tops mean concurrent.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from knaster.cluster import Role


def owner(role: Role, roles: Mapping[str, Role]) -> str:
    """The role at the end of the ``share_with`` chain: the one with a card of its own."""
    return _climb(role, roles, lambda _: True)


def concurrent_top(role: Role, roles: Mapping[str, Role]) -> str:
    """The topmost role over ``concurrent`` steps only: equal for two roles that run at the same time on one card."""
    return _climb(role, roles, lambda lower: lower.share_mode == "concurrent")


def _climb(role: Role, roles: Mapping[str, Role], follow: Callable[[Role], bool]) -> str:
    """Up the chain while `follow`. An unknown target and a cycle end it (a check reports both)."""
    seen = {role.name}
    while role.share_with is not None and follow(role):
        upper = roles.get(role.share_with)
        if upper is None or upper.name in seen:
            break
        role = upper
        seen.add(role.name)
    return role.name
