"""`knaster inventory collect`: the true facts of machines, into their profiles or compared with them."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from knaster.adapters import captures, profiles
from knaster.adapters.profiles import Folder
from knaster.commands.collecting import answers
from knaster.commands.output import real, refuse_input_folders, show, text_of, write
from knaster.diagnostics import WorldError
from knaster.files import Refused
from knaster.inventory.collected import Answer, Host, Read, clash, compare, read, settle
from knaster.reports import collecting

_SEVERAL = "for several hosts name a folder: --all inventory/"


def run(args: argparse.Namespace) -> int:
    """1: a required fact is missing, a capture is bad, with ``--check`` any difference. 2: a host was not reached."""
    if args.print_commands is not None:
        _refuse_the_rest(args)
        refuse_input_folders(args)
        write(args.output, captures.script(args.print_commands))
        return 0
    folder, file = _target(args)
    one_only = file is not None or folder is None or args.name is not None
    if one_only and len(set(args.ssh or ())) > 1:
        raise WorldError("more than one host, and one profile", _SEVERAL)
    with closing(answers(args)) as asked:
        found = _the_only(asked) if one_only else asked
        if folder is None:
            return _printed(args, found)
        with profiles.opened(folder) as place:
            hosts = sorted(_kept(found, place, file, check=args.check), key=lambda host: (host.name or "~", host.host))
    status = _status(hosts)
    show(_to_stdout(args), collecting.report(hosts, check=args.check, ok=status == 0, quiet=args.quiet))
    return status


def _refuse_the_rest(args: argparse.Namespace) -> None:
    """Raises WorldError where ``--print-commands`` comes with an option that it would not heed."""
    unheeded = {"--all": args.all is not None, "--check": args.check, "--name": args.name is not None}
    if given := [option for option, is_there in unheeded.items() if is_there]:
        hint = f"leave out {' and '.join(given)}; run the script, then knaster inventory collect --from its output"
        raise WorldError("--print-commands prints a script and collects nothing", hint)


def _target(args: argparse.Namespace) -> tuple[Path | None, str | None]:
    """The folder of profiles and the file in it (None: one for each host by its name); no folder: print the profile."""
    if args.all is not None and args.output != "-":
        raise WorldError("-o names one profile, --all a folder of them", "use one of the two")
    if args.output != "-":
        path = Path(args.output)
        if not real(path).is_relative_to(real(Path(args.directory) / "inventory")):
            refuse_input_folders(args)  # a profile belongs into inventory/, and into no other folder of the fleet
        return path.parent, path.name
    if args.all:
        return Path(args.all), None
    return (Path(args.directory) / "inventory", None) if args.all is not None or args.check else (None, None)


def _the_only(found: Iterable[Answer]) -> Iterator[Answer]:
    """The answers, of which all but one are nobody's; the second host ends it before anything is written."""
    kept: list[Answer] = []
    for answer in found:
        kept.append(answer)
        if sum(not other.ignored for other in kept) > 1:
            raise WorldError("more than one host, and one profile", _SEVERAL)
    return iter(kept)


def _kept(found: Iterable[Answer], place: Folder, file: str | None, *, check: bool) -> Iterator[Host]:
    """Each host's result, its profile written (unless `check`) when all have answered: of two that say they have one
    name, neither may win by being first. What is kept of an answer until then is its facts."""
    named: dict[str, list[Read]] = {}
    for answer in found:
        facts = read(answer)
        if isinstance(facts, Host):
            yield facts
        else:
            named.setdefault(facts.name.casefold(), []).append(facts)
    for same in named.values():
        if len(same) > 1:
            yield from (clash(one, [other for other in same if other is not one]) for one in same)
        else:
            yield _one(same[0], place, file or place.find(f"{same[0].name}.yaml"), check=check)


def _one(facts: Read, place: Folder, file: str, *, check: bool) -> Host:
    shown = str(place.path / file)
    existing = place.read(file)
    if isinstance(existing, Refused):
        hint = f"a profile is a regular file, such as inventory/{facts.name}.yaml"
        return Host(facts.host, "failed", facts.name, shown, problem=f"{shown} is {existing.reason}", hint=hint)
    if check:
        return compare(facts, shown, existing)
    host, text = settle(facts, shown, existing)
    if text is not None:
        place.write(file, text)
    if host.state == "created" and file != f"{facts.name}.yaml":
        said = f"knaster validate looks for this node in inventory/{facts.name}.yaml"
        return replace(host, warnings=(*host.warnings, said))
    return host


def _printed(args: argparse.Namespace, found: Iterable[Answer]) -> int:
    """The profile on standard output; as text that alone, and what is to be said about it on standard error."""
    hosts: list[Host] = []
    profile = None
    for answer in found:
        facts = read(answer)
        host, text = (facts, None) if isinstance(facts, Host) else settle(facts, "", None)
        hosts.append(replace(host, file=None))
        profile = text or profile
    status = _status(hosts)
    if args.format != "text":
        show(args, collecting.report(hosts, check=False, ok=status == 0, profile=profile))
        return status
    if status and sys.stderr is not None:
        plain = argparse.Namespace(**{**vars(args), "color": "never"})
        sys.stderr.write(text_of(plain, collecting.report(hosts, check=False, ok=False)))
    write("-", profile or "")
    return status


def _status(hosts: Iterable[Host]) -> int:
    states = {host.state for host in hosts}
    if "unreachable" in states:
        return 2
    return int(bool(states & {"failed", "differs"}) or any(host.problem for host in hosts))


def _to_stdout(args: argparse.Namespace) -> argparse.Namespace:
    """The report beside a profile that ``-o`` names goes to standard output."""
    return argparse.Namespace(**{**vars(args), "output": "-"})
