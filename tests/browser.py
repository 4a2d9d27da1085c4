"""A real browser for tests: Debian's chromium, driven by Playwright. Where one is missing, tests skip and say so."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Dialog, Page

NAMES = ("chromium", "chromium-browser", "google-chrome")


@contextmanager
def chromium() -> Iterator[Browser]:
    """A headless browser."""
    api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    found = next((path for name in NAMES if (path := shutil.which(name))), None)
    if found is None:
        pytest.skip("no chromium on PATH (apt-get install chromium)")
    with api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
        try:
            yield browser
        finally:
            browser.close()


@dataclass
class Watched:
    """A page that was opened from a file, and everything that it did of its own accord."""

    page: Page
    address: str
    said: list[str] = field(default_factory=list)
    asked_for: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    """Why requests failed: ``csp`` where the policy of the page forbids them."""

    @property
    def quiet(self) -> bool:
        """Whether it asked for nothing but itself, wrote nothing to the console and opened no dialog."""
        return self.said == [] and self.asked_for == [self.address]

    def shown(self, selector: str) -> list[str]:
        """The names (``data-item``) of the elements that a reader sees."""
        script = "all => all.filter(one => !one.hidden).map(one => one.dataset.item)"
        found: list[str] = self.page.eval_on_selector_all(f"{selector} [data-item]", script)
        return found


@contextmanager
def opened(browser: Browser, path: Path, **more: Any) -> Iterator[Watched]:
    """Open a file in a context of its own; `more` are its settings (``color_scheme``, ``viewport``)."""
    context = browser.new_context(**more)
    try:
        page = context.new_page()
        watched = Watched(page, path.as_uri())
        page.on("console", lambda message: watched.said.append(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda error: watched.said.append(str(error)))
        page.on("dialog", lambda dialog: _dismissed(watched, dialog))
        page.on("request", lambda request: watched.asked_for.append(request.url))
        page.on("requestfailed", lambda request: watched.refused.append(request.failure or ""))
        page.goto(watched.address)
        yield watched
    finally:
        context.close()


def _dismissed(watched: Watched, dialog: Dialog) -> None:
    watched.said.append(f"dialog: {dialog.message}")
    dialog.dismiss()
