"""What a role or an engine asks must not contradict itself."""

from __future__ import annotations

from collections.abc import Iterator

from knaster.cluster import ROLES_FILE, Cluster, Engine, Role, models_place, role_place
from knaster.diagnostics import Diagnostic, Place, Related, Severity
from knaster.units import show_cc


def counts(cluster: Cluster) -> Iterator[Diagnostic]:
    """Only a role with cards of its own can have several."""
    for name, role in (cluster.roles or {}).items():
        if role.count < 2:
            continue
        if role.share_with is not None or not role.needs.gpu:
            why = "runs on a CPU" if not role.needs.gpu else f"uses the card of {role.share_with}"
            message = f"role {name} wants {role.count} places, but it {why}: there is one place for it"
            yield Diagnostic("role-conflict", message, role_place(name, "count"), hint="take count away")
        elif role.pin is not None and "/" in role.pin:
            message = f"role {name} wants {role.count} cards, but it is pinned to one: {role.pin}"
            hint = f"take count away, or pin the node: {role.pin.partition('/')[0]}"
            related = (Related(role_place(name, "pin"), "the pin"),)
            yield Diagnostic("role-conflict", message, role_place(name, "count"), hint=hint, related=related)


def own_share(cluster: Cluster) -> Iterator[Diagnostic]:
    """A role shares with another one."""
    for name, role in (cluster.roles or {}).items():
        if role.share_with == name:
            hint = "take share_with away, or name the role that owns the card"
            yield Diagnostic(
                "role-conflict", f"role {name} shares with itself", role_place(name, "share_with"), hint=hint
            )


def processors(cluster: Cluster) -> Iterator[Diagnostic]:
    """Role and engine agree on whether there is a GPU."""
    engines = cluster.catalog.engines if cluster.catalog else {}
    for name, role in (cluster.roles or {}).items():
        engine = engines.get(role.needs.engine)
        conflict = _processor_conflict(name, role, engine) if engine else None
        if conflict and engine:
            related = (Related(models_place("engines", engine.name, "gpu"), f"{engine.name} is declared here"),)
            message, place, hint = conflict
            yield Diagnostic("role-conflict", message, place, hint=hint, related=related)


def _processor_conflict(name: str, role: Role, engine: Engine) -> tuple[str, Place, str] | None:
    if role.needs.gpu and engine.gpu == "none":
        message = f"role {name} wants a GPU, but its engine {engine.name} runs on CPUs only"
        return message, role_place(name, "needs", "engine"), "write needs.gpu: false"
    if engine.gpu != "required":
        return None
    if not role.needs.gpu:
        message = f"role {name} wants no GPU, but its engine {engine.name} requires one"
        return (
            message,
            role_place(name, "needs", "gpu"),
            "choose an engine that runs on CPUs, or let the role have a GPU",
        )
    if role.cpu_fallback:
        message = f"role {name} may fall back to a CPU, but its engine {engine.name} requires a GPU"
        return (
            message,
            role_place(name, "cpu_fallback"),
            "take cpu_fallback away, or choose an engine that runs on CPUs",
        )
    return None


def slot_counts(cluster: Cluster) -> Iterator[Diagnostic]:
    """One slot is served by all cards of its role; several slots need a card each."""
    for name, role in (cluster.roles or {}).items():
        if len(role.slots) > 1 and len(role.slots) != role.count:
            message = (
                f"role {name} has {len(role.slots)} slots but count {role.count}; several slots need one card each"
            )
            hint = f"write count: {len(role.slots)}, or keep one slot, which all cards of the role serve"
            yield Diagnostic("role-conflict", message, role_place(name, "slots", on="key"), hint=hint)


def capability_ranges(cluster: Cluster) -> Iterator[Diagnostic]:
    """Floors of compute capability lie below ceilings, in an engine, in a role, and in both together."""
    engines = cluster.catalog.engines if cluster.catalog else {}
    for engine in engines.values():
        if engine.max_cc is not None and engine.min_cc > engine.max_cc:
            yield _range(f"engine {engine.name}", engine, models_place("engines", engine.name, "max_cc"))
    for name, role in (cluster.roles or {}).items():
        needs, engine_of = role.needs, engines.get(role.needs.engine, Engine(""))
        ceilings = [cc for cc in (needs.max_cc, engine_of.max_cc) if cc is not None]
        floor = max(needs.min_cc, engine_of.min_cc)
        own = engine_of.max_cc is not None and engine_of.min_cc > engine_of.max_cc
        if needs.gpu and ceilings and floor > min(ceilings) and not own:
            joined = Engine(engine_of.name, min_cc=floor, max_cc=min(ceilings))
            key = "max_cc" if needs.max_cc is not None else "min_cc"
            with_engine = f" with its engine {engine_of.name}" if engine_of.name else ""
            yield _range(f"role {name}{with_engine}", joined, role_place(name, "needs", key))


def _range(what: str, bounds: Engine, place: Place) -> Diagnostic:
    floor, ceiling = show_cc(bounds.min_cc), show_cc(bounds.max_cc or 0)
    message = f"{what} asks for compute capability at least {floor} and at most {ceiling}: no card has that"
    return Diagnostic("role-conflict", message, place, hint="lower min_cc or raise max_cc")


def card_pins(cluster: Cluster) -> Iterator[Diagnostic]:
    """A pin to a card says nothing to a role that runs on a CPU."""
    for name, role in (cluster.roles or {}).items():
        if role.pin is not None and "/" in role.pin and not role.needs.gpu:
            node = role.pin.partition("/")[0]
            message = f"role {name} is pinned to the card {role.pin}, but it runs on a CPU"
            hint = f"pin the node: {node}"
            yield Diagnostic("role-conflict", message, role_place(name, "pin"), Severity.WARNING, hint)


_RULES = (counts, own_share, processors, slot_counts, capability_ranges, card_pins)


def conflicted(cluster: Cluster) -> frozenset[str]:
    """The roles that contradict themselves: what else is wrong with them may follow from that."""
    found = (diagnostic for rule in _RULES for diagnostic in rule(cluster) if diagnostic.severity is Severity.ERROR)
    places = (diagnostic.place for diagnostic in found)
    return frozenset(str(place.route[1]) for place in places if place is not None and place.file == ROLES_FILE)
