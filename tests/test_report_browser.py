"""The page of `knaster report` in a real browser: what it asks for, shows and filters, and who can use it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from bench.fleet import fleet
from knaster.pipeline import Evaluation
from knaster.reports.page import page
from tests.browser import Watched, chromium, opened
from tests.consumer_fleets import on_linux, own
from tests.fleet_pages import beside, side
from tests.repo import PLATFORM, PVE44, ROLES, files
from tests.test_report_page import EVIL, yaml_text

if TYPE_CHECKING:
    from playwright.sync_api import Browser

MOST = 4_000_000
"""Bytes of a page of 1,000 nodes and 4,000 cards: about two and a half kilobytes a node."""
LARGE = 1000


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as found:
        yield found


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The page of this repository's fleet, and of it beside the same with the workstations on Linux."""
    root = tmp_path_factory.mktemp("pages")
    before = side(own(), "main")
    after = side(on_linux(), like=before.evaluation)
    texts = {"one": page(before), "two": beside(before, after)}
    return {name: written(root / f"{name}.html", text) for name, text in texts.items()}


def written(path: Path, text: str) -> Path:
    """Write a page."""
    path.write_text(text, "utf-8")
    return path


def waits(view: Watched, told: str) -> None:
    """Until the live region says something that matches."""
    from playwright.sync_api import expect

    expect(view.page.locator("#find-told")).to_have_text(re.compile(told))


def search(view: Watched, words: str, told: str = r"^Shown: ") -> None:
    """Type into the search field as a person would, and wait for what is told."""
    view.page.locator("#find-text").press_sequentially(words)
    waits(view, told)


