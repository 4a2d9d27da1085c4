"""Plan to files, in two steps: `documents` makes the data of each file, `render` the text of all of them. Pure.

A new generated file is one function, one line in `RENDERERS` and one in `KINDS`, and its schema. A file that no input
changes is a text of `TEXTS` and has neither.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from knaster.planned import Planned
from knaster.renderers.ansible import hosts
from knaster.renderers.known import HEAD, Data
from knaster.renderers.litellm import litellm
from knaster.renderers.manifest import digest, manifest, record
from knaster.renderers.module import module_texts
from knaster.renderers.placement import placement, placement_from
from knaster.renderers.prometheus import TARGETS
from knaster.renderers.proxmox import proxmox
from knaster.renderers.registry import registry
from knaster.renderers.scrape import scrape_texts
from knaster.renderers.tofu import excluded, moved, tfvars

if TYPE_CHECKING:
    from knaster.schema import Kind

__all__ = [
    "KINDS",
    "MANIFEST",
    "RENDERERS",
    "TEXTS",
    "TFVARS",
    "digest",
    "documents",
    "placement_from",
    "record",
    "render",
]

MANIFEST = "manifest.json"
TFVARS = "tofu/knaster.auto.tfvars.json"

RENDERERS: tuple[tuple[str, Callable[[Planned], Data]], ...] = (
    ("placement.yaml", placement),
    ("proxmox.yaml", proxmox),
    ("registry.yaml", registry),
    ("litellm.yaml", litellm),
    (TFVARS, tfvars),
    ("tofu/fleet/moved.tf.json", moved),
    ("tofu/down.exclude", excluded),
    ("ansible/hosts.yaml", hosts),
    *TARGETS,
)
"""Path relative to ``generated/``, and the function that makes its data."""

KINDS: Mapping[str, Kind] = {
    "placement.yaml": "placement",
    "proxmox.yaml": "proxmox",
    "registry.yaml": "registry",
    "litellm.yaml": "litellm",
    TFVARS: "tfvars",
    "tofu/fleet/moved.tf.json": "moved",
    "tofu/down.exclude": "exclude",
    "ansible/hosts.yaml": "hosts",
    **{path: "targets" for path, _ in TARGETS},
    MANIFEST: "manifest",
}
"""The schema of each generated file."""

TEXTS: tuple[Callable[[], Mapping[str, str]], ...] = (module_texts, scrape_texts)
"""Texts that no input changes, by path relative to ``generated/``."""


def documents(planned: Planned) -> dict[str, Data]:
    """The data of every generated file but the manifest, by path relative to ``generated/``."""
    return {path: renderer(planned) for path, renderer in RENDERERS}


def render(documents: Mapping[str, Mapping[str, Any]], *, input_digest: str, version: str) -> dict[str, str]:
    """The text of every generated file, the manifest included, sorted by path."""
    files = {path: _text(path, data) for path, data in documents.items()}
    for texts in TEXTS:
        files.update(texts())
    files[MANIFEST] = _text(MANIFEST, manifest(files, input_digest=input_digest, version=version))
    return dict(sorted(files.items()))


def _text(path: str, data: Mapping[str, Any]) -> str:
    """Data as the file's readers take it: JSON (for ``file_sd`` a bare list), addresses one a line, or YAML."""
    from knaster.document.emitter import dump, dump_json  # start-up budget

    if KINDS[path] == "targets":
        return dump_json(data["groups"])
    if path.endswith(".json"):
        return dump_json(data)
    if path.endswith(".exclude"):
        return "".join(f"{line}\n" for line in (*(f"# {line}" for line in HEAD.splitlines()), *data["addresses"]))
    return dump(data, HEAD)
