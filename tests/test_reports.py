"""Reports: the same content in three formats, and no data that does anything but be read."""

from __future__ import annotations

import json
import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knaster.diagnostics import Diagnostic, Place, Related, Severity
from knaster.reports import json as json_report
from knaster.reports import markdown, text
from knaster.reports.blocks import Code, Items, Line, Problems, Report, Style, Table, plural
from knaster.reports.inert import inert, spelled, width
from knaster.reports.snippet import snippet

TEXT = "roles:\n  rerank:\n    needs: {engine: vlmm}\n"
ERROR = Diagnostic(
    "unknown-engine",
    'unknown engine "vlmm"',
    Place("catalog/roles.yaml", ("roles",), line=3, column=21),
    hint='did you mean "vllm"?',
    related=(Related(Place("catalog/models.yaml", line=2, column=1), "the engines"),),
)


def shown(*diagnostics: Diagnostic, style: Style = text.PLAIN) -> str:
    """Diagnostics as text."""
    return text.render(Report({}, (Problems(diagnostics, {"catalog/roles.yaml": TEXT}),)), style)


def warnings(number: int) -> list[Diagnostic]:
    """Many warnings of one code."""
    return [
        Diagnostic(
            "assumed",
            f"node {index} is assumed",
            Place(f"inventory/n{index}.yaml"),
            Severity.WARNING,
            hint="collect it",
        )
        for index in range(number)
    ]


def test_a_diagnostic_has_a_place_a_snippet_a_caret_a_hint_and_what_is_related() -> None:
    assert shown(ERROR) == (
        'catalog/roles.yaml:3:21: error: unknown engine "vlmm" [unknown-engine]\n'
        "    3 |     needs: {engine: vlmm}\n"
        "      |                     ^\n"
        '  hint: did you mean "vllm"?\n'
        "  see catalog/models.yaml:2:1: the engines\n"
    )


def test_colour_is_ours_alone() -> None:
    assert "\x1b[1;31merror\x1b[0m" in shown(ERROR, style=Style(color=True))
    assert "\x1b" not in shown(ERROR)


def test_few_warnings_are_shown_in_full() -> None:
    assert shown(*warnings(2)).count("hint: collect it") == 2


def test_many_warnings_of_one_code_are_grouped() -> None:
    assert shown(*warnings(100)).splitlines() == [
        "100 times warning [assumed]",
        *(f"  inventory/n{index}.yaml: node {index} is assumed" for index in range(5)),
        "  and 95 more (-v shows all)",
        "  hint: collect it",
    ]
    assert len(shown(*warnings(100), style=Style(verbose=True)).splitlines()) == 200


def test_no_error_is_ever_left_out() -> None:
    errors = [Diagnostic("bad-name", f"bad {index}") for index in range(500)]
    assert shown(*errors).count("[bad-name]") == 500


def test_errors_come_last_and_quiet_shows_them_alone() -> None:
    both = (ERROR, *warnings(1))
    assert shown(*both).index("assumed") < shown(*both).index("unknown engine")
    assert shown(*both, style=Style(quiet=True)) == shown(ERROR)


def test_quiet_keeps_a_bad_verdict_only() -> None:
    blocks = (Line("fine", "good"), Line("so so"), Line("bad", "bad"))
    assert text.render(Report({}, blocks), Style(quiet=True)) == "bad\n"


def test_a_table_is_aligned_also_with_wide_characters() -> None:
    table = Table(("ROLE", "CARD"), (("語", "P2000"), ("rerank", "x")), title="plan")
    assert text.render(Report({}, (table,))) == "plan\nROLE    CARD\n語      P2000\nrerank  x\n"


def test_nothing_to_show_is_nothing() -> None:
    assert text.render(Report({}, (Table(("A",), ()), Items("empty", ()), Problems(())))) == ""
    assert markdown.render(Report({}, (Table(("A",), ()), Items("empty", ()), Problems(())))) == ""


@pytest.mark.parametrize(
    ("given_text", "expected"),
    [
        ("plain – text ß", "plain – text ß"),
        ("\x1b[31mred", "\\x1b[31mred"),
        ("a\u202eb", "a\\u202eb"),
        ("a\nb\tc\r", "a\\nb\\tc\\r"),
        ("\u2066x\u200b", "\\u2066x\\u200b"),
        ("\udcff", "\\udcff"),
        ("\U000e0041", "\\U000e0041"),
        ("password: hunter2hunter2", "password: [redacted]"),
    ],
)
def test_inert(given_text: str, expected: str) -> None:
    assert inert(given_text) == expected


