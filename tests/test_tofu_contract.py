"""What is emitted and what the module declares agree exactly: OpenTofu itself would drop, warn, or take null."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from knaster import renderers
from knaster.pipeline import evaluate
from knaster.renderers import TFVARS, contract, documents
from knaster.renderers.contract import Type, Variable, broken, declared
from knaster.renderers.module import module_texts
from tests import repo
from tests.small_fleet import fleet
from tests.tofu_fleets import BASE, FLEETS, real
from tests.tofu_lab import right

VARIABLES = module_texts()["tofu/variables.tf"]


def test_types_are_read() -> None:
    text = """
    # variable "no" { type = string }
    variable "a" {
      description = "type = number, in a text"
      type        = map(object({
        one   = string
        two   = optional(list(number), [1, 2]), three = optional(bool)
        four  = object({ five = set(string) })
      }))
      validation {
        condition     = var.a.type == "x"
        error_message = "type = bool"
      }
    }
    variable "b" {
      type    = number
      default = 1
    }
    variable "c" {}
    """
    inner = Type(
        "object",
        attributes={
            "one": Type("string"),
            "two": Type("list", of=Type("number")),
            "three": Type("bool"),
            "four": Type("object", attributes={"five": Type("set", of=Type("string"))}),
        },
        optional=frozenset({"two", "three"}),
    )
    assert declared(text) == {
        "a": Variable(Type("map", of=inner), has_default=False),
        "b": Variable(Type("number"), has_default=True),
        "c": Variable(Type("any"), has_default=False),
    }


@pytest.mark.parametrize(
    "text", ['variable "a" { type = strng }', 'variable "a" { type = tuple([string]) }', 'variable "a" {']
)
def test_what_is_no_type_is_an_error(text: str) -> None:
    with pytest.raises(ValueError, match=r"bracket|constraint"):
        declared(text)


def test_both_modules_declare_the_same_and_the_root_hands_all_of_it_over() -> None:
    assert module_texts()["tofu/fleet/variables.tf"] == VARIABLES
    for name in declared(VARIABLES):
        assert f"  {name} " in module_texts()["tofu/main.tf"]


@pytest.mark.parametrize("files", [BASE, real(), *FLEETS.values()], ids=["base", "real", *FLEETS])
def test_what_is_emitted_is_what_is_declared(files: Any) -> None:
    assert broken(right(files).documents[TFVARS]) == ()


def test_the_schema_names_what_the_module_declares() -> None:
    """Two descriptions of one file, written apart from each other."""
    rules = json.loads((Path(__file__).parent.parent / "schemas" / "tfvars.schema.json").read_text("utf-8"))
    assert rules["properties"].keys() - {"//"} == declared(VARIABLES).keys()
    for name, variable in declared(VARIABLES).items():
        assert shape_of_schema(rules["properties"][name]) == shape_of_type(variable.type), name


def shape_of_schema(rules: dict[str, Any]) -> Any:
    """What a schema says of structure."""
    if rules["type"] == "array":
        return [shape_of_schema(rules["items"])]
    if rules["type"] == "object" and "properties" in rules:
        return {name: shape_of_schema(one) for name, one in rules["properties"].items()}
    if rules["type"] == "object":
        return {"*": shape_of_schema(rules["additionalProperties"])}
    return {"integer": "number", "boolean": "bool"}.get(rules["type"], rules["type"])


def shape_of_type(kind: Type) -> Any:
    """The same of a type constraint."""
    if kind.kind == "object":
        return {name: shape_of_type(one) for name, one in kind.attributes.items()}
    if kind.of is None:
        return kind.kind
    return {"*": shape_of_type(kind.of)} if kind.kind == "map" else [shape_of_type(kind.of)]


@pytest.mark.parametrize(
    ("old", "new", "found"),
    [
        (
            'variable "vms"',
            'variable "machines"',
            ("machines: not emitted", "vms: the module declares no such variable"),
        ),
        ("    cores      = number\n", "", ("vms[gpu-pve44].cores: the module has no such attribute",)),
        (
            "    cores      = number\n",
            "    cores = number\n    sockets = number\n",
            ("vms[gpu-pve44].sockets: not emitted",),
        ),
        ("    vmid       = number", "    vmid       = string", ("vms[gpu-pve44].vmid: no string",)),
        ("      mapping = string\n", "      maping = string\n", (
            "vms[gpu-pve44].hostpci[0].maping: not emitted",
            "vms[gpu-pve44].hostpci[0].mapping: the module has no such attribute",
            "vms[gpu-pve44].hostpci[1].maping: not emitted",
            "vms[gpu-pve44].hostpci[1].mapping: the module has no such attribute",
        )),
    ],
)  # fmt: skip
def test_a_module_that_says_something_else_is_noticed(old: str, new: str, found: tuple[str, ...]) -> None:
    """Terraform 31280 and 29204: the program warns of the first and says nothing of the others."""
    assert old in VARIABLES
    assert broken(documents(fleet())[TFVARS], declared(VARIABLES.replace(old, new))) == found


def test_values_that_are_something_else_are_noticed() -> None:
    data = json.loads(json.dumps(documents(fleet())[TFVARS]))
    vm = data["vms"]["gpu-pve44"]
    vm["memmory_mib"], vm["image"], vm["dns"], vm["cores"] = 8192, "x", {}, True
    vm["hostpci"][0]["rombar"] = None
    data["containers"] = []
    assert broken(data) == (
        "containers: no map",
        "vms[gpu-pve44].cores: no number",
        "vms[gpu-pve44].dns: no list",
        "vms[gpu-pve44].hostpci[0].rombar: null",
        "vms[gpu-pve44].image: no object",
        "vms[gpu-pve44].memmory_mib: the module has no such attribute",
    )


def test_a_broken_contract_is_a_bug_that_stops_render(monkeypatch: pytest.MonkeyPatch) -> None:
    changed = declared(VARIABLES.replace('variable "vms"', 'variable "machines"'))
    monkeypatch.setattr(contract, "_module_variables", lambda: changed)
    found = evaluate(repo.files())
    assert {one.code for one in found.diagnostics if one.severity == "error"} == {"internal-output"}
    assert any("vms: the module declares no such variable" in one.message for one in found.diagnostics)
    assert found.generated == {}
    assert renderers.TFVARS in found.documents
