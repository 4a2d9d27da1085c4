"""Files in, cluster out: each file is parsed, checked against its schema and built; all problems come out at once.

One bad file never hides another's problems, and never becomes an empty part: it is None and named in `Cluster.broken`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass

from knaster import build, document, schema
from knaster.cluster import MODELS_FILE, PLATFORM_FILE, ROLES_FILE, Cluster
from knaster.diagnostics import Diagnostic, Severity
from knaster.document import Value
from knaster.filenames import Inputs, sort_out
from knaster.files import Files

ORDERED = frozenset({"args", "fallback", "dns"})
"""Keys whose list is a sequence; every other list is a set (``x-ordered`` in the schemas)."""

_KINDS: dict[str, schema.Kind] = {MODELS_FILE: "models", ROLES_FILE: "roles", PLATFORM_FILE: "platform"}
_NAMED = 5


@dataclass(frozen=True, slots=True)
class Loaded:
    """The cluster, everything wrong with its files (not yet located), and ``sha256:<hex>`` over the parsed values."""

    cluster: Cluster
    diagnostics: tuple[Diagnostic, ...]
    digest: str


def load(files: Files) -> Loaded:
    """All inputs among `files`. Never raises: what cannot be loaded is a diagnostic.

    The digest does not depend on the order of files, keys or unordered lists, on comments, line endings or quoting.
    """
    inputs = sort_out(files)
    found = list(inputs.diagnostics)
    data = _documents(files, inputs, found)
    nodes = tuple(build.node(data[path], path) for path in inputs.nodes if path in data)
    broken = inputs.broken | {path for path in (*inputs.nodes, *inputs.catalog) if path not in data}
    if broken:
        found.append(_skipped(broken))
    models, roles, platform = (data.get(path) for path in (MODELS_FILE, ROLES_FILE, PLATFORM_FILE))
    cluster = Cluster(
        nodes=tuple(sorted(nodes, key=lambda node: (node.name, node.file))),
        catalog=None if models is None else build.catalog(models),
        roles=None if roles is None else build.roles(roles),
        platform=None if platform is None else build.platform(platform),
        broken=broken,
    )
    return Loaded(cluster, tuple(found), _digest(data))


def _documents(files: Files, inputs: Inputs, found: list[Diagnostic]) -> dict[str, dict[str, Value]]:
    """The data of every file that parses and that its schema accepts."""
    data = {}
    for path in (*inputs.catalog, *inputs.nodes):
        text = files[path]
        assert isinstance(text, str), "sort_out passes on text alone"
        parsed, problems = document.parse(path, text)
        found += problems
        if parsed is None:
            continue
        problems = schema.check(_KINDS.get(path, "node"), path, parsed.data)
        found += problems
        if not problems:
            data[path] = parsed.data
    return data


def _skipped(broken: frozenset[str]) -> Diagnostic:
    """One note for everything that could not be looked at, so that silence is never taken for success."""
    names = sorted(broken)
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return Diagnostic(
        "check-skipped",
        f"placement and checks across files were skipped, because {', '.join(names[:_NAMED])}{more} did not load",
        severity=Severity.NOTE,
        hint="fix their errors first; more may show up then",
    )


def _digest(data: Mapping[str, Mapping[str, Value]]) -> str:
    whole = hashlib.sha256()
    for path in sorted(data):
        whole.update(json.dumps([path, _canonical(data[path])], sort_keys=True, separators=(",", ":")).encode("ascii"))
    return f"sha256:{whole.hexdigest()}"


def _canonical(value: Mapping[str, Value]) -> dict[str, Value]:
    """The mapping with its unordered lists sorted (keys are sorted by the caller's ``json.dumps``)."""
    return {
        key: _canonical(item)
        if isinstance(item, dict)
        else _listed(item, ordered=key in ORDERED)
        if isinstance(item, list)
        else item
        for key, item in value.items()
    }


def _listed(items: list[Value], *, ordered: bool) -> list[Value]:
    plain: list[Value] = [
        _canonical(item)
        if isinstance(item, dict)
        else _listed(item, ordered=ordered)
        if isinstance(item, list)
        else item
        for item in items
    ]
    return plain if ordered or len(plain) < 2 else sorted(plain, key=lambda item: json.dumps(item, sort_keys=True))
