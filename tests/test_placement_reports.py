"""What `placement plan` and its questions tell people: models, changes, guests, slots, candidates."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from knaster.pipeline import Evaluation, evaluate
from knaster.placement.failure import without
from knaster.placement.result import Assignment, PlacementPlan
from knaster.planned import Planned
from knaster.reports import explained, lost, placement, text
from knaster.reports.blocks import Report
from tests.repo import MODELS, PC5, PLATFORM, PVE44, ROLES, files

MORE = MODELS.replace(
    "  qwen3-14b",
    "  a-small: {kind: embedding, vram_gb: 0.3, engines: [llamacpp]}\n"
    "  b-large: {kind: embedding, vram_gb: 3, engines: [llamacpp]}\n"
    "  c-middle: {kind: embedding, vram_gb: 2, engines: [llamacpp]}\n  qwen3-14b",
)
NAMED = ROLES.replace("slots: [embed]", "slots: [{name: embed, model: c-middle}]")
SHARED = (
    ROLES
    + """\
  training:
    needs: {engine: llamacpp, min_vram_gb: 16, min_memory_gb: 8}
    kinds: [llm]
    share_with: general
    slots: [{name: train, fallback: [tier1]}]
"""
)
REPLICATED = (
    PLATFORM.replace("services: [piper]", "services: [piper]\n    replication: [{target: pve46}]")
    .replace("storage: local-lvm\n    template", "storage: tank\n    template")
    .replace("local-lvm: {type: lvmthin}", "local-lvm: {type: lvmthin}\n  tank: {type: zfspool}")
)
TWO = {**files(), "inventory/pve46.yaml": PVE44.replace("pve44", "pve46")}


def fleet(texts: dict[str, str], current: PlacementPlan | None = None) -> tuple[Evaluation, Planned]:
    """The evaluation and its plan."""
    evaluation = evaluate(texts, current)
    assert evaluation.planned is not None
    return evaluation, evaluation.planned


def planned(texts: dict[str, str], current: PlacementPlan | None = None, *, verbose: bool = False) -> str:
    """The plan as text."""
    evaluation, answer = fleet(texts, current)
    return text.render(placement.report(evaluation, answer, texts, verbose=verbose))


def explaining(role: str, texts: dict[str, str], *, verbose: bool = False) -> Report:
    """The report about one role."""
    evaluation, answer = fleet(texts)
    return explained.report(evaluation, answer, role, evaluation.explain(role), texts, verbose=verbose)


def losing(node: str, index: int | None, texts: dict[str, str]) -> Report:
    """The report about a loss."""
    evaluation, answer = fleet(texts)
    after = evaluation.after_loss(node, index)
    assert after is not None
    target = node if index is None else f"{node}/{index}"
    return lost.report(evaluation, answer, after, target, texts, verbose=False)


def row(shown: str, first: str) -> list[str]:
    """The cells of the line that begins with a word."""
    line = next(line for line in shown.splitlines() if line.startswith(f"{first} "))
    return [cell.strip() for cell in line.split("  ") if cell.strip()]


@pytest.mark.parametrize(
    ("roles", "verbose", "models"),
    [
        (ROLES, False, "b-large, c-middle and 2 more"),
        (NAMED, False, "c-middle, b-large and 2 more"),
        (NAMED, True, "c-middle, b-large, bge-m3, a-small"),
    ],
)
def test_the_model_that_is_served_comes_first(roles: str, verbose: bool, models: str) -> None:
    shown = planned(files(models=MORE, roles=roles), verbose=verbose)
    assert row(shown, "embedding") == ["embedding", "pve44/1", "Quadro P2000, 5 GB", models]


def test_warnings_are_counted_and_shown_in_full_when_asked() -> None:
    texts = files(pve44=PVE44.replace("platform: proxmox", "platform: proxmox\nsource: assumed"))
    assert "3 of 3 roles placed; 1 warning, shown by knaster validate\n" in planned(texts)
    full = planned(texts, verbose=True)
    assert "warning: " in full
    assert "[assumed]" in full
    assert "3 of 3 roles placed; 1 warning\n" in full


def test_what_changes_against_the_placement_in_force() -> None:
    _, before = fleet(TWO)
    assert planned(TWO, before.plan) == planned(TWO)
    elsewhere = tuple(
        replace(item, node="pve46", gpu_index=0, card=None) if item.role == "embedding" else item
        for item in before.plan.assignments
        if item.role != "speech"
    )
    current = PlacementPlan((*elsewhere, Assignment("gone", "pve46", 1)))
    shown = planned(TWO, current)
    assert row(shown, "ROLE")[2] == "CHANGE"
    assert row(shown, "embedding")[1:3] == ["pve44/1", "was pve46/0"]
    assert row(shown, "speech")[1:3] == ["pve44 (infra)", "new"]
    assert row(shown, "general")[1:3] == ["GODE-PC-05/0", "NVIDIA RTX 4000 Ada Generation, 20 GB"]
    assert "3 of 3 roles placed; 2 places other than in the placement in force\n" in shown
    found, answer = fleet(TWO, current)
    data: dict[str, Any] = dict(placement.report(found, answer, TWO).data)
    assert [(item["role"], item["change"]) for item in data["assignments"]] == [
        ("embedding", "was pve46/0"),
        ("general", None),
        ("speech", "new"),
    ]


def test_a_role_that_lost_its_place_says_where_it_was() -> None:
    _, before = fleet(files())
    texts = files(pc5=PC5.replace("cpu_roles: false", "cpu_roles: false\nstate: down\nreason: sold"))
    shown = planned(texts, before.plan)
    assert "\n  general (was GODE-PC-05/0): 0/3 GPUs fit: " in shown
    assert "\nnodes cordoned or down\n  GODE-PC-05 down: sold\n" in shown


def test_explained_says_what_is_asked_and_lists_the_chosen_one_first() -> None:
    assert text.render(
        explaining("embedding", files(roles=ROLES.replace("priority: 10", "priority: 10\n    pin: pve44")))
    ) == (
        "embedding asks for 1 card for llamacpp (linux or windows): VRAM 2 GB or more, compute capability 5.0 or more, "
        "prefers smallest_fitting, pinned to pve44\n\n"
        "WHERE         CARD                                                WHY\n"
        "pve44/1       Quadro P2000, 5 GB, 6.1                     chosen  first in order (smallest_fitting)\n"
        "GODE-PC-05/0  NVIDIA RTX 4000 Ada Generation, 20 GB, 8.9  no      outside pin pve44\n"
        "pve44/0       Quadro M4000, 8 GB, 5.2                     no      disabled: no benchmark yet\n"
    )


def test_explained_a_cpu_role_has_guests_and_rooms() -> None:
    texts = {**TWO, "inventory/pve46.yaml": TWO["inventory/pve46.yaml"] + "state: down\nreason: a fan\n"}
    shown = text.render(explaining("speech", texts))
    assert (
        shown.splitlines()[0]
        == "speech asks for a CPU for piper (linux): memory 1 GB or more, in guest infra, not pinned"
    )
    assert row(shown, "WHERE") == ["WHERE", "ROOM", "WHY"]
    assert row(shown, "pve44") == ["pve44", "infra: 8 GB, 7 left", "chosen", "runs on its CPU"]
    assert row(shown, "pve46") == ["pve46", "no", "down: a fan"]
    assert row(shown, "GODE-PC-05") == ["GODE-PC-05", "no", "without CPU roles"]


def test_explained_too_little_room() -> None:
    roles = ROLES.replace("min_memory_gb: 1}", "min_memory_gb: 9}")
    assert row(text.render(explaining("speech", files(roles=roles))), "pve44") == [
        "pve44",
        "infra: 8 GB, 8 left",
        "no",
        "with less than 9 GB of room",
    ]


def test_explained_a_sharer_lists_the_cards_of_its_target_alone() -> None:
    report = explaining("training", files(roles=SHARED))
    shown = text.render(report)
    assert shown.splitlines()[0] == (
        "training asks for a share (alternating) of a card of general for llamacpp (linux or windows): "
        "VRAM 16 GB or more, compute capability 5.0 or more, memory 8 GB or more, not pinned"
    )
    assert "pve44/1" not in shown
    assert "\n2 more cards that general does not hold (-v shows all)\n" in shown
    assert "pve44/1" in text.render(explaining("training", files(roles=SHARED), verbose=True))
    assert len(report.data["candidates"]) == 3


def test_explained_as_json() -> None:
    data = explaining("speech", files()).data
    assert data["asks"] == {
        "engine": "piper",
        "os": ("linux",),
        "gpu": False,
        "min_vram_gb": 0,
        "min_cc": 0,
        "max_cc": None,
        "min_memory_gb": 1,
        "prefer": "smallest_fitting",
        "count": 1,
        "pin": None,
        "guest": "infra",
        "share_with": None,
        "share_mode": None,
        "cpu_fallback": False,
    }
    assert data["candidates"][1] == {
        "node": "pve44",
        "gpu_index": None,
        "card": None,
        "memory_gb": None,
        "compute_cap": None,
        "guest": "infra",
        "room_gb": 8,
        "left_gb": 7,
        "verdict": "chosen",
        "text": "runs on its CPU",
    }


def test_a_lost_node_takes_its_guests_and_slots() -> None:
    roles = ROLES.replace("slots: [tts-de]", "slots: [{name: tts-de, fallback: [tier0]}]")
    report = losing("pve44", None, {**TWO, **files(platform=REPLICATED, roles=roles)})
    assert text.render(report) == (
        "without pve44 the fleet drops speech\n\n"
        "ROLE       CHANGE  BEFORE         AFTER\n"
        "speech     lost    pve44 (infra)\n"
        "embedding  moved   pve44/1        pve46/1\n\n"
        "why\n  speech: 0/3 nodes fit: 1 without CPU roles, 1 taken out, 1 without guest infra\n\n"
        "guests lost\n  gpu-pve44\n  infra (piper): can be started from its replica on pve46\n\n"
        "slots lost\n  tts-de falls back to tier0\n"
    )
    assert report.data["guests"] == [
        {"guest": "gpu-pve44", "kind": "vm", "services": (), "replicas": []},
        {"guest": "infra", "kind": "lxc", "services": ("piper",), "replicas": ["pve46"]},
    ]
    assert report.data["slots"] == [{"slot": "tts-de", "role": "speech", "falls_back_to": "tier0"}]


def test_a_replica_on_a_node_that_is_down_is_none() -> None:
    down = {**TWO, **files(platform=REPLICATED)}
    down["inventory/pve46.yaml"] += "state: down\nreason: a fan\n"
    assert "  infra (piper)\n" in text.render(losing("pve44", None, down))


def test_a_chain_skips_what_is_lost_too() -> None:
    assert "  tier1 falls back to tier0\n  train falls back to tier0\n" in text.render(
        losing("GODE-PC-05", None, files(roles=SHARED))
    )


def test_a_lost_node_without_roles_still_loses_its_guests() -> None:
    shown = text.render(losing("pve46", None, TWO))
    assert shown.splitlines()[0] == "without pve46 no role moves: every placed role stays where it is"
    assert "guests lost\n  gpu-pve46\n" in shown


@pytest.mark.parametrize(
    ("target", "reason"),
    [
        (("pve44", 1), "0/3 GPUs fit: 1 disabled, 1 taken out, 1 with less than 48 GB"),
        (("pve44", None), "0/3 GPUs fit: 1 disabled, 1 taken out, 1 with less than 48 GB"),
        (("pve44", 0), "0/3 GPUs fit: 1 disabled, 2 with less than 48 GB"),
        (("GODE-PC-05", None), "0/3 GPUs fit: 1 disabled, 1 taken out, 1 with less than 48 GB"),
    ],
)
def test_what_is_taken_out_is_counted_as_that(target: tuple[str, int | None], reason: str) -> None:
    _, before = fleet(files(roles=ROLES.replace("min_vram_gb: 16", "min_vram_gb: 48")))
    after = evaluate(files(roles=ROLES.replace("min_vram_gb: 16", "min_vram_gb: 48"))).after_loss(*target)
    assert after is not None
    assert next(item.reason for item in after.plan.unplaced if item.role == "general") == reason
    assert all(change.role != "general" for change in without(before.cluster, before.plan, *target))
