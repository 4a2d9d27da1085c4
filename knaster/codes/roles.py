"""Codes of roles, models and slots, and of the plan made from them."""

from __future__ import annotations

from collections.abc import Mapping

from knaster.codes.explanation import Explanation

CODES: Mapping[str, Explanation] = {
    "unknown-engine": Explanation(
        "An engine is named that the catalog does not have.",
        "Its floors of compute capability and its systems decide where roles and models run.",
        "Correct the name, or declare the engine under engines in catalog/models.yaml.",
    ),
    "unknown-role": Explanation(
        "share_with names a role that does not exist.",
        "The role has no card of its own, so it could never be placed.",
        "Correct the name, or take share_with away.",
    ),
    "unknown-model": Explanation(
        "A slot, or a history of benchmarks, names a model that the catalog does not have.",
        "The slot could not be served; nobody would look for the history.",
        "Correct the name, add the model to catalog/models.yaml, or leave model out: the largest that fits is taken.",
    ),
    "unknown-fallback": Explanation(
        "A fallback names neither a slot nor an external endpoint.",
        "Requests would be lost exactly when the slot is down.",
        "Correct the name, or declare the endpoint under external in catalog/platform.yaml.",
    ),
    "share-cycle": Explanation(
        "Roles share with each other in a circle.",
        "Each waits for another one's card; none has its own.",
        "Take share_with away from the role that should own the card.",
    ),
    "share-bounds": Explanation(
        "Too many roles share one card.",
        "Each of them excludes, or runs beside, each other one, so what is written of them grows with the square.",
        "Give some of them a card of their own, or serve several models by one role.",
    ),
    "fallback-bounds": Explanation(
        "A fallback chain is too long.",
        "The chain of every slot is written in full, and no client tries a hundred services.",
        "Let a slot on the way fall back to an external endpoint.",
    ),
    "fallback-cycle": Explanation(
        "A fallback chain leads back to where it began.",
        "A request would be passed round among slots that are all down.",
        "End the chain at an external endpoint.",
    ),
    "fallback-kind": Explanation(
        "A slot falls back to one that serves another kind of model.",
        "A language model cannot answer a request for speech, nor the other way round, so the chain would fail there.",
        "Name a slot of the same kind, or an external endpoint.",
    ),
    "fallback-model": Explanation(
        "An embedding slot names a fallback that serves another model.",
        "Vectors of two models do not compare, so nothing stored is found. The registry and LiteLLM go without it.",
        "Name a slot that serves the same model, name the model of the external endpoint, or make the chain empty.",
    ),
    "fallback-end": Explanation(
        "A fallback chain ends at something that may be down itself.",
        "A chain promises that someone answers: it ends at an external endpoint, or, for speech, at a slot on a CPU.",
        "Add such an entry at the end, or make the chain empty.",
    ),
    "role-conflict": Explanation(
        "What a role or an engine asks contradicts itself.",
        "No machine could ever satisfy it, whatever is bought: a count on a CPU or on one pinned card, a GPU for an "
        "engine without one, a "
        "floor above its ceiling, slots that do not match the count.",
        "Change the key that the message names.",
    ),
    "vram-share": Explanation(
        "Shares of VRAM do not add up.",
        "Roles that run at the same time on one card take at most the whole of it, and none gets more by sharing.",
        "Lower vram_share.shared until the sum is at most 1.",
    ),
    "required-unplaced": Explanation(
        "A required role has fewer places than it wants.",
        "required says that the fleet is useless without it, so nothing is rendered.",
        "Read the reason: add or free a card, lower what the role needs, or take required away.",
    ),
    "duplicate-port": Explanation(
        "Two slots answer on one port of one guest.",
        "Only one of the two services can listen there; this holds for slots that alternate, too.",
        "Give each slot of the guest a port of its own.",
    ),
    "slot-port": Explanation(
        "A slot that is served has no port.",
        "Clients find a slot by address and port.",
        "Give the slot a port, or its engine a default one.",
    ),
    "slot-model": Explanation(
        "A slot names a model that does not fit where the slot is served.",
        "The service would fail to start, out of memory or without support for the card.",
        "Name one of the models that fit, leave model out, or give the role a larger card.",
    ),
    "guest-memory": Explanation(
        "The roles in a guest, or on a node, need more memory than it has for them.",
        "The kernel would end one of the services under load.",
        "Give the guest more memory, lower needs.min_memory_gb, or pin a role elsewhere.",
    ),
    "pin-moved": Explanation(
        "A pin names another card than the one that holds the role.",
        "Indices shift when cards are added or removed; the role would move to a card that nobody chose.",
        "Write the card's new index to stay on it. To take the other card, land a change without the pin first.",
    ),
}
