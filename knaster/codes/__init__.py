"""Every diagnostic code with what it means, why it is asked, and the way out: the text of ``knaster explain``."""

from __future__ import annotations

from collections.abc import Mapping

from knaster.codes import bench, files, fleet, gate, output, roles
from knaster.codes.explanation import Explanation

__all__ = ["CODES", "Explanation"]

CODES: Mapping[str, Explanation] = {
    **files.CODES,
    **fleet.CODES,
    **roles.CODES,
    **output.CODES,
    **gate.CODES,
    **bench.CODES,
}
"""By code, in groups: reading files, the fleet, roles and slots, generated files, the gate, benchmarks."""
