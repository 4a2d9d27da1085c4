"""Facts for the tests of profiles: one machine with cards, in the shape that collecting gives."""

from __future__ import annotations

from typing import Any

from knaster.document import parse
from knaster.inventory.profile_text import Facts, Updated, update

M4000 = {"name": "Quadro M4000", "memory_gb": 8, "compute_cap": 5.2, "driver": "580.95.05"}
P2000 = {"name": "Quadro P2000", "memory_gb": 5, "compute_cap": 6.1, "driver": "580.95.05"}
UUID_A = "GPU-aaaaaaaa-0000-0000-0000-000000000001"
UUID_B = "GPU-bbbbbbbb-0000-0000-0000-000000000002"


def pci(address: str, product: str | None = None, board: str | None = None, group: int | None = None) -> dict[str, Any]:
    """PCI facts of a card."""
    return {"address": address, "id": product, "subsystem_id": board, "iommu_group": group}


def card(index: int, base: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    """The facts of one card; what is not given is None."""
    names = ("name", "memory_gb", "compute_cap", "driver", "memory_mib", "vendor", "uuid", "pci", "bound_driver")
    return {"index": index, **dict.fromkeys(names), "memory_kind": "dedicated", **(base or {}), **more}


def facts(*gpus: dict[str, Any], **more: Any) -> Facts:
    """The facts of the machine n1."""
    return {
        "name": "n1",
        "cpu": {"model": "X", "cores": 6, "threads": 12},
        "memory_gb": 32,
        "disks": [],
        "gpus": list(gpus),
        "os": "linux",
        "platform": "bare",
        "address": None,
        "source": "collected",
        "warnings": [],
        **more,
    }


def said_by(text: str) -> dict[str, Any]:
    """The facts that a profile's text holds: its data without policy."""
    document, diagnostics = parse("f", text)
    assert document, diagnostics
    data: dict[str, Any] = dict(document.data)
    for key in ("fabric", "cpu_roles", "groups", "state", "reason"):
        data.pop(key, None)
    data["gpus"] = [{key: gpu[key] for key in gpu if key not in ("disabled", "reason")} for gpu in data["gpus"]]
    return data


def updated(text: str, fresh: Facts) -> Updated:
    """The update, which has to succeed and to be at rest."""
    reading = update(text, fresh)
    assert reading.problem is None
    assert reading.value is not None
    again = update(reading.value.text, fresh).value
    assert again is not None
    assert (again.text, again.changes) == (reading.value.text, ())
    return reading.value
