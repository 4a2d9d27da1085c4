"""Bounds on what is told of every pair: past them a file of a few kilobytes would make output of gigabytes."""

from __future__ import annotations

from collections.abc import Iterator

from knaster.checks.common import slot_place
from knaster.cluster import Cluster, role_place
from knaster.diagnostics import Diagnostic
from knaster.names import listed
from knaster.placement.share_tree import MOST, trees
from knaster.slots.chains import LONGEST, expand_chain


def crowds(cluster: Cluster) -> Iterator[Diagnostic]:
    """At most `share_tree.MOST` roles share with one another."""
    for top, names in sorted(trees(cluster.roles or {}).items()):
        if len(names) > MOST:
            yield Diagnostic(
                "share-bounds",
                f"{len(names)} roles share the card of {top}, directly or through one another; at most {MOST} may",
                role_place(top, on="key"),
                hint="give some of them a card of their own, or serve several models by one role",
            )


def chains(cluster: Cluster) -> Iterator[Diagnostic]:
    """A fallback chain has at most `chains.LONGEST` entries. One diagnostic for all: what leads to it is long too."""
    roles = sorted((cluster.roles or {}).items())
    places = {slot.name: slot_place(name, slot.position, "fallback") for name, role in roles for slot in role.slots}
    declared = {slot.name: slot for _, role in roles for slot in role.slots}
    long = [name for name, slot in sorted(declared.items()) if len(expand_chain(slot, declared)[0]) > LONGEST]
    if long:
        yield Diagnostic(
            "fallback-bounds",
            f"more than {LONGEST} entries in the fallback chain of {listed(long)}",
            places[long[0]],
            hint="let a slot on the way fall back to an external endpoint",
        )
