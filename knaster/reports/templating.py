"""The one door to jinja2. Templates are files of a package; a name that they do not get is an error, never nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jinja2 import Environment


@dataclass(frozen=True)
class Templates:
    """The templates that lie in ``package``.

    ``finalize`` turns every printed value into text; with ``escape`` that text is then escaped for HTML, unless it is
    the result of a macro.
    """

    package: str
    escape: bool
    finalize: Callable[[Any], str]
    filters: Mapping[str, Callable[..., object]] = field(default_factory=dict)

    def render(self, name: str, values: Mapping[str, object]) -> str:
        """The template, filled in. Raises jinja2's errors for a wrong template alone."""
        return self._environment.get_template(name).render(values)

    def source(self, name: str) -> str:
        """The text of a file beside the templates, its lines ended by LF."""
        loader = self._environment.loader
        assert loader is not None
        return loader.get_source(self._environment, name)[0].replace("\r\n", "\n")

    @cached_property
    def _environment(self) -> Environment:
        from jinja2 import Environment, PackageLoader, StrictUndefined

        environment = Environment(
            loader=PackageLoader(self.package, "."),
            undefined=StrictUndefined,
            autoescape=self.escape,  # noqa: S701  a comment is not HTML, and escapes in its own way
            finalize=self.finalize,
            trim_blocks=True,
            lstrip_blocks=True,
            auto_reload=False,
        )
        environment.filters |= self.filters
        return environment
