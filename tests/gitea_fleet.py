"""The fleet of the tests against a real Gitea, and the changes that pull requests make to it."""

from __future__ import annotations

from tests.repo import PVE44, ROLES, files

M4000 = PVE44.replace('    disabled: true\n    reason: "no benchmark yet"\n', "")
"""Both cards of pve44 are free: 8 GB and 5 GB."""
FLEET = files(pve44=M4000)
HEAD, TAIL = ROLES.split("  embedding:\n", 1)
WANTS_8_GB = """\
  {name}:
    needs: {{engine: llamacpp, min_vram_gb: {gb}}}
    kinds: [embedding]
    slots: [{{name: {name}, port: 8081}}]
"""
"""A role for which the 8 GB card alone will do: 5 GB are too few, and tier1's card is taken."""


def rerank(gb: int) -> dict[str, str]:
    """The role `rerank`, first in its file."""
    return {"catalog/roles.yaml": f"{HEAD}{WANTS_8_GB.format(name='rerank', gb=gb)}  embedding:\n{TAIL}"}


VERIFIER = {"catalog/roles.yaml": ROLES + WANTS_8_GB.format(name="verifier", gb=6)}
"""The role `verifier`, last in its file: text that no other pull request touches."""
