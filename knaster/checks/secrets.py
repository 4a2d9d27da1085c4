"""No literal secret in any text that people write. The message names the place and never the value."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from functools import lru_cache
from itertools import chain, pairwise

from knaster.cluster import MODELS_FILE, PLATFORM_FILE, Cluster, Model, Node, models_place, platform_place, role_place
from knaster.diagnostics import Diagnostic, Place, Route
from knaster.redact import looks_secret, secret_argument

_KEYS: dict[tuple[str, str], Route] = {
    ("External", "credential_env"): ("credential", "env"),
    ("Network", "guest_first"): ("guest_range", "first"),
    ("Network", "guest_last"): ("guest_range", "last"),
}
"""Where a field of a dataclass is written, if not under its own name."""

_KEY_FIELDS = {
    ("Lxc", "name"),
    ("External", "name"),
    ("Driver", "generation"),
    ("CardPolicy", "id"),
    ("Worker", "node"),
}
"""Fields that repeat the key of the mapping they are in, which is looked at already."""


def literal_secrets(cluster: Cluster) -> Iterator[Diagnostic]:
    """Every text of roles, models, engines and platform, and the free texts of nodes."""
    for place, text in chain(_roles(cluster), _catalog(cluster), _platform(cluster), _nodes(cluster)):
        if looks_secret(text):
            yield _found(place)
    for model in cluster.catalog.models.values() if cluster.catalog else ():
        yield from _arguments(model)


def _found(place: Place) -> Diagnostic:
    return Diagnostic(
        "literal-secret",
        "this looks like a literal secret; what is in git is known to everybody who can read it",
        place,
        hint=f"{_way_out(place)}, and replace the secret itself: it has leaked",
    )


def _way_out(place: Place) -> str:
    """What may stand at the place instead."""
    if place.file == PLATFORM_FILE and place.route[:1] == ("external",):
        return "name the variable that holds it (credential: {env: NAME})"
    if place.file == MODELS_FILE and "args" in place.route:
        return 'name the variable that holds it ("${NAME}")'
    return "take it out"


def _arguments(model: Model) -> Iterator[Diagnostic]:
    """A flag such as ``--api-key`` followed by its value as an argument of its own."""
    for at, (flag, value) in enumerate(pairwise(model.args)):
        if secret_argument(flag, value) and not looks_secret(value):
            yield _found(models_place("models", model.name, "args", at + 1))


def _roles(cluster: Cluster) -> Iterator[tuple[Place, str]]:
    for name, role in (cluster.roles or {}).items():
        for route, text in _texts(role):
            yield role_place(name, *route), text


def _catalog(cluster: Cluster) -> Iterator[tuple[Place, str]]:
    if cluster.catalog is None:
        return
    for name, model in cluster.catalog.models.items():
        for route, text in _texts(model):
            yield models_place("models", name, *route), text
    for name, engine in cluster.catalog.engines.items():
        for route, text in _texts(engine):
            yield models_place("engines", name, *route), text


def _platform(cluster: Cluster) -> Iterator[tuple[Place, str]]:
    for route, text in _texts(cluster.platform) if cluster.platform else ():
        yield platform_place(*route), text


def _nodes(cluster: Cluster) -> Iterator[tuple[Place, str]]:
    for node in cluster.nodes:
        for route, text in _node_texts(node):
            yield node.place(*route), text


def _node_texts(node: Node) -> Iterator[tuple[Route, str]]:
    if node.reason:
        yield ("reason",), node.reason
    for text in node.warnings:
        yield ("warnings",), text
    for gpu in node.gpus:
        if gpu.reason:
            yield ("gpus", gpu.position, "reason"), gpu.reason


def _texts(value: object, route: Route = ()) -> Iterator[tuple[Route, str]]:
    """Every text below `value` and the route to it; a list that was sorted has one route for all of its items."""
    if isinstance(value, str):
        yield route, value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield (*route, key), key
            yield from _texts(item, (*route, key))
    elif isinstance(value, tuple):
        ordered = bool(route) and route[-1] in ("args", "fallback", "dns", "assumptions")
        for at, item in enumerate(value):
            position = getattr(item, "position", at if ordered else None)
            yield from _texts(item, route if position is None else (*route, position))
    elif is_dataclass(value) and not isinstance(value, type):
        for name, step in _steps(type(value)):
            yield from _texts(getattr(value, name), (*route, *step))


@lru_cache(maxsize=64)
def _steps(kind: type) -> tuple[tuple[str, Route], ...]:
    """The fields of a dataclass and the keys they are written under."""
    names = [one.name for one in fields(kind) if (kind.__name__, one.name) not in _KEY_FIELDS]
    return tuple((name, _KEYS.get((kind.__name__, name), (name,))) for name in names)
