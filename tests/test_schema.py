"""The schema door: two validators with one verdict, and one understandable diagnostic for one mistake."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
import jsonschema_rs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from knaster import document, schema
from knaster.diagnostics import Diagnostic, Place, Severity
from tests import mutations

ROOT = Path(__file__).parent.parent
KINDS: list[Any] = sorted(path.name.removesuffix(".schema.json") for path in ROOT.glob("schemas/*.schema.json"))

GPU = {"index": 0, "name": "Quadro P2000", "memory_gb": 5, "compute_cap": 6.1, "driver": "580.95.05"}
NODE: dict[str, Any] = {
    "name": "pve44",
    "cpu": {"model": "Xeon", "cores": 6, "threads": 12},
    "memory_gb": 32,
    "disks": [{"name": "sda", "size_gb": 512, "rotational": False}],
    "gpus": [{**GPU, "pci": {"address": "0000:02:00.0", "id": "10de:1c30"}}],
    "os": "linux",
    "groups": ["kiosk"],
}
MODEL = {"kind": "llm", "vram_gb": 4, "engines": ["llamacpp"], "source": "Qwen/Qwen3-4B"}
MODELS: dict[str, Any] = {"engines": {"llamacpp": {"min_cc": 5.0}}, "models": {"qwen3-4b": MODEL}}
ROLES: dict[str, Any] = {
    "roles": {"chat": {"needs": {"engine": "llamacpp"}, "kinds": ["llm"], "slots": ["chat", {"name": "b", "port": 80}]}}
}
PLATFORM: dict[str, Any] = {
    "network": {
        "cidr": "192.168.100.0/24",
        "gateway": "192.168.100.1",
        "bridge": "vmbr0",
        "guest_range": {"first": "192.168.100.220", "last": "192.168.100.239"},
    },
    "external": {"tier0": {"url": "https://litellm.example.internal", "credential": {"env": "TIER0_API_KEY"}}},
}
GOOD: dict[str, dict[str, Any]] = {"node": NODE, "models": MODELS, "roles": ROLES, "platform": PLATFORM}


def putting(value: Any) -> Callable[[Any, Any], None]:
    def put(parent: Any, step: Any) -> None:
        parent[step] = value

    return put


def with_value(kind: str, *route: str | int, value: Any) -> dict[str, Any]:
    changed: dict[str, Any] = mutations.changed(GOOD[kind], route, putting(value))
    return changed


def renamed(data: Any, route: mutations.Route, name: str) -> Any:
    def rename(parent: Any, step: Any) -> None:
        items = [(name if key == step else key, value) for key, value in parent.items()]
        parent.clear()
        parent.update(items)

    return mutations.changed(data, route, rename)


def only(kind: Any, data: Mapping[str, Any]) -> Diagnostic:
    found = schema.check(kind, "f.yaml", data)
    assert len(found) == 1, found
    return found[0]


@pytest.mark.parametrize("kind", GOOD)
def test_good_data_has_no_diagnostics(kind: Any) -> None:
    assert schema.check(kind, "f.yaml", GOOD[kind]) == ()


def test_a_misspelt_required_key_is_one_mistake() -> None:
    data = renamed(MODELS, ("models", "qwen3-4b", "vram_gb"), "vram")
    assert only("models", data) == Diagnostic(
        code="schema-unknown-key",
        message='unknown key "vram" in models.qwen3-4b',
        place=Place("f.yaml", ("models", "qwen3-4b", "vram"), "key"),
        severity=Severity.ERROR,
        hint='did you mean "vram_gb"? It is required here.',
    )


def test_the_only_unknown_key_beside_the_only_missing_one_is_one_mistake() -> None:
    data = renamed(MODELS, ("models", "qwen3-4b", "kind"), "type_of_model")
    assert only("models", data).hint == 'did you mean "kind"? It is required here.'


def test_an_unknown_key_and_another_missing_key_that_does_not_resemble_it() -> None:
    data = renamed(MODELS, ("models", "qwen3-4b", "vram_gb"), "vram")
    del data["models"]["qwen3-4b"]["kind"]
    found = schema.check("models", "f.yaml", data)
    assert [(each.code, each.message) for each in found] == [
        ("schema-missing-key", 'missing key "kind" in models.qwen3-4b'),
        ("schema-unknown-key", 'unknown key "vram" in models.qwen3-4b'),
    ]
    assert found[0].hint == 'kind: What the model does; a role lists the kinds that it serves. For example: "llm"'


def test_a_misspelt_optional_key() -> None:
    data = renamed(NODE, ("gpus", 0, "memory_gb"), "memory")
    found = only("node", data)
    assert (found.message, found.hint) == ('unknown key "memory" in gpus[0]', 'did you mean "memory_gb"?')
    assert found.place == Place("f.yaml", ("gpus", 0, "memory"), "key")


@pytest.mark.parametrize(
    ("key", "name"), [("memory_gb", "vram"), ("memory_gb", "vram_gb"), ("compute_cap", "cc"), ("driver", "drivers")]
)
def test_a_key_by_another_usual_name_is_one_mistake(key: str, name: str) -> None:
    found = only("node", renamed(NODE, ("gpus", 0, key), name))
    assert (found.message, found.hint) == (f'unknown key "{name}" in gpus[0]', f'did you mean "{key}"?')


def test_a_key_in_another_style_is_a_near_miss() -> None:
    data = renamed(NODE, ("gpus", 0, "compute_cap"), "computeCap")
    assert only("node", data).hint == 'did you mean "compute_cap"?'


def test_a_key_without_a_near_miss_lists_what_is_allowed() -> None:
    data = with_value("node", "disks", 0, value={"name": "sda", "purchased": "2026-11-29"})
    assert only("node", data).hint == "allowed here: name, size_gb, rotational"


def test_a_key_at_the_wrong_place_is_told_where_it_belongs() -> None:
    assert only("roles", with_value("roles", "roles", "chat", "min_vram_gb", value=8)).hint == (
        '"min_vram_gb" belongs in roles.<name>.needs'
    )
    assert only("node", {**NODE, "disabled": True}).hint == '"disabled" belongs in gpus[]'


def test_several_missing_keys_of_one_mapping_are_one_diagnostic() -> None:
    found = only("node", {})
    assert found.code == "schema-missing-key"
    assert found.message == 'missing keys "name", "cpu", "memory_gb", "disks" and "gpus" at the top level'
    assert found.place == Place("f.yaml", ())


@pytest.mark.parametrize("kind", GOOD)
def test_a_document_without_content_is_a_missing_key(kind: Any) -> None:
    assert [each.code for each in schema.check(kind, "f.yaml", {})] == ["schema-missing-key"]


@pytest.mark.parametrize(
    ("route", "value", "message", "hint"),
    [
        (("gpus", 0, "index"), "abc", 'gpus[0].index: need a whole number, have text "abc"', "The driver's number"),
        (("gpus", 0, "index"), 0.5, "gpus[0].index: need a whole number, have the number 0.5", "The driver's number"),
        (("gpus", 0, "index"), None, "gpus[0].index: need a whole number, have nothing (null)", "The driver's number"),
        (("memory_gb",), "32 GB", 'memory_gb: need a number or nothing (null), have text "32 GB"', "write the number"),
        (("memory_gb",), "32", 'memory_gb: need a number or nothing (null), have text "32"', "remove the quotes"),
        (("name",), 44, "name: need text, have the number 44", "put it in quotes"),
        (("name",), True, "name: need text, have true", "put it in quotes"),
        (("groups",), "kiosk", 'groups: need a list, have text "kiosk"', "write it as a list"),
        (("gpus",), None, "gpus: need a list, have nothing (null)", "write [] if there is nothing in it"),
        (("gpus",), {}, "gpus: need a list, have an empty mapping", "All cards"),
        (("cpu",), [1], "cpu: need a mapping, have a list", "Processor facts."),
        (("disks", 0), "sda", "disks[0]: need a mapping, have text", "One real disk."),
        (
            ("disks", 0, "rotational"),
            "no",
            'disks[0].rotational: need true or false or nothing (null), have text "no"',
            "write true or false, without quotes",
        ),
    ],
)  # fmt: skip
def test_wrong_types(route: mutations.Route, value: Any, message: str, hint: str) -> None:
    found = only("node", with_value("node", *route, value=value))
    assert (found.code, found.message, found.place) == ("schema-type", message, Place("f.yaml", route))
    assert found.hint is not None
    assert found.hint.startswith(hint)


def test_a_commit_id_of_digits_alone_is_not_text() -> None:
    found = only("models", with_value("models", "models", "qwen3-4b", "source", value=1234567))
    assert (found.code, found.message) == ("schema-type", "models.qwen3-4b.source: need text, have the number 1234567")
    assert found.hint == "put it in quotes, so that it stays text"


@pytest.mark.parametrize(
    ("kind", "route", "value", "problem"),
    [
        ("node", ("os",), "linus", 'need one of "linux", "windows"; have "linus"'),
        ("node", ("cpu", "cores"), 0, "need at least 1, have 0"),
        ("node", ("memory_gb",), 0, "need more than 0, have 0"),
        ("node", ("memory_gb",), -1, "need more than 0, have -1"),
        ("node", ("disks", 0, "size_gb"), 0, "need more than 0, have 0"),
        ("node", ("gpus", 0, "compute_cap"), 890, "need at most 99, have 890"),
        ("node", ("gpus", 0, "compute_cap"), 0.9, "need at least 1, have 0.9"),
        ("node", ("gpus", 0, "pci", "id"), "10DE:1C30", 'need a form like "10de:13f1", have "10DE:1C30"'),
        ("node", ("gpus", 0, "pci", "address"), "02:00.0", 'need a form like "0000:01:00.0", have "02:00.0"'),
        ("node", ("name",), "", "need at least 1 character, have none"),
        ("node", ("name",), "x" * 64, "need at most 63 characters, have 64"),
        ("node", ("groups",), ["a", "b", "a"], 'need every item once, have "a" more than once'),
        ("models", ("models", "qwen3-4b", "engines"), [], "need at least 1 item, have none"),
        ("roles", ("roles", "chat", "slots", 1, "port"), 65536, "need at most 65535, have 65536"),
        ("roles", ("roles", "chat", "slots", 1, "port"), 0, "need at least 1, have 0"),
        ("roles", ("roles", "chat", "count"), 0, "need at least 1, have 0"),
        ("roles", ("roles", "chat", "vram_share"), {"alone": 0, "shared": 1}, "need more than 0, have 0"),
        ("roles", ("roles", "chat", "vram_share"), {"alone": 1, "shared": 1.5}, "need at most 1, have 1.5"),
        ("platform", ("network", "gateway"), "10.0.0.256", 'need a form like "192.168.100.1", have "10.0.0.256"'),
        ("platform", ("network", "cidr"), "10.0.0.0/33", 'need a form like "192.168.100.0/24", have "10.0.0.0/33"'),
    ],
)  # fmt: skip
def test_wrong_values(kind: Any, route: mutations.Route, value: Any, problem: str) -> None:
    found = only(kind, with_value(kind, *route, value=value))
    assert found.code == "schema-value"
    assert found.message.endswith(f": {problem}")
    assert found.place is not None
    assert (found.place.route[: len(route)], found.place.on) == (route, "value")
    assert found.hint


@pytest.mark.parametrize(
    ("kind", "route", "value", "hint"),
    [
        ("node", ("os",), "linus", 'did you mean "linux"?'),
        ("models", ("models", "qwen3-4b", "kind"), "rerank", 'did you mean "reranker"?'),
        ("node", ("gpus", 0, "pci", "id"), "10DE:1C30", 'did you mean "10de:1c30"?'),
        ("node", ("gpus", 0, "pci", "id"), " 10de:1c30", 'did you mean "10de:1c30"?'),
    ],
)
def test_near_misses_of_values(kind: Any, route: mutations.Route, value: str, hint: str) -> None:
    found = only(kind, with_value(kind, *route, value=value)).hint
    assert found is not None
    assert found.startswith(hint)


@pytest.mark.parametrize(
    ("kind", "route"),
    [
        ("models", ("engines", "llamacpp")),
        ("models", ("models", "qwen3-4b")),
        ("roles", ("roles", "chat")),
        ("platform", ("external", "tier0")),
    ],
)
@pytest.mark.parametrize("spoil", ["{}\n", "{} ", "-{}", "{}/x", "@{}", "{}\u2028", "{}\0", "ü{}"])
def test_a_bad_name_of_an_entry_is_reported_at_its_key(kind: Any, route: mutations.Route, spoil: str) -> None:
    name = spoil.format(route[-1])
    found = only(kind, renamed(GOOD[kind], route, name))
    assert (found.code, found.place) == ("schema-value", Place("f.yaml", (*route[:-1], name), "key"))


@pytest.mark.parametrize("name", ["chat\n", "\nchat", "a b", "", "é", "-a"])
def test_a_bad_slot_name_is_refused_in_both_forms(name: str) -> None:
    plain = only("roles", with_value("roles", "roles", "chat", "slots", 0, value=name))
    assert plain.place == Place("f.yaml", ("roles", "chat", "slots", 0))
    named = only("roles", with_value("roles", "roles", "chat", "slots", 1, "name", value=name))
    assert named.place == Place("f.yaml", ("roles", "chat", "slots", 1, "name"))


def test_a_slot_that_is_neither_text_nor_mapping() -> None:
    found = only("roles", with_value("roles", "roles", "chat", "slots", 0, value=[]))
    assert found.message == "roles.chat.slots[0]: need text or a mapping, have an empty list"


def test_all_mistakes_are_reported_in_the_order_of_routes() -> None:
    data = copy.deepcopy(NODE)
    data["gpus"] = [{"index": index, "memory": 1} for index in range(12)]
    data["os"] = "beos"
    found = schema.check("node", "f.yaml", data)
    assert [each.place.route for each in found if each.place] == [
        *(("gpus", index, "memory") for index in range(12)),
        ("os",),
    ]


def test_a_long_value_is_cut_and_control_characters_are_escaped() -> None:
    found = only("node", with_value("node", "os", value="l\x1b\n" + "x" * 10_000))
    assert found.message == 'os: need one of "linux", "windows"; have "l\\u001b\\n' + "x" * 57 + '…"'


def test_a_number_of_very_many_digits_is_not_written_out() -> None:
    found = only("node", with_value("node", "memory_gb", value=10**1000))
    assert found.message == "memory_gb: need at most 65536, have a number of very many digits"


SECRET = "sk-proj-1234567890abcdefghijklmnop"


@pytest.mark.parametrize(
    ("kind", "route", "value"),
    [
        ("node", ("os",), SECRET),
        ("node", ("gpus", 0, "pci", "id"), SECRET),
        ("node", ("cpu",), SECRET),
        ("node", ("memory_gb",), SECRET),
        ("platform", ("external", "tier0", "credential"), "correct horse"),
        ("platform", ("external", "tier0", "credential", "env"), "correct horse"),
        ("platform", ("external", "tier0", "credential", "env"), 271828182845),
        ("node", ("gpus", 0, SECRET), 1),
    ],
)
def test_no_secret_is_echoed(kind: Any, route: mutations.Route, value: Any) -> None:
    found = only(kind, with_value(kind, *route, value=value))
    for text in (found.message, found.hint or ""):
        assert "1234567890abcdef" not in text
        assert "horse" not in text
        assert "271828182845" not in text


@cache
def fleet() -> dict[str, list[dict[str, Any]]]:
    """The real fleet's data by kind of schema."""
    found: dict[str, list[dict[str, Any]]] = {}
    for path in sorted([*ROOT.glob("inventory/*.yaml"), *ROOT.glob("catalog/*.yaml")]):
        parsed, _ = document.parse(path.name, path.read_text(encoding="utf-8"))
        assert parsed is not None
        found.setdefault(path.stem if path.parent.name == "catalog" else "node", []).append(parsed.data)
    return found


