"""Plan to files, in two steps: `documents` makes the data of each file, `render` the text of all of them. Pure.

A new generated file is one function, one line in `RENDERERS` and one in `KINDS`, and its schema.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from knaster.planned import Planned
from knaster.renderers.known import HEAD, Data
from knaster.renderers.manifest import digest, manifest, record
from knaster.renderers.placement import placement, placement_from
from knaster.renderers.proxmox import proxmox
from knaster.renderers.registry import registry
from knaster.renderers.tofu import tfvars

if TYPE_CHECKING:
    from knaster.schema import Kind

__all__ = ["KINDS", "MANIFEST", "RENDERERS", "digest", "documents", "placement_from", "record", "render"]

MANIFEST = "manifest.json"

RENDERERS: tuple[tuple[str, Callable[[Planned], Data]], ...] = (
    ("placement.yaml", placement),
    ("proxmox.yaml", proxmox),
    ("registry.yaml", registry),
    ("tofu/knaster.auto.tfvars.json", tfvars),
)
"""Path relative to ``generated/``, and the function that makes its data."""

KINDS: Mapping[str, Kind] = {
    "placement.yaml": "placement",
    "proxmox.yaml": "proxmox",
    "registry.yaml": "registry",
    "tofu/knaster.auto.tfvars.json": "tfvars",
    MANIFEST: "manifest",
}
"""The schema of each generated file."""


def documents(planned: Planned) -> dict[str, Data]:
    """The data of every generated file but the manifest, by path relative to ``generated/``."""
    return {path: renderer(planned) for path, renderer in RENDERERS}


def render(documents: Mapping[str, Mapping[str, Any]], *, input_digest: str, version: str) -> dict[str, str]:
    """The text of every generated file, the manifest included, sorted by path."""
    from knaster.document.emitter import dump, dump_json  # start-up budget

    files = {path: dump_json(data) if path.endswith(".json") else dump(data, HEAD) for path, data in documents.items()}
    files[MANIFEST] = dump_json(manifest(files, input_digest=input_digest, version=version))
    return dict(sorted(files.items()))
