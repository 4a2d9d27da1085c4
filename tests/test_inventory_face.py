"""The public face of `knaster.inventory`: every parser and the planner, loaded when first used."""

from __future__ import annotations

import subprocess
import sys

import knaster.inventory


def test_every_public_name_is_there() -> None:
    for name in knaster.inventory.__all__:
        assert getattr(knaster.inventory, name) is not None


def test_a_parser_is_found_as_a_user_would() -> None:
    from knaster.inventory import nvidia_smi

    found = nvidia_smi.query("0, NVIDIA GeForce RTX 4090, 24564, 8.9, 570.133.07\n")
    assert found.value is not None
    assert [(one.index, one.name, one.memory_mib, one.compute_cap, one.driver) for one in found.value] == [
        (0, "NVIDIA GeForce RTX 4090", 24564, 8.9, "570.133.07")
    ]


def test_importing_the_face_loads_no_parser() -> None:
    script = "import sys, knaster.inventory; print([m for m in sys.modules if m.startswith('knaster.')])"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['knaster.version', 'knaster.inventory']"
