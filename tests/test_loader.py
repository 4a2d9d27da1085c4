"""The loader: which file is which, what does not load, and a digest that only values change."""

from __future__ import annotations

import random
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from knaster.diagnostics import Severity
from knaster.files import Entry, Refused
from knaster.loader.loading import load
from knaster.pipeline import evaluate
from tests.repo import MODELS, PC5, PVE44, ROLES, files


def codes(found: dict[str, Entry]) -> list[tuple[str, str | None]]:
    """Code and file of everything that the loader reports."""
    return sorted((item.code, item.place.file if item.place else "") for item in load(found).diagnostics)


def test_a_valid_repository_loads_whole() -> None:
    loaded = load(files())
    assert loaded.diagnostics == ()
    assert loaded.cluster.broken == frozenset()
    assert [node.name for node in loaded.cluster.nodes] == ["GODE-PC-05", "pve44"]
    assert [gpu.compute_cap for node in loaded.cluster.nodes for gpu in node.gpus] == [8.9, 5.2, 6.1]
    assert loaded.cluster.catalog is not None
    assert sorted(loaded.cluster.catalog.models) == ["bge-m3", "piper-de", "qwen3-14b"]
    assert sorted(loaded.cluster.roles or ()) == ["embedding", "general", "speech"]
    assert loaded.cluster.platform is not None
    assert loaded.digest.startswith("sha256:")
    assert len(loaded.digest) == len("sha256:") + 64


@pytest.mark.parametrize(
    ("path", "wanted"),
    [
        ("inventory/n9.yml", "inventory/n9.yaml"),
        ("inventory/N9.YAML", "inventory/N9.yaml"),
        ("inventory/.n9.yaml", "inventory/n9.yaml"),
        ("inventory/rack/n9.yaml", "inventory/n9.yaml"),
        ("inventory/n9.yaml ", "inventory/n9.yaml"),
        ("catalog/model.yaml", "catalog/models.yaml"),
        ("catalog/extra.yaml", None),
    ],
)
def test_a_name_that_looks_like_an_input_is_an_error(path: str, wanted: str | None) -> None:
    loaded = load({**files(), path: PVE44})
    named = [item for item in loaded.diagnostics if item.code == "file-name"]
    assert [(item.severity, item.place.file if item.place else "") for item in named] == [(Severity.ERROR, path)]
    assert path in loaded.cluster.broken
    if wanted is not None:
        assert wanted in f"{named[0].message} {named[0].hint}"


def test_a_second_file_for_a_node_points_to_the_first() -> None:
    found = [item for item in load({**files(), "inventory/pve44.yml": PVE44}).diagnostics if item.code == "file-name"]
    assert [item.related[0].place.file for item in found] == ["inventory/pve44.yaml"]


def test_names_that_differ_in_case_alone_are_an_error() -> None:
    assert ("file-name", "inventory/pve44.yaml") in codes(
        {**files(), "inventory/PVE44.yaml": PVE44.replace("pve44", "PVE44")}
    )


@pytest.mark.parametrize(
    "path", ["inventory/.n9.yaml.swp", "inventory/n9.yaml~", "inventory/README.md", "catalog/notes.txt"]
)
def test_other_files_are_named_and_do_not_stop_anything(path: str) -> None:
    loaded = load({**files(), path: ""})
    assert [(item.code, item.severity, item.place.file if item.place else "") for item in loaded.diagnostics] == [
        ("file-ignored", Severity.WARNING, path)
    ]
    assert loaded.cluster.broken == frozenset()


@pytest.mark.parametrize(
    "path",
    [
        "inventory/.gitkeep",
        "catalog/.gitignore",
        "catalog/architectures/.gitkeep",
        "README.md",
    ],
)
def test_some_files_are_left_alone(path: str) -> None:
    assert load({**files(), path: "anything"}).diagnostics == ()


HISTORY = 'model: bge-m3\nruns:\n  - {metric: power, value: 9, unit: W, date: "2026-11-29"}\n'


def test_a_history_of_benchmarks_is_read_and_is_no_part_of_the_digest() -> None:
    loaded = load({**files(), "catalog/benchmarks/bge-m3.yaml": HISTORY})
    assert loaded.diagnostics == ()
    assert [(one.model, one.runs[0].value, one.runs[0].kind) for one in loaded.cluster.histories] == [
        ("bge-m3", 9, "measured")
    ]
    assert loaded.digest == load(files()).digest


