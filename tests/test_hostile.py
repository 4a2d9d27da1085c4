"""Any bytes as any input file: diagnostics or success, in bounded time, and never a traceback."""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from knaster.cli import main
from knaster.files import Entry, Refused
from knaster.in_force.landed import recorded_placement
from knaster.pipeline import evaluate
from knaster.reports import json as json_report
from knaster.reports import markdown, text, validation
from tests.repo import files, lay

PATHS = sorted(files())
Capture = pytest.CaptureFixture[str]

CLASSIC: dict[str, bytes] = {
    "empty": b"",
    "comment only": b"# nothing\n",
    "document marker only": b"---\n",
    "two documents": b"a: 1\n---\nb: 2\n",
    "a list": b"- 1\n- 2\n",
    "a scalar": b"hello\n",
    "NUL": b"name: a\x00b\n",
    "all bytes": bytes(range(256)),
    "invalid UTF-8": b"name: \xff\xfe\n",
    "truncated UTF-8": "name: ä".encode()[:-1],
    "UTF-16": "name: a\n".encode("utf-16"),
    "encoded surrogate": b"name: \xed\xa0\x80\n",
    "BOM": b"\xef\xbb\xbfname: a\n",
    "BOM inside": b"name: a\n\xef\xbb\xbfb: c\n",
    "NEL, LS, PS": "name: a\x85b\u2028c\u2029d\n".encode(),
    "bidi": 'name: "a\u202eb"\n'.encode(),
    "escape characters": b'name: "\\e[31mred"\n',
    "tab": b"roles:\n\tx: 1\n",
    "conflict": b"<<<<<<< HEAD\na: 1\n=======\na: 2\n>>>>>>> x\n",
    "alias bomb": b"a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\n"
    * 3,
    "self reference": b"a: &a [*a]\n",
    "merge key": b"a: {<<: {b: 1}}\n",
    "python tag": b"a: !!python/object/apply:os.system [id]\n",
    "binary tag": b"a: !!binary aGk=\n",
    "deep list": b"[" * 100_000,
    "deep closed list": b"[" * 20_000 + b"]" * 20_000,
    "deep mapping": b"{a: " * 20_000,
    "deep indentation": b"\n".join(b" " * level + b"a:" for level in range(600)),
    "long digits": b"priority: " + b"9" * 100_000,
    "long float": b"priority: 0." + b"9" * 100_000,
    "long exponent": b"priority: 1e999999999\n",
    "long line": b"name: " + b"a" * 1_000_000,
    "many keys": b"".join(b"k%d: 1\n" % number for number in range(1_000)),
    "complex key": b"? {a: 1}\n: 2\n",
    "null key": b"null: 1\n",
    "duplicate keys": b"roles: {}\nroles: {}\n",
    "everything null": b"name:\ncpu:\nmemory_gb:\ndisks:\ngpus:\nroles:\nengines:\nmodels:\nnetwork:\n",
    "everything empty": b"name: ''\ncpu: {}\ndisks: []\ngpus: []\nroles: {}\nengines: {}\nmodels: {}\nnetwork: {}\n",
    "everything a list": b"name: []\ncpu: []\ngpus: [[]]\nroles: []\nengines: []\nmodels: []\nnetwork: []\n",
    "nan and inf": b"memory_gb: .nan\nother: .inf\n",
    "template": b"name: {{ name }}\nroles: ${{ secrets.X }}\n",
    "HTML": b"<html><body>404</body></html>\n",
    "JSON": b'{"roles": {"a": {"needs": {"engine": "x"}, "kinds": ["llm"]}}}',
}


def reported(given_files: dict[str, Entry]) -> bool:
    """Evaluate, render and report in every format; whether there was an error."""
    evaluation = evaluate(given_files)
    report = validation.report(evaluation, given_files)
    shown = text.render(report)
    assert markdown.render(report)
    assert json_report.render(report).isascii()
    assert not any(character < " " and character != "\n" for character in shown)
    assert "This is a bug" not in shown, shown
    assert bool(evaluation.generated) is evaluation.ok
    return not evaluation.ok


