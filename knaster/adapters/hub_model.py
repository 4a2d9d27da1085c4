"""A model on the Hugging Face hub: its listing at one commit, and parts of its files, from the cache where it can.

Source of the addresses: https://huggingface.co/docs/hub/api (``/api/models/REPO/revision/REV?blobs=true``) and
``hf_hub_url`` of huggingface_hub (``/REPO/resolve/COMMIT/PATH``).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

from knaster import foreign_json
from knaster.adapters.hub_errors import Denied
from knaster.adapters.huggingface import Hub
from knaster.adapters.model_files import LocalModel, folder
from knaster.diagnostics import WorldError
from knaster.units import MIB

LISTING_BOUND = 32 * MIB
FILES_BOUND = 50_000
READ_BOUND = 128 * MIB
"""Bytes of one read. No header is nearly as large; what a file claims never asks for more."""
_COMMIT = re.compile(r"[0-9a-f]{40}\Z")
_SHA256 = re.compile(r"[0-9a-f]{64}\Z")
_PATH_BOUND = 1024

Files = Mapping[str, tuple[int | None, str | None]]


@dataclass(frozen=True, slots=True)
class HubModel:
    """A repository at the commit ``revision``. ``cached`` is its snapshot on this disk, as far as there is one."""

    name: str
    revision: str
    files: Files
    hub: Hub = field(repr=False)
    cached: LocalModel | None = field(default=None, repr=False)

    def read(self, path: str, start: int, length: int) -> bytes:
        """At most `length` bytes of a listed file from `start` on; fewer only where it ends. Raises WorldError."""
        if path not in self.files:
            raise WorldError(f"{self.name} has no file {path}")
        if self.cached is not None and path in self.cached.files:
            return self.cached.read(path, start, length)
        size = self.files[path][0]
        wanted = min(length, READ_BOUND if size is None else max(size - start, 0))
        if wanted <= 0:
            return b""
        address = f"/{self.name}/resolve/{self.revision}/{quote(path)}"
        try:
            return self.hub.get(address, READ_BOUND, (start, wanted)).body
        except Denied as problem:
            hint = f"{problem.hint}: {self.hub.endpoint}/{self.name}" if problem.refusal == "gated" else problem.hint
            raise Denied(f"{self.name}, {path}: {problem.message}", hint, problem.refusal) from None


def model(hub: Hub, name: str, revision: str | None = None) -> HubModel | LocalModel:
    """The repository `name` (``OWNER/NAME``) at a branch, tag or commit (default: ``main``).

    Offline it is the snapshot in the cache, whatever of it is there. Raises WorldError: Denied where the hub does not
    show it.
    """
    asked = revision or "main"
    if hub.offline:
        cached = _snapshot(hub, name, asked)
        if cached is None:
            raise WorldError(
                f"HF_HUB_OFFLINE is set, and {name} at {asked} is not in the cache {hub.cache}",
                f"unset it, or download the model first: hf download {name}",
            )
        return cached
    try:
        body = hub.get(f"/api/models/{name}/revision/{quote(asked, safe='')}?blobs=true", LISTING_BOUND).body
    except Denied as problem:
        where = f"{name} at {asked}" if problem.refusal == "revision" else name
        raise Denied(f"{where}: {problem.message}", problem.hint, problem.refusal) from None
    commit, files = _listing(body, name, hub)
    return HubModel(name, commit, files, hub, _snapshot(hub, name, commit))


def _listing(body: bytes, name: str, hub: Hub) -> tuple[str, Files]:
    data = foreign_json.mapping(body) or {}
    commit, siblings = data.get("sha"), data.get("siblings")
    if not isinstance(commit, str) or not _COMMIT.match(commit) or not isinstance(siblings, list):
        raise WorldError(f"{hub.host} does not answer as a hub does about {name}", "see that HF_ENDPOINT names a hub")
    if len(siblings) > FILES_BOUND:
        raise WorldError(f"{name} holds {len(siblings)} files, over the bound of {FILES_BOUND}")
    return commit, dict(sorted(entry for item in siblings if (entry := _entry(item)) is not None))


def _entry(item: Any) -> tuple[str, tuple[int | None, str | None]] | None:
    """One file of a listing; None for what is no file that could be asked for."""
    path = item.get("rfilename") if isinstance(item, dict) else None
    if not isinstance(path, str) or not 0 < len(path) <= _PATH_BOUND or not path.isprintable():
        return None
    if any(part in ("", ".", "..") for part in path.split("/")):
        return None
    lfs = item.get("lfs")
    sha256 = lfs.get("sha256") if isinstance(lfs, dict) else None
    size = item.get("size")
    return path, (
        size if type(size) is int and 0 <= size < 2**63 else None,
        sha256 if isinstance(sha256, str) and _SHA256.match(sha256) else None,
    )


def _snapshot(hub: Hub, name: str, revision: str) -> LocalModel | None:
    """What the cache holds of a revision: ``models--OWNER--NAME/snapshots/COMMIT``; None where there is nothing."""
    root = hub.cache / f"models--{name.replace('/', '--')}"
    commit = revision if _COMMIT.match(revision) else _reference(root, revision)
    path = root / "snapshots" / commit if commit else None
    if path is None or not path.is_dir():
        return None
    return folder(path, name, commit)


def _reference(root: Path, revision: str) -> str | None:
    """The commit that a branch or tag stood for when it was last downloaded."""
    if any(part in ("", ".", "..") for part in revision.split("/")):
        return None
    path = root / "refs" / revision
    try:
        with path.open("rb") as file:
            text = file.read(64).decode("ascii", "replace").strip()
    except OSError:
        return None
    return text if _COMMIT.match(text) else None
