"""The placement in force: what the last landing decided, carried forward to the inputs that are planned now. Pure.

main's first-parent line, newest first:   m7  m6  m5  L4  m3 ...
    m7 m6  hold the very inputs being planned: passed over, their ``generated/`` is what is judged
    L4     its manifest matches its inputs and files: it landed, and its placement holds
    m5     not landed: planned on top of L4's placement; what render would refuse passes it through
Where the same inputs landed earlier still, the latest such placement is taken: a revert restores it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain
from typing import Protocol

from knaster.files import Files
from knaster.in_force.landed import landed_placement
from knaster.loader.loading import Loaded, Part, load
from knaster.pipeline import Evaluation, evaluate
from knaster.placement.result import PlacementPlan
from knaster.renderers import record


class History(Protocol):
    """What must be known of a repository; commits are full SHAs."""

    def line(self, rev: str) -> Iterator[str]:
        """The first-parent line that ends at `rev`, newest first."""

    def inputs_key(self, sha: str) -> str:
        """Equal for commits with the same input files."""

    def inputs(self, sha: str) -> Files:
        """The files below ``inventory/`` and ``catalog/``."""

    def generated(self, sha: str) -> Files:
        """The files below ``generated/``, by paths relative to it."""

    def manifests(self, rev: str) -> Iterator[tuple[str, str]]:
        """Each commit of the line where ``generated/manifest.json`` changed, with its text; newest first."""


@dataclass(frozen=True, slots=True)
class Mainline:
    """main's first-parent line ending at `rev`. Answers are kept, so that two questions of one run read it once.

    Every method raises what the history raises, `WorldError` for one that is cut off.
    """

    history: History
    rev: str
    _digests: dict[str, str] = field(default_factory=dict)
    _parts: dict[str, Part] = field(default_factory=dict)
    _manifests: dict[str, dict[str, list[str]]] = field(default_factory=dict)

    def in_force(self, inputs: Loaded) -> PlacementPlan | None:
        """The placement in force for these inputs on top of the line; None where nothing landed yet."""
        self._parts.update(inputs.parts)
        digest = inputs.digest
        line = iter(self.history.line(self.rev))
        first = next((sha for sha in line if self.digest(sha) != digest), None)
        if first is None:
            return None
        unlanded: list[str] = []
        for sha in chain([first], line):
            if landed := self._landed(sha):
                return self._carried(landed, sha, unlanded, digest)
            unlanded.append(sha)
        return None

    def evaluate(self) -> Evaluation:
        """The evaluation of the tip, on top of the placement in force for its inputs."""
        return evaluate(self.history.inputs(self.rev), self.in_force)

    def digest(self, sha: str) -> str:
        """The digest of a commit's inputs; ``""`` where they do not load."""
        key = self.history.inputs_key(sha)
        if key not in self._digests:
            loaded = load(self.history.inputs(sha), self._parts)
            self._parts.update(loaded.parts)
            self._digests[key] = "" if loaded.cluster.broken else loaded.digest
        return self._digests[key]

    def _landed(self, sha: str) -> PlacementPlan | None:
        generated = self.history.generated(sha)
        found = record(text) if isinstance(text := generated.get("manifest.json"), str) else None
        if found is None or found.input_digest != self.digest(sha):
            return None
        return landed_placement(generated, found.input_digest)

    def _carried(self, placement: PlacementPlan, base: str, unlanded: list[str], digest: str) -> PlacementPlan:
        """The placement of `base` taken through the plans of the commits after it, which come newest first."""
        for sha in reversed(unlanded):
            if not self.digest(sha):
                continue
            before = self._earlier(base, self.digest(sha)) or placement
            evaluation = evaluate(self.history.inputs(sha), before)
            if evaluation.ok and evaluation.planned is not None:
                placement = evaluation.planned.plan
        return self._earlier(base, digest) or placement

    def _earlier(self, base: str, digest: str) -> PlacementPlan | None:
        """The latest placement that landed for inputs with this digest, at `base` or before."""
        if base not in self._manifests:
            commits = self._manifests[base] = {}
            for sha, text in self.history.manifests(base):
                if found := record(text):
                    commits.setdefault(found.input_digest, []).append(sha)
        return next(filter(None, map(self._landed, self._manifests[base].get(digest, ()))), None)
