"""The page of `knaster report`, read without a browser: numbers, safety, and equal bytes for equal fleets."""

from __future__ import annotations

import random
import re
from base64 import b64encode
from dataclasses import replace
from hashlib import sha256
from typing import Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from knaster.cluster import Figure
from knaster.fit import fits
from knaster.fit.fits import card_device
from knaster.pipeline import evaluate
from knaster.reports.diff import Side
from knaster.reports.page import page
from knaster.reports.page.budget import budget
from knaster.reports.page.classes import groups
from knaster.reports.page.disabled import disabled
from knaster.reports.page.figures import figures
from knaster.reports.page.matrix import matrix
from knaster.reports.page.pairs import natural, paired
from tests.builders import catalog, cluster, engine, gpu, lxc, model, node, pci, platform, policy, role, roles
from tests.consumer_fleets import on_linux, own
from tests.fleet_pages import beside, made, read, side
from tests.fleets import Fleet, fleets
from tests.repo import PVE44, ROLES, files
from tests.test_loader import reordered

EVIL = "</style></script><script>alert(1)</script><img src=x onerror=alert(1)>\"'`{{7*7}}&lt;"
OWN = page(side(own()))
LINUX = beside(side(own(), "main"), side(on_linux(), like=side(own()).evaluation))


def hashed(text: str) -> str:
    """A text as a content security policy names it."""
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


@pytest.mark.parametrize("html", [OWN, LINUX], ids=["one", "two"])
def test_the_policy_lets_nothing_load_and_these_two_texts_run(html: str) -> None:
    found = read(html)
    (policy_text,) = [value for tag, name, value in found.attributes if (tag, name) == ("meta", "content")][:1]
    rules = dict(rule.split(" ", 1) for rule in policy_text.split("; "))
    assert rules == {
        "default-src": "'none'",
        "style-src": hashed(found.raw["style"]),
        "script-src": hashed(found.raw["script"]),
        "img-src": "data:",
        "base-uri": "'none'",
        "form-action": "'none'",
    }
    assert html.count("<script") == html.count("<style") == 1


@pytest.mark.parametrize("html", [OWN, LINUX], ids=["one", "two"])
def test_nothing_on_it_leads_out_of_it(html: str) -> None:
    found = read(html)
    assert found.values("src") == []
    targets = {value for value in found.values("href") if value != "data:,"}
    assert {target[0] for target in targets} == {"#"}
    assert {target[1:] for target in targets} <= set(found.values("id"))
    assert [name for _, name, _ in found.attributes if name.startswith("on") or name == "style"] == []
    assert not re.search(r"url\(|@import|https?:", found.raw["style"] + found.raw["script"])


@pytest.mark.parametrize("html", [OWN, LINUX], ids=["one", "two"])
def test_ids_are_unique_and_labels_name_what_is_there(html: str) -> None:
    found = read(html)
    ids = found.count("id")
    assert set(ids.values()) == {1}
    assert {name for value in found.values("aria-labelledby") for name in value.split()} <= set(ids)
    assert set(found.values("for")) <= set(ids)
    scopes = [value for tag, name, value in found.attributes if tag == "th" and name == "scope"]
    assert len(scopes) == html.count("<th ") == html.count("<th scope")


def test_it_is_ascii_so_that_no_encoding_spoils_it() -> None:
    assert OWN.isascii()
    assert "Models × cards" in read(OWN).said