def as_text(data: bytes) -> str:
    """Bytes as the adapter hands them on."""
    return data.decode("utf-8", "surrogateescape")


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("kind", CLASSIC)
def test_classic_hostile_files(kind: str, path: str) -> None:
    begin = time.perf_counter()
    failed = reported({**files(), path: as_text(CLASSIC[kind])})
    assert failed or (kind == "JSON" and path.endswith("roles.yaml")) or kind.startswith("everything")
    assert time.perf_counter() - begin < 10


@pytest.mark.parametrize("kind", CLASSIC)
def test_hostile_bytes_on_disk(kind: str, tmp_path: Path, capsys: Capture) -> None:
    lay(tmp_path)
    (tmp_path / "inventory/pve44.yaml").write_bytes(CLASSIC[kind])
    (tmp_path / "generated").mkdir()
    (tmp_path / "generated/placement.yaml").write_bytes(CLASSIC[kind])
    for command in (["validate"], ["placement", "plan"], ["render", "--check"], ["render"]):
        assert main(["-C", str(tmp_path), *command]) == 1
        out, err = capsys.readouterr()
        assert err == ""
        assert out


@settings(deadline=None, max_examples=150)
@given(st.sampled_from(PATHS), st.binary(max_size=400))
def test_any_bytes(path: str, data: bytes) -> None:
    reported({**files(), path: as_text(data)})


@settings(deadline=None, max_examples=150)
@given(st.sampled_from(PATHS), st.data())
def test_any_damage_to_a_good_file(path: str, data: st.DataObject) -> None:
    good = files()[path].encode()
    start = data.draw(st.integers(0, len(good)))
    end = data.draw(st.integers(start, min(len(good), start + 40)))
    middle = data.draw(st.binary(max_size=12))
    reported({**files(), path: as_text(good[:start] + middle + good[end:])})


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**6), 10**6)
    | st.integers(10**14, 10**17)
    | st.floats(-1e6, 1e6).map(lambda number: round(number, 3))
    | st.sampled_from(
        ["", "a", "pve44", "llamacpp", "infra", "192.168.100.300", "0000:01:00.0", "../x", "x" * 300, "ä\u202e"]
    ),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["name", "a", "index", "gpu"]), inner, max_size=3)
    ),
    max_leaves=6,
)


