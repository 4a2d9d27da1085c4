"""Names that engines, models and roles use for one another have to exist."""

from __future__ import annotations

from collections.abc import Iterator

from knaster.checks.common import NO_NODES, node_names, slot_place
from knaster.cluster import (
    MODELS_FILE,
    PLATFORM_FILE,
    ROLES_FILE,
    Cluster,
    history_file,
    models_place,
    platform_place,
    role_place,
)
from knaster.diagnostics import Diagnostic, Place, Severity
from knaster.names import Names


def role_engines(cluster: Cluster) -> Iterator[Diagnostic]:
    """``needs.engine`` is an engine of the catalog."""
    if cluster.roles is None or cluster.catalog is None:
        return
    known = Names(cluster.catalog.engines, "engines")
    for name, role in cluster.roles.items():
        engine = role.needs.engine
        if engine not in known:
            message = f'role {name} needs the engine "{engine}", which {MODELS_FILE} does not have'
            yield known.unknown("unknown-engine", message, engine, role_place(name, "needs", "engine"))


def histories(cluster: Cluster) -> Iterator[Diagnostic]:
    """A history of benchmarks lies in the file of its model, and its model is in the catalog."""
    known = cluster.catalog.models if cluster.catalog else None
    for one in cluster.histories:
        place = Place(one.file, ("model",))
        if one.file != history_file(one.model):
            message = f'{one.file} says that it is the history of "{one.model}"'
            yield Diagnostic("name-mismatch", message, place, hint=f"rename the file to {history_file(one.model)}")
        elif known is not None and one.model not in known:
            message = f'{one.file} is the history of "{one.model}", which {MODELS_FILE} does not have'
            hint = "give it the model's new name, inside too, or remove it"
            yield Diagnostic("unknown-model", message, place, Severity.WARNING, hint)


def model_engines(cluster: Cluster) -> Iterator[Diagnostic]:
    """The engines of a model are engines of the catalog."""
    if cluster.catalog is None:
        return
    known = Names(cluster.catalog.engines, "engines")
    for name, model in cluster.catalog.models.items():
        for engine in model.engines:
            if engine not in known:
                message = f'model {name} names the engine "{engine}", which {MODELS_FILE} does not have'
                place = models_place("models", name, "engines")
                yield known.unknown("unknown-engine", message, engine, place, model.engines)


def policy_engines(cluster: Cluster) -> Iterator[Diagnostic]:
    """The engines that a card policy allows are engines of the catalog."""
    if cluster.platform is None or cluster.catalog is None:
        return
    known = Names(cluster.catalog.engines, "engines")
    for card, policy in cluster.platform.cards.items():
        for engine in policy.engines or ():
            if engine not in known:
                message = f'the policy for card {card} names the engine "{engine}", which {MODELS_FILE} does not have'
                place = platform_place("cards", card, "engines")
                yield known.unknown("unknown-engine", message, engine, place, policy.engines or ())


def share_targets(cluster: Cluster) -> Iterator[Diagnostic]:
    """``share_with`` names a role."""
    roles = cluster.roles or {}
    known = Names(roles, "roles")
    for name, role in roles.items():
        target = role.share_with
        if target is not None and target not in known:
            message = f'role {name} shares with "{target}", which {ROLES_FILE} does not have'
            yield known.unknown("unknown-role", message, target, role_place(name, "share_with"), (name,))


def pins(cluster: Cluster) -> Iterator[Diagnostic]:
    """A ``pin`` names a node, or a node and the index of one of its cards."""
    if NO_NODES in cluster.broken:
        return
    known = Names(node_names(cluster), "nodes")
    loaded = {node.name: node for node in cluster.nodes}
    for name, role in (cluster.roles or {}).items():
        if role.pin is None:
            continue
        target, slash, index = role.pin.partition("/")
        place = role_place(name, "pin")
        if target not in known:
            message = f'role {name} is pinned to the node "{target}", which has no file in inventory/'
            yield known.unknown("unknown-node", message, target, place)
        elif slash and target in loaded and index not in (cards := [str(gpu.index) for gpu in loaded[target].gpus]):
            have = f"cards of {target}: {', '.join(f'{target}/{one}' for one in cards)}" if cards else None
            message = f"role {name} is pinned to {role.pin}, but {target} has no card {index}"
            yield Diagnostic("unknown-card", message, place, hint=have or f"{target} has no cards: pin another node")


def role_guests(cluster: Cluster) -> Iterator[Diagnostic]:
    """A role's ``guest`` is a container of the platform."""
    if cluster.platform is None:
        return
    known = Names(cluster.platform.guests, "guests")
    for name, role in (cluster.roles or {}).items():
        if role.guest is not None and role.guest not in known:
            message = f'role {name} runs in the guest "{role.guest}", which {PLATFORM_FILE} does not have'
            yield known.unknown("unknown-guest", message, role.guest, role_place(name, "guest"))


def slot_models(cluster: Cluster) -> Iterator[Diagnostic]:
    """The model that a slot names is in the catalog."""
    if cluster.catalog is None:
        return
    known = Names(cluster.catalog.models, "models")
    for name, role in (cluster.roles or {}).items():
        for slot in role.slots:
            if slot.model is not None and slot.model not in known:
                message = f'slot {slot.name} names the model "{slot.model}", which {MODELS_FILE} does not have'
                yield known.unknown("unknown-model", message, slot.model, slot_place(name, slot.position, "model"))


def fallbacks(cluster: Cluster) -> Iterator[Diagnostic]:
    """Every entry of a fallback chain is a slot or an external endpoint."""
    if cluster.platform is None:
        return
    roles = cluster.roles or {}
    known = Names(
        {slot.name for role in roles.values() for slot in role.slots} | set(cluster.platform.external),
        "slots and endpoints",
    )
    for name, role in roles.items():
        for slot in role.slots:
            for entry_at, entry in enumerate(slot.fallback):
                if entry not in known:
                    message = (
                        f'slot {slot.name} falls back to "{entry}", which is neither a slot nor an external endpoint'
                    )
                    place = slot_place(name, slot.position, "fallback", entry_at)
                    apart = (slot.name, *slot.fallback)
                    yield known.unknown("unknown-fallback", message, entry, place, apart)