def closed(root: Any, data: Any, at: mutations.Route = ()) -> list[tuple[mutations.Route, dict[str, Any]]]:
    """Every mapping of the data whose keys are fixed, with its schema."""
    if isinstance(data, list):
        return [pair for step, item in enumerate(data) for pair in closed(root["items"], item, (*at, step))]
    if not isinstance(data, dict):
        return []
    fixed = root.get("properties")
    below = {step: fixed[step] if fixed else root["additionalProperties"] for step in data}
    inner = [pair for step, child in data.items() for pair in closed(below[step], child, (*at, step))]
    return [(at, root), *inner] if fixed else inner


@pytest.mark.parametrize("kind", GOOD)
def test_every_key_of_the_fleet_without_its_last_letter_is_one_mistake_with_the_right_key(kind: Any) -> None:
    for data in fleet()[kind]:
        for at, fixed in closed(schema.schema(kind), data):
            for key in mutations.get(data, at):
                short = key[:-1]
                if short in fixed["properties"] or len(short) < 2:
                    continue
                found = only(kind, renamed(data, (*at, key), short))
                assert (found.code, found.place) == ("schema-unknown-key", Place("f.yaml", (*at, short), "key"))
                assert f'did you mean "{key}"?' in (found.hint or ""), (at, key, found)


