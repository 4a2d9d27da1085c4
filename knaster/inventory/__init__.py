"""The public inventory package: one parser module per source, the table of cards, and the planner that reads profiles.

    from knaster.inventory import lspci, nvidia_smi, plan

    reading = nvidia_smi.query(text, status)   # Reading: value, warnings, problem; never raises

Everything below is loaded when first used.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from knaster.cards import table as gpu_table
    from knaster.inventory.parsers import amd as amd
    from knaster.inventory.parsers import cpuinfo as cpuinfo
    from knaster.inventory.parsers import intel as intel
    from knaster.inventory.parsers import lsblk as lsblk
    from knaster.inventory.parsers import lscpu as lscpu
    from knaster.inventory.parsers import lspci as lspci
    from knaster.inventory.parsers import meminfo as meminfo
    from knaster.inventory.parsers import memory_blocks as memory_blocks
    from knaster.inventory.parsers import nvidia_smi as nvidia_smi
    from knaster.inventory.parsers import pve as pve
    from knaster.inventory.parsers import sysfs as sysfs
    from knaster.inventory.parsers import windows as windows
    from knaster.inventory.reading import Problem as Problem
    from knaster.inventory.reading import Reading as Reading
    from knaster.placement.planner import plan as plan

_PARSERS = (
    *("amd", "cpuinfo", "intel", "lsblk", "lscpu", "lspci", "meminfo", "memory_blocks", "nvidia_smi", "pve", "sysfs"),
    "windows",
)
_HOMES = {
    "Problem": "knaster.inventory.reading",
    "Reading": "knaster.inventory.reading",
    "plan": "knaster.placement.planner",
}
__all__ = [*_PARSERS, "gpu_table", *_HOMES]  # noqa: PLE0604

if not TYPE_CHECKING:  # a type checker must not take every name for known

    def __getattr__(name: str) -> object:
        """Load a public name from its home."""
        from importlib import import_module

        if name == "gpu_table":
            return import_module("knaster.cards.table")
        if name in _PARSERS:
            return import_module(f"knaster.inventory.parsers.{name}")
        if name not in _HOMES:
            raise AttributeError(f"module 'knaster.inventory' has no attribute {name!r}")
        return getattr(import_module(_HOMES[name]), name)
