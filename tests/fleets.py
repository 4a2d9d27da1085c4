"""Generated fleets for properties: small enough to read when one fails, mixed enough to meet every rule.

Most values are ordinary, so that most roles find a place; every odd one (unknown facts, pins to nowhere, cycles)
is there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

from knaster.cluster import Catalog, Gpu, Model, Node, Platform, Role
from tests.builders import catalog, engine, gpu, lxc, node, pci, platform, policy, role, roles, slot

ENGINES = (
    engine("llamacpp", min_cc=5.0, os=("linux", "windows"), gpu="optional"),
    engine("vllm", min_cc=7.0),
    engine("old", max_cc=7.5),
    engine("piper", gpu="none"),
)
KINDS = ("llm", "tts")


@dataclass(frozen=True)
class Fleet:
    """Everything that `plan` reads."""

    nodes: tuple[Node, ...]
    roles: dict[str, Role]
    models: Catalog
    platform: Platform | None


def mostly(usual: Any, *odd: Any) -> st.SearchStrategy[Any]:
    """`usual` seven times of eight, else one of the odd values."""
    return st.integers(0, 7).flatmap(lambda roll: st.sampled_from(odd) if roll == 7 else st.just(usual))


@st.composite
def gpus(draw: st.DrawFn, name: str, at: int) -> Gpu:
    """A card of few sizes and generations; some unknown, disabled, or under a policy."""
    return gpu(
        at,
        draw(st.sampled_from([5, 8, 20, 24, 24])) if draw(mostly(True, False)) else None,
        draw(st.sampled_from([6.1, 7.5, 8.9, 8.9, 12.0, 5.2])) if draw(mostly(True, False)) else None,
        disabled=draw(mostly(False, True)),
        pci=draw(st.sampled_from([None, pci(f"0000:0{at}:00.0"), pci(f"0000:0{at}:00.0", "10de:13f1")])),
        uuid=draw(st.sampled_from([None, f"GPU-{name}-{at}"])),
    )


@st.composite
def nodes(draw: st.DrawFn, name: str) -> Node:
    """A machine of any platform and state with up to three cards."""
    number = draw(st.integers(0, 3))
    return node(
        name,
        *(draw(gpus(name, at)) for at in range(number)),
        memory_gb=draw(st.sampled_from([64, 32, 16])) if draw(mostly(True, False)) else None,
        platform=draw(st.sampled_from(["bare", "proxmox", "workstation"])),
        os=draw(mostly("linux", "windows")),
        state=draw(mostly("active", "cordoned", "down")),
        cpu_roles=draw(mostly(True, False)),
    )


@st.composite
def one_role(draw: st.DrawFn, name: str, pins: tuple[str, ...], others: tuple[str, ...]) -> Role:
    """One role."""
    share = draw(mostly(None, "nobody", *others)) if draw(st.booleans()) else draw(st.sampled_from([None, *others]))
    on_gpu = draw(st.integers(0, 3)) < 3
    count = 1 if share or not on_gpu else draw(mostly(1, 2, 3))
    return role(
        name,
        engine=draw(st.sampled_from(["llamacpp", "llamacpp", "vllm", "old"] if on_gpu else ["piper", "llamacpp"]))
        if draw(mostly(True, False))
        else "gone",
        gpu=on_gpu,
        min_vram_gb=draw(st.sampled_from([0, 0, 4.3, 8, 10, 20])),
        min_cc=draw(mostly(0, 6.1, 7.5)),
        max_cc=draw(mostly(None, 8.9)),
        min_memory_gb=draw(st.sampled_from([0, 0, 2, 4, 8])),
        priority=draw(st.sampled_from([1, 50, 100])),
        prefer=draw(st.sampled_from(["largest", "smallest_fitting"])),
        count=count,
        kinds=draw(st.sampled_from([("llm",), ("tts",), KINDS])),
        share_with=share,
        share_mode=draw(st.sampled_from(["alternating", "concurrent"])),
        cpu_fallback=draw(st.booleans()),
        pin=draw(mostly(None, "nowhere", *pins, *(f"{pin}/0" for pin in pins))),
        guest=draw(mostly(None, "infra")),
        slots=tuple(slot(f"{name}{at}", 8000 + at) for at in range(draw(st.sampled_from([0, 1, count])))),
    )


@st.composite
def models(draw: st.DrawFn) -> tuple[Model, ...]:
    """Four models of any size and kind."""
    return tuple(
        Model(
            name=f"m{at}",
            kind=draw(st.sampled_from(KINDS)),
            vram_gb=draw(st.sampled_from([1, 4.3, 11, 19.9])),
            engines=draw(st.sampled_from([("llamacpp",), ("llamacpp", "vllm", "piper"), ("old", "llamacpp")])),
            min_cc=draw(mostly(0, 7.5)),
            min_memory_gb=draw(mostly(0, 6)),
        )
        for at in range(4)
    )


@st.composite
def fleets(draw: st.DrawFn) -> Fleet:
    """A fleet of one to five nodes and up to six roles."""
    names = tuple("abcde"[: draw(st.integers(1, 5))])
    machines = tuple(draw(nodes(name)) for name in names)
    chosen = tuple("uvwxyz"[: draw(st.integers(0, 6))])
    with_guest = platform(
        lxc("infra", names[0]),
        cards={"10de:13f1": policy("10de:13f1", "llamacpp")},
        vram_reserve_gb={"linux": 0.5, "windows": 1.5},
        host_reserve_gb=4,
    )
    return Fleet(
        machines,
        roles(
            *(
                draw(one_role(name, names, tuple(other for other in chosen if other != name) or ("nobody",)))
                for name in chosen
            )
        ),
        catalog(*ENGINES, *draw(models())),
        draw(st.sampled_from([None, with_guest])),
    )


def _others(chosen: tuple[str, ...], name: str) -> tuple[str, ...]:
    return tuple(other for other in chosen if other != name) or ("nobody",)


@st.composite
def tight_fleets(draw: st.DrawFn) -> Fleet:
    """As many cards as roles, each with a window of compute capabilities: who comes first may block who is picky."""
    generations = [6.1, 7.5, 8.6, 8.9]
    cards = draw(st.lists(st.sampled_from(generations), min_size=2, max_size=5))
    wanted = []
    for name in "uvwxyz"[: len(cards)]:
        low = draw(st.sampled_from(generations))
        high = draw(st.sampled_from([cc for cc in generations if cc >= low]))
        wanted.append(
            role(
                name,
                engine="llamacpp",
                min_cc=low,
                max_cc=high,
                priority=draw(st.integers(1, 5)),
                prefer=draw(st.sampled_from(["largest", "smallest_fitting"])),
                pin=draw(mostly(None, "n")),
            )
        )
    machine = node("n", *(gpu(at, 20, cc) for at, cc in enumerate(cards)))
    return Fleet((machine,), roles(*wanted), catalog(*ENGINES), None)