@given(st.text())
def test_spelled_text_moves_no_cursor(given_text: str) -> None:
    assert not any(
        unicodedata.category(character) in {"Cc", "Cf", "Cs", "Zl", "Zp"} for character in spelled(given_text)
    )


@given(st.text(), st.integers(0, 50), st.integers(0, 400))
def test_a_snippet_never_fails_and_points_to_its_column(line: str, number: int, column: int) -> None:
    for row in snippet(line, Place("f", line=number, column=column)):
        assert len(row) <= 8 + 102 * 10


def test_a_long_line_is_cut_around_the_spot() -> None:
    line = "a" * 5000 + "X" + "b" * 5000
    head, caret = snippet(line, Place("f", line=1, column=5001))
    assert len(head) < 120
    assert head[caret.index("^")] == "X"


def test_a_caret_stands_under_its_character_after_spelled_ones() -> None:
    head, caret = snippet("\x1b語: X", Place("f", line=1, column=5))
    assert width(head[: head.index("X")]) == caret.index("^")


def test_a_secret_in_a_snippet_is_masked_and_has_no_caret() -> None:
    rows = snippet("  api_key: sk-0123456789abcdef0123", Place("f", line=1, column=12))
    assert rows == ("    1 |   api_key: [redacted]",)


def test_line_ends_and_byte_order_marks_do_not_shift_a_snippet() -> None:
    assert snippet("\ufeffa: 1\r\nb: 2\r\n", Place("f", line=2, column=4)) == ("    2 | b: 2", "      |    ^")


HOSTILE = "`x` ```y``` | <script> @team #1 \x1b[31m \u202e </details> <!-- [a](b)"


def test_markdown_shows_hostile_text_in_code_only() -> None:
    report = Report(
        {},
        (
            Table(("A", "B"), ((HOSTILE, "b"),)),
            Items("t", (HOSTILE,)),
            Line(HOSTILE),
            Problems((Diagnostic("c", HOSTILE),)),
        ),
    )
    result = markdown.render(report)
    assert "\x1b" not in result
    assert "\u202e" not in result
    outside = re.sub(r"(?s)(`+)(?!`).*?(?<!`)\1(?!`)", "", result)
    assert not re.search(r"[<@#\[]", outside.replace("### ", ""))
    row = next(line for line in result.splitlines() if line.startswith("| `"))
    assert len(re.findall(r"(?<!\\)\|", row)) == 3


@pytest.mark.parametrize(
    ("sentence", "shown"),
    [
        ("6 of 8 roles placed; 17 warnings, shown by knaster validate",) * 2,
        ("generated/ is up to date: 5 files", "`generated/` is up to date: 5 files"),
        ("without pve46 the fleet drops gpu-flex, rerank", "without `pve46` the fleet drops `gpu-flex`, rerank"),
        ("it's 0.5 (or 0/9), so be it.",) * 2,
        ("see @team and #1 or !2", "see `@team` and `#1` or `!2`"),
        ("https://x.example www.x.example", "`https://x.example www.x.example`"),
        ("deadbeef and 12345678", "`deadbeef` and `12345678`"),
        ("1. a list", "`1. a list`"),
        ("- a list", "`-` a list"),
        ("# a title", "`#` a title"),
        ("*bold* _i_ a_b", "`*bold* _i_ a_b`"),
        ("    a b", "a b"),
        ("12 → 16 GiB; a-b, c-d", "12 → 16 GiB; `a-b`, `c-d`"),
        ("password: hunter22", "password: `[redacted]`"),
        ("run `knaster inventory collect` on the machine", "run `knaster inventory collect` on the machine"),
        ('did you mean "the largest"?', 'did you mean `"the largest"`?'),
        ("did you?", "did you?"),
        ("on pve44 (infra-1), see (`a b`).", "on `pve44` (`infra-1`), see (`a b`)."),
        ("see foo/..", "see `foo/..`"),
        ("1) a list", "`1) a list`"),
        ("a deadbee or facade", "a `deadbee` or facade"),
        ("(a_b) c_d; e_f g_h", "(`a_b`) `c_d`; `e_f g_h`"),
        ("moves to GODE-PC-05 (a_b)", "moves to `GODE-PC-05` (`a_b`)"),
        ("write `a`b`, x", "write `` `a`b` ``, x"),
    ],
)
def test_a_sentence_in_markdown_is_plain_words_and_code(sentence: str, shown: str) -> None:
    assert markdown.render(Report({}, (Line(sentence),))) == f"{shown}\n"


