"""Data that the schema accepts, to frozen dataclasses. Nothing is checked here."""

from knaster.building.parts import catalog, history, node, roles
from knaster.building.platform_file import platform

__all__ = ["catalog", "history", "node", "platform", "roles"]