@pytest.mark.parametrize("name", ["one", "two"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_asks_for_nothing_and_says_nothing(browser: Browser, pages: dict[str, Path], name: str, scheme: str) -> None:
    with opened(browser, pages[name], color_scheme=scheme) as view:
        search(view, "pve44")
        view.page.locator("#node-pve44 summary").click()
        view.page.get_by_role("button", name="Clear").click()
        waits(view, "^Everything")
        assert view.quiet, (view.said, view.asked_for)


def test_what_the_policy_forbids_does_not_happen(browser: Browser, tmp_path: Path, pages: dict[str, Path]) -> None:
    """The same page with a script, a style and an image that are not its own: the browser refuses all three."""
    foreign = '<script>document.title="owned"</script><img src="https://example.org/x"><p style="color:red">x</p>'
    text = pages["one"].read_text("utf-8").replace("</main>", f"{foreign}</main>")
    with opened(browser, written(tmp_path / "foreign.html", text)) as view:
        assert view.page.title() == "Fleet report: main"
        assert (view.asked_for, view.refused) == ([view.address, "https://example.org/x"], ["csp"])
        assert len([line for line in view.said if "Content Security Policy" in line]) >= 3


def counted(evaluation: Evaluation) -> dict[str, int]:
    """What the generated documents and inputs say, which no part of the page reads."""
    placement, registry = evaluation.documents["placement.yaml"], evaluation.documents["registry.yaml"]
    return {
        "[data-section=nodes] article": len(evaluation.cluster.nodes),
        "[data-card]": sum(len(node.gpus) for node in evaluation.cluster.nodes),
        "[data-card] [data-assignment]": sum("gpu_index" in one for one in placement["assignments"]),
        "[data-assignment]": len(placement["assignments"]),
        "[data-unplaced]": len(placement["unplaced"]),
        "[data-disabled]": len(placement["disabled_gpus"]),
        "[data-section=slots] [data-item]": len(registry["slots"]),
        "[data-section=slots] .ok": sum(slot["state"] == "available" for slot in registry["slots"].values()),
        "[data-section=slots] .chain li": sum(len(slot["fallback"]) for slot in registry["slots"].values()),
        "[data-guest]": len(evaluation.documents["proxmox.yaml"]["guests"]),
        "[data-model]": len(evaluation.cluster.catalog.models) if evaluation.cluster.catalog else 0,
        "#problems [data-item]": len(evaluation.diagnostics),
    }


@pytest.mark.parametrize("texts", [own, on_linux, files], ids=["own", "linux", "small"])
def test_the_numbers_equal_the_plan(browser: Browser, tmp_path: Path, texts: object) -> None:
    assert callable(texts)
    one = side(texts())
    with opened(browser, written(tmp_path / "page.html", page(one))) as view:
        found = {selector: view.page.locator(selector).count() for selector in counted(one.evaluation)}
        assert found == counted(one.evaluation)
        placed = view.page.locator("[data-total=roles]").inner_text()
        assert placed == f"{len({a['role'] for a in one.evaluation.documents['placement.yaml']['assignments']})} " + (
            f"of {len(one.evaluation.cluster.roles or {})}"
        )


def test_a_bar_is_as_long_as_its_numbers_say(browser: Browser, pages: dict[str, Path]) -> None:
    """pve52: 4 GB for the host, 12 for the VM, 12 for infra, of 32: 12.5, 37.5 and 37.5 %."""
    with opened(browser, pages["one"]) as view:
        script = "all => all.map(one => one.getBBox()).map(box => [box.x, box.width])"
        (start, whole), *parts = view.page.eval_on_selector_all("#node-pve52 rect", script)
        assert [(round((x - start) / whole, 3), round(width / whole, 3)) for x, width in parts] == [
            (0, 0.125), (0.125, 0.375), (0.5, 0.375),
        ]  # fmt: skip
        label = view.page.locator("#node-pve52").get_by_role("img").get_attribute("aria-label")
        assert label == "RAM: 28 of 32 GB used, 4 GB free"


def test_the_search_leaves_what_it_names(browser: Browser, pages: dict[str, Path]) -> None:
    """rerank runs on pve46; its model is bge-reranker-v2-m3."""
    with opened(browser, pages["one"]) as view:
        search(view, "PVE46")
        assert view.shown("#nodes") == ["pve46"]
        assert view.shown("#slots") == ["rerank"]
        waits(view, r"^Shown: 1 of 7 nodes, 1 of 7 slots, ")
        view.page.get_by_role("button", name="Clear").click()
        waits(view, "^Everything")
        assert len(view.shown("#nodes")) == 7
        search(view, "pve4 p2000")
        assert view.shown("#nodes") == ["pve44", "pve46", "pve48"]
        search(view, " nowhere", "^Shown: 0 of 7 nodes, 0 of 7 slots")
        assert view.page.get_by_text("No slots match what you look for.").is_visible()


def test_the_filter_leaves_what_it_says(browser: Browser, pages: dict[str, Path]) -> None:
    with opened(browser, pages["two"]) as view:
        view.page.get_by_label("Show").select_option(label="what changed")
        waits(view, "^Shown")
        assert view.shown("#nodes") == ["GODE-PC-05", "GODE-PC-06"]
        assert view.shown("#unplaced") == ["training", "tts-de-hq"]
        view.page.get_by_label("Show").select_option(label="disabled cards")
        waits(view, "^Shown: 4 of 7 nodes")
        assert view.shown("#nodes") == ["pve44", "pve46", "pve48", "pve52"]


def test_a_link_to_what_is_filtered_away_shows_it(browser: Browser, pages: dict[str, Path]) -> None:
    with opened(browser, pages["one"]) as view:
        search(view, "tier1-flex")
        view.page.locator("#slot-tier1-flex a", has_text="tier1-general").click()
        waits(view, "^Everything")
        assert view.page.locator("#slot-tier1-general").is_visible()


def test_the_keyboard_reaches_everything(browser: Browser, pages: dict[str, Path]) -> None:
    """Skip link, sections, search, filter, button, then what is in the page; each shows that it has the focus."""
    with opened(browser, pages["one"]) as view:
        keys = view.page.keyboard
        keys.press("Tab")
        assert view.page.locator(":focus").inner_text() == "Skip to the fleet"
        assert (view.page.locator(":focus").bounding_box() or {"x": -1})["x"] >= 0
        seen = []
        for _ in range(16):
            keys.press("Tab")
            focus = view.page.locator(":focus")
            seen.append(focus.get_attribute("id") or focus.inner_text().split()[0])
            assert focus.evaluate("one => getComputedStyle(one).outlineStyle") == "solid"
        assert seen[:9] == [
            "Summary", "Nodes", "Slots", "Not", "Disabled", "Models", "Figures", "Failures", "Problems",
        ]  # fmt: skip
        assert seen[9:13] == ["find-text", "find-only", "Clear", "SLOT"]
        view.page.locator("#find-text").focus()
        keys.type("verifier")
        waits(view, "^Shown")
        assert view.shown("#slots") == ["verifier"]
        keys.press("Tab")
        keys.press("Tab")
        keys.press("Enter")
        waits(view, "^Everything")
        assert view.page.locator(":focus").get_attribute("id") == "find-text"


def test_the_skip_link_leads_to_the_fleet(browser: Browser, pages: dict[str, Path]) -> None:
    with opened(browser, pages["one"]) as view:
        view.page.keyboard.press("Tab")
        view.page.keyboard.press("Enter")
        assert view.page.locator(":focus").get_attribute("id") == "main"


def test_a_screen_reader_finds_landmarks_and_headings(browser: Browser, pages: dict[str, Path]) -> None:
    with opened(browser, pages["two"]) as view:
        for role, number in (("banner", 1), ("navigation", 1), ("search", 1), ("main", 1), ("contentinfo", 1)):
            assert view.page.get_by_role(role).count() == number, role  # type: ignore[arg-type]
        levels = view.page.eval_on_selector_all("h1,h2,h3,h4", "all => all.map(one => Number(one.tagName[1]))")
        assert levels[0] == 1
        assert levels.count(1) == 1
        assert all(after - before <= 1 for before, after in pairwise(levels))
        assert view.page.get_by_role("region", name="Slots").count() == 1
        assert view.page.get_by_role("table", name="Slots").count() == 1
        assert view.page.get_by_role("status").inner_text() == "Everything is shown."


@pytest.mark.parametrize("name", ["one", "two"])
@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 1280), ("light", 360), ("dark", 360)])
def test_axe_finds_nothing(browser: Browser, pages: dict[str, Path], name: str, scheme: str, width: int) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe-playwright-python is missing").Axe
    settings = {"color_scheme": scheme, "viewport": {"width": width, "height": 800}, "bypass_csp": True}
    with opened(browser, pages[name], **settings) as view:
        found = axe().run(view.page).response["violations"]
        assert [(one["impact"], one["id"], one["nodes"][0]["html"]) for one in found] == []


