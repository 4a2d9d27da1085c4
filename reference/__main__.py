"""`make docs`: write the pages, and drop those that are no longer made."""

from __future__ import annotations

from pathlib import Path

from reference import pages

FOLDER = Path(__file__).parent.parent / "docs/reference"

made = pages()
FOLDER.mkdir(parents=True, exist_ok=True)
for old in FOLDER.glob("*.md"):
    if old.name not in made:
        old.unlink()
for name, text in made.items():
    (FOLDER / name).write_text(text, "utf-8", newline="\n")
