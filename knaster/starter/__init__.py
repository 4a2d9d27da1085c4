"""A repository for another fleet: an example of each input, the schemas, workflows that install a pinned knaster."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from knaster.shipped import shipped

_OWN = Path(__file__).parent / "repository"
_NAMES = {
    "gitattributes": ".gitattributes",
    "gitignore": ".gitignore",
    "gitea/requirements.txt": ".gitea/requirements.txt",
}
"""Files that would mean something to git or to an installer where they lie here."""
EXECUTABLE = frozenset({".gitea/setup.sh"})


def texts(version: str) -> Mapping[str, str]:
    """Path to text of a new repository whose workflows install the knaster of this version, sorted by path."""
    found = {_NAMES.get(path, path): text for path, text in _below(_OWN)}
    found[".gitea/requirements.txt"] = found[".gitea/requirements.txt"].replace("{version}", version)
    for folder in ("schemas", ".gitea"):
        found.update({f"{folder}/{path}": text for path, text in _below(shipped(folder))})
    return dict(sorted(found.items()))


def _below(folder: Path) -> Iterator[tuple[str, str]]:
    for path in folder.rglob("*"):
        if path.is_file():
            yield path.relative_to(folder).as_posix(), path.read_text("utf-8")