@pytest.mark.parametrize("kind", GOOD)
def test_every_value_of_the_fleet_of_the_wrong_type_is_one_mistake_at_its_place(kind: Any) -> None:
    for data in fleet()[kind]:
        for route in list(mutations.routes(data))[1:]:
            wrong: Any = ["x"] if isinstance(mutations.get(data, route), dict) else {"x": 1}
            found = only(kind, mutations.changed(data, route, putting(wrong)))
            assert (found.code, found.place) == ("schema-type", Place("f.yaml", route))


@cache
def starts(kind: str) -> list[dict[str, Any]]:
    """Documents to spoil: the real fleet where it has any of this kind, and one with every field of the schema."""
    loaded = json.loads((ROOT / "schemas" / f"{kind}.schema.json").read_text(encoding="utf-8"))
    return [mutations.sample(loaded), *fleet().get(kind, [])]


def spoil(draw: Callable[[Any], Any], data: Any, values: list[Any], names: list[str]) -> Any:
    """One random change, guided by the schema: another value, another key, one key or item more or fewer."""
    route = draw(st.sampled_from(list(mutations.routes(data))))
    action = draw(st.sampled_from(["value", "value", "value", "remove", "add", "rename", "repeat"]))
    value = copy.deepcopy(draw(st.sampled_from(values)))
    target = mutations.get(data, route)
    if action == "add" and isinstance(target, dict):
        target[draw(st.sampled_from(names))] = value
    elif action == "add" and isinstance(target, list):
        target.append(value)
    elif action == "repeat" and isinstance(target, list) and target:
        target.append(copy.deepcopy(target[0]))
    elif not route:
        return data
    elif action == "remove":
        del mutations.get(data, route[:-1])[route[-1]]
    elif action == "rename" and isinstance(route[-1], str):
        return renamed(data, route, draw(st.sampled_from(names)))
    else:
        mutations.get(data, route[:-1])[route[-1]] = value
    return data


