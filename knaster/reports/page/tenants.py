"""What runs in a place: the role, its slots, the models that it serves and could, and with whom it shares."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from knaster.cluster import Model, Role, VramShare
from knaster.placement.result import Assignment
from knaster.reports.page.boxes import Tenant
from knaster.units import show


@dataclass(frozen=True, slots=True)
class Known:
    """What every assignment looks up; ``serves`` is the model of a slot by role and name."""

    roles: Mapping[str, Role]
    models: Mapping[str, Model]
    serves: Mapping[tuple[str, str], str | None]


def tenant(one: Assignment, here: Iterable[Assignment], known: Known) -> Tenant:
    """One assignment as it is shown; `here` are all on the same node."""
    role = known.roles.get(one.role)
    served = tuple(dict.fromkeys(model for slot in one.slots if (model := known.serves.get((one.role, slot)))))
    rest = sorted(set(one.models_fitting) - set(served), key=lambda name: _by_size(name, known.models))
    beside = [other.role for other in here if other is not one and other.gpu_index == one.gpu_index is not None]
    return Tenant(
        one.role,
        one.slots,
        served,
        tuple(rest),
        _mode(role, beside) if role else "",
        _share(role.vram_share) if role else "",
    )


def _by_size(name: str, models: Mapping[str, Model]) -> tuple[float, str]:
    return (-models[name].vram_gb if name in models else 0.0, name)


def _mode(role: Role, beside: list[str]) -> str:
    """How it shares its place, where it is a sharer, or somebody shares with it."""
    if role.share_with is not None:
        how = "runs at the same time" if role.share_mode == "concurrent" else "takes turns"
        return f"shares with {role.share_with}: {how}"
    return f"shared by {', '.join(sorted(beside))}" if beside else ""


def _share(share: VramShare | None) -> str:
    if share is None or (share.alone == 1 and share.shared == 1):
        return ""
    return f"{show(share.alone * 100)} % of the VRAM alone, {show(share.shared * 100)} % while shared"
