"""Files in, cluster out: each file is parsed, checked against its schema and built; all problems come out at once.

One bad file never hides another's problems, and never becomes an empty part: it is None and named in `Cluster.broken`.
A file whose text is that of an earlier load is taken from there: parsing is most of the work.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from knaster import building, document, schema
from knaster.cluster import MODELS_FILE, PLATFORM_FILE, ROLES_FILE, Cluster
from knaster.diagnostics import Diagnostic, Severity
from knaster.document import Value
from knaster.files import Files
from knaster.fit.records import architecture
from knaster.fit.records import problems as record_problems
from knaster.loader.filenames import Inputs, architecture_name, is_architecture, is_history, sort_out

ORDERED = frozenset({"args", "fallback", "dns"})
"""Keys whose list is a sequence; every other list is a set (``x-ordered`` in the schemas)."""

_KINDS: dict[str, schema.Kind] = {MODELS_FILE: "models", ROLES_FILE: "roles", PLATFORM_FILE: "platform"}
_BUILDERS: dict[str, Callable[[Mapping[str, Any]], Any]] = {
    MODELS_FILE: building.catalog,
    ROLES_FILE: building.roles,
    PLATFORM_FILE: building.platform,
}
_NAMED = 5


@dataclass(frozen=True, slots=True)
class Part:
    """What became of one file.

    ``data``, ``built`` (a node, catalog, roles, platform or history) and ``canonical`` (its share of the digest) are
    None where it did not load, ``problems`` (not yet located) say why. A history has no share: the plan does not
    depend on it.
    """

    text: str
    problems: tuple[Diagnostic, ...]
    data: Mapping[str, Value] | None = None
    built: Any = None
    canonical: bytes | None = None


@dataclass(frozen=True, slots=True)
class Loaded:
    """The cluster, everything wrong with its files (not yet located), and ``sha256:<hex>`` over the parsed values.

    ``parts`` holds what each file came to, by path.
    """

    cluster: Cluster
    diagnostics: tuple[Diagnostic, ...]
    digest: str
    parts: Mapping[str, Part] = field(default_factory=dict)


def load(files: Files, like: Mapping[str, Part] | None = None) -> Loaded:
    """All inputs among `files`. Never raises: what cannot be loaded is a diagnostic.

    The digest does not depend on the order of files, keys or unordered lists, on comments, line endings or quoting.
    `like` are the parts of an earlier load: those of equal text are used again, which changes no answer.
    """
    inputs = sort_out(files)
    parts = _parts(files, inputs, like or {})
    found = [*inputs.diagnostics, *(problem for part in parts.values() for problem in part.problems)]
    broken = inputs.broken | {path for path in (*inputs.catalog, *inputs.nodes) if parts[path].data is None}
    if broken:
        found.append(_skipped(broken))
    nodes = (part.built for path in inputs.nodes if (part := parts[path]).data is not None)
    models, roles, platform = (parts[path].built if path in parts else None for path in _BUILDERS)
    cluster = Cluster(
        nodes=tuple(sorted(nodes, key=lambda node: (node.name, node.file))),
        catalog=models,
        roles=roles,
        platform=platform,
        broken=broken,
        histories=tuple(part.built for path in inputs.histories if (part := parts[path]).data is not None),
        architectures={
            architecture_name(path): part.built
            for path in inputs.architectures
            if (part := parts[path]).data is not None
        },
    )
    return Loaded(cluster, tuple(found), _digest(parts), parts)


def _parts(files: Files, inputs: Inputs, like: Mapping[str, Part]) -> dict[str, Part]:
    parts = {}
    for path in (*inputs.catalog, *inputs.nodes, *inputs.histories, *inputs.architectures):
        text = files[path]
        assert isinstance(text, str), "sort_out passes on text alone"
        earlier = like.get(path)
        parts[path] = earlier if earlier is not None and earlier.text == text else _part(path, text)
    return parts


def _part(path: str, text: str) -> Part:
    """The data of a file that parses and that its schema accepts, built."""
    if is_architecture(path):
        return _architecture(path, text)
    parsed, problems = document.parse(path, text)
    if parsed is not None and not problems:
        problems = schema.check(_kind(path), path, parsed.data)
    if parsed is None or problems:
        return Part(text, tuple(problems))
    if is_history(path):
        return Part(text, (), parsed.data, building.history(parsed.data, path))
    builder = _BUILDERS.get(path)
    built = builder(parsed.data) if builder else building.node(parsed.data, path)
    return Part(text, (), parsed.data, built, _encoded(path, parsed.data))


def _kind(path: str) -> schema.Kind:
    return "benchmarks" if is_history(path) else _KINDS.get(path, "node")


def _architecture(path: str, text: str) -> Part:
    """An architecture. It has no share of the digest: what is known of a model moves nothing in the fleet."""
    parsed, problems = document.parse(path, text)
    if parsed is not None and not problems:
        problems = schema.check("architecture", path, parsed.data) or record_problems(path, parsed.data)
    if parsed is None or problems:
        return Part(text, tuple(problems))
    return Part(text, (), parsed.data, architecture(parsed.data), b"")


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


def _digest(parts: Mapping[str, Part]) -> str:
    whole = hashlib.sha256()
    for path in sorted(parts):
        whole.update(parts[path].canonical or b"")
    return f"sha256:{whole.hexdigest()}"


def _encoded(path: str, data: Mapping[str, Value]) -> bytes:
    return json.dumps([path, _canonical(data)], sort_keys=True, separators=(",", ":")).encode("ascii")


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
