"""Where the folders lie that belong to the tool, but not to its package: ``schemas`` and ``.gitea``."""

from __future__ import annotations

from pathlib import Path


def shipped(folder: str) -> Path:
    """The folder, inside the package (a wheel) or beside it (a checkout)."""
    package = Path(__file__).parent
    inside = package / folder
    return inside if inside.is_dir() else package.parent / folder