@cache
def validators(kind: Any) -> tuple[Any, Any]:
    loaded = dict(schema.schema(kind))
    return jsonschema.Draft202012Validator(loaded), jsonschema_rs.Draft202012Validator(loaded)


def verdicts(kind: Any, data: Any) -> tuple[bool, bool, bool]:
    slow, fast = validators(kind)
    return slow.is_valid(data), fast.is_valid(data), schema.check(kind, "f.yaml", data) == ()


@pytest.mark.parametrize("kind", KINDS)
@settings(deadline=None, max_examples=100)
@given(source=st.data())
def test_both_validators_agree_on_spoilt_documents(kind: Any, source: st.DataObject) -> None:
    loaded = schema.schema(kind)
    data = copy.deepcopy(source.draw(st.sampled_from(starts(kind))))
    values, names = mutations.pool(loaded), mutations.keys(loaded)
    for _ in range(source.draw(st.integers(0, 4))):
        data = spoil(source.draw, data, values, names)
    slow, fast, accepted = verdicts(kind, data)
    assert slow == fast == accepted


def json_values(names: list[str]) -> st.SearchStrategy[Any]:
    text = st.text(st.characters(exclude_categories=["Cs"]), max_size=20) | st.sampled_from(names)
    leaves = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | text
    return st.recursive(leaves, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(text, inner, max_size=6))


