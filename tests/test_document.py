"""Strict YAML: what is accepted, what is refused, and where."""

from __future__ import annotations

import pytest

from knaster.diagnostics import Diagnostic
from knaster.document import Document, Value, parse, parser, syntax

FILE = "inventory/n1.yaml"

NODE = """\
# yaml-language-server: $schema=../schemas/node.schema.json
name: pve-ada
cpu: {model: "AMD EPYC", cores: 8, threads: null}
memory_gb: 64.0
disks: [{name: nvme0n1, size_gb: 256, rotational: false}]
gpus:
  - {index: 0, name: 'NVIDIA RTX 4000 Ada Generation', compute_cap: 8.9, driver: 580.65.06, mac: 02:11:22:33:44:55}
  - index: 1
    id: 10de:1c30
    address: 192.168.0.1
    reason:
warnings: []
note: |
  two
  lines
"""


@pytest.fixture(params=["libyaml", "python"], autouse=True)
def _parser(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every test runs with the C parser and with PyYAML's own."""
    if request.param == "python":
        monkeypatch.setattr(parser, "_fast", parser._slow)


def spots(text: str) -> list[tuple[str, int, int]]:
    """Code, line and column of everything wrong with `text`; wrong text gives no document."""
    parsed, found = parse(FILE, text)
    assert (parsed is None) == bool(found)
    assert all(d.place is not None and d.place.file == FILE for d in found)
    return [(d.code, d.place.line, d.place.column) for d in found if d.place]


def only(text: str) -> Diagnostic:
    parsed, (diagnostic,) = parse(FILE, text)
    assert parsed is None
    return diagnostic


def test_a_node_profile() -> None:
    gpus: list[Value] = [
        {
            "index": 0,
            "name": "NVIDIA RTX 4000 Ada Generation",
            "compute_cap": 8.9,
            "driver": "580.65.06",
            "mac": "02:11:22:33:44:55",
        },
        {"index": 1, "id": "10de:1c30", "address": "192.168.0.1", "reason": None},
    ]
    parsed, found = parse(FILE, NODE)
    assert found == ()
    assert parsed == Document(
        FILE,
        {
            "name": "pve-ada",
            "cpu": {"model": "AMD EPYC", "cores": 8, "threads": None},
            "memory_gb": 64,
            "disks": [{"name": "nvme0n1", "size_gb": 256, "rotational": False}],
            "gpus": gpus,
            "warnings": [],
            "note": "two\nlines\n",
        },
    )
    assert type(parsed.data["memory_gb"]) is int


@pytest.mark.parametrize("ending", ["\r\n", "\r", "\n"])
@pytest.mark.parametrize("start", ["", "\ufeff"])
def test_line_ends_and_a_byte_order_mark_at_the_start_change_nothing(ending: str, start: str) -> None:
    parsed, found = parse(FILE, start + NODE.replace("\n", ending))
    assert (parsed, found) == parse(FILE, NODE)
    assert spots(start + f"a: 1{ending}b: {{c: NO}}{ending}") == [("yaml-quote", 2, 8)]


@pytest.mark.parametrize(
    "text", ["{}", "--- {}", "---\na: 1\n...\n", "a: '1'", '"1": b', "'yes': b", "a: !\n".replace("!", "")]
)
def test_accepted_forms(text: str) -> None:
    assert spots(text) == []


def test_quotes_make_text_of_anything() -> None:
    parsed, _ = parse(FILE, "a: 'NO'\nb: \"1e3\"\n'on': 1\nc: |\n  1:30\nd: >-\n  some\n  words\n")
    assert parsed is not None
    assert parsed.data == {"a": "NO", "b": "1e3", "on": 1, "c": "1:30\n", "d": "some words"}


@pytest.mark.parametrize("word", ["NO", "null", "0x1", "2001-01-01", "1:30", "7"])
@pytest.mark.parametrize("style", ["|-", ">-"])
def test_a_block_scalar_that_opentofu_would_misread_is_refused(style: str, word: str) -> None:
    """Its decoder resolves block scalars as if they were plain: ``|-`` over NO is false there."""
    assert spots(f"k: {style}\n  {word}\n") == [("yaml-quote", 1, 4)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # Text that changes its type by reader: in a value, a list, a key.
        (
            "site: NO\nwindow: 22:30\nserial: 0472135016\n",
            [("yaml-quote", 1, 7), ("yaml-quote", 2, 9), ("yaml-quote", 3, 9)],
        ),
        ("mac: 52:54:00:41:07:19\n", [("yaml-quote", 1, 6)]),
        (
            "rack: 010\nslot: 08\nrevision: 0012345\n",
            [("yaml-quote", 1, 7), ("yaml-quote", 2, 7), ("yaml-quote", 3, 11)],
        ),
        ("purchased: 2026-11-29\n", [("yaml-quote", 1, 12)]),
        ("a: [70e4411, 1234567, .5e3]\n", [("yaml-quote", 1, 5), ("yaml-quote", 1, 23)]),
        ("ä: {ö: [ü, y]}\n", [("yaml-quote", 1, 12)]),
        ("off: 1\nroles:\n  on: {}\n", [("yaml-quote", 1, 1), ("yaml-quote", 3, 3)]),
        # Keys must be text.
        ("1: a\ntrue: b\nnull: c\n", [("yaml-key", 1, 1), ("yaml-key", 2, 1), ("yaml-key", 3, 1)]),
        ("8.50: a\n", [("yaml-key", 1, 1)]),
        ("{a: 1, [b]: c, {d: 1}: e}\n", [("yaml-key", 1, 8), ("yaml-key", 1, 16)]),
        # Duplicates, also of different spelling.
        ("models: {}\nroles: {}\nmodels: {}\n", [("yaml-duplicate-key", 3, 1)]),
        ("a:\n  - {b: 1, 'b': 2, \"b\": 3}\n", [("yaml-duplicate-key", 2, 12), ("yaml-duplicate-key", 2, 20)]),
        ('1: a\n"1": b\n', [("yaml-key", 1, 1), ("yaml-duplicate-key", 2, 1)]),
        # Anchors, aliases, merge keys, tags.
        ("a: &x 1\nb: *x\n", [("yaml-alias", 1, 4), ("yaml-alias", 2, 4)]),
        ("a: &x {}\nb:\n  <<: *x\n", [("yaml-alias", 1, 4), ("yaml-alias", 3, 3), ("yaml-alias", 3, 7)]),
        ("b: *unknown\n", [("yaml-alias", 1, 4)]),
        ("<<: {a: 1}\n", [("yaml-alias", 1, 1)]),
        ("a: <<\n", [("yaml-quote", 1, 4)]),
        (
            "a: !!str 1\nb: ! x\nc: !own {}\nd: !h!x y\n",
            [("yaml-tag", 1, 4), ("yaml-tag", 2, 4), ("yaml-tag", 3, 4), ("yaml-tag", 4, 4)],
        ),
        ('a: ! "x"\nb: NO\n', [("yaml-tag", 1, 4), ("yaml-quote", 2, 4)]),
        ("%YAML 1.1\n---\na: 1\n", [("yaml-tag", 1, 1)]),
        # The root.
        ("", [("yaml-root", 1, 1)]),
        ("# nothing\n\n", [("yaml-root", 1, 1)]),
        ("---\n", [("yaml-root", 1, 1)]),
        ("# list\n- a\n- b\n", [("yaml-root", 2, 1)]),
        ("just text\n", [("yaml-root", 1, 1)]),
        ("null\n", [("yaml-root", 1, 1)]),
        # Documents.
        ("a: 1\n---\nb: NO\n", [("yaml-documents", 2, 1)]),
        ("---\n---\na: 1\n", [("yaml-documents", 2, 1)]),
        ("a: NO\n...\n---\n---\n", [("yaml-quote", 1, 4), ("yaml-documents", 3, 1)]),
        # Tabs: the first is named, other problems are still found.
        ("a:\n\tb: 1\n", [("yaml-tab", 2, 1)]),
        ("a: 1\t# comment\n", [("yaml-tab", 1, 5)]),
        ("a: 'x\ty'\nb: NO\n", [("yaml-tab", 1, 6), ("yaml-quote", 2, 4)]),
        # Characters.
        ("a: x\ufeff\n", [("yaml-encoding", 1, 5)]),
        ("a: 1\nb: ä\x85\n", [("yaml-encoding", 2, 5)]),
        ("a: \u2028\u2029\n", [("yaml-encoding", 1, 4)]),
        ("a: x\x00\n", [("yaml-encoding", 1, 5)]),
        ("a: \x1b[31m\n", [("yaml-encoding", 1, 4)]),
        ("a: \udcff\n", [("yaml-encoding", 1, 4)]),
        ("a: 1\nb: \ud800\n", [("yaml-encoding", 2, 4)]),
        ("a:\t1\nb: \x07\n", [("yaml-tab", 1, 3), ("yaml-encoding", 2, 4)]),
        # Conflict markers: one diagnostic, whatever else is wrong.
        ("<<<<<<< HEAD\na: NO\n=======\na: 1\n>>>>>>> branch\n", [("yaml-conflict-marker", 1, 1)]),
        ("a: 1\n=======\n", [("yaml-conflict-marker", 2, 1)]),
        ("a: 1\r\n||||||| base\r\n", [("yaml-conflict-marker", 2, 1)]),
    ],
)
def test_refused(text: str, expected: list[tuple[str, int, int]]) -> None:
    assert spots(text) == expected


