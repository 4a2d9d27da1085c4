"""The fleets of the consumers' tests: valid, and what their names say."""

from __future__ import annotations

import pytest

from tests.consumer_fleets import FLEETS, evaluated


@pytest.mark.parametrize("name", FLEETS)
def test_a_fleet_is_valid(name: str) -> None:
    found = evaluated(name)
    assert [one.message for one in found.errors] == [] if hasattr(found, "errors") else found.ok
    assert found.planned is not None


def test_each_fleet_is_what_it_is_called() -> None:
    def cards(name: str) -> list[int]:
        return [len(node.gpus) for node in evaluated(name).cluster.nodes]

    assert cards("one node") == [2]
    assert len(cards("forty nodes")) == 40
    assert cards("twins and quadruplets") == [2, 4]
    assert cards("eleven cards") == [11]
    assert {node.platform for node in evaluated("workstations only").cluster.nodes} == {"workstation"}
    (mixed,) = evaluated("mixed generations").cluster.nodes
    assert [gpu.compute_cap for gpu in mixed.gpus] == [5.2, 6.1, 8.9, 12.0]