def spots(value: object, route: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    """The routes of all values in data."""
    found = [route]
    if isinstance(value, dict):
        found += [spot for key in value for spot in spots(value[key], (*route, key))]
    elif isinstance(value, list):
        found += [spot for position, item in enumerate(value) for spot in spots(item, (*route, position))]
    return found


def replaced(value: object, route: tuple[str | int, ...], new: object) -> object:
    """Data with one value exchanged."""
    if not route:
        return new
    head, rest = route[0], route[1:]
    if isinstance(value, dict):
        return {key: replaced(item, rest, new) if key == head else item for key, item in value.items()}
    assert isinstance(value, list)
    return [replaced(item, rest, new) if position == head else item for position, item in enumerate(value)]


@settings(deadline=None, max_examples=200)
@given(st.sampled_from(PATHS), st.data())
def test_any_value_at_any_place_of_a_good_file(path: str, data: st.DataObject) -> None:
    """Exchanges one value: most get past the parser, many past the schema, and reach checks, planner and renderers."""
    import json

    from knaster.document import parse

    good, _ = parse(path, files()[path])
    assert good is not None
    changed = replaced(good.data, data.draw(st.sampled_from(spots(good.data))), data.draw(VALUES))
    reported({**files(), path: json.dumps(changed, ensure_ascii=False)})


@settings(deadline=None, max_examples=100)
@given(
    st.dictionaries(
        st.text(max_size=12).map(lambda tail: f"inventory/{tail}")
        | st.sampled_from([*PATHS, "catalog", "inventory", "", "/"]),
        st.text(max_size=40) | st.just(Refused("a FIFO")),
        max_size=4,
    )
)
@example({"inventory/\udcff.yaml": "name: a"})
@example({"inventory/.yaml": ""})
@example({"inventory//x.yaml": ""})
def test_any_names(entries: dict[str, Entry]) -> None:
    reported({**files(), **entries})


@settings(deadline=None, max_examples=100)
@given(st.text() | st.binary().map(as_text))
def test_any_text_as_the_recorded_placement(given_text: str) -> None:
    current, problems = recorded_placement(given_text)
    assert (current is None) is (len(problems) == 1)
    assert evaluate(files(), current).ok


@settings(deadline=None, max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_any_damage_to_the_recorded_placement(data: st.DataObject) -> None:
    good = evaluate(files()).generated["placement.yaml"]
    start = data.draw(st.integers(0, len(good)))
    end = data.draw(st.integers(start, min(len(good), start + 30)))
    current, _ = recorded_placement(good[:start] + data.draw(st.text(max_size=8)) + good[end:])
    assert evaluate(files(), current).ok


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no FIFOs on this system")
@pytest.mark.parametrize("kind", ["fifo", "link", "link to a folder", "dangling link", "large", "folder"])
def test_entries_that_are_no_files(kind: str, tmp_path: Path, capsys: Capture) -> None:
    lay(tmp_path / "repo")
    path = tmp_path / "repo/inventory/pve44.yaml"
    aside = tmp_path / "secret"
    path.rename(aside)
    match kind:
        case "fifo":
            os.mkfifo(path)
        case "link":
            path.symlink_to(aside)
        case "link to a folder":
            path.symlink_to(tmp_path)
        case "dangling link":
            path.symlink_to(tmp_path / "nothing")
        case "large":
            path.write_bytes(b"#" * 3_000_000)
        case "folder":
            path.mkdir()
            (path / "x.yaml").write_text("a: 1\n")
    for command in ("validate", "render"):
        assert main(["-C", str(tmp_path / "repo"), command]) == 1
        out, err = capsys.readouterr()
        assert err == ""
        assert ("file-name" if kind == "folder" else "file-kind") in out
    assert not (tmp_path / "repo/generated").exists()


def test_a_folder_of_inputs_that_is_a_link(tmp_path: Path, capsys: Capture) -> None:
    lay(tmp_path / "repo")
    shutil.move(tmp_path / "repo/inventory", tmp_path / "elsewhere")
    (tmp_path / "repo/inventory").symlink_to(tmp_path / "elsewhere")
    assert main(["-C", str(tmp_path / "repo"), "validate"]) == 1
    assert "[file-kind]" in capsys.readouterr().out


@pytest.mark.parametrize(
    "name", ["$(touch pwned).yaml", "`id`.yaml", "a\x1b[31m.yaml", "a\nb.yaml", "\u202e.yaml", "-rf.yaml"]
)
def test_hostile_names_are_only_names(name: str, tmp_path: Path, capsys: Capture) -> None:
    lay(tmp_path, {**files(), f"inventory/{name}": "x"})
    assert main(["-C", str(tmp_path), "validate"]) == 1
    out = capsys.readouterr().out
    assert "\x1b" not in out
    assert "\u202e" not in out
    assert not (tmp_path / "pwned").exists()


def test_a_secret_in_an_input_is_shown_nowhere(tmp_path: Path, capsys: Capture) -> None:
    secret = "hf_" + "A1b2C3d4E5f6G7h8"
    platform = files()["catalog/platform.yaml"].replace(
        "https://tier0.example.org/v1", f"https://tier0.example.org/{secret}"
    )
    lay(
        tmp_path,
        {**files(), "catalog/platform.yaml": platform, "inventory/x.yaml": f"name: {secret}\nvram: {secret}\n"},
    )
    for kind in ("text", "json", "markdown"):
        assert main(["-C", str(tmp_path), "--format", kind, "-v", "validate"]) == 1
        shown = capsys.readouterr()
        assert secret not in shown.out + shown.err
