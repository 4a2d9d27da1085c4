"""Secrets are masked wherever a text leaves the tool; what only looks technical stays readable."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knaster.redact import MASK, looks_secret, redact, secret_argument

UUID = "12345678-1234-1234-1234-123456789abc"

SECRETS = [
    ("ghp_0123456789abcdefghij0123456789abcdef", MASK),
    ("github_pat_11AAAAAAA0abcdefghij", MASK),
    ("see glpat-AbCdEfGhIjKlMnOpQrSt here", f"see {MASK} here"),
    ("hf_AbCdEfGhIjKlMnOpQrStUvWxYz01234567", MASK),
    ("sk-proj-0123456789abcdefghij", MASK),
    ("xoxb-123456789012-abcdefABCDEF", MASK),
    ("AKIAIOSFODNN7EXAMPLE", MASK),
    ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl", MASK),
    (f"PROXMOX_VE_API_TOKEN is root@pam!tofu={UUID}", f"PROXMOX_VE_API_TOKEN is {MASK}"),
    ("-----BEGIN OPENSSH PRIVATE KEY-----\nb3Bl\n-----END OPENSSH PRIVATE KEY-----\nrest", f"{MASK}\nrest"),
    ("-----BEGIN PRIVATE KEY----- cut off before its end", MASK),
    ("https://user:pa@ss@example.org/v1", f"https://{MASK}@example.org/v1"),
    ("postgres://n8n:hunter2@192.168.100.221/n8n", f"postgres://{MASK}@192.168.100.221/n8n"),
    ("https://0123456789abcdef@gitea.example.org/x.git", f"https://{MASK}@gitea.example.org/x.git"),
    ("https://example.org/?token=abcdef&page=2", f"https://example.org/?token={MASK}&page=2"),
    ("--api-key hunter22 --port 80", f"--api-key {MASK} --port 80"),
    ("--hf-token=abcdefgh", f"--hf-token={MASK}"),
    ("PGPASSWORD=hunter2 psql", f"PGPASSWORD={MASK} psql"),
    ("password: correct-horse", f"password: {MASK}"),
    ('password: "two words"', f"password: {MASK}"),
    ("token: 0a1b2c3d4e", f"token: {MASK}"),
    ("Authorization: Bearer 0123456789abcdef", f"Authorization: Bearer {MASK}"),
]

HARMLESS = [
    "GPU-" + UUID,
    "0000:01:00.0",
    "10de:13f1",
    "sha256:" + "ab" * 32,
    "612b2c0cc1bc413a6cb8c38fd611794caf0f2b436c50013d8b3794db12ad7354",
    "https://cloud-images.ubuntu.com/noble/20260911/noble-server-cloudimg-amd64.img",
    "ssh://git@gitea.example.org/fleet.git",
    "https://litellm.example.internal/v1",
    "--max-tokens 4096",
    "12 token/s at 120 W",
    "--override-kv tokenizer.ggml.add_bos_token=bool:false",
    "a token for the registry is needed",
    'expected token: "}"',
    "--api-key ${LITELLM_KEY}",
    "--api-key $LITELLM_KEY",
    "--api-key-file /run/secrets/key",
    "password: ${PGPASSWORD}",
    "master_key: os.environ/LITELLM_MASTER_KEY",
    "credential: {env: TIER0_API_KEY}",
    "secret: {env: X}",
    "task-force-one-two-three-4",
    "sk-learn-is-a-library",
    "hf_transfer",
    "Qwen/Qwen3-Embedding-0.6B-GGUF",
    "local:vztmpl/debian-13-standard_13.1-2_amd64.tar.zst",
]


@pytest.mark.parametrize(("text", "shown"), SECRETS)
def test_a_secret_is_masked_and_nothing_else(text: str, shown: str) -> None:
    assert redact(text) == shown
    assert looks_secret(text)
    assert not looks_secret(shown)


@pytest.mark.parametrize("text", HARMLESS)
def test_harmless_text_stays(text: str) -> None:
    assert redact(text) == text
    assert not looks_secret(text)


@pytest.mark.parametrize(
    ("flag", "value", "secret"),
    [
        ("--api-key", "hunter22", True),
        ("--hf-token", "abcdefgh", True),
        ("-password", "hunter2", True),
        ("--api-key", "$LITELLM_KEY", False),
        ("--api-key", "--port", False),
        ("--api-key-file", "/run/secrets/key", False),
        ("--max-tokens", "4096", False),
        ("--ctx-size", "32768", False),
    ],
)
def test_an_argument_after_a_flag_that_asks_for_a_secret(flag: str, value: str, secret: bool) -> None:
    assert secret_argument(flag, value) is secret


PIECES = [text for text, _ in SECRETS] + [
    MASK,
    "password=",
    "token: ",
    "--api-key ",
    "https://",
    ":",
    "@",
    "=",
    '"',
    "'",
    " ",
    "-",
    "\n",
    "a1",
    "ghp_",
    "sk-",
    "eyJ",
    "bearer ",
    "-----BEGIN PRIVATE KEY-----",
]
hostile = st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=4)), max_size=12).map("".join)


@given(hostile)
def test_masking_twice_changes_nothing(text: str) -> None:
    once = redact(text)
    assert redact(once) == once


@given(hostile)
def test_redact_changes_exactly_what_looks_secret(text: str) -> None:
    assert (redact(text) != text) == looks_secret(text)


WHOLE = [text for text, shown in SECRETS if shown == MASK]


@given(st.text(), st.sampled_from(WHOLE), st.text())
def test_no_token_survives_whatever_stands_around_it(before: str, secret: str, after: str) -> None:
    assert secret not in redact(f"{before}\n{secret}\n{after}")


REPEATED = ["a", "-", "ghp_a", "eyJ-", "eyJa.", "://a:", "a@a!a=", "password: ", "--a-", "--api-key ", "-----BEGIN A "]


@pytest.mark.parametrize(
    "piece", [*REPEATED, "-----BEGIN PRIVATE KEY-----", 'password: "a', "bearer a", "\n", "token==", "@"]
)
def test_time_is_linear_on_hostile_text(piece: str) -> None:
    """A pattern that backtracks would need minutes; ten times the text may take at most 40 times as long."""
    small, large = (piece * (size // len(piece)) for size in (30_000, 300_000))
    assert _seconds(large) < 40 * max(_seconds(small), 0.02)


def test_a_megabyte_is_masked_in_seconds() -> None:
    line = "https://user:secret@example.org/ password=hunter2 --api-key hunter2 token token basic ghp_ sk- eyJ !\n"
    assert _seconds(line * (1_000_000 // len(line))) < 20


def _seconds(text: str) -> float:
    start = time.perf_counter()
    redact(text)
    looks_secret(text)
    return time.perf_counter() - start
