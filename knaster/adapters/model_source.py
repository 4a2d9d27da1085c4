"""What a user means by the name of a model: a folder, a file, or a repository of the hub, with its reader."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

from knaster.adapters.hub_model import HubModel
from knaster.adapters.model_files import LocalModel, folder, single
from knaster.diagnostics import WorldError

FORMS = "OWNER/NAME, OWNER/NAME@REVISION, OWNER/NAME:q4_k_m, OWNER/NAME/FILE.gguf, a folder, or a file .gguf"
_PART = r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,94}[A-Za-z0-9_])?"
_REPOSITORY = re.compile(
    rf"(?P<name>{_PART}/{_PART})(?:@(?P<revision>[^\s@:]{{1,200}}?))?(?:/(?P<path>[^\s:]{{1,900}}\.gguf)|:(?P<kind>[A-Za-z0-9_-]{{1,40}}))?\Z",
    re.IGNORECASE,
)
_PAGE = re.compile(r"/(?P<name>[^/]+/[^/]+)(?:/(?:tree|blob|resolve)/(?P<revision>[^/]+)(?:/(?P<path>.+))?)?/?\Z")
_HOSTS = ("huggingface.co", "www.huggingface.co", "hf.co")


@dataclass(frozen=True, slots=True)
class Source:
    """The reader of a model. ``only``: the GGUF file that was named, by its path or its precision in lower case."""

    reader: LocalModel | HubModel
    only: str | None = None


@dataclass(frozen=True, slots=True)
class Named:
    """A repository as it was named: ``OWNER/NAME``, a revision, and one GGUF file by path or precision."""

    name: str
    revision: str | None = None
    only: str | None = None


def source(text: str) -> Source:
    """The model that `text` names; what lies on this disk comes first, as everywhere in this trade.

    Raises WorldError: nothing is there, it cannot be read, or `text` names nothing.
    """
    local = _local(text)
    if local is not None:
        return local
    from knaster.adapters import hub_model, huggingface

    hub = huggingface.hub()
    named = repository(text, (hub.host, *_HOSTS))
    return Source(hub_model.model(hub, named.name, named.revision), named.only)


def _local(text: str) -> Source | None:
    path = Path(text).expanduser() if text.startswith("~") else Path(text)
    try:
        if text and path.is_dir():
            return Source(folder(path, text))
        if text and path.exists():
            return Source(_file(path))
    except (OSError, ValueError):
        pass
    if text.startswith(("/", "./", "../", "~", ".\\", "..\\")) or re.match(r"[A-Za-z]:[\\/]", text):
        raise WorldError(f"there is no {text}", f"name {FORMS}")
    return None


def _file(path: Path) -> LocalModel:
    if path.suffix.lower() != ".gguf" and path.name != "config.json":
        raise WorldError(f"{path} is no GGUF file", f"name {FORMS}")
    return single(path)


def repository(text: str, hosts: tuple[str, ...]) -> Named:
    """The repository that `text` names; also as an address of a page on one of `hosts`, or ``hf://``.

    Raises WorldError for anything else, with the forms that there are.
    """
    if text.lower().startswith(("http://", "https://")):
        return _page(text, hosts)
    match = _REPOSITORY.match(text.removeprefix("hf://").rstrip("/"))
    if match is None or any(bad in match["name"] for bad in ("--", "..")):
        raise WorldError("this names no model: no such folder or file, and no repository of the hub", f"name {FORMS}")
    only = match["path"] or (match["kind"] and match["kind"].lower())
    return Named(match["name"], match["revision"], only)


def _page(text: str, hosts: tuple[str, ...]) -> Named:
    try:
        parts = urlsplit(text)
        host, match = parts.hostname, _PAGE.match(unquote(parts.path))
    except ValueError:
        host, match = None, None
    if host not in hosts or match is None:
        raise WorldError("this is no page of a model on the hub", f"name {FORMS}; HF_ENDPOINT names another hub")
    named = repository(match["name"], hosts)
    path = match["path"] or ""
    return Named(named.name, match["revision"], path if path.lower().endswith(".gguf") else None)
