"""For all tests: whatever knaster prints as JSON fits the published schema of results; no test fails for being slow."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import jsonschema_rs
import pytest
from hypothesis import HealthCheck, settings

from knaster.reports import json as reports
from knaster.reports.blocks import Report, Style

# 50 examples, so that all tests take minutes; who wants a longer search says so in its test, as the hostile ones do.
settings.register_profile("any machine", deadline=None, max_examples=50, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any machine")

SCHEMA = Path(__file__).parent.parent / "schemas/output/results.schema.json"


@pytest.fixture(autouse=True, scope="session")
def _results_fit_their_schema() -> Iterator[None]:
    fits = jsonschema_rs.Draft202012Validator(json.loads(SCHEMA.read_text("utf-8")))
    plain = reports.render

    def render(report: Report, style: Style = reports._PLAIN) -> str:
        text = plain(report, style)
        if "command" in report.data:
            fits.validate(json.loads(text))
        return text

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reports, "render", render)
        yield