@pytest.mark.parametrize(
    "text", ["# =======\na: 1\n", "a: |\n  =======\n  <<<<<<< x\n", "a: <<<<<<<\n", "a: '>>>>>>> b'\n"]
)
def test_what_only_looks_like_a_conflict_marker(text: str) -> None:
    assert spots(text) == []


def test_both_positions_of_a_duplicate_are_named() -> None:
    diagnostic = only("a: 1\nb:\n  gpus: []\n  x: 1\n  gpus: []\n")
    assert diagnostic.message == "the key gpus is written twice (first in line 3)"
    (related,) = diagnostic.related
    assert (related.place.file, related.place.line, related.place.column) == (FILE, 3, 3)


_TEXT = 'or quote it if it is text: "NO"'


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        (
            "a:\n \tb: 1\n\tc: 2\n",
            "a tab in the indentation is not allowed (and 1 more in this file)",
            "indent with spaces",
        ),
        ("a:\tb\n", "a tab is not allowed", 'write a space; inside double quotes a tab is written "\\t"'),
        ("a:\n  b: 1\n \u00a0c: 2\n", "no-break space: U+00A0 is no indentation", "replace it by plain spaces"),
        (
            "a:\n\u00a0 b: 1\n\u00a0 c: 2\n",
            "no-break space: U+00A0 is no indentation (and 1 more in this file)",
            "replace it by plain spaces",
        ),
        ("a: 1\n\u3000b\n", "ideographic space: U+3000 is no indentation", "replace it by plain spaces"),
        ("a: 1\n>>>>>>> x\n", "merge conflict marker at line 2", "resolve the conflict and delete its marker lines"),
        ("a: NO\n", "NO without quotes is the boolean false to some YAML readers", f"write false, {_TEXT}"),
        ("on: 1\n", "on without quotes is the boolean true to some YAML readers", 'quote this: "on"'),
        ("1: a\n", "a key must be text, this one is the number 1", 'quote this: "1"'),
        ("true: a\n", "a key must be text, this one is the boolean true", 'quote this: "true"'),
        ("null: a\n", "a key must be text, this one is null", 'quote this: "null"'),
        ("? \n: b\n", "a key must be text, this one is empty", "write the key before the colon"),
        ("? [a]\n: b\n", "a key must be text, this one is a list", "write a plain word as key"),
        ("", "the file is empty", 'write "key: value" lines, or delete the file'),
        ("- a\n", "the file holds a list instead of a mapping", 'write "key: value" lines, or delete the file'),
        ("a: \udcff\udcfe\n", "invalid UTF-8 byte 0xFF (and 1 more in this file)", "save the file as UTF-8"),
        ("a: \x00\n", "NUL: U+0000 is not allowed here", "delete this invisible character"),
        (
            "a: 1234567890123456\n",
            "a number with 16 significant digits, over the bound of 15",
            "round it, or quote it if it is text",
        ),
    ],
)
def test_messages(text: str, message: str, hint: str) -> None:
    diagnostic = only(text)
    assert (diagnostic.message, diagnostic.hint) == (message, hint)


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [
        ("a: b: c\n", 1, 5),
        ("a: 1\n b: 2\n", 2, 3),
        ("a: 1\nmissing colon\nb: 2\n", 2, 1),
        ("a: @x\n", 1, 4),
        ('a: NO\nb: "open\nc: 1\n', 2, 4),
        ("a: 'it's'\n", 1, 8),
        ("a: [1, 2\nb: 3\n", 1, 4),
        ("a: {b: 1\n", 1, 4),
        ("a:\n  b: 1\n c: 2\n", 3, 2),
        ("a: *.example.org\n", 1, 4),
        ("a: ]\n", 1, 4),
        ("- a\nb: 1\n", 2, 1),
        (": b\n", 1, 1),
    ],
)
def test_a_syntax_error_is_one_diagnostic_with_a_position_and_a_way_out(text: str, line: int, column: int) -> None:
    assert spots(text) == [("yaml-syntax", line, column)]
    assert only(text).hint
    assert "expected '" not in only(text).message


