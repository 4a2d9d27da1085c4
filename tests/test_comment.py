"""The comment: what it says, word for word, and the lines that machines read."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knaster.changes.result import Change, Effect, Field, InputChange, Kind, Object
from knaster.diagnostics import Diagnostic, Place, Related, Severity
from knaster.placement.survival import Failures
from knaster.pull import PullPlan
from knaster.reports.comment import (
    Links,
    Marker,
    alert_marker,
    comment,
    counts,
    marker,
    read_marker,
    result_id,
    sentence,
    turning,
)
from knaster.version import __version__
from tests.pulls import BASE, DESTROYED, EDIT, HEAD, PLAN, move, node_down, pull, small, survival

REPO = "https://git.example.org/sub/ai/fleet"

NODE_DOWN = f"""\
### ⚠️ This merge drops 1 role; it also moves 2 roles and restarts 1 guest

Counts: 1 dropped, 1 restarted, 2 moved, 1 recorded; 1 new warning

**Taken away**

- **dropped** role `verifier`: loses its place on `pve48/1` — 0/9 GPUs fit: 4 disabled, 1 down, 4 taken by \
`embedding`, `gpu-flex`, `gpu-general`, `rerank`

**Restarts**

- guest `gpu-pve48`: restarts: memory 12 → 16 GiB

**Moves**

| role | from | to | why |
| --- | --- | --- | --- |
| `embedding` | `pve44/1` | `pve46/1` | `pve44` is down: the power supply is broken |
| `rerank` | `pve46/1` | `pve48/1` | taken by `embedding`, which comes first (priority 30) |

**Edited**

