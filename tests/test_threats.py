"""docs/threat-model.md: every row of it names tests that exist; and what no other file of tests shows."""

from __future__ import annotations

import ast
import json
from typing import Any

import pytest

from knaster import document
from knaster.pipeline import Evaluation, evaluate
from tests import mutations
from tests.cited import cited, missing, rows
from tests.consumer_fleets import own
from tests.faults import HOUSE
from tests.repo import PLATFORM, files

PAGE = HOUSE / "docs/threat-model.md"
TEMPLATES = {"ansible/": "{{ lookup('pipe', 'id') }}", "litellm.yaml": "os.environ/SECRET"}
"""What is read by a program that would run it, or put a secret in its place: the file, and such a text."""


def test_every_threat_names_tests_that_exist() -> None:
    text = PAGE.read_text("utf-8")
    threats = [row for row in rows(PAGE) if len(row.strip("|").split(" | ")) == 3]
    assert len(threats) > 30
    assert [row for row in threats if not cited(row)] == []
    assert missing(text) == []
    assert {"test_threats", "test_hostile", "test_gate", "test_proxmox"} <= {
        one.partition("::")[0] for one in cited(text)
    }


def loaded() -> dict[str, Any]:
    """This repository's inputs as data."""
    parsed = {path: document.parse(path, text)[0] for path, text in own().items()}
    return {path: one.data for path, one in parsed.items() if one is not None}


def spoilt(data: dict[str, Any], path: str, route: mutations.Route, text: str) -> Evaluation:
    """The fleet with one text in the place of another."""

    def put(parent: Any, step: Any) -> None:
        parent[step] = text

    changed = {**data, path: mutations.changed(data[path], route, put)}
    return evaluate({name: json.dumps(one) for name, one in changed.items()})


@pytest.mark.parametrize("reader", TEMPLATES)
def test_no_text_reaches_a_reader_that_would_run_it(reader: str) -> None:
    """Found by trying: the schedule of a replication did, and Ansible's inventory is full of templates."""
    data, text = loaded(), TEMPLATES[reader]
    places = [
        (path, route)
        for path in data
        if path.startswith("catalog/") or path == "inventory/pve44.yaml"
        for route in mutations.routes(data[path])
        if route and isinstance(mutations.get(data[path], route), str)
    ]
    assert len(places) > 100
    reached, rendered = [], 0
    for path, route in places:
        evaluation = spoilt(data, path, route, text)
        rendered += evaluation.ok
        found = "".join(said for name, said in evaluation.generated.items() if name.startswith(reader))
        reached += [(path, route)] if text in found or json.dumps(text)[1:-1] in found else []
    assert reached == []
    assert rendered  # free text (a reason, a description) may say what it likes


@pytest.mark.parametrize("event", ["*/15", "02:30", "mon..fri 8..17,22:0/15", "sat *-1..7 15:00", "hourly", "*:5~10"])
def test_a_calendar_event_of_proxmox_is_accepted(event: str) -> None:
    """The forms of https://pve.proxmox.com/pve-docs/pve-admin-guide.html#chapter_calendar_events."""
    assert schedule(event) == []


@pytest.mark.parametrize("event", ["{{ x }}", "{% x %}", "$(id)", "a;b", "`id`", "a\nb", "-x", ""])
def test_a_calendar_event_is_no_template(event: str) -> None:
    assert schedule(event) == ["schema-value"]


def schedule(event: str) -> list[str]:
    """The codes of errors about the schedule of a replication."""
    job = f"    replication: [{{target: pve44, schedule: {json.dumps(event)}}}]\n"
    text = PLATFORM.replace("    services: [piper]\n", f"    services: [piper]\n{job}")
    found = evaluate(files(platform=text)).diagnostics
    return [one.code for one in found if one.place and "schedule" in one.place.route]


RUNNERS = frozenset({"eval", "exec", "compile", "__import__"})
LOADERS = frozenset({"pickle", "shelve", "torch", "transformers", "dill", "joblib"})

CALLS = ("os.system", "os.popen", "yaml.load", "yaml.unsafe_load", "marshal.load", "marshal.loads")


def test_nothing_that_is_read_is_ever_executed() -> None:
    """No evaluation of text, no format that makes objects, no YAML loader that does, no line for a shell."""
    wrong = []
    for path in sorted((HOUSE / "knaster").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Import | ast.ImportFrom):
                names = [one.name for one in node.names] + [getattr(node, "module", None) or ""]
                wrong += [(path.name, name) for name in names if name.partition(".")[0] in LOADERS]
            if isinstance(node, ast.Call):
                name = ast.unparse(node.func)
                shell = any(one.arg == "shell" for one in node.keywords)
                if name in RUNNERS or name in CALLS or shell:
                    wrong.append((path.name, name))
    assert wrong == []