@pytest.mark.parametrize("name", ["one", "two"])
def test_without_scripts_all_of_it_is_there(browser: Browser, pages: dict[str, Path], name: str) -> None:
    with opened(browser, pages[name], java_script_enabled=False) as view:
        assert not view.page.locator("#find").is_visible()
        assert view.page.locator("article:visible").count() == 7
        assert view.page.locator("#slots tr[data-item]:visible").count() == 7
        assert view.page.locator("[data-none]:visible").count() == 0
        assert view.quiet


@pytest.mark.parametrize("name", ["one", "two"])
@pytest.mark.parametrize("width", [320, 768])
def test_a_small_screen_scrolls_in_one_direction(
    browser: Browser, pages: dict[str, Path], name: str, width: int
) -> None:
    """Wide tables scroll in a box of their own, which the keyboard reaches; the page itself never does sideways."""
    with opened(browser, pages[name], viewport={"width": width, "height": 700}) as view:
        assert view.page.evaluate("document.documentElement.scrollWidth") == width
        boxes = view.page.eval_on_selector_all(".scroll", "all => all.map(one => one.tabIndex)")
        assert set(boxes) == {0}


def test_paper_shows_what_is_folded_and_no_controls(browser: Browser, pages: dict[str, Path]) -> None:
    with opened(browser, pages["one"], color_scheme="dark") as view:
        view.page.emulate_media(media="print")
        assert not view.page.locator("#find").is_visible()
        assert not view.page.get_by_role("navigation").is_visible()
        assert view.page.locator("details p").first.is_visible()
        style = "(({color, backgroundColor}) => [color, backgroundColor])(getComputedStyle(document.body))"
        assert view.page.evaluate(style) == ["rgb(0, 0, 0)", "rgb(255, 255, 255)"]