@pytest.mark.parametrize("kind", KINDS)
@settings(deadline=None, max_examples=60)
@given(source=st.data())
def test_both_validators_agree_on_any_json(kind: Any, source: st.DataObject) -> None:
    names = mutations.keys(schema.schema(kind))
    data = source.draw(st.dictionaries(st.sampled_from(names), json_values(names), max_size=8))
    slow, fast, accepted = verdicts(kind, data)
    assert slow == fast == accepted


@pytest.mark.parametrize("kind", KINDS)
def test_a_document_with_every_field_is_accepted(kind: Any) -> None:
    assert schema.check(kind, "f.yaml", mutations.sample(schema.schema(kind))) == ()


@pytest.mark.parametrize("value", ["\ud800", float("nan"), float("inf")])
def test_what_no_parser_lets_through_is_refused_without_a_traceback(value: Any) -> None:
    for route in (("os",), ("memory_gb",), ("gpus", 0, "memory_gb")):
        assert [each.code for each in schema.check("node", "f.yaml", with_value("node", *route, value=value))] != []


def test_what_is_in_the_list_already_is_not_suggested() -> None:
    """``kinds: [reranker, rerankr]``: the second is not the first once more."""
    for kinds, hint in ((["reranker", "rerankr"], "One kind of model."), (["rerankr"], 'did you mean "reranker"?')):
        needs = {"engine": "llamacpp"}
        found = schema.check("roles", "f.yaml", {"roles": {"rerank": {"needs": needs, "kinds": kinds}}})
        assert [(one.hint or "")[: len(hint)] for one in found] == [hint]


def test_a_missing_key_is_told_at_the_key_of_its_mapping() -> None:
    (found,) = schema.check("roles", "f.yaml", {"roles": {"rerank": {"needs": {"engine": "llamacpp"}}}})
    assert found.place == Place("f.yaml", ("roles", "rerank"), "key")
