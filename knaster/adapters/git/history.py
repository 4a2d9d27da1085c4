"""What the placement in force needs to know of a repository (`knaster.in_force.mainline.History`)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from knaster.adapters.files import GENERATED_BOUND
from knaster.adapters.git.blobs import objects
from knaster.adapters.git.lines import chunks
from knaster.adapters.git.trees import GENERATED, read, read_below
from knaster.files import Files

_MANIFEST = f"{GENERATED}/manifest.json"


@dataclass(frozen=True, slots=True)
class History:
    """The history of the repository at `root`. Commits are full SHAs; every method raises `WorldError`.

    A history that a shallow clone cuts off is told when the part that is missing is asked for, and no earlier.
    """

    root: Path
    _keys: dict[str, str] = field(default_factory=dict, repr=False, compare=False)
    _parts: dict[str, list[str]] = field(default_factory=dict, repr=False, compare=False)

    def line(self, rev: str) -> Iterator[str]:
        """The first-parent line that ends at `rev`, newest first."""
        for part in chunks(self.root, rev):
            self._parts.update(dict.fromkeys(part, part))
            yield from part

    def inputs_key(self, sha: str) -> str:
        """Equal for two commits exactly when ``inventory/`` and ``catalog/`` are; ``- -`` where both are absent."""
        if sha not in self._keys:  # the neighbours on the line are asked for next: read all in one process
            part = self._parts.get(sha, [sha])
            for commit, (_, _, data) in zip(part, objects(self.root, [f"{one}:./" for one in part]), strict=True):
                self._keys[commit] = _key(data, len(sha) // 2)
        return self._keys[sha]

    def inputs(self, sha: str) -> Files:
        """The files below ``inventory/`` and ``catalog/``."""
        return read(self.root, sha)

    def generated(self, sha: str) -> Files:
        """The files below ``generated/``, by paths relative to it; ``""`` is an entry that stands in its place."""
        found = read_below(self.root, (sha,), (GENERATED,))[0]
        return {path.removeprefix(GENERATED).removeprefix("/"): entry for path, entry in found.items()}

    def manifests(self, rev: str) -> Iterator[tuple[str, str]]:
        """Each commit of the line where ``generated/manifest.json`` changed, with its text; newest first.

        Where a shallow clone ends, what the last commit holds counts as changed there.
        """
        for part in chunks(self.root, rev, _MANIFEST):
            names = [f"{sha}:./{_MANIFEST}" for sha in part]
            for sha, (_, kind, data) in zip(part, objects(self.root, names), strict=True):
                if kind == "blob" and len(data) <= GENERATED_BOUND:
                    yield sha, data.decode("utf-8", "surrogateescape")


def _key(tree: bytes, width: int) -> str:
    """What a stored tree (``mode name\\0id`` one after the other, ids of `width` bytes) has as inputs."""
    found = {b"inventory": "-", b"catalog": "-"}
    at = 0
    while at < len(tree):
        end = tree.index(b"\0", at)
        mode, _, name = tree[at:end].partition(b" ")
        if name in found:
            found[name] = f"{mode.decode('ascii')}:{tree[end + 1 : end + 1 + width].hex()}"
        at = end + 1 + width
    return " ".join(found.values())
