"""``prometheus/scrape.yaml``: a text that no input changes, so it is written as it lies here."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path


@lru_cache(maxsize=1)
def scrape_texts() -> Mapping[str, str]:
    """The scrape configuration, by its path below ``generated/``."""
    return {"prometheus/scrape.yaml": Path(__file__).with_suffix(".yaml").read_text("utf-8")}