@pytest.mark.parametrize(
    ("path", "text", "code"),
    [
        ("catalog/benchmarks/bge-m3.yml", HISTORY, "file-name"),
        ("catalog/benchmarks/deep/bge-m3.yaml", HISTORY, "file-name"),
        ("catalog/benchmarks/notes.txt", "", "file-ignored"),
        ("catalog/benchmarks/bge-m3.yaml", "model: [\n", "yaml-syntax"),
        ("catalog/benchmarks/bge-m3.yaml", "model: bge-m3\nruns: [{metric: power}]\n", "schema-missing-key"),
        ("catalog/benchmarks/bge-m3.yaml", Refused("a symbolic link"), "file-kind"),
        ("catalog/benchmarks", Refused("a symbolic link"), "file-kind"),
    ],
)
def test_what_is_no_history_is_told_and_stops_no_plan(path: str, text: str | Refused, code: str) -> None:
    loaded = load({**files(), path: text})
    assert {item.code for item in loaded.diagnostics} == {code}
    assert loaded.cluster.broken == frozenset()


def test_a_history_is_of_the_model_of_its_file_name() -> None:
    found = evaluate({**files(), "catalog/benchmarks/other.yaml": HISTORY})
    assert [(item.code, item.message) for item in found.errors] == [
        ("name-mismatch", 'catalog/benchmarks/other.yaml says that it is the history of "bge-m3"')
    ]
    gone = evaluate({**files(), "catalog/benchmarks/gone.yaml": HISTORY.replace("bge-m3", "gone")})
    assert [(item.code, item.severity) for item in gone.diagnostics] == [("unknown-model", "warning")]


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("x.yml", "file-name"),
        (".x.yaml", "file-name"),
        ("deep/x.yaml", "file-name"),
        ("X.YAML", "file-name"),
        ("x.json", "file-ignored"),
        ("README.md", "file-ignored"),
    ],
)
def test_other_files_beside_records_of_architectures_are_named(name: str, code: str) -> None:
    loaded = load({**files(), f"catalog/architectures/{name}": ""})
    assert [(item.code, item.place.file if item.place else "") for item in loaded.diagnostics] == [
        (code, f"catalog/architectures/{name}")
    ]
    assert loaded.cluster.broken == frozenset()


def test_a_refused_entry_breaks_its_file() -> None:
    loaded = load({**files(), "inventory/pve44.yaml": Refused("a FIFO")})
    kinds = [item for item in loaded.diagnostics if item.code == "file-kind"]
    assert [item.message for item in kinds] == ["inventory/pve44.yaml was not read: it is a FIFO"]
    assert loaded.cluster.broken == {"inventory/pve44.yaml"}
    assert [node.name for node in loaded.cluster.nodes] == ["GODE-PC-05"]


def test_a_folder_that_is_a_link_is_one_error() -> None:
    catalog = {path: text for path, text in files().items() if path.startswith("catalog/")}
    assert codes({**catalog, "inventory": Refused("a symbolic link")}) == [
        ("check-skipped", ""),
        ("file-kind", "inventory"),
    ]


def test_no_inventory_is_an_error_never_an_empty_plan() -> None:
    catalog = {path: text for path, text in files().items() if path.startswith("catalog/")}
    assert codes(dict(catalog)) == [("check-skipped", ""), ("file-missing", "inventory/")]
    assert load({}).cluster.broken == {
        "inventory/",
        "catalog/models.yaml",
        "catalog/platform.yaml",
        "catalog/roles.yaml",
    }


def test_a_missing_catalog_file_is_one_error() -> None:
    left = {path: text for path, text in files().items() if path != "catalog/roles.yaml"}
    assert codes(dict(left)) == [("check-skipped", ""), ("file-missing", "catalog/roles.yaml")]
    assert load(left).cluster.roles is None


def test_a_misnamed_catalog_file_is_not_missing_too() -> None:
    left: dict[str, Entry] = {path: text for path, text in files().items() if path != "catalog/roles.yaml"}
    assert codes({**left, "catalog/roles.yml": ROLES}) == [("check-skipped", ""), ("file-name", "catalog/roles.yml")]


