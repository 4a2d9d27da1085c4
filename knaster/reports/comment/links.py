"""Links from a comment into the repository on the forge."""

from __future__ import annotations

import re
from dataclasses import dataclass

from knaster.reports.comment.markers import encoded
from knaster.reports.inert import inert

_SAFE_BASE = re.compile(r"https?://[A-Za-z0-9._~:/%\[\]-]+")
"""An address that neither ends a link of Markdown nor holds a password."""


@dataclass(frozen=True, slots=True)
class Links:
    """Addresses below the page of a repository, such as ``https://git.example.org/sub/owner/repo``.

    ``folder`` is where the fleet lies in it (``lab/``), "" for its top.
    """

    base_url: str
    folder: str = ""

    def file(self, sha: str, path: str, line: int = 0) -> str:
        """A file (and line, from 1) as it is in a commit; "" where the address or the path cannot stand in a link."""
        path = f"{self.folder}{path}"
        if not _SAFE_BASE.fullmatch(self.base_url) or inert(path) != path:
            return ""
        return f"{self.base_url.rstrip('/')}/src/commit/{encoded(sha)}/{encoded(path)}" + (f"#L{line}" if line else "")

    def commit(self, sha: str) -> str:
        """A commit; "" where the address cannot stand in a link."""
        return f"{self.base_url.rstrip('/')}/commit/{encoded(sha)}" if _SAFE_BASE.fullmatch(self.base_url) else ""
