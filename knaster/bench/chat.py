"""What a streamed chat completion and a run of them came to. Pure.

Time to first token: from sending the request to the first piece of text, thoughts of a reasoning model included. Rate
of one request: its tokens after the first, over the seconds between first and last. Rate in total: all tokens over the
seconds from the first request's start to the last one's end.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from knaster import foreign_json
from knaster.bench.answers import said
from knaster.bench.events import events
from knaster.bench.speech import Failure
from knaster.bench.stats import Value, value

_TEXTS = ("content", "reasoning_content", "reasoning", "refusal", "tool_calls")
_BUILD = re.compile(r"b[0-9]{1,8}-[0-9a-f]{6,40}")
"""llama-server's ``system_fingerprint``; OpenAI's own (``fp_...``) names no build."""


class NoTokensError(ValueError):
    """The answer is no stream of tokens; the text completes "the server: ..."."""


@dataclass(frozen=True, slots=True)
class Completion:
    """One answer. Seconds; ``pieces`` of text; ``tokens`` and ``prompt_tokens`` as the server counts them, if any."""

    started: float
    ended: float
    first: float
    last: float
    pieces: int
    tokens: int | None = None
    prompt_tokens: int | None = None
    build: str | None = None

    @property
    def generated(self) -> int:
        """Tokens; where the server does not count them, pieces, of which most servers send one per token."""
        return self.pieces if self.tokens is None else self.tokens

    @property
    def to_first(self) -> float:
        """Seconds to the first token."""
        return self.first - self.started

    @property
    def rate(self) -> float | None:
        """Tokens per second behind the first; None where all came at once."""
        seconds = self.last - self.first
        return (self.generated - 1) / seconds if seconds > 0 and self.generated > 1 else None

    @property
    def prompt_rate(self) -> float | None:
        """Tokens of the prompt per second to the first token; None where the server does not count them."""
        return self.prompt_tokens / self.to_first if self.prompt_tokens and self.to_first > 0 else None


@dataclass(frozen=True, slots=True)
class ChatRun:
    """``requests`` asked for, ``concurrency`` at a time, and what came of them. ``cut``: it was interrupted."""

    requests: int
    concurrency: int
    completions: tuple[Completion, ...] = ()
    failures: tuple[Failure, ...] = ()
    cut: bool = False

    @property
    def partial(self) -> bool:
        """Whether something of it is missing."""
        return len(self.completions) < self.requests

    @property
    def counted_by_server(self) -> bool:
        """Whether tokens are tokens, not pieces of text."""
        return all(one.tokens is not None for one in self.completions)

    @property
    def first_token(self) -> Value | None:
        """Seconds."""
        return value([one.to_first for one in self.completions])

    @property
    def rate(self) -> Value | None:
        """Tokens per second of one request."""
        return value([one.rate for one in self.completions if one.rate is not None])

    @property
    def prompt_rate(self) -> Value | None:
        """Tokens of the prompt per second; with several requests at a time they wait for each other, and it is None."""
        if self.concurrency > 1:
            return None
        return value([one.prompt_rate for one in self.completions if one.prompt_rate is not None])

    @property
    def total_rate(self) -> float | None:
        """Tokens per second of all requests together."""
        if not self.completions:
            return None
        seconds = max(one.ended for one in self.completions) - min(one.started for one in self.completions)
        return sum(one.generated for one in self.completions) / seconds if seconds > 0 else None

    @property
    def build(self) -> str | None:
        """The server's build, if it says one and always the same."""
        named = {one.build for one in self.completions}
        return named.pop() if len(named) == 1 else None


def completion(body: bytes, arrivals: Sequence[tuple[int, float]], started: float, ended: float) -> Completion:
    """The stream that an answer holds. Raises NoTokensError for an error in it, a broken one, or one without text."""
    found, done = Completion(started, ended, started, started, 0), False
    for field, text, at in events(body, arrivals):
        if field == "error" or (field == "data" and text.strip() != "[DONE]"):
            data = _parsed(text, is_error=field == "error")
            found = _with(found, data, at)
            done = done or _finished(data)
        elif field == "data":
            done = True
    if not done:
        raise NoTokensError(f"the stream breaks off after {found.pieces} pieces of text")
    if not found.pieces:
        raise NoTokensError("the stream ends without any text")
    return found


def _parsed(text: str, *, is_error: bool) -> Mapping[str, Any]:
    data = foreign_json.value(text)
    told = said(data, bare=is_error)
    if told is not None or is_error:
        raise NoTokensError(f"an error in the middle of the stream: {told or text}")
    if not isinstance(data, dict):
        raise NoTokensError("the stream holds a line that is no JSON object")
    return data


def _with(found: Completion, data: Mapping[str, Any], at: float) -> Completion:
    if any(_texts(choice) for choice in _choices(data)):
        first = found.first if found.pieces else at
        found = replace(found, first=first, last=at, pieces=found.pieces + 1)
    usage = data.get("usage")
    if isinstance(usage, dict):
        tokens, prompt = _count(usage, "completion_tokens"), _count(usage, "prompt_tokens")
        found = replace(found, tokens=tokens or found.tokens, prompt_tokens=prompt or found.prompt_tokens)
    build = data.get("system_fingerprint")
    return replace(found, build=build) if isinstance(build, str) and _BUILD.fullmatch(build) else found


def _choices(data: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    choices = data.get("choices")
    return [one for one in choices if isinstance(one, dict)] if isinstance(choices, list) else []


def _texts(choice: Mapping[str, Any]) -> bool:
    delta = choice.get("delta")
    return isinstance(delta, dict) and any(delta.get(name) for name in _TEXTS)


def _finished(data: Mapping[str, Any]) -> bool:
    return any(choice.get("finish_reason") for choice in _choices(data))


def _count(usage: Mapping[str, Any], name: str) -> int | None:
    number = usage.get(name)
    return number if isinstance(number, int) and not isinstance(number, bool) and 0 < number < 10**9 else None