def test_one_bad_file_hides_no_other_and_one_note_names_them() -> None:
    loaded = load(files(roles="roles: [", pc5="", models="engines: 1"))
    assert {item.place.file for item in loaded.diagnostics if item.place} == {
        "catalog/roles.yaml",
        "inventory/GODE-PC-05.yaml",
        "catalog/models.yaml",
    }
    notes = [item for item in loaded.diagnostics if item.code == "check-skipped"]
    assert [note.severity for note in notes] == [Severity.NOTE]
    for name in ("catalog/models.yaml", "catalog/roles.yaml", "inventory/GODE-PC-05.yaml"):
        assert name in notes[0].message
    assert loaded.cluster.platform is not None
    assert loaded.cluster.roles is None
    assert loaded.cluster.catalog is None


def test_a_thousand_broken_files_make_a_short_note() -> None:
    broken = {f"inventory/n{number}.yaml": "" for number in range(1000)}
    note = next(item for item in load({**files(), **broken}).diagnostics if item.code == "check-skipped")
    assert "and 995 more" in note.message
    assert len(note.message) < 300


@pytest.mark.parametrize(
    "changed",
    [
        files(pve44=PVE44.replace("\n", "\r\n")),
        files(pve44="# another comment\n" + PVE44),
        files(pve44=PVE44.replace('"Quadro P2000"', "Quadro P2000")),
        files(models=MODELS.replace("[linux, windows]", "[windows, linux]")),
        dict(reversed(files().items())),
        {**files(), "inventory/.gitkeep": "", "README.md": "x"},
    ],
    ids=["crlf", "comment", "quotes", "list order", "file order", "other files"],
)
def test_the_digest_stays(changed: dict[str, Entry]) -> None:
    assert load(changed).digest == load(files()).digest


@pytest.mark.parametrize(
    "changed",
    [
        files(pve44=PVE44.replace("memory_gb: 32", "memory_gb: 33")),
        files(pc5=PC5.replace("580.88", "580.89")),
        files(models=MODELS.replace("port: 8080", "port: 8081")),
        files(platform=files()["catalog/platform.yaml"].replace('dns: ["192.168.100.1"]', 'dns: ["192.168.100.2"]')),
    ],
)
def test_the_digest_changes_with_a_value(changed: dict[str, Entry]) -> None:
    assert load(changed).digest != load(files()).digest


@pytest.mark.parametrize("key", ["args", "fallback"])
def test_the_order_of_a_sequence_counts(key: str) -> None:
    def whole(items: str) -> str:
        if key == "args":
            return load(files(models=MODELS.replace("vram_gb: 1.2,", f"vram_gb: 1.2, args: {items},"))).digest
        return load(files(roles=ROLES.replace("fallback: [tier0]", f"fallback: {items}"))).digest

    assert whole("[a, b]") != whole("[b, a]")


def shuffled(value: Any, dice: random.Random, *, ordered: bool = False) -> Any:
    """The same value with its keys and its unordered lists in another order."""
    if isinstance(value, dict):
        keys = list(value)
        dice.shuffle(keys)
        return {key: shuffled(value[key], dice, ordered=key in {"args", "fallback", "dns"}) for key in keys}
    if isinstance(value, list):
        items = [shuffled(item, dice, ordered=ordered) for item in value]
        if not ordered:
            dice.shuffle(items)
        return items
    return value


def reordered(text: str, dice: random.Random) -> str:
    """A YAML text with keys and lists shuffled; every string is quoted, so that no reader changes it."""
    data = shuffled(yaml.load(text, Loader=yaml.CSafeLoader), dice)
    return str(yaml.dump(data, Dumper=_Quoting, sort_keys=False, default_flow_style=False))


class _Quoting(yaml.SafeDumper):
    """Quotes every string value that is not a plain word."""


def _text(dumper: yaml.SafeDumper, value: str) -> yaml.ScalarNode:
    plain = value.isidentifier() and value.islower() and len(value) > 3
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=None if plain else '"')


_Quoting.add_representer(str, _text)


@given(st.integers())
def test_shuffling_changes_nothing(seed: int) -> None:
    dice = random.Random(seed)
    texts = {path: reordered(text, dice) for path, text in files().items()}
    assert load(texts).diagnostics == ()
    assert load(texts).digest == load(files()).digest
