"""A history as a plain list of commits, for what must not need git."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from knaster.files import Files
from knaster.pipeline import evaluate
from knaster.placement.result import PlacementPlan


@dataclass
class Commits:
    """main's first-parent line, oldest first; a SHA is the number of its commit (``c00``, ``c01``)."""

    inputs_of: list[Files] = field(default_factory=list)
    generated_of: list[Mapping[str, str]] = field(default_factory=list)

    def add(self, inputs: Files, generated: Mapping[str, str] | None = None) -> str:
        """Commit these files; without `generated` the folder stays as it was."""
        self.inputs_of.append(inputs)
        before = self.generated_of[-1] if self.generated_of else {}
        self.generated_of.append(before if generated is None else generated)
        return self._sha(len(self.inputs_of) - 1)

    def land(self, current: PlacementPlan | None = None) -> str:
        """Commit what render makes of the newest inputs on top of `current`."""
        return self.add(self.inputs_of[-1], evaluate(self.inputs_of[-1], current).generated)

    def line(self, rev: str) -> Iterator[str]:
        """As `knaster.in_force.mainline.History` says."""
        return (self._sha(number) for number in range(self._number(rev), -1, -1))

    def inputs_key(self, sha: str) -> str:
        """As `knaster.in_force.mainline.History` says."""
        return repr(sorted(self.inputs(sha).items()))

    def inputs(self, sha: str) -> Files:
        """As `knaster.in_force.mainline.History` says."""
        return self.inputs_of[self._number(sha)]

    def generated(self, sha: str) -> Files:
        """As `knaster.in_force.mainline.History` says."""
        return self.generated_of[self._number(sha)]

    def manifests(self, rev: str) -> Iterator[tuple[str, str]]:
        """As `knaster.in_force.mainline.History` says."""
        for sha in self.line(rev):
            number = self._number(sha)
            text = self.generated_of[number].get("manifest.json")
            before = self.generated_of[number - 1].get("manifest.json") if number else None
            if text is not None and text != before:
                yield sha, text

    @staticmethod
    def _sha(number: int) -> str:
        return f"c{number:02}"

    @staticmethod
    def _number(sha: str) -> int:
        return int(sha[1:])
