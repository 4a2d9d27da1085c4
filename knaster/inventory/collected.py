"""What one machine answered, against its committed profile: what to write, what differs, what to tell. Pure."""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from knaster.cluster import Number
from knaster.inventory import profile_text
from knaster.inventory.assemble import Facts, Partial, impossible, partial
from knaster.inventory.capture import Capture, parse
from knaster.inventory.profile_text import FactChange
from knaster.inventory.reading import Problem

_SAME = "machines of one name: give each a name of its own, or collect only the one that is the node"

State = Literal["created", "updated", "unchanged", "differs", "new", "ignored", "failed", "unreachable"]


@dataclass(frozen=True, slots=True)
class Answer:
    """What came of asking one host.

    ``host``: as the user names it. ``content``: a capture, or its text; None: there is none, and ``problem`` says why.
    ``name``: the node's name, None: what the machine calls itself. ``asked``: the name that the host was reached by,
    where that may be the node's. ``live``: the host was asked just now, so that
    without a whole capture it was not reached. ``refused``: sources that were asked for in vain, with the reason.
    ``ignored``: this is nobody's answer, and ``problem`` says why.
    """

    host: str
    content: bytes | Capture | None = None
    name: str | None = None
    problem: str | None = None
    hint: str | None = None
    live: bool = False
    ignored: bool = False
    refused: Mapping[str, str] | None = None
    asked: str | None = None


@dataclass(frozen=True, slots=True)
class Host:
    """One host's result. ``file``: its profile, where there is one; ``changes``: each fact before and after;
    ``problem``: why facts are missing, or all of it failed; ``installed_gb``: the memory built in, in GiB, of which the
    profile's is usable."""

    host: str
    state: State
    name: str | None = None
    file: str | None = None
    changes: tuple[FactChange, ...] = ()
    warnings: tuple[str, ...] = ()
    problem: str | None = None
    hint: str | None = None
    installed_gb: Number | None = None


@dataclass(frozen=True, slots=True)
class Read:
    """A machine with a name: the facts that it told, and why others are missing. ``warnings`` are for the user.

    ``packed`` holds the facts in a tenth of their size: those of every host wait until the last one has answered.
    """

    host: str
    name: str
    packed: bytes
    warnings: tuple[str, ...] = ()
    problem: str | None = None
    installed_gb: Number | None = None

    @property
    def facts(self) -> Facts:
        """The facts, as `knaster.inventory.assemble.partial` gave them."""
        found: Facts = json.loads(zlib.decompress(self.packed))
        return found


def read(answer: Answer) -> Read | Host:
    """The facts of an answer; a `Host` where nothing can be done with it."""
    if answer.ignored:
        return Host(answer.host, "ignored", warnings=(answer.problem or "ignored",))
    capture = answer.content
    if isinstance(capture, bytes):
        reading = parse(capture)
        if reading.problem is not None:
            return _unread(answer, answer.problem or reading.problem.message)
        capture = reading.value
    if capture is None:
        return _unread(answer, answer.problem or "no answer")
    return _named(answer, partial(capture, name=answer.name))


def _unread(answer: Answer, problem: str) -> Host:
    state: State = "unreachable" if answer.live else "failed"
    return Host(answer.host, state, answer.name, problem=problem, hint=answer.hint)


def _named(answer: Answer, found: Partial) -> Read | Host:
    name = found.facts["name"]
    if not isinstance(name, str):
        hint = "name the node with --name NAME, or give the machine a host name"
        return Host(answer.host, "failed", problem=found.missing["name"], hint=hint)
    if wrong := impossible(found.facts):
        return Host(answer.host, "failed", name, problem=f"no machine is like this: {wrong}")
    refused = tuple(f"{source}: {said}" for source, said in (answer.refused or {}).items())
    missing = "; ".join(f"{fact} ({reason})" for fact, reason in found.missing.items())
    problem = "; ".join((f"required fact missing: {missing}", *refused)) if missing else None
    left = (answer.problem,) if answer.problem else ()
    other = answer.asked is not None and answer.asked.casefold() != name.casefold() and answer.name is None
    called = (f"asked as {answer.asked}, the machine itself is called {name}",) if other else ()
    said = (*left, *called, *found.warnings, *(() if problem else refused))
    packed = zlib.compress(json.dumps(found.facts).encode())
    return Read(answer.host, name, packed, said, problem, found.installed_gb)


def settle(found: Read, file: str, existing: str | None) -> tuple[Host, str | None]:
    """The result for the profile `file`, and its new text, None where nothing is to be written.

    A new profile needs every required fact; an existing one keeps what could not be read.
    """
    if existing is None and found.problem is not None:
        return _host(found, "failed", None, problem=found.problem), None
    reading = profile_text.update(existing, found.facts)
    if reading.value is None:
        return _unusable(found, file, reading.problem), None
    updated = reading.value
    warnings = (*found.warnings, *updated.warnings)
    if existing is None:
        return _host(found, "created", file, warnings=warnings), updated.text
    same = updated.text == existing
    host = _host(found, "unchanged" if same else "updated", file, updated.changes, warnings, found.problem)
    return host, None if same else updated.text


def compare(found: Read, file: str, existing: str | None) -> Host:
    """Whether the profile `file` still is what the machine says."""
    if existing is None:
        problem = f"there is no profile of this machine: {file}"
        return _host(found, "new", None, problem=problem, hint="collect it: --all, or -o FILE, without --check")
    reading = profile_text.drift(existing, found.facts)
    if reading.value is None:
        return _unusable(found, file, reading.problem)
    state: State = "differs" if reading.value else "unchanged"
    warnings = (*found.warnings, *reading.warnings)
    return _host(found, state, file, reading.value, warnings, found.problem)


def clash(found: Read, others: Sequence[Read]) -> Host:
    """The result for one of several machines that say they have one name: none of them is believed."""
    said = ", ".join(f"{other.host} is called {other.name} too" for other in others[:5])
    problem = f"{said}: nothing of either was used" if len(others) == 1 else f"{said}: nothing of any was used"
    return _host(found, "failed", None, problem=problem, hint=_SAME)


def _unusable(found: Read, file: str, problem: Problem | None) -> Host:
    hint = "repair the file first (knaster validate), or move it away"
    if problem and problem.cause == "another-machine":
        hint = f"name the profile of this machine (-o inventory/{found.name}.yaml), or the machine (--name)"
    return _host(found, "failed", file, problem=problem.message if problem else "unreadable", hint=hint)


def _host(
    found: Read,
    state: State,
    file: str | None,
    changes: tuple[FactChange, ...] = (),
    warnings: tuple[str, ...] | None = None,
    problem: str | None = None,
    hint: str | None = None,
) -> Host:
    said = found.warnings if warnings is None else warnings
    told = tuple(dict.fromkeys(said))
    return Host(found.host, state, found.name, file, changes, told, problem, hint, found.installed_gb)
