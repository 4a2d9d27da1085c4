"""Which file is which: the naming rules of ``inventory/`` and ``catalog/``. Nothing there is skipped in silence."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

from knaster.cluster import BENCHMARKS, MODELS_FILE, PLATFORM_FILE, ROLES_FILE
from knaster.diagnostics import Diagnostic, Place, Related, Severity
from knaster.files import Files, Refused
from knaster.names import nearest

CATALOG_FILES = (MODELS_FILE, PLATFORM_FILE, ROLES_FILE)
INVENTORY = "inventory/"
CATALOG = "catalog/"
ARCHITECTURES = "catalog/architectures/"
ASIDE = (ARCHITECTURES, BENCHMARKS)
_HOUSEKEEPING = frozenset({".gitkeep", ".gitignore"})
_YAML_LIKE = re.compile(r"\.ya?ml\Z", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Inputs:
    """Paths to load, and what is wrong with the others; ``broken`` should have been inputs and cannot be.

    ``histories`` of benchmarks and ``architectures`` of models lie aside: no plan waits for them.
    """

    nodes: tuple[str, ...]
    catalog: tuple[str, ...]
    histories: tuple[str, ...]
    architectures: tuple[str, ...]
    broken: frozenset[str]
    diagnostics: tuple[Diagnostic, ...]


def node_name(path: str) -> str:
    """The node that ``inventory/<node>.yaml`` describes."""
    return path.removeprefix(INVENTORY).removesuffix(".yaml")


def is_node_file(path: str) -> bool:
    """Whether the path is ``inventory/<node>.yaml``, directly in the folder and not hidden."""
    return _directly_in(INVENTORY, path)


def is_history(path: str) -> bool:
    """Whether the path is ``catalog/benchmarks/<model>.yaml``, directly in the folder and not hidden."""
    return _directly_in(BENCHMARKS, path)


def is_architecture(path: str) -> bool:
    """Whether the path is ``catalog/architectures/<model>.yaml``, directly in the folder and not hidden."""
    return _directly_in(ARCHITECTURES, path)


def is_aside(path: str) -> bool:
    """Whether the path lies in a folder whose files say more of models, and change no plan."""
    return f"{path}/".startswith(ASIDE)


def _directly_in(folder: str, path: str) -> bool:
    name = path.removeprefix(folder)
    return path.startswith(folder) and name.endswith(".yaml") and "/" not in name and not name.startswith(".")


def architecture_name(path: str) -> str:
    """The model's name in that of its file: with ``_`` for the ``:`` that no file on Windows may have."""
    return path.removeprefix(ARCHITECTURES).removesuffix(".yaml")


def is_input(path: str) -> bool:
    """Whether knaster loads this path."""
    return path in CATALOG_FILES or is_node_file(path) or is_history(path) or is_architecture(path)


def sort_out(files: Files) -> Inputs:
    """Judge every path under ``inventory/`` and ``catalog/``; paths elsewhere are not looked at."""
    nodes, catalog, histories, architectures, broken, found = [], [], [], [], set(), []
    for path in sorted(files):
        if not f"{path}/".startswith((INVENTORY, CATALOG)):
            continue
        problem = _problem(path, files)
        if problem is not None:
            found.append(problem)
            if problem.severity is Severity.ERROR and not is_aside(path):
                broken.add(path)
        elif is_node_file(path):
            nodes.append(path)
        elif path in CATALOG_FILES:
            catalog.append(path)
        elif is_history(path):
            histories.append(path)
        elif is_architecture(path):
            architectures.append(path)
    found += _missing(files, nodes, broken)
    broken.update(path for path in CATALOG_FILES if path not in files)
    if not nodes:
        broken.add(INVENTORY)
    found += _twins(nodes)
    return Inputs(tuple(nodes), tuple(catalog), tuple(histories), tuple(architectures), frozenset(broken), tuple(found))


def _problem(path: str, files: Files) -> Diagnostic | None:
    entry = files[path]
    if isinstance(entry, Refused):
        return Diagnostic(
            "file-kind",
            f"{path} was not read: it is {entry.reason}",
            Place(path),
            hint="put a regular UTF-8 text file in its place, or remove it",
        )
    name = path.rpartition("/")[2]
    if is_input(path) or name in _HOUSEKEEPING:
        return None
    if _YAML_LIKE.search(name.strip()):
        return _misnamed(path, files)
    folder = next((folder for folder in ASIDE if path.startswith(folder)), None)
    return Diagnostic(
        "file-ignored",
        f"{path} is not a file that knaster reads",
        Place(path),
        Severity.WARNING,
        hint=f"name it {folder}MODEL.yaml, or remove it"
        if folder
        else "remove it, or keep it outside inventory/ and catalog/",
    )


def _misnamed(path: str, files: Files) -> Diagnostic:
    wanted = _wanted(path)
    if wanted is None:
        hint = f"{CATALOG} holds models.yaml, platform.yaml and roles.yaml; move its content there, or remove it"
        return Diagnostic(
            "file-name", f"{path} looks like an input but has no name that knaster knows", Place(path), hint=hint
        )
    if wanted in files:
        first = (Related(Place(wanted), "the file that is read"),)
        message = f"{path} looks like a second file beside {wanted}"
        return Diagnostic(
            "file-name", message, Place(path), hint="merge the two into one, and remove this one", related=first
        )
    return Diagnostic(
        "file-name", f"{path} is not read under this name", Place(path), hint=f"did you mean {wanted}? Rename it"
    )


def _wanted(path: str) -> str | None:
    """The name that a misnamed file should have: ``inventory/.n9.YML`` should be ``inventory/n9.yaml``."""
    stem = _YAML_LIKE.sub("", path.rpartition("/")[2].strip()).strip().lstrip(".")
    if path.startswith(INVENTORY):
        return f"{INVENTORY}{stem or 'NODE'}.yaml"
    for folder in ASIDE:
        if path.startswith(folder):
            return f"{folder}{stem or 'MODEL'}.yaml"
    return nearest(f"{CATALOG}{stem}.yaml", CATALOG_FILES, 0.85)


def _missing(files: Files, nodes: list[str], broken: set[str]) -> Iterator[Diagnostic]:
    misnamed = {_wanted(path) for path in broken}
    for path in CATALOG_FILES:
        if path not in files and path not in misnamed and "catalog" not in broken:
            yield Diagnostic(
                "file-missing",
                f"{path} is missing",
                Place(path),
                hint="add the file; it may start out empty of entries",
            )
    if not nodes and not any(f"{path}/".startswith(INVENTORY) for path in broken):
        yield Diagnostic(
            "file-missing",
            "no node profile found: need at least one inventory/<node>.yaml, have 0",
            Place(INVENTORY),
            hint="an empty inventory is never planned: to OpenTofu it would mean 'destroy everything'",
        )


def _twins(nodes: list[str]) -> Iterator[Diagnostic]:
    """Names that a file system which ignores case, or normalises Unicode, takes for one."""
    seen: dict[str, str] = {}
    for path in nodes:
        first = seen.setdefault(unicodedata.normalize("NFC", path).casefold(), path)
        if first != path:
            yield Diagnostic(
                "file-name",
                f"{path} and {first} are one file where case does not count (Windows, macOS)",
                Place(path),
                hint="keep one file per node",
                related=(Related(Place(first), "the other file"),),
            )
