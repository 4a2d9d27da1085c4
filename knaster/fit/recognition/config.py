"""The raw ``config.json`` of a model, read by key with every value checked: it comes from strangers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from knaster.cluster.architecture import CannotTell
from knaster.document.scalars import shown

MOST = 2**40
"""No number of a config that memory depends on is larger; a larger one is an error, not a model."""
MOST_LAYERS = 4096


class UnknownError(Exception):
    """A fact is missing or makes no sense; caught in `fit.recognise`, where it becomes a `CannotTell`."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.told = CannotTell(reason)


@dataclass(frozen=True, slots=True)
class Config:
    """A config with its nested text part: that one is asked first, then the top, then what the class of the family
    defaults to; an explicit null is an answer."""

    top: Mapping[str, object]
    text: Mapping[str, object]
    defaults: Mapping[str, object] = field(default_factory=dict)
    where: str = "config.json"

    def get(self, *keys: str) -> object:
        """The value of the first of `keys` that is there and not null, else the default, else None."""
        found = (part[key] for key in keys for part in (self.text, self.top) if part.get(key) is not None)
        value = next(found, None)
        absent = value is None and not any(key in self.text or key in self.top for key in keys)
        return next((self.defaults[key] for key in keys if key in self.defaults), None) if absent else value

    def count(self, *keys: str, most: int = MOST) -> int:
        """A whole number from 1 to `most` that has to be there; raises UnknownError naming the key."""
        value = self.maybe(*keys, most=most)
        if value is None:
            raise UnknownError(f"{self.where} does not say {keys[0]}")
        return value

    def maybe(self, *keys: str, most: int = MOST) -> int | None:
        """Like `count`, None where no key is there."""
        value = self.get(*keys)
        return None if value is None else self._whole(self._named(keys), value, 1, most)

    def zero(self, *keys: str, most: int = MOST) -> int:
        """A whole number from 0, 0 where no key is there."""
        value = self.get(*keys)
        return 0 if value is None else self._whole(self._named(keys), value, 0, most)

    def flag(self, key: str, *, default: bool = False) -> bool:
        """A truth value; anything else than true and false raises UnknownError."""
        value = self.get(key)
        if value is None:
            return default
        if not isinstance(value, bool):
            raise UnknownError(f"{self.where}: {key} is {quoted(value)}, neither true nor false")
        return value

    def text_of(self, key: str) -> str | None:
        """A text, None where absent; anything else raises UnknownError."""
        value = self.get(key)
        if value is not None and not isinstance(value, str):
            raise UnknownError(f"{self.where}: {key} is {quoted(value)}, not text")
        return value

    def entries(self, key: str) -> list[object] | None:
        """A list, None where absent; anything else, or one longer than any model has layers, raises UnknownError."""
        value = self.get(key)
        if value is None:
            return None
        if not isinstance(value, list) or len(value) > MOST_LAYERS:
            raise UnknownError(f"{self.where}: {key} is no list of layers")
        return value

    def layers(self) -> int:
        """The number of layers; where it is not stated, the list of their kinds has one entry for each."""
        told = self.maybe("num_hidden_layers", "n_layer", "n_layers", "num_layers", most=MOST_LAYERS)
        listed = self.entries("layers_block_type") if told is None else None
        return told or len(listed or ()) or self.count("num_hidden_layers")

    def _named(self, keys: tuple[str, ...]) -> str:
        return next(key for key in keys if self.get(key) is not None)

    def _whole(self, key: str, value: object, least: int, most: int) -> int:
        if isinstance(value, bool) or not isinstance(value, int):
            raise UnknownError(f"{self.where}: {key} is {quoted(value)}, not a whole number")
        if not least <= value <= most:
            raise UnknownError(f"{self.where}: {key} is {quoted(value)}, which no model has")
        return value


def quoted(value: object) -> str:
    """A value of a stranger's file for a message: short, and never more than its kind where it is large."""
    if isinstance(value, str):
        return shown(value if len(value) <= 40 else f"{value[:39]}…")
    if isinstance(value, int | float) and (isinstance(value, float) or value.bit_length() < 64):
        return f"{value!r}".lower()
    kinds: tuple[tuple[type, str], ...] = ((int, "a huge number"), (list, "a list"), (Mapping, "an object"))
    return next((name for kind, name in kinds if isinstance(value, kind)), "nothing known")


def config_of(raw: Mapping[str, object]) -> Config:
    """The config with its text part, which multimodal models nest (``text_config``, ``llm_config``, ``thinker``)."""
    text: Mapping[str, object] = raw
    for key in ("thinker_config", "text_config", "llm_config", "language_config"):
        inner = text.get(key)
        if isinstance(inner, Mapping):
            text = inner
    return Config(raw, text)