def test_the_numbers_are_those_of_this_repositorys_fleet() -> None:
    """Counted by hand in inventory/ and in generated/ (`knaster placement plan`)."""
    found = read(OWN)
    assert {key: found.values(f"data-{key}") for key in ("assignment", "unplaced", "disabled")} == {
        "assignment": ["gpu-general", "gpu-flex", "embedding", "rerank", "verifier", "tts-de"],
        "unplaced": ["training", "tts-de-hq"],
        "disabled": ["pve44/0", "pve46/0", "pve48/0", "pve52/0"],
    }
    assert len(found.values("data-card")) == 9
    assert len([value for value in found.values("id") if value.startswith("node-")]) == 7
    assert len([value for value in found.values("id") if value.startswith("slot-")]) == 7
    for told in (
        "cards in use 5 of 9",
        "roles placed 6 of 8",
        "slots available 6 of 7",
        "qwen3-14b-q4_k_m llm · 10.89 GiB · q4_k_m · context 16384 "
        "✓ yes llamacpp ✕ no it needs 10.89 GiB, 4.5 GiB are there",
        "16 of 32 GB used, 16 GB free",  # pve44: 4 for the host and 12 for its VM
        "28 of 32 GB used, 4 GB free",  # pve52: 4 + 12 + 12 (infra)
        "survives 1 of 7 node failures and survives 4 of 9 card failures",
        "1 node that may be lost pve61 4 cards that may be lost pve44/0, pve46/0, pve48/0, pve52/0",
        "0/1 GPUs of gpu-flex fit: 1 on windows (pytorch runs on linux)",
        "tts-de-hq falls back to tts-de",
        "Back only after a llama-bench run with a power reading, and then for llama.cpp alone.",
        "a Quadro M4000 needs a benchmark with a power reading; no llama-bench run is on record.",
        "≈ estimated Quadro M4000, llamacpp",
    ):
        assert told in found.said, told


def test_before_and_after_stand_side_by_side_with_words_for_what_changed() -> None:
    """On Linux `tts-de-hq` and `training` find their place on the card of `gpu-flex`; vLLM has no model here."""
    found = read(LINUX)
    for told in (
        "− Before main",
        "roles placed 6 of 8 8 of 8 ▲ 2 more better",
        "− no longer short",
        "training + new",
        "✕ never with training",
        "= unchanged",
        "± changed",
        "Losing",
    ):
        assert told in found.said, told
    assert found.count("data-side")["before"] == found.count("data-side")["after"] > 0
    assert not re.search(r"<(ins|del)\b", LINUX)


def test_the_same_on_both_sides_is_no_change() -> None:
    one = side(own(), "a")
    html = beside(one, side(own(), "b"))
    assert "no change to the fleet" in read(html).said
    assert read(html).values("data-side") == []
    assert " changed" not in {tag for value in read(html).values("data-tags") for tag in value.split()}


@settings(max_examples=20, deadline=None)
@given(st.integers())
def test_the_order_of_files_keys_and_items_makes_no_difference(seed: int) -> None:
    dice = random.Random(seed)
    texts = [(path, reordered(text, dice)) for path, text in files().items()]
    dice.shuffle(texts)
    assert page(side(dict(texts))) == page(side(files()))


def test_text_from_data_is_text() -> None:
    evil = files(
        pve44=PVE44.replace('"no benchmark yet"', yaml_text(EVIL)).replace('"Quadro P2000"', yaml_text(EVIL)),
        roles=ROLES.replace("    kinds: [llm]\n", f"    kinds: [llm]\n    description: {yaml_text(EVIL)}\n", 1),
    )
    html = page(side(evil))
    found = read(html)
    assert html.count("<script") == 1
    assert "<img" not in html
    assert found.said.count(EVIL) >= 3
    assert "49" not in found.said


