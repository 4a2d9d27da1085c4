"""The spine: files in, one `Evaluation` out. Pure and total; commands select from the result and compute nothing.

files -> load -> checks -> plan -> checks of the plan -> documents -> their schemas -> located, sorted diagnostics
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from knaster import document, renderers, schema
from knaster.checks import CHECKS, PLAN_CHECKS
from knaster.cluster import Catalog, Cluster
from knaster.diagnostics import Diagnostic, Place, Route, Severity, has_errors, order
from knaster.document.locating import locate
from knaster.filenames import is_input
from knaster.files import Files
from knaster.guests import expand
from knaster.loader import load
from knaster.placement import plan
from knaster.placement.explain import Line, explain
from knaster.placement.failure import Change, after, without
from knaster.placement.result import PlacementPlan
from knaster.planned import Planned
from knaster.renderers import contract
from knaster.version import __version__

PLACEMENT_FILE = "generated/placement.yaml"
MANIFEST_FILE = "generated/manifest.json"
_PLACEMENT_BOUND = 64 * 1024 * 1024
_BUG = "This is a bug in knaster."


@dataclass(frozen=True)
class Evaluation:
    """Everything known about one set of files.

    ``planned`` is None, and ``documents`` empty, when a file did not load. ``documents`` holds the data of each
    generated file by its path below ``generated/``; ``generated`` their text, made when first asked for.
    """

    cluster: Cluster
    digest: str
    diagnostics: tuple[Diagnostic, ...]
    planned: Planned | None
    documents: Mapping[str, Mapping[str, Any]]

    @property
    def ok(self) -> bool:
        """Whether nothing forbids rendering."""
        return not has_errors(self.diagnostics)

    @cached_property
    def generated(self) -> Mapping[str, str]:
        """Path below ``generated/`` to text, ``manifest.json`` included; empty when there is an error."""
        if not self.ok:
            return {}
        return renderers.render(self.documents, input_digest=self.digest, version=__version__)

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


def evaluate(files: Files, current: PlacementPlan | None = None) -> Evaluation:
    """Load, check, plan and render (to data) `files`. Never raises, whatever the files hold.

    `current` is the placement in force: what is still equally good stays where it is.
    """
    loaded = load(files)
    cluster = loaded.cluster
    found = [*loaded.diagnostics, *(diagnostic for check in CHECKS for diagnostic in check(cluster))]
    planned = _plan(cluster, current)
    documents: Mapping[str, Mapping[str, Any]] = {}
    if planned is not None:
        found += (diagnostic for check in PLAN_CHECKS for diagnostic in check(planned))
        documents = renderers.documents(planned)
        if not has_errors(found):  # what wrong inputs make need not fit, and is never written
            found += _proved(documents)
    return Evaluation(cluster, loaded.digest, arranged(files, found), planned, documents)


def arranged(files: Files, diagnostics: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    """Located in their files, sorted, each once."""
    inputs = {path: text for path, text in files.items() if isinstance(text, str) and is_input(path)}
    return tuple(sorted(dict.fromkeys(locate(inputs, diagnostics)), key=order))


def placement_in_force(
    text: str, manifest: str | None = None, *, where: str = ""
) -> tuple[PlacementPlan | None, tuple[Diagnostic, ...]]:
    """The plan that the text of a ``placement.yaml`` holds; None and one warning when it is not to be trusted.

    `manifest` is the text of the ``manifest.json`` beside it, which tells a placement that was edited by hand. `where`
    names the place that both come from (``in commit HEAD``).
    """
    parsed, problems = document.parse(PLACEMENT_FILE, text, max_bytes=_PLACEMENT_BOUND)
    if parsed is not None:
        problems = schema.check("placement", PLACEMENT_FILE, parsed.data)
    if problems or parsed is None:
        return None, (_distrusted(f"cannot be read: {problems[0].message}", where),)
    recorded = renderers.recorded(manifest, "placement.yaml") if manifest is not None else None
    if recorded not in (None, renderers.digest(text.replace("\r\n", "\n"))):
        return None, (_distrusted("was changed by hand (manifest.json records another content)", where),)
    return renderers.placement_from(parsed.data), ()


def _distrusted(problem: str, where: str) -> Diagnostic:
    return Diagnostic(
        "current-unreadable",
        f"the placement in force, {PLACEMENT_FILE}{where and ' '}{where}, {problem}; the plan is made without it",
        Place(PLACEMENT_FILE) if not where else None,
        Severity.WARNING,
        hint="roles may move between equally good cards; `knaster render` repairs the file, a commit puts it in force",
    )


def _plan(cluster: Cluster, current: PlacementPlan | None) -> Planned | None:
    if cluster.broken or cluster.catalog is None or cluster.roles is None:
        return None
    answer = plan(cluster.nodes, cluster.roles, cluster.catalog, platform=cluster.platform, current=current)
    return Planned(cluster, expand(cluster.nodes, cluster.platform), answer, current)


def _proved(documents: Mapping[str, Mapping[str, Any]]) -> list[Diagnostic]:
    """Every output against its schema, and against the module that reads it: a mismatch is ours, never the user's."""
    found = [
        _bug(path, f"does not match its schema: {problem.message}", problem.place.route if problem.place else ())
        for path, data in documents.items()
        for problem in schema.check(renderers.KINDS[path], f"generated/{path}", data)
    ]
    for path in documents.keys() & {renderers.TFVARS}:
        problems = contract.broken(documents[path])
        found += [_bug(path, f"does not fit the variables of the OpenTofu module: {problem}") for problem in problems]
    return found


def _bug(path: str, message: str, route: Route = ()) -> Diagnostic:
    return Diagnostic(
        "internal-output",
        f"{_BUG} generated/{path} {message}",
        Place(f"generated/{path}", route),
        hint="report it with the inputs that caused it; nothing was written",
    )
