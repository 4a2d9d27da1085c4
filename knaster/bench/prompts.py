"""What a language model is asked. Pure."""

from __future__ import annotations

from itertools import cycle

from knaster.bench.sentences import sentences

_CHARACTERS = 3.5
"""Of German text per token, about; how many tokens a prompt really had is what the server says."""
_TASK = "Setze diesen Text so ausführlich wie möglich fort."


def prompt(salt: str, number: int, tokens: int) -> str:
    """A text of about `tokens` tokens that no earlier prompt begins with.

    Servers keep what they have read, and a prompt that they know costs them nothing: so each begins with `salt`, which
    is another one in each run, and its number.
    """
    parts, left = [f"Text {salt}-{number}."], int(tokens * _CHARACTERS) - len(_TASK) - len(salt) - 10
    for sentence in cycle(sentences()):
        if left <= 0:
            break
        parts.append(sentence[:left])
        left -= len(sentence) + 1
    return " ".join([*parts, _TASK])
