"""A secret that only its neighbours give away never reaches a report, however it is written."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from knaster.pipeline import evaluate
from knaster.redact import MASK, redact
from knaster.reports import json, markdown, text, validation
from knaster.reports.blocks import Style
from knaster.reports.hidden import masked
from tests.repo import MODELS, PLATFORM, files

FLAGS = ("--api-key", "--hf-token", "-password", "--litellm-master-key")
LAYOUTS = (
    "args: [{flag}, {value}]",
    "args: [{flag} , {value} , --port]",
    "args: [--port, '80', {flag}, {value}]",
    "args: [--port, '80',\n  {flag},\n  {value}]",
    "args: [--port, '80', {flag},\n\n  # the key\n  {value}, --verbose]",
    "args:\n- {flag}\n- {value}",
    "args:\n  - --port\n  - {flag}  # asks\n  # a comment\n\n  - {value}\n  - --verbose",
    "args: {{{flag}: {value}}}",
    "args: {flag} {value}",
    "credential: {value}",
    "credential:\n  {value}",
    "credential: |\n  {value}",
    "credential: {{env: {value}}}",
    "credential: {{env: [{value}]}}",
    "credential:\n  env: {value}\n  key: {value}",
    "credential: {{env: NAME, key: {value}}}",
    "credentials: {{env: NAME}}\napi_key: {value}",
    "token: {value}",
    "tokenn: {{secret: {value}}}",
)
QUOTES = ("{}", '"{}"', "'{}'")
words = st.text("abcdefghijklmnop0123456789", min_size=4, max_size=12).map(lambda tail: f"zq{tail}")
numbers = st.integers(71_000_000_000, 99_000_000_000).map(str)


def report(layout: str, flag: str, value: str) -> str:
    """Everything that `validate` shows in any format, with the layout in a model and in an external endpoint."""
    entry = layout.format(flag=flag, value=value).replace("\n", "\n    ")
    model = "bge-m3: {kind: embedding, vram_gb: 1.2, engines: [llamacpp]}"
    in_model = f"bge-m3:\n    kind: embedding\n    vram_gb: 1.2\n    engines: [llamacpp]\n    {entry}"
    tier = 'tier0: {url: "https://tier0.example.org/v1", credential: {env: TIER0_API_KEY}}'
    in_tier = f"tier0:\n    url: https://tier0.example.org/v1\n    {entry}"
    assert model in MODELS
    assert tier in PLATFORM
    shown = ""
    for given_files in (files(models=MODELS.replace(model, in_model)), files(platform=PLATFORM.replace(tier, in_tier))):
        found = validation.report(evaluate(given_files), given_files)
        shown += text.render(found, Style(verbose=True)) + markdown.render(found) + json.render(found)
    return shown


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow], max_examples=60)
@example(LAYOUTS[0], "--api-key", '"{}"', '"{}"', "geheim")
@example(LAYOUTS[0], "--api-key", '"{}"', "{}", "71234567890")
@example(LAYOUTS[5], "--api-key", '"{}"', "{}", "71234567890")
@given(
    st.sampled_from(LAYOUTS), st.sampled_from(FLAGS), st.sampled_from(QUOTES), st.sampled_from(QUOTES), words | numbers
)
def test_a_secret_is_in_no_report(layout: str, flag: str, flag_quote: str, quote: str, secret: str) -> None:
    shown = report(layout, flag_quote.format(flag), quote.format(secret))
    assert secret not in shown
    assert "error" in shown


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ('args: ["--api-key", "geheim", "--port", "1"]', f'args: ["--api-key", {MASK}'),
        ("args: [--api-key, abc]", f"args: [--api-key, {MASK}"),
        ("- {api_key: abc}", f"- {{api_key: {MASK}"),
        ("credential: abc", f"credential: {MASK}"),
        ("credential: {env: abc}", f"credential: {MASK}"),
        ("credential: {env: NAME}", "credential: {env: NAME}"),
        ("{credential: {env: NAME}, token: abc}", f"{{credential: {{env: NAME}}, token: {MASK}"),
        ('args: ["--api-key", "$KEY", "--port"]', 'args: ["--api-key", "$KEY", "--port"]'),
        ("args: [--api-key, --port, 80]", "args: [--api-key, --port, 80]"),
        ("args: [--max-tokens, 4096]", "args: [--max-tokens, 4096]"),
        ("needs: {engine: llamacpp}", "needs: {engine: llamacpp}"),
        ("api_key:", "api_key:"),
    ],
)
def test_one_line(line: str, shown: str) -> None:
    assert masked([line], 0) == shown


@pytest.mark.parametrize(
    ("lines", "shown"),
    [
        (["- --api-key", "- abc"], f"- {MASK}"),
        (["- '--api-key' # x", "", "# y", "  - 'abc'"], f"  - {MASK}"),
        (["- --api-key", "- --port"], "- --port"),
        (["- --api-key", "- ${KEY}"], "- ${KEY}"),
        (["- --api-key", "- abc", "- def"], "- def"),
        (["- --port", "- 80"], "- 80"),
        (["credential:", "  env: NAME"], "  env: NAME"),
        (["credential:", "  env: name"], f"  {MASK}"),
        (["credential: {", "env: name}"], f"{MASK}"),
        (["credential:", "  # a comment", "  env: NAME", "  key: abc"], f"  {MASK}"),
        (["credential:", "  env: NAME", "url: x"], "url: x"),
    ],
)
def test_a_line_below_what_asks_for_a_secret(lines: list[str], shown: str) -> None:
    assert masked(lines, len(lines) - 1) == shown


@given(st.lists(st.text(), min_size=1), st.integers(1, 50))
def test_from_the_column_on_nothing_is_shown(lines: list[str], column: int) -> None:
    assert masked(lines, 0, column) == redact(lines[0][: column - 1]) + MASK