@pytest.mark.parametrize(
    ("text", "message", "line", "column"),
    [
        ('a: "open\nb: {c: "x", d: 1}\ne: 3\n', "this quote is not closed on its line", 1, 4),
        ("a: 1\nb: 'open\nc: 'x'\nd: 3\n", "this quote is not closed on its line", 2, 4),
        ('a: {b: "open, c: 2}\nd: {e: "x", f: 2}\n', "this quote is not closed on its line", 1, 8),
        ('a: "open\nb: ""\n', "this quote is not closed on its line", 1, 4),
        ('a: 1\nb: "open\nc: 2\n\n', "this quote is never closed", 2, 4),
        ('a: "two\n  lines"\nb: [1\nc: 2\n', "this list is not closed with ], or a comma is missing in it", 3, 4),
    ],
)
def test_an_unclosed_quote_is_told_where_it_opens(text: str, message: str, line: int, column: int) -> None:
    assert spots(text) == [("yaml-syntax", line, column)]
    assert only(text).message == message


def test_what_the_end_of_the_file_lacks_is_told_at_its_last_line() -> None:
    class Mark:
        index, line, column = 8, 3, 0

    class Error:
        problem, problem_mark = "anything", Mark

    place = syntax.diagnostic("f.yaml", "a: 1\nb\n\n", Error, ()).place
    assert place is not None
    assert (place.line, place.column) == (2, 1)


def test_an_odd_space_inside_a_block_of_text_is_text() -> None:
    parsed, problems = parse(FILE, "a: |\n  x\n  \u00a0y\n")
    assert (parsed and parsed.data, problems) == ({"a": "x\n\u00a0y\n"}, ())


@pytest.mark.parametrize("escape", ["\\ud800", "\\ud83d\\ude00", "\\U00110000"])
def test_an_escape_that_is_no_character(escape: str) -> None:
    ((code, line, _),) = spots(f'a: 1\nb: "{escape}"\n')
    assert (code, line) == ("yaml-encoding", 2)
    assert spots(f"b: '{escape}'\n") == []
