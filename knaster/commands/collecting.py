"""Asking machines: this one, others over ssh, a Proxmox VE cluster's API, or what was captured before."""

from __future__ import annotations

import argparse
from collections.abc import Generator, Iterable, Iterator
from pathlib import Path

from knaster.adapters import captures, shell
from knaster.adapters.shell import Ran
from knaster.commands.progress import tell, watched
from knaster.diagnostics import WorldError
from knaster.files import Refused
from knaster.inventory.capture import Capture, Section
from knaster.inventory.collected import Answer
from knaster.reports.inert import inert

_REFUSED = "a capture is a regular file of at most 16 MiB, named NODE.capture after its node (letters, digits, -)"
_AGAIN = "capture that machine again with the script that knaster inventory collect --print-commands linux prints"
_NO_SHELL = "a machine without sh, such as Windows: capture with --print-commands windows, then read it with --from"


def answers(args: argparse.Namespace) -> Generator[Answer, None, None]:
    """One answer per host, as they come. Raises WorldError where nobody can be asked at all."""
    if args.captures is not None:
        yield from _shown(args, _of_files(Path(args.captures), args.name), "captures")
    elif args.ssh:
        hosts = tuple(dict.fromkeys(args.ssh))
        ran = shell.remote(hosts, captures.script("linux"))
        yield from _shown(
            args, (_of_shell(one, args.name, _NO_SHELL, shell.label(one.host)) for one in ran), "hosts", len(hosts)
        )
    elif args.pve is not None:
        yield from _shown(args, _of_cluster(args.pve, args.name), "nodes")
    else:
        yield _of_shell(shell.local(captures.script("linux")), args.name)


def _of_files(path: Path, name: str | None) -> Iterator[Answer]:
    empty = True
    for entry in captures.read(path):
        empty = empty and entry.other
        if isinstance(entry.content, Refused):
            problem = f"not read: it is {entry.content.reason}"
            yield Answer(entry.file, problem=problem, hint=_REFUSED, ignored=entry.other)
        else:
            yield Answer(entry.file, entry.content, name or entry.name or None, hint=_AGAIN)
    if empty:
        raise WorldError(f"there is no capture in {path}", "name each file NAME.capture, after its node")


def _of_shell(ran: Ran, name: str | None, hint: str | None = None, asked: str | None = None) -> Answer:
    way_out = ran.hint or (None if ran.problem else hint)
    return Answer(ran.host, ran.output, name, ran.problem, way_out, live=True, asked=asked)


def _of_cluster(url: str, name: str | None) -> Iterator[Answer]:
    from knaster.adapters import proxmox

    for node in proxmox.nodes(proxmox.access(url)):
        sections: Capture | None = None
        if node.problem is None:
            own = {"os": Section("linux"), "hostname": Section(node.name), "address": Section(node.address or "")}
            sections = own | {source: Section(text) for source, text in node.sources.items()}
        yield Answer(
            node.name, sections, name or node.name, node.problem, node.hint, live=True, refused=dict(node.refused)
        )


def _shown(args: argparse.Namespace, found: Iterable[Answer], what: str, total: int = 0) -> Iterator[Answer]:
    """The same, with a line on a terminal that tells how far it is."""
    if not watched(args):
        yield from found
        return
    of = f" of {total}" if total else ""
    try:
        tell(f"0{of} {what}")
        for number, answer in enumerate(found, 1):
            tell(f"{number}{of} {what}: {inert(answer.host)[:40]}")
            yield answer
    finally:
        tell("")
