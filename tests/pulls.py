"""Plans of pull requests, written by hand: what the comment shows."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from knaster.changes.result import Change, Comparison, Effect, Field, InputChange
from knaster.diagnostics import Diagnostic, Place, Related, Severity
from knaster.placement.survival import Failures, Survival
from knaster.pull import PullPlan

BASE, HEAD, PLAN = "a" * 40, "b" * 40, "c" * 64


def pull(*changes: Change, **more: Any) -> PullPlan:
    """A plan for main; fields of the comparison and of the plan may be given together."""
    own = {name: more.pop(name) for name in ("inputs", "new", "fixed", "complete", "names") if name in more}
    comparison = Comparison(changes=changes, **own)
    more.setdefault("verdict", "destructive" if comparison.destructive else "changes" if changes else "unchanged")
    if more["verdict"] not in ("invalid", "conflict"):
        more.setdefault("plan_id", PLAN)
    defaults = {"target": "main", "base": BASE, "head": HEAD, "compared_with": BASE, "comparison": comparison}
    return PullPlan(**{**defaults, **more})


def survival(total: int, **drops: str) -> Survival:
    """Drops as ``pve44="rerank verifier"``; ``_1`` at the end of a name is its card 1."""
    told = {name.replace("_", "/"): tuple(roles.split()) for name, roles in drops.items()}
    return Survival(total, total - len(told), told)


def move(number: int) -> Change:
    """The role of that number moves."""
    before, after = f"old{number // 8}/{number % 8}", f"new{number // 8}/{number % 8}"
    why = "engine vllm needs compute capability 8.0"
    return Change("role", f"role-{number}", Effect.MOVE, f"moves from {before} to {after}", before, after, why)


DESTROYED = Change("guest", "ops", Effect.DESTROY, "is destroyed", cause="retired in catalog/platform.yaml")
EDIT = InputChange("models.phi-4.vram_gb", 10.0, 12.5, Place("catalog/models.yaml", line=121, column=14))


def node_down() -> PullPlan:
    """pve44 goes down: its role takes another card, that one's role the next, and the last has none."""
    return pull(
        Change(
            "role",
            "verifier",
            Effect.LOSE,
            "loses its place on pve48/1",
            "pve48/1",
            None,
            "0/9 GPUs fit: 4 disabled, 1 down, 4 taken by embedding, gpu-flex, gpu-general, rerank",
        ),
        Change(
            "guest",
            "gpu-pve48",
            Effect.RESTART,
            "restarts: memory 12 → 16 GiB",
            fields=(Field(("memory_mib",), 12288, 16384),),
        ),
        Change(
            "role",
            "embedding",
            Effect.MOVE,
            "moves from pve44/1 to pve46/1",
            "pve44/1",
            "pve46/1",
            "pve44 is down: the power supply is broken",
        ),
        Change(
            "role",
            "rerank",
            Effect.MOVE,
            "moves from pve46/1 to pve48/1",
            "pve46/1",
            "pve48/1",
            "taken by embedding, which comes first (priority 30)",
        ),
        Change("role", "training", Effect.RECORD, "still has no place, for another reason"),
        inputs=(
            InputChange(
                "nodes.pve44.reason", None, "the power supply is broken", Place("inventory/pve44.yaml", line=9)
            ),
            InputChange("nodes.pve44.groups", ["old"], None, Place("inventory/pve44.yaml", line=12), removed=True),
        ),
        new=(
            Diagnostic(
                "unplaced-role",
                "role verifier has no place",
                Place("catalog/roles.yaml", line=52, column=3),
                Severity.WARNING,
                "free a card",
            ),
        ),
        failures_before=Failures(
            survival(7, pve44="verifier", pve46="verifier", pve48="verifier"), survival(9, pve44_1="verifier")
        ),
        failures_after=Failures(survival(7, pve46="embedding rerank"), survival(9, pve46_1="rerank")),
        names=frozenset({"embedding", "rerank", "verifier"}),
    )


def small() -> PullPlan:
    """Three moves and a deletion."""
    return pull(DESTROYED, *map(move, range(3)), inputs=(EDIT,))


def large() -> PullPlan:
    """All roles of 600 nodes with 8 cards each move."""
    return pull(*map(move, range(4800)), inputs=(EDIT,))


def many_errors() -> PullPlan:
    """A catalog with 5,000 schema errors."""
    return pull(
        verdict="invalid",
        complete=False,
        problems=tuple(
            Diagnostic("schema", f"models.m{at}.vram_gb must be a number", Place("catalog/models.yaml", line=at + 1))
            for at in range(5000)
        ),
    )


def spread(text: str) -> PullPlan:
    """A plan that has the text in every field that may hold data."""
    place = Place(text, line=3)
    loud = Diagnostic(text, text, place, Severity.WARNING, text, (Related(place, text),) * 4)
    fields = (Field((text, 0), text, [text]),)
    known = frozenset({text, *text.split(" "), f"{text} b"})
    some = [
        Change(kind, text, effect, text, text, text, text, fields)
        for effect in Effect
        for kind in ("role", "guest", "model", "slot", "setting")
    ]
    inputs = tuple(InputChange(text, text, {text: text}, place, removed) for removed in (False, True))
    failures = Failures(Survival(2, 1, {text: (text, text)}), Survival(2, 1, {f"{text}/1": (text,)}))
    return replace(
        pull(*some, inputs=inputs, new=(loud, replace(loud, severity=Severity.NOTE)), fixed=(loud,), names=known),
        target=text or "main",
        problems=(replace(loud, severity=Severity.ERROR),),
        command=text,
        notes=(text,),
        failures_before=Failures(Survival(2, 2, {}), Survival(2, 2, {})),
        failures_after=failures,
    )
