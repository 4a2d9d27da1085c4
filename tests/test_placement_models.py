"""Rule 5: the catalog models that fit each assignment, through the one function `fits`."""

from __future__ import annotations

from fractions import Fraction

import pytest

from knaster.cluster import Model
from knaster.fit import Device, fits, why_not
from knaster.inventory import plan
from knaster.placement import PlacementPlan
from knaster.units import mib
from tests.builders import catalog, engine, gpu, lxc, model, node, platform, role, roles

CARD = Device("linux", gpu=True, free_mib=mib(8), compute_cap=7.5)
CPU = Device("linux", gpu=False, free_mib=mib(8))


def fitting(answer: PlacementPlan, name: str = "chat") -> tuple[str, ...]:
    """The models that fit the only assignment of a role."""
    (found,) = [one for one in answer.assignments if one.role == name]
    return found.models_fitting


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        (model(vram_gb=8), None),
        (model(vram_gb=8.01), "it needs 8.01 GiB, 8 GiB are there"),
        (model(min_cc=7.5), None),
        (model(min_cc=8.0), "it needs compute capability 8.0, the card has 7.5"),
        (model(engines=("llamacpp", "piper")), "it does not run on vllm (it runs on llamacpp, piper)"),
    ],
)
def test_a_card(given: Model, reason: str | None) -> None:
    assert why_not(given, CARD, engine()) == reason
    assert fits(given, CARD, engine()) is (reason is None)


def test_the_engine_floor_counts_too() -> None:
    assert why_not(model(), CARD, engine(min_cc=8.9)) == "it needs compute capability 8.9, the card has 7.5"
    assert why_not(model(), CARD, engine(max_cc=7.0)) == "vllm ends at compute capability 7.0"


def test_the_engine_has_to_run_on_the_os() -> None:
    assert why_not(model(), Device("windows", gpu=True, free_mib=mib(8), compute_cap=8), engine()) == (
        "vllm does not run on windows"
    )


def test_unknown_never_fits() -> None:
    assert why_not(model(), Device("linux", gpu=True, free_mib=None, compute_cap=8), engine()) == (
        "the card's VRAM is not known"
    )
    assert why_not(model(), Device("linux", gpu=True, free_mib=mib(8)), engine()) == (
        "the card's compute capability is not known"
    )


def test_what_others_hold_is_not_there() -> None:
    assert fits(model(vram_gb=6), CARD, engine(), mib(2))
    assert why_not(model(vram_gb=6), CARD, engine(), mib(2) + Fraction(1, 1000)) == "it needs 6 GiB, 5.99 GiB are there"


@pytest.mark.parametrize(
    ("given", "fit"),
    [
        (model(vram_gb=8), True),
        (model(vram_gb=9), False),
        (model(vram_gb=2, min_memory_gb=9), False),
        (model(vram_gb=2, min_memory_gb=8), True),
        (model(vram_gb=2, min_cc=12.0), True),
    ],
)
def test_on_a_cpu_the_larger_of_both_sizes_counts_and_compute_capability_does_not(given: Model, *, fit: bool) -> None:
    assert fits(given, CPU, engine(gpu="optional")) is fit


def test_on_a_cpu_an_engine_that_requires_a_gpu_never_fits() -> None:
    assert why_not(model(), CPU, engine(gpu="required")) == "vllm needs a GPU"


def test_reported_mib_beat_nominal_gb() -> None:
    """An RTX 4000 Ada is sold as 20 GB and reports 20475 MiB."""
    nodes = [node("n", gpu(0, 20, memory_mib=20475))]
    models = catalog(model("exact", 19.995), model("nominal", 20))
    assert 19.995 * 1024 <= 20475 < 20 * 1024
    assert fitting(plan(nodes, roles(role()), models)) == ("exact",)
    assert fitting(plan([node("n", gpu(0, 20))], roles(role()), models)) == ("exact", "nominal")


def test_the_vram_reserve_of_the_os_is_taken_off() -> None:
    models = catalog(engine(os=("linux", "windows")), model("m18", 18), model("m19", 19.5))
    reserve = platform(vram_reserve_gb={"linux": 0.5, "windows": 2})
    windows = node("n", gpu(), os="windows")
    assert fitting(plan([windows], roles(role()), models, platform=reserve)) == ("m18",)
    assert fitting(plan([node("n", gpu())], roles(role()), models, platform=reserve)) == ("m18", "m19")


def test_only_kinds_that_the_role_serves() -> None:
    models = catalog(model("llm"), model("voice", kind="tts"))
    assert fitting(plan([node("n", gpu())], roles(role()), models)) == ("llm",)
    assert fitting(plan([node("n", gpu())], roles(role(kinds=("llm", "tts"))), models)) == ("llm", "voice")


def test_concurrent_users_leave_less_alternating_ones_do_not() -> None:
    models = catalog(model("m9", 9), model("m12", 12), model("m20", 20))
    beside = role("tts", min_vram_gb=9, share_with="chat", share_mode="concurrent")
    answer = plan([node("n", gpu())], roles(role(min_vram_gb=11), beside), models)
    assert (fitting(answer), fitting(answer, "tts")) == (("m9",), ("m9",))
    turns = role("tts", min_vram_gb=9, share_with="chat")
    answer = plan([node("n", gpu())], roles(role(min_vram_gb=11), turns), models)
    assert (fitting(answer), fitting(answer, "tts")) == (("m12", "m20", "m9"), ("m12", "m20", "m9"))


def test_on_a_cpu_other_roles_leave_less() -> None:
    models = catalog(
        engine("piper", gpu="none"), model("v5", 5, engines=("piper",)), model("v8", 8, engines=("piper",))
    )
    chat = role(engine="piper", gpu=False, min_memory_gb=1, guest="infra")
    other = role("other", engine="piper", gpu=False, min_memory_gb=3, guest="infra")
    nodes = [node("pve44", platform="proxmox")]
    assert fitting(plan(nodes, roles(chat), models, platform=platform(lxc()))) == ("v5", "v8")
    assert fitting(plan(nodes, roles(chat, other), models, platform=platform(lxc()))) == ("v5",)
