"""The spine: files in, one `Evaluation` out. Pure and total; commands select from the result and compute nothing.

files -> load -> checks -> plan -> checks of the plan -> documents -> their schemas -> located, sorted diagnostics
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from typing import Any

from knaster import renderers, schema
from knaster.checks import CHECKS, PLAN_CHECKS
from knaster.cluster import Catalog, Cluster
from knaster.diagnostics import Diagnostic, Place, Route, Severity, has_errors, order
from knaster.document.locating import found as found_places
from knaster.document.locating import locate
from knaster.files import Files
from knaster.guests import expand
from knaster.loader.filenames import is_input
from knaster.loader.loading import Loaded, Part, load
from knaster.placement import plan
from knaster.placement.explain import Line, explain
from knaster.placement.failure import Change, after, without
from knaster.placement.result import PlacementPlan
from knaster.planned import Planned
from knaster.renderers import contract
from knaster.version import __version__

InForce = Callable[[Loaded], PlacementPlan | None]
"""The inputs to plan -> the placement in force for them."""

_BUG = "This is a bug in knaster."


@dataclass(frozen=True)
class Evaluation:
    """Everything known about one set of files.

    ``planned`` is None, and ``documents`` empty, when a file did not load. ``documents`` holds the data of each
    generated file by its path below ``generated/``; ``generated`` their text, made when first asked for. ``parts`` is
    what each input file came to.
    """

    cluster: Cluster
    digest: str
    diagnostics: tuple[Diagnostic, ...]
    planned: Planned | None
    documents: Mapping[str, Mapping[str, Any]]
    parts: Mapping[str, Part] = field(default_factory=dict)

    @property
    def ok(self) -> bool:
        """Whether nothing forbids rendering."""
        return not has_errors(self.diagnostics)

    @property
    def errors(self) -> tuple[Diagnostic, ...]:
        """What forbids rendering."""
        return tuple(item for item in self.diagnostics if item.severity is Severity.ERROR)

    @cached_property
    def generated(self) -> Mapping[str, str]:
        """Path below ``generated/`` to text, ``manifest.json`` included; empty when there is an error."""
        if not self.ok:
            return {}
        return renderers.render(self.documents, input_digest=self.digest, version=__version__)

    @property
    def plan_id(self) -> str:
        """Names exactly what lands: a digest of the inputs, the placement in force and the tool; "" with errors."""
        if not self.ok or self.planned is None:
            return ""
        current = self.planned.current
        places = current and [[one.role, one.node, one.gpu_index, one.card] for one in current.assignments]
        return sha256(json.dumps([self.digest, places, __version__]).encode()).hexdigest()

    def explain(self, role: str) -> tuple[Line, ...]:
        """Every card (or node) that a role could be on, with why or why not. Raises KeyError for an unknown role."""
        if self.planned is None:
            return ()
        cluster, current = self.planned.cluster, self.planned.current
        roles, models = cluster.roles or {}, cluster.catalog or Catalog()
        return explain(role, cluster.nodes, roles, models, platform=cluster.platform, current=current)

    def without(self, node: str, gpu_index: int | None = None) -> tuple[Change, ...]:
        """What the loss of a node, or of one of its cards, does to the plan; nothing for an unknown name."""
        return without(self.cluster, self.planned.plan, node, gpu_index) if self.planned else ()

    def after_loss(self, node: str, gpu_index: int | None = None) -> Planned | None:
        """The fleet with the plan that follows such a loss, in full."""
        if self.planned is None:
            return None
        answer = after(self.cluster, self.planned.plan, node, gpu_index)
        return Planned(self.cluster, self.planned.guests, answer, self.planned.plan)


def evaluate(
    files: Files, current: PlacementPlan | InForce | None = None, *, like: Evaluation | None = None
) -> Evaluation:
    """Load, check, plan and render (to data) `files`. Never raises, whatever the files hold.

    `current` is the placement in force: what is still equally good stays where it is. It may be a function of the
    loaded inputs, asked once they are whole; what that raises passes through.
    `like` is an earlier evaluation of nearly the same files: what it has of equal texts is not worked out again.
    """
    loaded = load(files, like.parts if like else None)
    cluster = loaded.cluster
    found = [*loaded.diagnostics, *(diagnostic for check in CHECKS for diagnostic in check(cluster))]
    planned = _plan(loaded, current)
    documents: Mapping[str, Mapping[str, Any]] = {}
    if planned is not None:
        found += (diagnostic for check in PLAN_CHECKS for diagnostic in check(planned))
        documents = renderers.documents(planned)
        if not has_errors(found):  # what wrong inputs make need not fit, and is never written
            found += _proved(documents, like)
    return Evaluation(
        cluster, loaded.digest, arranged(files, found, _located(loaded, like)), planned, documents, loaded.parts
    )


def arranged(
    files: Files, diagnostics: Iterable[Diagnostic], known: Mapping[Place, Place] | None = None
) -> tuple[Diagnostic, ...]:
    """Located in their files, sorted, each once. `known` are places that need no search."""
    inputs = {path: text for path, text in files.items() if isinstance(text, str) and is_input(path)}
    return tuple(sorted(dict.fromkeys(locate(inputs, diagnostics, known)), key=order))


def _plan(loaded: Loaded, current: PlacementPlan | InForce | None) -> Planned | None:
    cluster = loaded.cluster
    if cluster.broken or cluster.catalog is None or cluster.roles is None:
        return None
    if callable(current):
        current = current(loaded)
    answer = plan(cluster.nodes, cluster.roles, cluster.catalog, platform=cluster.platform, current=current)
    return Planned(cluster, expand(cluster.nodes, cluster.platform), answer, current)


def _located(loaded: Loaded, like: Evaluation | None) -> dict[Place, Place]:
    """Where the earlier evaluation found the places of its diagnostics, in files that are the same."""
    if like is None or not like.diagnostics:
        return {}
    same = {path for path, part in loaded.parts.items() if part.data is not None and like.parts.get(path) is part}
    return found_places(like.diagnostics, same)


def _proved(documents: Mapping[str, Mapping[str, Any]], like: Evaluation | None) -> list[Diagnostic]:
    """Every output against its schema, and against the module that reads it: a mismatch is ours, never the user's."""
    proved = like.documents if like and like.ok else {}
    new = {path: data for path, data in documents.items() if data != proved.get(path)}
    found = [
        _bug(path, f"does not match its schema: {problem.message}", problem.place.route if problem.place else ())
        for path, data in new.items()
        for problem in schema.check(renderers.KINDS[path], f"generated/{path}", data)
    ]
    for path in new.keys() & {renderers.TFVARS}:
        problems = contract.broken(new[path])
        found += [_bug(path, f"does not fit the variables of the OpenTofu module: {problem}") for problem in problems]
    return found


def _bug(path: str, message: str, route: Route = ()) -> Diagnostic:
    return Diagnostic(
        "internal-output",
        f"{_BUG} generated/{path} {message}",
        Place(f"generated/{path}", route),
        hint="report it with the inputs that caused it; nothing was written",
    )