- `nodes.pve44.reason` set to `the power supply is broken` in \
[`inventory/pve44.yaml:9`]({REPO}/src/commit/{HEAD}/inventory/pve44.yaml#L9)
- `nodes.pve44.groups` removed, was `old` in \
[`inventory/pve44.yaml:12`]({REPO}/src/commit/{BASE}/inventory/pve44.yaml#L12)

**New problems**

- [`catalog/roles.yaml:52`]({REPO}/src/commit/{HEAD}/catalog/roles.yaml#L52) warning: role `verifier` has no place \
— free a card (`unplaced-role`)

Survives 6 of 7 node failures and 8 of 9 card failures; not comparable with `main`, because `verifier` no longer has a \
place; losing `pve46` now drops `embedding`, `rerank`.

<details><summary>Only recorded: 1</summary>

- role `training`: still has no place, for another reason

</details>

<sub>Plan `cccccccccccc` of the merge of [`bbbbbbbbbbbb`]({REPO}/commit/{HEAD}) into `main` at \
[`aaaaaaaaaaaa`]({REPO}/commit/{BASE}) · knaster `{__version__}`</sub>
"""


def test_a_comment_word_for_word() -> None:
    body = comment(node_down(), links=Links(REPO))
    first, second, empty, rest = body.split("\n", 3)
    assert first == "<!-- knaster plan v1 target=main -->"
    result = result_id(node_down())
    assert second == (
        f"<!-- knaster head={HEAD} base={BASE} plan={PLAN} result={result} verdict=destructive destructive=1 -->"
    )
    assert empty == ""
    assert rest == NODE_DOWN


def test_an_invalid_merge_names_its_errors_and_the_command_that_repairs() -> None:
    plan = pull(
        verdict="invalid",
        problems=(
            Diagnostic("unknown-engine", "unknown engine vlmm", Place("catalog/roles.yaml", line=12), hint="did you?"),
        ),
        command="knaster render",
    )
    assert comment(plan).split("\n", 3)[3] == (
        "### ⛔ Invalid: 1 error; nothing can land\n\n"
        "Counts: 1 error\n\n"
        "**Errors**\n\n"
        "- `catalog/roles.yaml:12` error: unknown engine vlmm — did you? (`unknown-engine`)\n\n"
        "To take your changes of `generated/` out of the branch, run:\n\n`knaster render`\n\n"
        f"<sub>No plan for the merge of `{HEAD[:12]}` into `main` at `{BASE[:12]}` · knaster `{__version__}`</sub>\n"
    )


def test_nothing_to_say_is_said() -> None:
    assert comment(pull()).split("\n", 3)[3] == (
        "### No change to the fleet\n\nCounts: 0 changes\n\n"
        f"<sub>Plan `{PLAN[:12]}` of the merge of `{HEAD[:12]}` into `main` at `{BASE[:12]}` · "
        f"knaster `{__version__}`</sub>\n"
    )


def test_a_base_that_is_invalid_is_told() -> None:
    body = comment(replace(pull(move(1)), compared_with="d" * 40, notes=("main is invalid since d",)))
    assert "**Please note**\n\n- main is invalid since d\n" in body
    assert f"at `{BASE[:12]}`, compared with `{'d' * 12}` ·" in body


def of(kind: Kind, effect: Effect, name: str = "x", cause: str = "") -> Change:
    """A change without words."""
    before = "general" if kind == "model" else None  # the roles that it no longer fits
    return Change(kind, name, effect, "", before, cause=cause)


@pytest.mark.parametrize(
    ("plan", "expected"),
    [
        (pull(), "No change to the fleet"),
        (pull(inputs=(EDIT,)), "No change to the fleet"),
        (
            pull(of("role", Effect.MOVE), of("guest", Effect.RESTART)),
            "This merge moves 1 role and restarts 1 guest; nothing is lost",
        ),
        (pull(of("slot", Effect.UPDATE)), "This merge changes 1 slot; nothing is lost or restarted"),
        (
            pull(of("setting", Effect.RECORD)),
            "This merge changes only what is recorded, and nothing that runs",
        ),
        (
            pull(
                of("guest", Effect.DESTROY),
                of("guest", Effect.REPLACE),
                of("role", Effect.LOSE, "a"),
                of("role", Effect.LOSE, "b"),
                of("slot", Effect.LOSE),
            ),
            "This merge destroys 1 guest, replaces 1 guest and drops 2 roles and 1 slot",
        ),
        (
            pull(of("guest", Effect.REPLACE), of("external", Effect.CREATE), of("mapping", Effect.UPDATE)),
            "This merge replaces 1 guest; it also adds 1 external endpoint and changes 1 mapping",
        ),
        (pull(of("model", Effect.RECORD)), "Nothing that runs changes; 1 model no longer fits"),
        (
            pull(of("model", Effect.RECORD, "a"), of("model", Effect.RECORD, "b"), of("role", Effect.MOVE)),
            "This merge moves 1 role; nothing is lost or restarted; 2 models no longer fit",
        ),
        (pull(verdict="conflict", target="lab"), "Conflict with lab: 0 problems; nothing can land"),
        (
            pull(of("role", Effect.LOSE), verdict="invalid", problems=(Diagnostic("a", "b"), Diagnostic("a", "c"))),
            "Invalid: 2 errors; nothing can land",
        ),
        (pull(complete=False), "What this merge changes is not known: one side could not be read"),
    ],
)
def test_the_sentence(plan: PullPlan, expected: str) -> None:
    assert sentence(plan) == expected


WARNING = Diagnostic("w", "w", severity=Severity.WARNING)


def test_only_errors_are_counted_as_errors() -> None:
    plan = pull(verdict="invalid", problems=(Diagnostic("a", "b"), WARNING))
    assert sentence(plan) == "Invalid: 1 error; nothing can land"
    assert counts(plan) == "1 error"


@pytest.mark.parametrize(
    ("plan", "expected"),
    [
        (pull(), "0 changes"),
        (small(), "1 destroyed, 3 moved"),
        (
            pull(of("slot", Effect.UPDATE), of("slot", Effect.CREATE, "y"), new=(WARNING,), fixed=(WARNING, WARNING)),
            "1 changed, 1 added; 1 new warning, 2 fixed",
        ),
        (
            pull(verdict="invalid", problems=(Diagnostic("a", "b"),), new=(Diagnostic("a", "b"), WARNING)),
            "1 error, 1 new warning",
        ),
        (pull(complete=False), "not compared"),
    ],
)
def test_the_counts(plan: PullPlan, expected: str) -> None:
    assert counts(plan) == expected


def line(body: str) -> str:
    """The line on failures."""
    return next(line for line in body.splitlines() if line.startswith("Survives"))


STANDING = {
    "failures_before": Failures(survival(7), survival(9)),
    "failures_after": Failures(survival(7), survival(9)),
}


def test_failures_are_told_beside_those_of_the_target() -> None:
    plan = pull(
        move(1),
        failures_before=Failures(survival(7, pve44="a"), survival(9, pve44_1="a")),
        failures_after=Failures(survival(7, pve44="a", pve46="rerank"), survival(9, pve46_1="rerank", pve52_0="b c")),
    )
    assert line(comment(plan)) == (
        "Survives 5 of 7 node failures (`main`: 6) and 7 of 9 card failures (`main`: 8); "
        "losing `pve46` now drops `rerank`; losing `pve52/0` now drops `b`, `c`."
    )
    same = replace(plan, failures_after=plan.failures_before)
    assert line(comment(same)) == "Survives 6 of 7 node failures and 8 of 9 card failures, as `main` does."
    alone = replace(plan, failures_before=None)
    assert line(comment(alone)) == "Survives 5 of 7 node failures and 7 of 9 card failures."
    better = replace(plan, failures_after=Failures(survival(7), survival(9)))
    assert line(comment(better)) == (
        "Survives 7 of 7 node failures (`main`: 6) and 9 of 9 card failures (`main`: 8); "
        "losing `pve44` no longer drops `a`."
    )
    other = replace(plan, failures_before=Failures(survival(6), survival(9)))
    assert "5 of 7 node failures (`main`: 6 of 6)" in line(comment(other))


def lost(name: str, after: str | None = None) -> Change:
    """A role that loses its place, or one of them."""
    return Change("role", name, Effect.LOSE, "loses its place on x", "x", after)


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ((lost("a"),), "`a` no longer has a place"),
        ((lost("a"), lost("b")), "`a`, `b` no longer have a place"),
        ((lost("a"), lost("b"), lost("c"), lost("d")), "`a`, `b`, `c` and 1 more no longer have a place"),
        ((lost("a", "y"),), "`a` has fewer places"),
        ((lost("a", "y"), lost("b", "y")), "`a`, `b` have fewer places"),
        ((lost("a", "y"), lost("b")), "`b` no longer has a place"),
    ],
)
def test_survival_is_no_good_news_where_a_role_lost_its_place(changes: tuple[Change, ...], why: str) -> None:
    plan = pull(
        *changes,
        failures_before=Failures(survival(7, pve44="a"), survival(9, pve44_1="a")),
        failures_after=Failures(survival(7), survival(9, pve44_1="c")),
    )
    assert line(comment(plan)) == (
        f"Survives 7 of 7 node failures and 8 of 9 card failures; not comparable with `main`, because {why}; "
        "losing `pve44/1` now drops `c`."
    )
    assert line(comment(replace(plan, failures_before=None))) == (
        "Survives 7 of 7 node failures and 8 of 9 card failures."
    )


def seat(name: str, **more: object) -> tuple[str, dict[str, object]]:
    """An assignment in ``placement.yaml``."""
    return f"{name} pve44/1", {"role": name, "node": "pve44", "gpu_index": 1, "slots": ["s"], **more}


def renaming(**more: object) -> tuple[Change, Change]:
    """One role goes, another one takes all its places."""
    (old, was), (new, now) = seat("old"), seat("new", **more)
    gone = (Field(("placement.yaml", "assignments", old), was, None),)
    come = (Field(("placement.yaml", "assignments", new), None, now),)
    return (
        Change("role", "old", Effect.LOSE, "is removed", "pve44/1", None, fields=gone),
        Change("role", "new", Effect.CREATE, "is new and runs on pve44/1", None, "pve44/1", fields=come),
    )


def test_a_role_that_is_only_called_otherwise_has_lost_nothing() -> None:
    standing = {
        "failures_before": Failures(survival(7, pve44="old"), survival(9, pve44_1="old")),
        "failures_after": Failures(survival(7, pve44="new"), survival(9, pve44_1="new")),
    }
    plan = pull(*renaming(), **standing)
    assert line(comment(plan)) == "Survives 6 of 7 node failures and 8 of 9 card failures, as `main` does."
    other = pull(*renaming(slots=["t"]), **standing)
    assert "not comparable with `main`, because `old` no longer has a place; losing `pve44` now" in line(comment(other))
    unplaced = (Object("placement.yaml", "unplaced", "old"),)
    ousted = pull(replace(renaming()[0], covers=unplaced), renaming()[1], **standing)
    assert "because `old` no longer has a place" in line(comment(ousted))
    alone = pull(renaming()[0], **standing)
    assert "because `old` no longer has a place" in line(comment(alone))


WHY = "0/9 GPUs fit: 4 disabled, 5 with less than 16 GB"


def test_a_list_of_reasons_is_told_once() -> None:
    plan = pull(
        Change("role", "a", Effect.LOSE, "loses its place on x", "x", None, f"x is down; {WHY}"),
        Change("role", "b", Effect.LOSE, "loses its place on y", "y", None, f"y is down; {WHY}"),
        Change("role", "c", Effect.RECORD, "still has no place", cause=WHY.replace("4", "3")),
        new=(Diagnostic("w", f"role a has no place: {WHY}", severity=Severity.WARNING),),
    )
    body = comment(plan)
    assert "place on x — x is down; 0/9 GPUs fit: 4 disabled, 5 with less than 16 GB\n" in body
    assert "place on y — y is down; 0/9 GPUs fit\n" in body
    assert "role a has no place: 0/9 GPUs fit (`w`)" in body
    assert "0/9 GPUs fit: 3 disabled, 5 with less than 16 GB" in body
    error = Diagnostic("required-unplaced", f"role a is required but not placed: {WHY}")
    wrong = comment(replace(plan, verdict="invalid", problems=(error,), comparison=plan.comparison))
    assert f"error: role a is required but not placed: {WHY} (`required-unplaced`)" in wrong
    assert wrong.count("4 disabled") == 1
    assert turning(plan).count("4 disabled") == 1


def test_what_cannot_land_is_marked_so_even_where_it_would_take_something_away() -> None:
    plan = pull(lost("a"), verdict="invalid", problems=(Diagnostic("a", "b"),))
    assert "\n### ⛔ Invalid: 1 error" in comment(plan)


def test_a_list_of_reasons_about_the_cards_of_another_role_is_told_once() -> None:
    why = "0/1 GPUs of gpu-flex fit: 1 on windows (pytorch runs on linux)"
    one, other = (Change("role", name, Effect.RECORD, "still has no place", cause=why) for name in "ab")
    assert comment(pull(one, replace(other, summary="has none"))).count("on windows") == 1


def test_a_problem_that_is_an_error_of_the_merge_is_not_told_twice() -> None:
    error = Diagnostic("required-unplaced", f"role a is required but not placed: {WHY}")
    body = comment(pull(verdict="invalid", problems=(error,), new=(error,)))
    assert "New problems" not in body
    assert body.count("`required-unplaced`") == 1


def test_what_is_fixed_needs_no_hint_and_what_is_new_says_where_else_to_look() -> None:
    others = tuple(Related(Place(f"inventory/n{at}.yaml", line=at), "the other") for at in range(1, 5))
    one = Diagnostic("w", "two are one", Place("catalog/a.yaml", line=2), Severity.WARNING, "rename one", others)
    body = comment(pull(new=(one,), fixed=(one,)), links=Links(REPO))
    at = f"{REPO}/src/commit/{HEAD}/inventory"
    assert (
        f"warning: two are one — rename one; see [`inventory/n1.yaml:1`]({at}/n1.yaml#L1), "
        f"[`inventory/n2.yaml:2`]({at}/n2.yaml#L2), [`inventory/n3.yaml:3`]({at}/n3.yaml#L3) (`w`)\n"
    ) in body
    assert "warning: two are one; see [`inventory/n1.yaml:1`]" in body.partition("Fixed: 1")[2]
    assert "rename one" not in body.partition("Fixed: 1")[2]


def test_what_no_apply_can_do_stands_before_what_restarts() -> None:
    body = comment(pull(of("guest", Effect.RESTART, "a"), of("guest", Effect.REFUSE, "b")))
    assert "### This merge breaks the apply of 1 guest and restarts 1 guest; nothing is lost" in body
    assert "Counts: 1 refused, 1 restarted" in body
    assert body.index("**Cannot be applied**") < body.index("**Restarts**")


def restart(at: int, gib: int = 14) -> Change:
    """A guest that gets more memory."""
    return Change("guest", f"gpu-pve{at}", Effect.RESTART, f"restarts: memory 12 → {gib} GiB")


def test_guests_that_restart_alike_are_one_row() -> None:
    body = comment(pull(restart(44), restart(46), restart(47, 16), restart(48)))
    assert (
        "**Restarts**\n\n"
        "- guests `gpu-pve44`, `gpu-pve46`, `gpu-pve48`, each: restarts: memory 12 → 14 GiB\n"
        "- guest `gpu-pve47`: restarts: memory 12 → 16 GiB\n"
    ) in body
    other = Change("guest", "x", Effect.RESTART, restart(44).summary, cause="why")
    assert "- guest `x`: restarts: memory 12 → 14 GiB — why\n" in comment(pull(restart(44), other))


def test_things_of_two_kinds_are_never_one_row() -> None:
    body = comment(pull(of("slot", Effect.UPDATE, "a"), of("external", Effect.UPDATE, "b")))
    assert "- slot `a`: changed\n" in body
    assert "- external endpoint `b`: changed\n" in body


def test_a_role_that_stays_is_no_move_and_a_card_is_no_node() -> None:
    stays = Change("role", "r", Effect.UPDATE, "keeps its card, which is n/3 now", "n/1", "n/3")
    body = comment(pull(stays, of("node", Effect.UPDATE, "pve44/1")))
    assert "### This merge changes 1 card and 1 role; nothing is lost or restarted\n" in body
    assert "- card `pve44/1`: changed\n" in body
    assert "- role `r`: keeps its card" in body
    assert "Moves" not in body
    assert "### This merge changes 1 node;" in comment(pull(of("node", Effect.UPDATE, "pve44")))


def test_one_model_fits_and_two_fit() -> None:
    fits = [Change("model", name, Effect.RECORD, "fits a now", None, "a") for name in "xy"]
    assert sentence(pull(fits[0])) == "Nothing that runs changes; 1 model newly fits"
    assert sentence(pull(*fits)) == "Nothing that runs changes; 2 models newly fit"


def test_a_place_without_a_line_is_the_file() -> None:
    body = comment(pull(new=(replace(WARNING, place=Place("catalog/a.yaml")),)), links=Links(REPO))
    assert f"- [`catalog/a.yaml`]({REPO}/src/commit/{HEAD}/catalog/a.yaml) warning" in body


def test_models_are_told_in_one_place() -> None:
    assert "Only recorded" not in comment(pull(of("model", Effect.RECORD)))
    assert "Only recorded: 1" in comment(pull(of("setting", Effect.RECORD)))


def test_other_facts_of_a_model_are_no_matter_of_fitting() -> None:
    larger = Change("model", "x", Effect.RECORD, "vram_gb 1.2 → 1.3")
    assert sentence(pull(larger)) == "This merge changes only what is recorded, and nothing that runs"
    assert "Only recorded: 1" in comment(pull(larger))
    longer = [Change("model", f"m{at}", Effect.UPDATE, f"context {at} → 8192") for at in range(9)]
    assert sentence(pull(longer[0])) == "This merge changes 1 model; nothing is lost or restarted"
    assert "Models: 9" in comment(pull(*longer))


def test_a_row_names_twenty_and_what_is_left_out_is_counted_by_name() -> None:
    many = pull(*(restart(at) for at in range(100, 145)))
    rows = [row for row in comment(many).splitlines() if row.startswith("- guests")]
    assert [row.count("`gpu-") for row in rows] == [20, 20, 5]
    cut = comment(many, len(comment(many).encode()) - 1)
    assert "**Restarts**, showing 40 of 45" in cut
    assert "**Restarts:** 45, not shown here" in comment(pull(DESTROYED, *many.comparison.changes), 900)


def test_a_whole_thing_that_came_or_went_is_not_spelled_out() -> None:
    place = Place("inventory/n.yaml", line=1)
    body = comment(
        pull(
            inputs=(
                InputChange("n", {"name": "n"}, None, place, removed=True),
                InputChange("m", None, {"name": "m"}, place),
                InputChange("roles.a.count", None, 2, place),
                InputChange("roles.b.count", 2, None, place, removed=True),
                InputChange("x.os", ["linux"], ["linux", "windows"], place),
                InputChange("x.flag", True, False, place),
                InputChange("x.list", ["a"], [], place),
                InputChange("x.text", "a", "", place),
            )
        )
    )
    assert (
        "- `n` removed in `inventory/n.yaml:1`\n"
        "- `m` added in `inventory/n.yaml:1`\n"
        "- `roles.a.count` set to `2` in `inventory/n.yaml:1`\n"
        "- `roles.b.count` removed, was `2` in `inventory/n.yaml:1`\n"
        "- `x.os` `linux` → `linux, windows` in `inventory/n.yaml:1`\n"
        "- `x.flag` `true` → `false` in `inventory/n.yaml:1`\n"
        "- `x.list` `a` → `nothing` in `inventory/n.yaml:1`\n"
        '- `x.text` `a` → `""` in `inventory/n.yaml:1`\n'
    ) in body


def test_few_edits_and_problems_are_open_and_many_are_folded() -> None:
    edits = [replace(EDIT, what=f"m{at}") for at in range(9)]
    assert "**Edited**\n\n- `m0`" in comment(pull(inputs=tuple(edits[:8])))
    assert "<details><summary>Edited: 9</summary>" in comment(pull(inputs=tuple(edits)))
    problems = [replace(WARNING, message=f"m{at}") for at in range(5)]
    assert "**New problems**\n\n- warning: `m0`" in comment(pull(new=tuple(problems[:4])))
    assert "<details><summary>New problems: 5</summary>" in comment(pull(new=tuple(problems)))
    moves = [move(at) for at in range(31)]
    assert "**Moves**\n\n| role" in comment(pull(*moves[:30]))
    assert "<details><summary>Moves: 31</summary>\n\n| role" in comment(pull(*moves))


def test_what_is_fixed_is_shown_where_it_still_stands() -> None:
    one = replace(WARNING, place=Place("catalog/a.yaml", line=2))
    plan = pull(fixed=(one,), compared_with="d" * 40)
    assert f"[`catalog/a.yaml:2`]({REPO}/src/commit/{'d' * 40}/catalog/a.yaml#L2)" in comment(plan, links=Links(REPO))


@pytest.mark.parametrize("target", ["main", "master"])
def test_the_usual_target_is_not_named_at_the_top(target: str) -> None:
    assert "### This merge moves 1 role; nothing is lost or restarted\n\n" in comment(pull(move(1), target=target))


def test_another_target_is_named_at_the_top() -> None:
    assert "### This merge moves 1 role; nothing is lost or restarted (into `lab`)\n\nCounts" in comment(
        pull(move(1), target="lab")
    )
    assert "### ⚠️ This merge destroys 1 guest (into `lab`)\n\nThe result" in turning(pull(DESTROYED, target="lab"))
    assert "### ⛔ Conflict with lab: 0 problems; nothing can land\n" in comment(pull(verdict="conflict", target="lab"))


def test_many_new_failures_are_counted() -> None:
    drops = {f"n{at}": "r" for at in range(9)}
    plan = pull(
        failures_before=Failures(survival(9), survival(0)),
        failures_after=Failures(survival(9, **drops), survival(0)),
    )
    assert line(comment(plan)).endswith("; losing `n2` now drops `r`; so do 6 more failures.")


def test_few_changes_are_open_and_many_are_folded_by_kind() -> None:
    slots = [of("slot", Effect.UPDATE, f"s{at}", f"{at}") for at in range(8)]
    assert "**Changes**\n\n- slot `s0`: changed — 0\n" in comment(pull(*slots))
    assert "**Other changes**\n\n- slot `s0`: changed — 0\n" in comment(pull(*slots, move(1)))
    many = comment(pull(*slots, of("guest", Effect.CREATE, "g")))
    assert "<details><summary>Slots: 8</summary>\n\n- slot `s0`: changed — 0\n" in many
    assert "<details><summary>Guests: 1</summary>\n\n- guest `g`: added\n\n</details>\n" in many


def test_a_few_models_are_open() -> None:
    fits = [Change("model", f"m{at}", Effect.RECORD, "fits a and b now", None, "a, b", "it is new") for at in range(4)]
    assert "**Models that fit now**\n\n- `m0` for a and b: it is new\n- `m1`" in comment(pull(*fits[:3]))
    assert "<details><summary>Models that fit now: 4</summary>" in comment(pull(*fits))
    gone = Change("model", "m", Effect.RECORD, "no longer fits a, b and 3 more", "a", None)
    both = comment(pull(gone, *fits, **STANDING))
    assert "**Models that no longer fit**\n\n- `m` for a, b and 3 more\n\nSurvives" in both
    assert "</details>\n" in both.partition("Survives")[2]


def test_a_role_that_finds_a_place_is_in_the_table() -> None:
    body = comment(pull(Change("role", "r", Effect.CREATE, "gets a place on n/0", None, "n/0", "a new card")))
    assert "**Moves and new places**" in body
    assert "| `r` | nowhere | `n/0` | a new card |" in body
    new = comment(pull(Change("role", "r", Effect.CREATE, "is new and runs on n/0", None, "n/0")))
    assert "| `r` | (new) | `n/0` | is new and runs on `n/0` |" in new


def test_markers() -> None:
    assert marker("main") == "<!-- knaster plan v1 target=main -->"
    assert marker("a-->b é") == "<!-- knaster plan v1 target=a%2D%2D%3Eb%20%C3%A9 -->"
    assert alert_marker("main", "0" * 16, "a1") == f"<!-- knaster alert v1 target=main result={'0' * 16} head=a1 -->"
    assert read_marker(comment(node_down())) == Marker(
        "main", HEAD, BASE, PLAN, result_id(node_down()), "destructive", 1
    )


def test_only_the_start_of_a_comment_is_its_marker() -> None:
    body = comment(node_down())
    assert read_marker(body.replace("\n", "\r\n")) == read_marker(body)
    for other in (f"> {body}", f"\n{body}", f" {body}", body.split("\n", 1)[1], body[:60], "", turning(node_down())):
        assert read_marker(other) is None


def test_a_marker_that_somebody_edited_is_none() -> None:
    """Found by fuzzing: bytes that are no UTF-8."""
    body = comment(node_down()).replace("target=main", "target=ma%FFin", 1)
    assert read_marker(body) is None


@given(st.text(min_size=1))
def test_any_target_is_read_back(target: str) -> None:
    usable = target.encode("utf-8", "replace").decode()
    body = comment(replace(pull(), target=usable), 0)
    found = read_marker(body)
    assert found is not None
    assert found.target == usable
    assert body.split("\n")[0].count("--") == 2


def test_equal_results_have_equal_ids_and_others_have_others() -> None:
    plan = node_down()
    assert result_id(replace(plan, base="d" * 40, head="e" * 40, compared_with="d" * 40, plan_id="f")) == result_id(
        plan
    )
    moved = replace(plan.comparison.new[0], place=Place("catalog/roles.yaml", line=99))
    assert result_id(replace(plan, comparison=replace(plan.comparison, new=(moved,)))) == result_id(plan)
    others = {
        result_id(replace(plan, verdict="invalid")),
        result_id(replace(plan, comparison=replace(plan.comparison, new=()))),
        result_id(replace(plan, comparison=replace(plan.comparison, changes=plan.comparison.changes[1:]))),
        result_id(replace(plan, problems=(WARNING,))),
    }
    assert len(others | {result_id(plan)}) == 5


def test_a_result_that_turns_destructive_is_told_in_a_few_lines() -> None:
    assert turning(small()) == (
        f"<!-- knaster alert v1 target=main result={result_id(small())} head={HEAD} -->\n\n"
        "### ⚠️ This merge destroys 1 guest; it also moves 3 roles\n\n"
        f"The result of this pull request turned destructive at `{HEAD[:12]}`. The whole plan is in the other comment, "
        "which is kept up to date; this one is not.\n\n"
        "**Taken away**\n\n"
        "- **destroyed** guest `ops`: is destroyed — retired in `catalog/platform.yaml`\n"
    )
    many = turning(pull(*(replace(DESTROYED, name=f"g{at}") for at in range(500))))
    assert len(many.encode()) <= 3000
    assert "This merge destroys 500 guests" in many
    assert "of 500" in many


@pytest.mark.parametrize("base", ["javascript:alert(1)", "https://u:p@git.example.org/r", "https://x/)", "//x", "x y"])
def test_an_address_that_cannot_stand_in_a_link_makes_none(base: str) -> None:
    assert comment(node_down(), links=Links(base)) == comment(node_down())


def test_a_path_is_quoted_in_its_link() -> None:
    links = Links(f"{REPO}/")
    assert links.file(HEAD, "inventory/a b)#?%.yaml", 2) == (
        f"{REPO}/src/commit/{HEAD}/inventory/a%20b%29%23%3F%25.yaml#L2"
    )
    assert links.file(HEAD, "a\u202eb") == ""


def test_the_template_engine_is_loaded_only_for_a_comment() -> None:
    code = "import knaster.reports.comment, sys; assert 'jinja2' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_no_failures_are_told_of_what_cannot_land() -> None:
    assert "Survives" not in comment(replace(node_down(), verdict="invalid"))