def yaml_text(text: str) -> str:
    """A double-quoted scalar."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def test_hidden_characters_are_spelled_out_and_secrets_masked() -> None:
    reason = r'"\u202etxt.exe \u200b token ghp_0123456789abcdefABCDEF"'
    found = read(page(side(files(pve44=PVE44.replace('"no benchmark yet"', reason)))))
    assert "\\u202etxt.exe \\u200b token [redacted]" in found.said
    assert not {"\u202e", "\u200b"} & set(found.said)


@settings(max_examples=60, deadline=None)
@given(fleets())
def test_any_fleet_has_a_page_with_all_of_its_plan(fleet: Fleet) -> None:
    one = made(fleet)
    assert one.evaluation.planned
    answer = one.evaluation.planned.plan
    found = read(page(one))
    assert sorted(found.values("data-card")) == sorted(f"{n.name}/{card.index}" for n in fleet.nodes for card in n.gpus)
    assert sorted(found.values("data-assignment")) == sorted(item.role for item in answer.assignments)
    assert sorted(found.values("data-unplaced")) == [item.role for item in answer.unplaced]
    assert sorted(found.values("data-disabled")) == sorted(
        f"{item.node}/{item.gpu_index}" for item in answer.disabled_gpus
    )
    assert set(found.count("id").values()) == {1}


@settings(max_examples=30, deadline=None)
@given(fleets(), fleets())
def test_any_two_fleets_stand_side_by_side(old: Fleet, new: Fleet) -> None:
    read(page(made(new), made(old)))


@settings(max_examples=60, deadline=None)
@given(fleets())
def test_the_matrix_says_what_fits_says(fleet: Fleet) -> None:
    """For every card: yes where any engine that its policy leaves open, and that is not for CPUs alone, fits."""
    whole = cluster(*fleet.nodes, platform=fleet.platform, roles=fleet.roles, catalog=fleet.models)
    cells = {name: dict(row.cells) for name, row in matrix(whole).rows.items()}
    labels = {
        spot: label for group, label in zip(groups(whole), matrix(whole).columns, strict=True) for spot in group.spots
    }
    for machine in fleet.nodes:
        for card in machine.gpus:
            named = fleet.platform.cards.get(card.pci.id) if fleet.platform and card.pci and card.pci.id else None
            for one in fleet.models.models.values():
                good = any(
                    fits(one, card_device(machine, card, fleet.platform), fleet.models.engines[name])
                    for name in one.engines
                    if fleet.models.engines[name].gpu != "none"
                    and (named is None or named.engines is None or name in named.engines)
                )
                cell = cells[one.name][labels[f"{machine.name}/{card.index}"]]
                assert cell.verdict != ("no" if good else "yes")
                if card.disabled or machine.state == "down":
                    assert cell.verdict == "out"


def test_a_class_of_cards_that_differ_by_a_little_says_so() -> None:
    """19.5 GiB of 20 x 1024 - 512 MiB fit; of 19500 - 512 MiB (18.54 GiB) they do not."""
    whole = cluster(
        node("n1", gpu(0, memory_mib=20480), gpu(1, memory_mib=19500)),
        platform=platform(vram_reserve_gb={"linux": 0.5}),
        catalog=catalog(engine("vllm"), model("big", 19.5)),
    )
    found = matrix(whole)
    (column,) = found.columns.values()
    assert column.facts[-1] == "18.54 to 19.5 GiB for models"
    ((_, cell),) = found.rows["big"].cells
    assert (cell.verdict, cell.text) == ("some", "1 of 2 cards (vllm); it needs 19.5 GiB, 18.54 GiB are there")


def test_two_engines_that_fail_for_two_reasons_are_both_told() -> None:
    whole = cluster(
        node("n1", gpu(0, 20, 6.1)),
        catalog=catalog(engine("old", max_cc=5.2), engine("vllm", min_cc=7.0), model("m", 4, engines=("old", "vllm"))),
    )
    ((_, cell),) = matrix(whole).rows["m"].cells
    assert cell.text == (
        "old: old ends at compute capability 5.2; vllm: it needs compute capability 7.0, the card has 6.1"
    )


def test_the_ram_of_a_node_is_a_bar_of_parts() -> None:
    """32 GB: 4 for the host (12.5 %), 12 for the container (37.5 %), 16 free."""
    ground = platform(lxc("infra", "pve1", memory_gb=12), host_reserve_gb=4, gpu_vm=None)
    machine = node("pve1", platform="proxmox", memory_gb=32)
    whole = made(Fleet((machine,), {}, catalog(), ground)).evaluation.planned
    assert whole
    found = budget(machine, whole.guests, (), ground)
    assert [(part.use, part.label, part.gb, part.start, part.width) for part in found.parts] == [
        ("reserve", "the host itself", "4", "0%", "12.5%"),
        ("lxc", "infra", "12", "12.5%", "37.5%"),
    ]
    assert (found.sentence, found.left) == ("16 of 32 GB used, 16 GB free", "16")


def test_a_budget_over_the_memory_says_what_is_missing() -> None:
    ground = platform(lxc("infra", "pve1", memory_gb=12), host_reserve_gb=4, gpu_vm=None)
    machine = node("pve1", platform="proxmox", memory_gb=8)
    whole = made(Fleet((machine,), {}, catalog(), ground)).evaluation.planned
    assert whole
    found = budget(machine, whole.guests, (), ground)
    assert found.sentence == "16 of 8 GB used, 8 GB more than there is"
    assert [part.width for part in found.parts] == ["25%", "75%"]


M4000 = gpu(0, 8, 5.2, name="Quadro M4000", disabled=True, reason="slow", pci=pci("0000:01:00.0", "10de:13f1"))


@pytest.mark.parametrize(
    ("taken", "first"),
    [
        (
            "estimated",
            "On its machine run knaster bench llm m --card pve1/0 --file m.gguf: a card needs a benchmark with a "
            "power reading; no llama-bench run is on record.",
        ),
        ("measured", "A benchmark with a power reading is on record for card: its card policy is met."),
    ],
)
def test_what_brings_a_card_back_depends_on_the_records(taken: Literal["estimated", "measured"], first: str) -> None:
    run = Figure("power", 110, "W", taken, card="Quadro M4000", engine="llamacpp")
    power = replace(run, source="llama-bench 7000", date="2026-11-29")
    card = policy("10de:13f1", "llamacpp", requires="benchmark", name="card")
    whole = cluster(
        node("pve1", M4000, state="down"),
        platform=platform(cards={"10de:13f1": card}),
        roles=roles(role("small", engine="llamacpp", min_vram_gb=4), role("big", engine="llamacpp", min_vram_gb=9)),
        catalog=catalog(engine("llamacpp"), model("m", 4, engines=("llamacpp",), figures=(power,))),
    )
    (row,) = disabled(whole).values()
    assert row.steps[0].startswith(first)
    assert row.steps[1:] == (
        "Bring back pve1, which is not active.",
        "Take disabled: true (and its reason) out of inventory/pve1.yaml.",
    )
    assert (row.spots, row.reason, row.models) == (("pve1/0",), "slow", ("m",))


def test_roles_that_a_disabled_card_could_take_are_those_that_it_meets() -> None:
    whole = cluster(
        node("n1", gpu(0, 8, 5.2, disabled=True)),
        roles=roles(
            role("small", engine="llamacpp", min_vram_gb=8),
            role("big", engine="llamacpp", min_vram_gb=9),
            role("cpu", engine="llamacpp", gpu=False),
        ),
        catalog=catalog(engine("llamacpp")),
    )
    (row,) = disabled(whole).values()
    assert row.roles == ("small",)


def test_a_measured_figure_takes_the_place_of_the_estimate() -> None:
    some = (
        Figure("power", 120, "W", "estimated", card="A"),
        Figure("power", 98.5, "W", "measured", card="A", date="2026-11-01", source="llama-bench b7000"),
        Figure("power", 150, "W", "estimated", card="B"),
    )
    rows = figures(catalog(model("m", figures=some))).values()
    assert [(row.value, row.kind, row.on, row.origin) for row in rows] == [
        ("98.5 W", "measured", "A", "2026-11-01, llama-bench b7000"),
        ("150 W", "estimated", "B", ""),
    ]


def test_names_with_numbers_are_in_the_order_of_numbers() -> None:
    names = {"pve10": 1, "pve9": 1, "PVE1": 1, "pve09": 1, "pve": 1}
    assert [pair.name for pair in paired(None, names)] == ["PVE1", "pve", "pve09", "pve9", "pve10"]


@given(st.lists(st.text("a1-0é٣²", max_size=5), unique=True))
def test_the_order_of_names_is_total(names: list[str]) -> None:
    assert sorted(names, key=natural) == sorted(reversed(names), key=natural)


def test_a_side_that_did_not_load_has_no_page() -> None:
    broken = Side("x", {}, evaluate(files(roles="roles: [")))
    with pytest.raises(ValueError, match="did not load"):
        page(broken)
    with pytest.raises(ValueError, match="did not load"):
        page(side(files()), broken)