def test_changes_show_without_colour(browser: Browser, pages: dict[str, Path]) -> None:
    """Each mark is a sign and a word, and every changed row has one."""
    with opened(browser, pages["two"]) as view:
        marks = set(view.page.locator(".mark").all_inner_texts())
        assert marks >= {"± changed", "= unchanged", "+ new", "− no longer short"}
        for row in view.page.locator(".differs").all():
            words = row.inner_text()
            assert re.search(r"changed|new|gone|no longer|more|fewer|instead", words), words


def test_hostile_text_stays_text(browser: Browser, tmp_path: Path) -> None:
    more = EVIL + r" \u202egpj.exe javascript:alert(2)"
    quoted = yaml_text(EVIL)[:-1] + r' \u202egpj.exe javascript:alert(2)"'
    one = side(
        files(
            pve44=PVE44.replace('"no benchmark yet"', quoted)
            .replace('"Quadro P2000"', quoted)
            .replace("memory_gb: 32", f"memory_gb: 32\nstate: cordoned\nreason: {quoted}\nwarnings: [{quoted}]"),
            roles=ROLES.replace("kinds: [llm]", f"kinds: [llm]\n    description: {quoted}"),
            platform=PLATFORM + f"assumptions:\n  - {{about: storage, assumed: {quoted}}}\n",
        )
    )
    assert one.evaluation.ok
    with opened(browser, written(tmp_path / "evil.html", page(one))) as view:
        assert view.quiet, view.said
        assert view.page.locator("img, iframe, object, a[href^='javascript:']").count() == 0
        assert view.page.locator("script").count() == 1
        text = view.page.locator("main").inner_text()
        assert text.count(more) >= 4
        assert "\u202e" not in text
        search(view, "<script>alert(1)")
        assert view.shown("#nodes") == ["pve44"]
        assert view.quiet, view.said


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """1,000 nodes, 4,000 cards, 200 roles."""
    return written(tmp_path_factory.mktemp("large") / "large.html", page(side(fleet(LARGE))))


def test_a_thousand_nodes_stay_usable(browser: Browser, large: Path) -> None:
    assert large.stat().st_size < MOST
    with opened(browser, large) as view:
        assert view.page.locator("#nodes article").count() == LARGE
        assert view.page.locator("[data-card]").count() == 4 * LARGE
        search(view, "n00500")
        waits(view, r"^Shown: 1 of 1000 nodes, ")
        assert view.shown("#nodes") == ["n00500"]
        assert view.page.locator("#node-n00500").is_visible()
        assert view.quiet, view.said


def test_a_thousand_nodes_are_few_classes_of_cards(browser: Browser, large: Path) -> None:
    """Four types of cards under Proxmox and as many on bare machines, both Linux: four classes, and the CPU."""
    with opened(browser, large) as view:
        heads = view.page.locator(".fit thead th").count()
        assert heads == 1 + 4 + 1
        assert view.page.locator(".fit tbody td").count() == 60 * 5


def test_what_is_far_away_is_not_laid_out(browser: Browser, large: Path) -> None:
    """The browser skips what nobody sees: content-visibility on each of many boxes."""
    with opened(browser, large) as view:
        last = view.page.locator("#nodes article").last
        assert last.evaluate("one => getComputedStyle(one).contentVisibility") == "auto"
        assert not last.locator("h3").evaluate("one => one.checkVisibility({contentVisibilityAuto: true})")
