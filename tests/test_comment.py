"""The comment: what it says, word for word, and the lines that machines read."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knaster.changes.result import Change, Effect, Kind
from knaster.diagnostics import Diagnostic, Place, Severity
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

- **dropped** role `verifier`: loses its place on `pve48/1` — 0/9 GPUs fit: 4 disabled, 1 down, 4 taken by embedding, \
`gpu-flex`, `gpu-general`, rerank

**Restarts**

- guest `gpu-pve48`: restarts: memory 12 → 16 GiB

**Moves**

| role | from | to | why |
| --- | --- | --- | --- |
| `embedding` | `pve44/1` | `pve46/1` | `pve44` is down: the power supply is broken |
| `rerank` | `pve46/1` | `pve48/1` | taken by embedding, which comes first (priority 30) |

**Edited**

- `nodes.pve44.reason` set to `the power supply is broken` in \
[`inventory/pve44.yaml:9`]({REPO}/src/commit/{HEAD}/inventory/pve44.yaml#L9)
- `nodes.pve44.groups` removed, was `["old"]` in \
[`inventory/pve44.yaml:12`]({REPO}/src/commit/{BASE}/inventory/pve44.yaml#L12)

**New problems**

- [`catalog/roles.yaml:52`]({REPO}/src/commit/{HEAD}/catalog/roles.yaml#L52) warning: role verifier has no place \
— free a card (`unplaced-role`)

Survives 6 of 7 node failures (`main`: 4) and 8 of 9 card failures (as `main` does), counting only roles that keep a \
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
        "- `catalog/roles.yaml:12` error: unknown engine vlmm — did `you?` (`unknown-engine`)\n\n"
        "To repair `generated/`, run `knaster render` on this branch, then commit and push.\n\n"
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


def of(kind: Kind, effect: Effect, name: str = "x") -> Change:
    """A change without words."""
    return Change(kind, name, effect, "")


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


def test_many_new_failures_are_counted() -> None:
    drops = {f"n{at}": "r" for at in range(9)}
    plan = pull(
        failures_before=Failures(survival(9), survival(0)),
        failures_after=Failures(survival(9, **drops), survival(0)),
    )
    assert line(comment(plan)).endswith("; losing `n2` now drops `r`; so do 6 more failures.")


def test_few_changes_are_open_and_many_are_folded_by_kind() -> None:
    slots = [of("slot", Effect.UPDATE, f"s{at}") for at in range(8)]
    assert "**Changes**\n\n- slot `s0`: changed\n" in comment(pull(*slots))
    assert "**Other changes**\n\n- slot `s0`: changed\n" in comment(pull(*slots, move(1)))
    many = comment(pull(*slots, of("guest", Effect.CREATE, "g")))
    assert "<details><summary>Slots: 8</summary>\n\n- slot `s0`: changed\n" in many
    assert "<details><summary>Guests: 1</summary>\n\n- guest `g`: added\n\n</details>\n" in many


def test_a_few_models_are_open() -> None:
    models = [of("model", Effect.RECORD, f"m{at}") for at in range(4)]
    assert "**Models that fit or no longer fit**\n\n- model `m0`: recorded\n" in comment(pull(*models[:3]))
    assert "<details><summary>Models that fit or no longer fit: 4</summary>" in comment(pull(*models))


def test_a_role_that_finds_a_place_is_in_the_table() -> None:
    body = comment(pull(Change("role", "r", Effect.CREATE, "gets a place on n/0", None, "n/0", "a new card")))
    assert "**Moves and new places**" in body
    assert "| `r` | nowhere | `n/0` | a new card |" in body


def test_markers() -> None:
    assert marker("main") == "<!-- knaster plan v1 target=main -->"
    assert marker("a-->b é") == "<!-- knaster plan v1 target=a%2D%2D%3Eb%20%C3%A9 -->"
    assert alert_marker("main", "0" * 16) == f"<!-- knaster alert v1 target=main result={'0' * 16} -->"
    assert read_marker(comment(node_down())) == Marker(
        "main", HEAD, BASE, PLAN, result_id(node_down()), "destructive", 1
    )


def test_only_the_start_of_a_comment_is_its_marker() -> None:
    body = comment(node_down())
    assert read_marker(body.replace("\n", "\r\n")) == read_marker(body)
    for other in (f"> {body}", f"\n{body}", f" {body}", body.split("\n", 1)[1], body[:60], "", turning(node_down())):
        assert read_marker(other) is None


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
        f"<!-- knaster alert v1 target=main result={result_id(small())} -->\n\n"
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
