"""What a pull request does to its target branch: the result that `pr plan` computes and the comment shows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from knaster.changes.result import Comparison
from knaster.diagnostics import Diagnostic

Verdict = Literal["unchanged", "changes", "destructive", "invalid", "conflict"]


@dataclass(frozen=True, slots=True)
class Survival:
    """How many of ``total`` failures of one node (or of one card) leave every placed role placed.

    ``drops`` maps each failure (``pve46``, ``pve46/1``) to the roles it would drop.
    """

    total: int
    survived: int
    drops: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Failures:
    """The same of nodes and of cards."""

    nodes: Survival
    cards: Survival


@dataclass(frozen=True, slots=True)
class PullPlan:
    """The plan of the merge of ``base`` (the tip of ``target``) and ``head``, against ``compared_with``.

    All commits are full SHAs. ``compared_with`` is ``base``, or the last valid commit where the base itself is invalid.
    ``plan_id`` names exactly what would land: the digest of the merged inputs, the placement in force and the tool; ""
    when nothing can land. ``problems`` are errors of the merge (conflicts, ``generated/`` edited) and of its inputs, and
    ``command`` is the one command that repairs ``generated/``. ``failures_before`` and ``failures_after`` are None where
    a side could not be planned.
    """

    target: str
    base: str
    head: str
    compared_with: str
    verdict: Verdict
    plan_id: str = ""
    comparison: Comparison = Comparison()  # noqa: RUF009  frozen, and empty
    problems: tuple[Diagnostic, ...] = ()
    command: str = ""
    failures_before: Failures | None = None
    failures_after: Failures | None = None
    notes: tuple[str, ...] = ()
    """What else a reader must know: a base that is invalid, other pull requests that want the same card."""

    @property
    def ok(self) -> bool:
        """Whether the merge may land."""
        return self.verdict not in ("invalid", "conflict")
