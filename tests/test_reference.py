"""The reference is current, and complete."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from knaster.codes import CODES
from reference import pages

FOLDER = Path(__file__).parent.parent / "docs/reference"


def test_it_is_current() -> None:
    there = {path.name: path.read_text("utf-8") for path in FOLDER.iterdir()}
    assert there.keys() == pages().keys(), "run: make docs"
    for name, text in pages().items():
        if name == "commands.md" and sys.version_info[:2] != (3, 11):
            continue  # argparse lays help out anew with every other version
        assert there[name] == text, f"docs/reference/{name} is not current; run: make docs"


def test_every_code_has_its_section() -> None:
    text = pages()["codes.md"]
    assert all(f"\n## {code}\n" in text for code in CODES)


@pytest.mark.parametrize(
    ("page", "row"),
    [
        ("inputs.md", "| **`models.NAME.kind`** | `llm`, `embedding`, `reranker`, `tts` |"),
        ("inputs.md", "| `gpus[].disabled` | boolean | `false` |"),
        ("inputs.md", "| `roles.NAME.needs.min_vram_gb` | number, 0 to 65536 | `0` |"),
        ("generated.md", "| **`vms.NAME.vmid`** | integer"),
        ("commands.md", "usage: knaster placement plan"),
    ],
)
def test_what_it_tells_of_some(page: str, row: str) -> None:
    assert row in pages()[page]
