"""knaster: GitOps for a small on-premises AI fleet. Inventory and catalog in, a reviewed plan and generated files out.

    import knaster

    files = knaster.read(".")
    evaluation = knaster.evaluate(files)
    for diagnostic in evaluation.diagnostics:
        print(diagnostic.code, diagnostic.message)
    texts = knaster.render(evaluation)

The names below are loaded when first used, so that ``import knaster`` costs nothing.
"""

from knaster.version import __version__ as __version__

TYPE_CHECKING = False
if TYPE_CHECKING:
    from knaster.api import read as read
    from knaster.api import render as render
    from knaster.api import validate as validate
    from knaster.diagnostics import Diagnostic as Diagnostic
    from knaster.diagnostics import WorldError as WorldError
    from knaster.files import Files as Files
    from knaster.pipeline import Evaluation as Evaluation
    from knaster.pipeline import evaluate as evaluate
    from knaster.placement import plan as plan

_HOMES = {
    "Diagnostic": "knaster.diagnostics",
    "Evaluation": "knaster.pipeline",
    "Files": "knaster.files",
    "WorldError": "knaster.diagnostics",
    "evaluate": "knaster.pipeline",
    "plan": "knaster.placement",
    "read": "knaster.api",
    "render": "knaster.api",
    "validate": "knaster.api",
}
__all__ = [*_HOMES, "__version__"]  # noqa: PLE0604

if not TYPE_CHECKING:  # a type checker must not take every name for known

    def __getattr__(name: str) -> object:
        """Load a public name from its home."""
        if name not in _HOMES:
            raise AttributeError(f"module 'knaster' has no attribute {name!r}")
        from importlib import import_module

        return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    """The public names."""
    return sorted(__all__)
