"""Pages of `knaster report` for tests: made of texts or of made-up fleets, and read back without a browser."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from html.parser import HTMLParser

from knaster.changes import compare
from knaster.files import Files
from knaster.guests import expand
from knaster.pipeline import Evaluation, evaluate
from knaster.placement import plan
from knaster.planned import Planned
from knaster.reports.diff import Side
from knaster.reports.page import page
from tests.builders import cluster
from tests.fleets import Fleet

VOID = {"meta", "link", "input", "br", "rect"}
"""Elements of our pages that have no end."""


@dataclass
class Read(HTMLParser):
    """A page as a reader without CSS and scripts has it. Fails where an element is closed by another."""

    text: list[str] = field(default_factory=list)
    open: list[str] = field(default_factory=list)
    attributes: list[tuple[str, str, str]] = field(default_factory=list)
    raw: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        super().__init__(convert_charrefs=True)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note the attributes."""
        self.attributes += [(tag, name, value or "") for name, value in attrs]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """An SVG element that closes itself."""
        self.attributes += [(tag, name, value or "") for name, value in attrs]

    def handle_endtag(self, tag: str) -> None:
        """What was opened last is closed first."""
        assert self.open.pop() == tag, (tag, self.getpos())

    def handle_data(self, data: str) -> None:
        """Text, or the content of a script or style."""
        if self.open and self.open[-1] in ("script", "style"):
            self.raw[self.open[-1]] = self.raw.get(self.open[-1], "") + data
        else:
            self.text.append(data)

    def values(self, name: str) -> list[str]:
        """The values of one attribute, in order."""
        return [value for _, key, value in self.attributes if key == name]

    def count(self, name: str) -> Counter[str]:
        """How often an attribute has each value."""
        return Counter(self.values(name))

    @property
    def said(self) -> str:
        """All text in one line."""
        return " ".join(" ".join(self.text).split())


def read(html: str) -> Read:
    """Parse a page to its end."""
    reader = Read()
    reader.feed(html)
    reader.close()
    assert reader.open == []
    return reader


def side(files: Files, name: str = "the working tree", like: Evaluation | None = None) -> Side:
    """One side of texts; with `like` on top of its plan."""
    current = like.planned.plan if like and like.planned else None
    return Side(name, files, evaluate(files, current))


def made(fleet: Fleet, name: str = "made") -> Side:
    """One side of a made-up fleet, however odd."""
    answer = plan(fleet.nodes, fleet.roles, fleet.models, platform=fleet.platform)
    whole = cluster(*fleet.nodes, platform=fleet.platform, roles=fleet.roles, catalog=fleet.models)
    planned = Planned(whole, expand(fleet.nodes, fleet.platform), answer)
    return Side(name, {}, Evaluation(whole, "", (), planned, {}))


def beside(before: Side, after: Side) -> str:
    """The page of two sides."""
    return page(after, before, compare(before.evaluation, after.evaluation))
