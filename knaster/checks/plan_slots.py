"""Slots as the plan serves them: each has a port of its own and a model that works."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from knaster.checks.common import collisions, slot_place
from knaster.cluster import Cluster, Model, Node, Role, Slot
from knaster.diagnostics import Diagnostic, Related, Severity
from knaster.fit.fits import card_device, why_not
from knaster.names import spot
from knaster.placement.result import Assignment
from knaster.planned import Planned
from knaster.slots import Endpoint, SlotView, slot_views


def slots(planned: Planned) -> Iterator[Diagnostic]:
    """All rules of slots, over one view of them."""
    declared = {(role.name, slot.name): slot for role in (planned.cluster.roles or {}).values() for slot in role.slots}
    views = [(view, declared[view.role, view.name]) for view in slot_views(planned)]
    yield from _ports(views)
    yield from _hosts(planned, views)
    yield from _port_twins(views)
    yield from _models(planned, views)
    yield from _foreign_vectors(views, planned)


Views = list[tuple[SlotView, Slot]]


def _ports(views: Views) -> Iterator[Diagnostic]:
    """A slot that is served has a port, its own or its engine's. A worker program is found without one."""
    for view, slot in views:
        if any(endpoint.port is None and not endpoint.worker for endpoint in view.endpoints):
            message = f"slot {view.name} has no port, and its engine {view.engine} has no default one"
            hint = f"give the slot or the engine {view.engine} a port"
            yield Diagnostic("slot-port", message, slot_place(view.role, slot.position), hint=hint)


def _hosts(planned: Planned, views: Views) -> Iterator[Diagnostic]:
    """Whoever serves a slot has an address that clients can call; a worker program reports its own."""
    nodes = {node.name: node for node in planned.cluster.nodes}
    served: dict[str, list[str]] = {}
    for view, _ in views:
        for endpoint in view.endpoints:
            if endpoint.host is None and endpoint.guest is None and not endpoint.worker:
                served.setdefault(endpoint.node, []).append(view.name)
    for name, slots in sorted(served.items()):
        message = f"the address of {name} is not known, so nobody can call {', '.join(slots)} there"
        hint = "give the node an address"
        yield Diagnostic("unknown-fact", message, nodes[name].place("name"), Severity.WARNING, hint)


def _port_twins(views: Views) -> Iterator[Diagnostic]:
    """On one guest (or machine), a port answers for one slot."""
    claims = (
        ((_where(endpoint), endpoint.port), (view, slot, endpoint))
        for view, slot in views
        for endpoint in view.endpoints
        if endpoint.port is not None
    )
    told: set[tuple[str, str]] = set()
    for (first, first_slot, _), (again, slot, endpoint) in collisions(claims):
        if (first.name, again.name) in told or first_slot is slot:
            continue
        told.add((first.name, again.name))
        yield Diagnostic(
            "duplicate-port",
            f"slots {first.name} and {again.name} both answer on port {endpoint.port} of {_where(endpoint)}",
            slot_place(again.role, slot.position, "port"),
            hint="give one of them another port"
            + (
                ""
                if slot.port and first_slot.port
                else f"; without one, a slot has that of its engine ({again.engine})"
            ),
            related=(Related(slot_place(first.role, first_slot.position, "port"), "the other slot"),),
        )


def _where(endpoint: Endpoint) -> str:
    return endpoint.guest or endpoint.node


def _models(planned: Planned, views: Views) -> Iterator[Diagnostic]:
    """The model that a slot names fits wherever the slot is served."""
    catalog, roles = planned.cluster.catalog, planned.cluster.roles or {}
    of_role: dict[str, list[Assignment]] = {}
    for assignment in planned.plan.assignments:
        of_role.setdefault(assignment.role, []).append(assignment)
    for view, slot in views:
        model = catalog.models.get(slot.model) if catalog and slot.model else None
        if model is None or not view.endpoints or model.name in view.models:
            continue
        serving = [one for one in of_role.get(view.role, ()) if not one.slots or slot.name in one.slots]
        bad = next((one for one in serving if model.name not in one.models_fitting), None)
        why = _why(model, roles[view.role], bad, planned.cluster)
        alternatives = (
            f"models that fit: {', '.join(view.models)}" if view.models else "no model of the catalog fits there"
        )
        message = f"slot {slot.name} names the model {model.name}, which does not fit{_on(bad)}: {why}"
        yield Diagnostic("slot-model", message, slot_place(view.role, slot.position, "model"), hint=alternatives)


def _on(assignment: Assignment | None) -> str:
    if assignment is None:
        return ""
    return f" on {spot(assignment.node, assignment.gpu_index)}"


def _why(model: Model, role: Role, assignment: Assignment | None, cluster: Cluster) -> str:
    if model.kind not in role.kinds:
        return f"it is of kind {model.kind}, and role {role.name} serves {', '.join(role.kinds)}"
    engine = cluster.catalog.engines.get(role.needs.engine) if cluster.catalog else None
    nodes: Mapping[str, Node] = {node.name: node for node in cluster.nodes}
    node = nodes.get(assignment.node) if assignment else None
    if engine is None or node is None or assignment is None:
        return "it does not run there"
    if engine.name not in model.engines:
        return f"it does not run on {engine.name} (it runs on {', '.join(model.engines)})"
    gpu = next((gpu for gpu in node.gpus if gpu.index == assignment.gpu_index), None)
    if gpu is None:
        return f"it needs {model.vram_gb} GiB, more than other roles leave there"
    return (
        why_not(model, card_device(node, gpu, cluster.platform), engine)
        or "the roles that share the card leave too little"
    )


def _foreign_vectors(views: Views, planned: Planned) -> Iterator[Diagnostic]:
    """Vectors of two models do not compare, so an embedding slot goes without a fallback that serves another."""
    serves = {view.name: view.model for view, _ in views}
    external = planned.cluster.platform.external if planned.cluster.platform else {}
    for view, slot in views:
        if "embedding" not in view.kinds or view.model is None:
            continue
        for at, entry in enumerate(slot.fallback):
            outside = entry in external
            if entry in view.fallback or (serves.get(entry) is None and not outside):
                continue
            other = external[entry].model if outside else serves[entry]
            what = f"serves {other}" if other else "names no model"
            message = f"embedding slot {view.name} ({view.model}) goes without its fallback {entry}, which {what}"
            hint = f"name a slot that serves {view.model}" + (
                f", or write model: {view.model} at {entry} if that is what it serves" if outside else ""
            )
            place = slot_place(view.role, slot.position, "fallback", at)
            yield Diagnostic("fallback-model", message, place, Severity.WARNING, hint)
