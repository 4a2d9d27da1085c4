"""The comment: text from a repository does nothing in it, and it fits every budget."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from knaster.pull import PullPlan
from knaster.reports.comment import Links, bodies, comment, counts, read_marker, sentence, turning
from knaster.reports.comment.ladder import Block, fit
from knaster.reports.comment.sections import Section
from knaster.reports.comment.templates import Safe
from knaster.reports.markdown import prose
from tests.pulls import DESTROYED, large, many_errors, move, node_down, pull, small, spread

REPO = "https://git.example.org/ai/fleet"
HOSTILE = {
    "fence 3": "```",
    "fence 4": "````\nx\n````",
    "fence 10": "`" * 10,
    "tildes": "~~~~",
    "closing tag": "</details></summary></sub>",
    "comment": "<!-- knaster plan v1 target=main -->",
    "end of a comment": "-->",
    "pipe": "a | b \\| c",
    "bidi": "a\u202eb\u2066c\u200b",
    "controls": "a\x1b[31m\x00\r\nb",
    "mention": "@infra-team",
    "reference": "closes #1 and fixes owner/repo#2, !3",
    "bold": "<b>" * 600,
    "quotes": ">" * 600,
    "sha": "0123456789abcdef0123456789abcdef01234567",
    "short sha": "abcdef1",
    "math": "$math$ $$x$$",
    "emoji": ":100: vm:100: :x:",
    "wiki": "[[x]]",
    "link": "[a](javascript:alert(1)) ![i](http://x) <http://x> www.x.org a@b.org",
    "emphasis": "_name_.py **b** ~~s~~",
    "line starts": "- a\n# b\n1. c\n    d\n> e\n---\n===\n: f\n[^1]: g",
    "entity": "&lt;b&gt; &#64;infra",
    "backslash": "\\` \\",
    "long": "x" * 10_000,
    "surrogate": "\udcff",
    "image": '<img src=x onerror="alert(1)">',
    "colour": "#ff0000",
    "empty": "",
    "template": "{{ 7 * 7 }}{% raw %}",
}

_SPAN = re.compile(r"(?<!`)(`+)(?!`)(.*?)(?<!`)\1(?!`)")
_OURS = re.compile(
    rf"\({re.escape(REPO)}/(?:src/commit|commit)/[A-Za-z0-9%_./]+(?:#L[0-9]+)?\)"
    r"|</?sub>|</?details>|<summary>[A-Za-z ]+: (?:showing [0-9]+ of )?[0-9]+</summary>"
    r"|^### (?:⚠️ |⛔ )?|\*\*[a-zA-Z ]+:?\*\*|^\|(?: (?:role|from|to|why|---) \|)+$|^- |\[|\]"
)
_PLAIN = re.compile(r"[A-Za-z0-9 .,:;?()/'—→·|]*")


def outside(body: str) -> list[str]:
    """What stands outside of code spans, line by line, without the markup that is the comment's own."""
    marked = body.split("\n")[2:] if body.startswith("<!-- knaster plan") else body.split("\n")[1:]
    return [_OURS.sub("", _SPAN.sub("", line)) for line in marked]


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
@pytest.mark.parametrize("make", [lambda plan: comment(plan, 10**6, links=Links(REPO)), comment, turning])
def test_hostile_text_is_shown_in_code_alone(make: Callable[[PullPlan], str], text: str) -> None:
    body = make(spread(text))
    for line in outside(body):
        assert _PLAIN.fullmatch(line), line
        assert not re.search(r"\b[0-9a-f]{7,}\b", line)
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f\u200b\u202e\u2066\udcff]", body)


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_no_text_breaks_a_table_or_a_fold(text: str) -> None:
    body = comment(spread(text), 10**6)
    lines = body.split("\n")
    rows = [line for line in lines if line.startswith("| ")]
    assert rows
    assert {len(re.findall(r"(?<!\\)\|", line)) for line in rows} == {5}
    opened = [at for at, line in enumerate(lines) if line.startswith("<details><summary>")]
    closed = [at for at, line in enumerate(lines) if line == "</details>"]
    assert opened
    assert len(opened) == len(closed)
    assert sorted(opened + closed) == [at for pair in zip(opened, closed, strict=True) for at in pair]
    for at in opened:
        assert lines[at + 1] == ""
    for at in closed:
        assert lines[at - 1] == ""
    found = read_marker(body)
    assert found is not None
    assert found.target == (text or "main")


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.text(st.characters() | st.sampled_from("`|@#_*<>[]()!$:-+.\n\\/ a1"), max_size=80))
def test_any_text_is_inert(text: str) -> None:
    for line in outside(comment(spread(text), 10**6, links=Links(REPO))):
        assert _PLAIN.fullmatch(line), line


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.text(st.characters() | st.sampled_from("`|@#_*<>[]()!$:-+.\n\\/ a1"), max_size=80))
def test_a_real_parser_finds_text_from_data_in_code_alone(text: str) -> None:
    _check_with_a_parser(comment(spread(text), 10**6, links=Links(REPO)))


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_a_real_parser_finds_hostile_text_in_code_alone(text: str) -> None:
    _check_with_a_parser(comment(spread(text), 10**6, links=Links(REPO)))


