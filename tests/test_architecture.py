"""The shape of the house: floors, doors, no IO in the core, small files, docstrings."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "knaster"
MODULES = sorted(PACKAGE.rglob("*.py"))

FLOORS: tuple[tuple[str, ...], ...] = (
    ("diagnostics", "files", "units", "foreign_json", "remembered", "shipped", "version"),
    ("redact", "names", "codes", "provider"),
    ("document", "schema"),
    ("editing",),
    ("cluster", "weights"),
    ("building", "cards"),
    ("figures", "guests"),
    ("fit",),
    ("placement",),
    ("planned",),
    ("slots", "model_plan"),
    ("checks", "renderers"),
    ("loader",),
    ("pipeline",),
    ("in_force",),
    ("changes", "gate"),
    ("pull",),
    ("inventory", "bench"),
    ("reports",),
    ("posting", "starter"),
    ("adapters",),
    ("api",),
    ("commands",),
    ("arguments",),
    ("cli",),
    ("__init__", "__main__"),
)
"""From the ground up. A module imports from its own part and from floors below."""

DOORS = {
    "yaml": "document.parser",
    "jsonschema": "schema.validator",
    "jsonschema_rs": "schema.validator",
    "git": "adapters.git.runner",
    "deepdiff": "changes.fields",
    "jinja2": "reports.templating",
    "proxmoxer": "adapters.proxmox",
    "requests": "adapters.proxmox",
    "shtab": "commands.completion",
    "httpx": "adapters.http",
    "soundfile": "adapters.audio",
    "huggingface_hub": "adapters.huggingface",
}
"""Third-party package to the one module that imports it."""

IO = frozenset({"os", "subprocess", "shutil", "tempfile", "socket", "urllib", "http", "io", "fcntl", "glob"})
ROOMS_WITH_IO = ("adapters", "commands", "cli", "arguments", "__main__")
MAY_READ = {
    "schema.validator": "the schemas are files of the package",
    "starter": "the files of a new repository are files of the package",
    "renderers.module": "so is the OpenTofu module",
    "renderers.scrape": "so is the scrape configuration",
    "bench.sentences": "so are the texts that are spoken",
}


def name(path: Path) -> str:
    """``checks.roles`` for ``knaster/checks/roles.py``."""
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" and len(parts) > 1 else parts)


def floor(module: str) -> int:
    """The floor of a module: that of its part."""
    part = module.split(".", maxsplit=1)[0]
    found = [number for number, parts in enumerate(FLOORS) if part in parts]
    assert found, f"{part} has no floor: add it to FLOORS, and to ARCHITECTURE.md"
    return found[0]


def tree(path: Path) -> ast.Module:
    """The syntax tree of a module."""
    return ast.parse(path.read_text("utf-8"), str(path))


def imports(path: Path) -> Iterator[str]:
    """Dotted names that a module imports, ``from a import b`` as ``a.b``; imports for type checkers count too."""
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def ours(path: Path) -> Iterator[str]:
    """The modules of knaster that a module imports."""
    known = {name(module) for module in MODULES}
    for dotted in imports(path):
        if dotted == "knaster" or dotted.startswith("knaster."):
            parts = dotted.split(".")[1:]
            while parts and ".".join(parts) not in known:
                parts.pop()
            yield ".".join(parts) or "__init__"


@pytest.mark.parametrize("path", MODULES, ids=name)
def test_imports_go_down(path: Path) -> None:
    module = name(path)
    if module == "__init__":
        return
    part = module.split(".")[0]
    for other in ours(path):
        if other.split(".")[0] != part:
            assert floor(other) < floor(module), f"{module} imports {other}, which does not lie below it"


def test_the_page_shows_these_floors() -> None:
    page = (ROOT / "ARCHITECTURE.md").read_text("utf-8")
    table = page.partition("## Floors")[2].partition("## Laws")[0]
    rows = [re.findall("`([^`]+)`", line.split("|")[2]) for line in table.splitlines() if line.startswith("|")]
    assert [set(row) for row in rows if row] == [set(floor) for floor in reversed(FLOORS[:-1])]


def test_every_part_has_a_floor_and_every_floor_a_part() -> None:
    assert {name(path).split(".")[0] for path in MODULES} == {part for parts in FLOORS for part in parts}


@pytest.mark.parametrize("path", sorted((PACKAGE / "adapters").rglob("*.py")), ids=name)
def test_adapters_know_the_ground_floor_alone(path: Path) -> None:
    outside = {other.split(".")[0] for other in ours(path)} - {"adapters"}
    assert outside <= {"diagnostics", "files", "foreign_json", "redact", "units", "version"}


def test_no_circles() -> None:
    arrows = {
        name(path): {other for other in ours(path) if other != name(path)}
        for path in MODULES
        if name(path) != "__init__"
    }
    while arrows:
        free = {module for module, needs in arrows.items() if not needs & arrows.keys()}
        assert free, f"circle among {sorted(arrows)}"
        arrows = {module: needs for module, needs in arrows.items() if module not in free}


def test_every_third_party_package_has_one_door() -> None:
    standard = __import__("sys").stdlib_module_names
    found: dict[str, set[str]] = {}
    for path in MODULES:
        for dotted in imports(path):
            package = dotted.split(".")[0]
            if package not in standard and package != "knaster":
                found.setdefault(package, set()).add(name(path))
    assert found == {package: {door} for package, door in DOORS.items()}


@pytest.mark.parametrize("path", MODULES, ids=name)
def test_third_party_packages_are_imported_inside_functions(path: Path) -> None:
    for node in tree(path).body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else [node.module or ""]
            assert not {dotted.split(".")[0] for dotted in names} & DOORS.keys()


@pytest.mark.parametrize("path", [path for path in MODULES if not name(path).startswith(ROOMS_WITH_IO)], ids=name)
def test_the_core_does_no_io(path: Path) -> None:
    if name(path) in MAY_READ:
        return
    used = {dotted.split(".")[0] for dotted in imports(path)}
    assert not used & IO
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Call):
            called = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
            assert called not in {"open", "read_text", "write_text", "read_bytes", "write_bytes", "print", "input"}


@pytest.mark.parametrize("path", MODULES, ids=name)
def test_nothing_prints(path: Path) -> None:
    calls = [
        node.func.id for node in ast.walk(tree(path)) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    ]
    assert "print" not in calls


@pytest.mark.parametrize("path", MODULES, ids=name)
def test_files_are_small(path: Path) -> None:
    assert path.read_text("utf-8").count("\n") <= 250


@pytest.mark.parametrize("path", MODULES, ids=name)
def test_public_names_have_docstrings(path: Path) -> None:
    source = path.read_text("utf-8")
    if source.strip():
        assert ast.get_docstring(tree(path)), "the module itself"
    for node in public(tree(path)):
        assert ast.get_docstring(node), f"{node.name} in {name(path)}"


def public(scope: ast.Module | ast.ClassDef) -> Iterator[ast.FunctionDef | ast.ClassDef]:
    """The public functions and classes of a module, and the methods of those classes."""
    for node in scope.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.name.startswith("_"):
            yield node
            if isinstance(node, ast.ClassDef):
                yield from public(node)


@pytest.mark.parametrize("path", MODULES, ids=name)
def test_functions_are_short(path: Path) -> None:
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.FunctionDef):
            assert (node.end_lineno or node.lineno) - node.lineno < 40, node.name
