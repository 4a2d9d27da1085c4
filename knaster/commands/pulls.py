"""The plan of one pull request, from git alone: what `pr plan`, `pr sweep` and `land` share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from knaster.adapters import drift, git
from knaster.changes.claims import Claim, claims
from knaster.checks.guest_list import LISTS, vanished
from knaster.diagnostics import Diagnostic, Place
from knaster.files import Files
from knaster.in_force.mainline import Mainline
from knaster.pipeline import Evaluation, evaluate
from knaster.placement.survival import failures
from knaster.pull import PullPlan, judged

GENERATED = "generated"


@dataclass(frozen=True)
class Target:
    """A branch that pull requests aim at, at one commit: what they are merged into and compared with."""

    root: Path
    name: str
    tip: str

    @cached_property
    def label(self) -> str:
        """What keeps comments and statuses apart: the branch, and the folder of a fleet that is not at the top."""
        folder = git.prefix(self.root).rstrip("/")
        return f"{self.name}:{folder}" if folder else self.name

    @cached_property
    def line(self) -> Mainline:
        """The first-parent line that ends at the tip."""
        return Mainline(git.History(self.root), self.tip)

    @cached_property
    def files(self) -> Files:
        """The inputs of the tip."""
        return self.line.history.inputs(self.tip)

    @cached_property
    def guest_lists(self) -> Mapping[str, str]:
        """The texts of the guest lists that the tip has under ``generated/``."""
        generated = self.line.history.generated(self.tip)
        return {path: text for path in LISTS if isinstance(text := generated.get(path), str)}

    @cached_property
    def evaluated(self) -> tuple[str, Evaluation]:
        """The last valid commit of the line and its evaluation; the tip itself where none is valid."""
        tip = self.line.evaluate()
        if tip.ok:
            return self.tip, tip
        for sha in self.line.history.line(self.tip):
            if self.line.digest(sha) and (found := Mainline(self.line.history, sha).evaluate()).ok:
                return sha, found
        return self.tip, tip


@dataclass(frozen=True, slots=True)
class Pull:
    """The plan of a pull request, with what it was made from: the merged files and their evaluation.

    ``wants`` is what it newly takes.
    """

    plan: PullPlan
    files: Files
    evaluation: Evaluation
    wants: frozenset[Claim]


def plan_of(target: Target, head: str) -> Pull:
    """Merge `head` (a full SHA) into the target's tip in memory, plan the result and compare. No work tree is touched.

    Raises WorldError where git cannot tell: no common history, a history that is cut off, a git that is too old.
    """
    merged = git.merge(target.root, target.tip, head)
    conflicts = tuple(path for path in merged.conflicts if not path.startswith(f"{GENERATED}/"))
    compared, before = target.evaluated
    files = git.read(target.root, target.tip if conflicts else merged.tree)
    after = before if conflicts else evaluate(files, target.line.in_force, like=before)
    problems: tuple[Diagnostic, ...] = tuple(_conflict(path, target.name) for path in conflicts)
    plan = PullPlan(target.label, target.tip, head, compared, notes=_notes(target, compared))
    if not conflicts and after.ok:
        emptied = vanished(target.guest_lists, after.documents)
        problems = (*((emptied,) if emptied else ()), *_edited(target, merged, head, after))
        repair = _repair(target, head) if len(problems) > bool(emptied) else ""
        plan = replace(plan, command=repair)
    plan = judged(plan, before, after, problems, conflict=bool(conflicts))
    return Pull(_with_failures(plan, before, after), files, after, claims(before.planned, after.planned))


def compared(root: Path, treeish: str, evaluation: Evaluation) -> tuple[Diagnostic, ...]:
    """Every way in which ``generated/`` of a commit or tree differs from what an evaluation makes."""
    needed = {path: text.encode() for path, text in evaluation.generated.items()}
    return drift.compare(needed, git.generated(root, treeish))


def _conflict(path: str, target: str) -> Diagnostic:
    return Diagnostic(
        "merge-conflict",
        f"{path} has conflicts with {target}, so there is no merge to plan",
        Place(path),
        hint=f"merge {target} into this branch, resolve them and push",
    )


def _notes(target: Target, compared: str) -> tuple[str, ...]:
    if compared == target.tip:
        valid = target.evaluated[1].ok
        return () if valid else (f"{target.name} is invalid, and so is every commit before it",)
    return (f"{target.name} is invalid at {target.tip[:12]}: compared with {compared[:12]}, its last valid commit",)


def _edited(target: Target, merged: git.Merged, head: str, after: Evaluation) -> tuple[Diagnostic, ...]:
    """How ``generated/`` differs from what the merge needs; nothing where the pull request leaves it alone."""
    fork = git.merge_base(target.root, target.tip, head)
    if fork is None or not git.touched(target.root, fork, head, GENERATED):
        return ()
    findings = compared(target.root, merged.tree, after)
    return tuple(
        replace(finding, hint="leave generated/ alone: it is rendered after the merge") for finding in findings
    )


def _repair(target: Target, head: str) -> str:
    """The command that takes every change of ``generated/`` out of the branch. Only SHAs stand in it."""
    fork = git.merge_base(target.root, target.tip, head)
    there = fork is not None and git.generated(target.root, fork)
    take = f"git restore --source={fork} --staged --worktree -- {GENERATED}" if there else f"git rm -rq {GENERATED}"
    return f'{take} && git commit -m "Leave generated/ to the landing" && git push'


def _with_failures(plan: PullPlan, before: Evaluation, after: Evaluation) -> PullPlan:
    one, other = (
        None if side.planned is None else failures(side.cluster, side.planned.plan) for side in (before, after)
    )
    return replace(plan, failures_before=one, failures_after=other)
