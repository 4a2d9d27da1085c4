"""All inputs together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from knaster.cluster.catalog import Catalog, History
from knaster.cluster.machines import Node
from knaster.cluster.platform import Platform
from knaster.cluster.roles import Role

if TYPE_CHECKING:
    from knaster.cluster.architecture import Architecture


@dataclass(frozen=True, slots=True)
class Cluster:
    """All inputs. A part (a node) is None (left out) when its file did not load; ``broken`` names those files.

    ``architectures`` are the records of ``catalog/architectures/`` by the names of their files, without ``.yaml``.
    """

    nodes: tuple[Node, ...]
    catalog: Catalog | None
    roles: Mapping[str, Role] | None
    platform: Platform | None
    broken: frozenset[str] = frozenset()
    histories: tuple[History, ...] = ()
    architectures: Mapping[str, Architecture] = field(default_factory=dict)