def test_names_that_a_sentence_is_told_of_are_code() -> None:
    names = frozenset({"chat", "general", "Quadro M4000", "a|b"})
    assert markdown.prose("4 taken by chat, general (chat)", names) == "4 taken by `chat`, `general` (`chat`)"
    assert markdown.prose("is enabled: Quadro M4000.", names) == "is enabled: `Quadro M4000`."
    assert markdown.prose("is enabled: Quadro M4000.") == "is enabled: Quadro `M4000`."
    assert markdown.prose("in generalities", names) == "in generalities"
    longer = names | {"Quadro M4000 Ti"}
    assert markdown.prose("a Quadro M4000 Ti (a Quadro M4000)", longer) == "a `Quadro M4000 Ti` (a `Quadro M4000`)"


@given(
    st.text(st.characters() | st.sampled_from('`"@#_*<>[]()!|-+.:/? a1'), max_size=60),
    st.lists(st.text(st.characters() | st.sampled_from("`|@<>[]() a1"), max_size=9)),
)
def test_a_sentence_in_markdown_is_inert(sentence: str, names: list[str]) -> None:
    shown = markdown.prose(sentence, frozenset((*names, *sentence.split(" ")[1:2], sentence[3:12])))
    assert "\n" not in shown
    outside = re.sub(r"(?<!`)(`+)(?!`).*?(?<!`)\1(?!`)", "", shown)
    assert re.fullmatch(r"[A-Za-z0-9 .,:;?()/'→]*", outside)


def test_headings_in_markdown_are_plain() -> None:
    blocks = (Items("not placed", ("a: b",)), Items("generated/", ("+ x",)), Table(("A",), (("b",),), title="the plan"))
    assert [line for line in markdown.render(Report({}, blocks)).splitlines() if line.startswith("#")] == [
        "### not placed",
        "### `generated/`",
        "### the plan",
    ]


def test_quiet_markdown_and_json_hold_errors_alone() -> None:
    both = (ERROR, *warnings(1))
    data = {"diagnostics": [json_report.diagnostic(item) for item in both]}
    report = Report(data, (Problems(both), Line("fine", "good"), Line("bad", "bad")))
    quiet = Style(quiet=True)
    assert "assumed" in markdown.render(report)
    assert markdown.render(report, quiet) == f"```text\n{text.render(Report({}, (Problems((ERROR,)),)))}```\n\nbad\n"
    assert [item["code"] for item in json.loads(json_report.render(report, quiet))["diagnostics"]] == [ERROR.code]
    assert len(json.loads(json_report.render(report))["diagnostics"]) == 2
    assert markdown.render(Report({}, (Problems(tuple(warnings(1))),)), quiet) == ""


@given(st.text())
def test_a_code_span_never_ends_early(given_text: str) -> None:
    span = markdown.code(given_text)
    if span:
        fence = re.match("`+", span)
        assert fence is not None
        inner = span[len(fence.group()) : -len(fence.group())]
        assert "\n" not in span
        assert not any(len(run) >= len(fence.group()) for run in re.findall("`+", inner))


def test_json_is_ascii_stable_and_masked() -> None:
    data = {
        "diagnostics": [json_report.diagnostic(ERROR)],
        "secret": "password=hunter2hunter2",
        "s": "\u202eß",
    }
    result = json_report.render(Report(data, ()))
    assert result.isascii()
    assert "hunter2" not in result
    assert json.loads(result)["diagnostics"] == [
        {
            "code": "unknown-engine",
            "severity": "error",
            "message": 'unknown engine "vlmm"',
            "file": "catalog/roles.yaml",
            "line": 3,
            "column": 21,
            "hint": 'did you mean "vllm"?',
            "related": [{"file": "catalog/models.yaml", "line": 2, "column": 1, "message": "the engines"}],
        }
    ]
    assert json_report.diagnostic(Diagnostic("c", "m"))["file"] is None


def test_digests_are_not_taken_for_secrets() -> None:
    digest = "sha256:" + "0123456789abcdef" * 4
    assert json.loads(json_report.render(Report({"input_digest": digest}, ())))["input_digest"] == digest


@pytest.mark.parametrize(("number", "expected"), [(0, "0 nodes"), (1, "1 node"), (2, "2 nodes")])
def test_plural(number: int, expected: str) -> None:
    assert plural(number, "node") == expected


def test_lines_to_copy_stand_as_they_are_and_hold_no_fence_open() -> None:
    block = Code("the entry", ("  a:", "    # ```", "    b: \x1b[31m"), "yaml")
    assert text.render(Report({}, (block,))) == "the entry\n  a:\n    # ```\n    b: \\x1b[31m\n"
    assert markdown.render(Report({}, (block,))) == (
        "### the entry\n\n````yaml\n  a:\n    # ```\n    b: \\x1b[31m\n````\n"
    )
    assert text.render(Report({}, (block, Code("none", ()))), Style(quiet=True)) == ""
