"""``placement.yaml``: the PlacementPlan, and the way back (`placement_from`), which the next plan continues."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from knaster.placement.result import Assignment, DisabledGpu, PlacementPlan, Reason, Unplaced
from knaster.planned import Planned
from knaster.renderers.known import Data, known


def placement(planned: Planned) -> Data:
    """The data of ``placement.yaml``; on a CPU without ``gpu_index`` and ``card``, elsewhere without ``guest``."""
    plan = planned.plan
    return {
        "assignments": [_assignment(assignment) for assignment in plan.assignments],
        "unplaced": [{"role": unplaced.role, "reason": unplaced.reason} for unplaced in plan.unplaced],
        "disabled_gpus": [_disabled(gpu) for gpu in plan.disabled_gpus],
    }


def placement_from(data: Mapping[str, Any]) -> PlacementPlan:
    """The plan that schema-valid data of ``placement.yaml`` describes; only `Unplaced.detail` is not in the file."""
    return PlacementPlan(
        assignments=tuple(
            Assignment(
                role=item["role"],
                node=item["node"],
                gpu_index=item.get("gpu_index"),
                models_fitting=tuple(item["models_fitting"]),
                card=item.get("card"),
                guest=item.get("guest"),
                slots=tuple(item["slots"]),
            )
            for item in data["assignments"]
        ),
        unplaced=tuple(Unplaced(item["role"], item["reason"], Reason()) for item in data["unplaced"]),
        disabled_gpus=tuple(
            DisabledGpu(item["node"], item["gpu_index"], item.get("name"), item.get("reason"))
            for item in data["disabled_gpus"]
        ),
    )


def _assignment(assignment: Assignment) -> Data:
    return known(
        {
            "role": assignment.role,
            "node": assignment.node,
            "gpu_index": assignment.gpu_index,
            "card": assignment.card,
            "guest": assignment.guest,
            "slots": list(assignment.slots),
            "models_fitting": list(assignment.models_fitting),
        }
    )


def _disabled(gpu: DisabledGpu) -> Data:
    return known({"node": gpu.node, "gpu_index": gpu.gpu_index, "name": gpu.name, "reason": gpu.reason})