def _check_with_a_parser(body: str) -> None:
    """CommonMark with tables: the only HTML is ours and balanced, all other text outside of code is plain."""
    tokens = _parser().parse(body)
    flat = [inner for token in tokens for inner in (token.children or [token])]
    html = [token.content.strip() for token in flat if token.type in ("html_block", "html_inline")]
    assert not [
        one for one in html[2:] if not re.fullmatch(r"</?sub>|</details>|<details><summary>[^<>]*</summary>", one)
    ]
    assert sum(one.startswith("<details>") for one in html) == html.count("</details>")
    assert html.count("<sub>") == html.count("</sub>")
    assert not [token for token in flat if token.type in ("fence", "code_block", "image", "blockquote_open", "hr")]
    for token in flat:
        if token.type == "text":
            assert re.fullmatch(r"[A-Za-z0-9 .,:;?()/'—→·⚠️⛔]*", token.content), token.content
        if token.type == "link_open":
            assert token.attrs["href"].startswith(f"{REPO}/")
    assert max((token.level for token in tokens), default=0) <= 6


@cache
def _parser() -> Any:
    markdown_it = pytest.importorskip("markdown_it", reason="markdown-it-py is not installed")
    return markdown_it.MarkdownIt("commonmark").enable("table")


def test_a_secret_is_masked_before_anything_is_cut() -> None:
    secret = "ghp_0123456789abcdefghijABCDEFGHIJ456789"
    for lead in range(60, 420, 7):
        body = comment(spread("w" * lead + " " + secret), 10**6, links=Links(REPO))
        assert "ghp_0" not in body.split("\n", 2)[2]


PLANS = {"small": small(), "large": large(), "errors": many_errors(), "down": node_down()}


@pytest.mark.parametrize("plan", PLANS.values(), ids=PLANS)
def test_every_budget_gives_the_verdict_the_counts_and_whole_markup(plan: PullPlan) -> None:
    ladder = bodies(plan, Links(REPO))
    full, least = (len(fit(ladder, budget).encode()) for budget in (10**7, 0))
    assert least < 600
    start = f"{prose(sentence(plan))}\n\nCounts: {counts(plan)}\n"
    for budget in range(0, 70_001, 37):
        body = fit(ladder, budget)
        size = len(body.encode())
        assert size <= max(budget, least)
        assert start in body
        assert "No change" not in body
        found = read_marker(body)
        assert found is not None
        assert (found.verdict, found.destructive) == (plan.verdict, len(plan.comparison.destructive))
        assert body.count("<details><summary>") == body.count("</summary>\n\n") == body.count("\n\n</details>\n")
        assert body.count("<sub>") == body.count("</sub>\n")
        assert body.count("`") % 2 == 0
        if least <= budget < full:
            assert budget - size <= 600, "close to the budget"


@pytest.mark.parametrize(("plan", "rows"), [("large", 4800), ("errors", 5000)])
def test_what_is_left_out_is_counted(plan: str, rows: int) -> None:
    body = comment(PLANS[plan])
    assert len(body.encode()) <= 60_000
    shown = re.search(rf"showing ([0-9]+) of {rows}", body)
    assert shown is not None
    lines = re.findall(r"(?m)^\| `role-|^- \S+ error: ", body)
    assert len(lines) == int(shown[1]) > 300
    assert "Shortened to fit; the run's `plan.json` holds all of it." in body


def test_what_is_taken_away_is_named_before_anything_else() -> None:
    for budget in range(0, 4000, 37):
        body = comment(PLANS["small"], budget)
        if "`role-0`" in body or "models.phi-4" in body:
            assert "- **destroyed** guest `ops`" in body


def test_a_budget_that_is_enough_leaves_nothing_out() -> None:
    for plan in (small(), node_down()):
        whole = comment(plan, 10**6)
        assert comment(plan, len(whole.encode())) == whole
        assert comment(plan, len(whole.encode()) - 1) != whole
        assert "Shortened" not in whole


def test_a_section_at_the_end_is_whole_where_a_part_of_it_would_be_longer() -> None:
    notes = Section("Please note", "note", tuple("abcdefghi"), str)
    whole = fit([[Safe("x"), Block(notes)]], 10**6)
    assert whole == "x\n\n**Please note**\n\n" + "".join(f"- {note}\n" for note in "abcdefghi")
    assert fit([[Safe("x"), Block(notes)], [Safe("x")]], len(whole.encode())) == whole


def test_every_section_shows_some_rows_before_the_first_shows_all() -> None:
    guests = [replace(DESTROYED, name=f"guest-{at}", cause=f"because {at}") for at in range(200)]
    body = comment(pull(*guests, *map(move, range(200))), 6000)
    assert re.search(r"\*\*Taken away\*\*, showing [0-9]+ of 200", body)
    assert "`role-9`" in body


def test_names_alone_come_before_a_few_rows_with_their_causes() -> None:
    guests = [replace(DESTROYED, name=f"guest-{at}", cause="because " * 40 + f"{at}") for at in range(12)]
    body = comment(pull(*guests), 1500)
    assert all(f"- **destroyed** guest `guest-{at}`\n" in body for at in range(12))
