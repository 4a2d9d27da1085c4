"""What looks like a secret is never shown: masks for every text that leaves the tool.

Every pattern is anchored and bounded, so that a hostile text of any size costs linear time.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

MASK = "[redacted]"

_FREE = r"(?<![A-Za-z0-9_-])"
"""Before a token: nothing that would make it the tail of a word. So a long word is tried once, not at every letter."""

_TOKENS = "|".join(
    (
        r"gh[opsur]_[A-Za-z0-9]{10,}",  # GitHub
        r"github_pat_[A-Za-z0-9_]{16,}",
        r"glpat-[A-Za-z0-9_-]{10,}",  # GitLab
        r"hf_[A-Za-z0-9]{16,}",  # Hugging Face
        r"sk-(?=[A-Za-z_-]{0,64}[0-9])[A-Za-z0-9_-]{16,}",  # OpenAI, LiteLLM, Anthropic
        r"xox[abeoprs]-[A-Za-z0-9-]{10,}",  # Slack
        r"AKIA[0-9A-Z]{16}(?![0-9A-Za-z])",  # AWS
        r"AIza[A-Za-z0-9_-]{30,}",  # Google
        r"npm_[A-Za-z0-9]{30,}",
        r"eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?",  # JSON Web Token
    )
)

_PRIVATE_KEY = re.compile(
    r"-----BEGIN (?:[A-Z0-9]{1,16} ){0,4}PRIVATE KEY-----"
    r"(?:.*?-----END (?:[A-Z0-9]{1,16} ){0,4}PRIVATE KEY-----|.*)",
    re.DOTALL,
)
_TOKEN = re.compile(rf"{_FREE}(?:{_TOKENS})")
_PVE_TOKEN = re.compile(
    r"(?<![\w.-])[\w.-]{1,64}@[\w.-]{1,64}![\w.-]{1,64}=[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"
    r"[\w.-]{0,4096}"  # what follows without a break is a part of it, not another token that the mask sets free
)

HARMLESS = (
    r"(?![$%<{\[(]|env:|os\.environ/|(?:bool|int|float):|\[redacted\]|(?:none|null|true|false|auto|required)(?![\w-]))"
)
"""Not a secret (a look-ahead): a variable, a placeholder, a plain word, a typed value of llama.cpp (``bool:false``)."""

_USERINFO = re.compile(
    r"(?<=://)"
    + HARMLESS
    + r"(?:[^\s/?#:@]{0,128}:(?![$%<{]|\[redacted\])[^\s/?#]{1,256}|(?<=http://)[^\s/?#:@]{8,256}|(?<=https://)[^\s/?#:@]{8,256})@"
)

KEY = (
    r"(?:api[-_]?keys?|access[-_]?key(?:[-_]?id)?|secret[-_]?key|private[-_]?key|auth[-_]?key|master[-_]?key"
    r"|token|password|passwd|passphrase|secret|pwd)"
)
ASKING_FLAG = rf"--?(?:[A-Za-z0-9]{{1,20}}[-_]){{0,4}}{KEY}"
_QUOTED = r"\"[^\"\n]{1,256}\"|'[^'\n]{1,256}'"
_WORD = r"[^\s\"',;&]{4,4096}"
_ASSIGNED = re.compile(rf"(?i)({KEY}[\"']?\s{{0,3}}={{1,2}}(?!=)\s{{0,3}}[\"']?){HARMLESS}{_WORD}")
_FLAG = re.compile(rf"(?i)((?<![\w-]){ASKING_FLAG}(?:\s{{1,8}}|=)[\"']?){HARMLESS}(?!-){_WORD}")
_LISTED = re.compile(
    rf"(?i)((?P<quote>[\"']){ASKING_FLAG}(?P=quote)\s{{0,8}},\s{{0,8}})(?![\"']?(?:-|(?!{HARMLESS})))"
    rf"(?:{_QUOTED}|[^\s\"',\]]{{4,4096}})"
)
_MAPPED = re.compile(
    rf"(?i)((?:api[-_]?keys?|access[-_]?key|secret[-_]?key|password|passwd|passphrase|secret)[\"']?\s{{0,3}}:\s{{1,8}}){HARMLESS}"
    rf"(?:{_QUOTED}|{_WORD})"
)
_MAPPED_TOKEN = re.compile(
    rf"(?i)((?:token|pwd|(?:auth|private|master)[-_]?key)[\"']?\s{{0,3}}:\s{{1,8}}[\"']?){HARMLESS}"
    r"(?=[^\s\"',;&]{0,64}[0-9])[^\s\"',;&]{8,4096}"
)
_AUTHORIZATION = re.compile(
    r"(?i)(?<![A-Za-z0-9_-])((?:bearer|basic)\s{1,8})(?=[A-Za-z._~+/-]{0,64}[0-9])[A-Za-z0-9._~+/-]{12,4096}={0,2}"
)

_AFTER = rf"\g<1>{MASK}"
_KEY_WORDS = ("key", "token", "passw", "passphrase", "secret", "pwd")
_RULES: tuple[tuple[tuple[str, ...], re.Pattern[str], str], ...] = (
    (("private key-----",), _PRIVATE_KEY, MASK),
    (("gh", "glpat-", "hf_", "sk-", "xox", "akia", "aiza", "npm_", "eyj"), _TOKEN, MASK),
    (("!",), _PVE_TOKEN, MASK),
    (("://",), _USERINFO, f"{MASK}@"),
    (("bearer", "basic"), _AUTHORIZATION, _AFTER),
    (_KEY_WORDS, _FLAG, _AFTER),
    (_KEY_WORDS, _LISTED, _AFTER),
    (_KEY_WORDS, _ASSIGNED, _AFTER),
    (_KEY_WORDS, _MAPPED, _AFTER),
    (_KEY_WORDS, _MAPPED_TOKEN, _AFTER),
)
"""Words of which one is in every text that the pattern matches (looking for them is cheap), the pattern, the mask."""

_KEY_FLAG = re.compile(rf"(?i)\A{ASKING_FLAG}\Z")
_VALUE = re.compile(rf"(?i)\A{HARMLESS}(?!-)\S{{4,}}")


def redact(text: str) -> str:
    """The text with every span that looks like a secret replaced by ``[redacted]``. Masking twice changes nothing."""
    for pattern, mask in _rules(text):
        text = pattern.sub(mask, text)
    return text


def masked(value: Any) -> Any:
    """Parsed data with every text in it redacted, and what a flag before it in a list asks for (``--api-key``).

    Before data is written as one text: there, what stands between two values can hide a secret's beginning.
    """
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, Mapping):
        return {redact(str(key)): masked(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        flags = [item if isinstance(item, str) else "" for item in ("", *value)]
        return [
            MASK if isinstance(item, str) and secret_argument(flag, item) else masked(item)
            for flag, item in zip(flags, value, strict=False)
        ]
    return value


def looks_secret(text: str) -> bool:
    """Whether any span of the text looks like a secret."""
    return any(pattern.search(text) for pattern, _ in _rules(text))


def secret_argument(flag: str, value: str) -> bool:
    """Whether `value`, an argument of its own, is the literal secret that `flag` (``--api-key``) asks for."""
    return _KEY_FLAG.match(flag) is not None and _VALUE.match(value) is not None


def _rules(text: str) -> list[tuple[re.Pattern[str], str]]:
    """The rules that may match at all."""
    lowered = text.lower()
    return [(pattern, mask) for words, pattern, mask in _RULES if any(word in lowered for word in words)]
