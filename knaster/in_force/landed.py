"""A placement read back from ``generated/``, trusted as far as the manifest beside it vouches for it. Pure."""

from __future__ import annotations

from knaster import document, renderers, schema
from knaster.diagnostics import Diagnostic, Place, Severity
from knaster.files import Files
from knaster.placement.result import PlacementPlan
from knaster.units import MIB

PLACEMENT_FILE = "generated/placement.yaml"
MANIFEST_FILE = "generated/manifest.json"
_PLACEMENT_BOUND = 64 * MIB


def recorded_placement(text: str, manifest: str | None = None) -> tuple[PlacementPlan | None, tuple[Diagnostic, ...]]:
    """The plan that the text of a ``placement.yaml`` holds; None and one warning when it is not to be trusted.

    `manifest` is the text of the ``manifest.json`` beside it, which tells a placement that was edited by hand.
    """
    parsed, problems = document.parse(PLACEMENT_FILE, text, max_bytes=_PLACEMENT_BOUND)
    if parsed is not None:
        problems = schema.check("placement", PLACEMENT_FILE, parsed.data)
    if problems or parsed is None:
        return None, (_distrusted(f"cannot be read: {problems[0].message}"),)
    record = renderers.record(manifest) if manifest is not None else None
    if record and record.files.get("placement.yaml") not in (None, renderers.digest(text.replace("\r\n", "\n"))):
        return None, (_distrusted("was changed by hand (manifest.json records another content)"),)
    return renderers.placement_from(parsed.data), ()


def landed_placement(generated: Files, input_digest: str) -> PlacementPlan | None:
    """The placement of a commit whose manifest records `input_digest` and every other file as it is; else None.

    `generated` maps paths relative to ``generated/``. Files that the manifest does not record are no concern here.
    """
    manifest = generated.get(renderers.MANIFEST)
    record = renderers.record(manifest) if isinstance(manifest, str) else None
    if record is None or record.input_digest != input_digest or "placement.yaml" not in record.files:
        return None
    texts = {path: generated.get(path) for path in record.files}
    if any(not isinstance(text, str) or renderers.digest(text) != record.files[path] for path, text in texts.items()):
        return None
    return recorded_placement(str(texts["placement.yaml"]))[0]


def _distrusted(problem: str) -> Diagnostic:
    return Diagnostic(
        "current-unreadable",
        f"the placement in force, {PLACEMENT_FILE}, {problem}; the plan is made without it",
        Place(PLACEMENT_FILE),
        Severity.WARNING,
        hint="roles may move between equally good cards; `knaster render` repairs the file",
    )
