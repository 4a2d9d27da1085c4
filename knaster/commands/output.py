"""Where a result goes: standard output or a file, in the chosen format. The only writer of results."""

from __future__ import annotations

import argparse
import os
import stat
import sys
import tempfile
from pathlib import Path

from knaster.diagnostics import WorldError
from knaster.reports.blocks import Report, Style


def show(args: argparse.Namespace, report: Report) -> None:
    """Render the report as the arguments ask and write it."""
    refuse_input_folders(args)
    write(args.output, text_of(args, report))


def text_of(args: argparse.Namespace, report: Report) -> str:
    """The report in the chosen format; the other formats are not even imported."""
    style = Style(_colored(args), args.quiet, args.verbose)
    if args.format == "json":
        from knaster.reports import json

        return json.render(report, style)
    if args.format == "markdown":
        from knaster.reports import markdown

        return markdown.render(report, style)
    from knaster.reports import text

    return text.render(report, style)


def refuse_input_folders(args: argparse.Namespace) -> None:
    """Raises WorldError where ``-o`` names a file among the fleet's own: a report there would be an input."""
    if args.output != "-":
        _refuse_inputs(args, args.output, "name a file outside of it, such as -o report.txt")


def folder_for_results(args: argparse.Namespace, name: str) -> Path:
    """The folder `name`, made if need be. Raises WorldError where that fails, or it is one of the fleet's own."""
    _refuse_inputs(args, name, "name a folder outside of it, such as build/pull")
    path = Path(name)
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise WorldError(f"cannot make the folder {name}: {error.strerror}", "name another one") from error
    return path


def _refuse_inputs(args: argparse.Namespace, name: str, hint: str) -> None:
    target, root = real(name), real(args.directory)
    for folder in ("inventory", "catalog", "generated", "schemas"):
        if target.is_relative_to(real(root / folder)):
            raise WorldError(f"cannot write {name}: {folder}/ holds the fleet's own files, not results", hint)


def real(path: str | Path) -> Path:
    """The path with every link followed. Raises WorldError where the folder that it is relative to is gone."""
    try:
        return Path(path).resolve()
    except OSError as error:
        raise WorldError(f"cannot tell where {path} is: {error.strerror}", "change to a folder that exists") from error


def write(output: str, text: str) -> None:
    """Write a result to standard output (``-``) or, all or nothing, to a file. Raises WorldError where that fails."""
    try:
        if output == "-":
            _to_stdout(text)
        else:
            _to_file(Path(output), text.encode("utf-8", "backslashreplace"))
    except BrokenPipeError:
        raise
    except OSError as error:
        where = "standard output" if output == "-" else output
        raise WorldError(f"cannot write {where}: {error.strerror or error}") from error


def _to_stdout(text: str) -> None:
    if sys.stdout is None:
        raise WorldError("standard output is closed", "write to a file with -o FILE")
    encoding = sys.stdout.encoding or "utf-8"
    sys.stdout.write(text.encode(encoding, "backslashreplace").decode(encoding))
    sys.stdout.flush()


def _to_file(path: Path, data: bytes) -> None:
    """By a temporary file beside it: a reader sees the old or the new. Devices and FIFOs are written straight."""
    try:
        special = not stat.S_ISREG(path.stat().st_mode)
    except FileNotFoundError:
        special = False
    if special:
        path.write_bytes(data)
        return
    number, part = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".part", dir=path.parent)
    try:
        with os.fdopen(number, "wb") as stream:
            stream.write(data)
        Path(part).chmod(0o644)
        Path(part).replace(path)  # a link at this name is replaced, never followed
    except BaseException:
        Path(part).unlink(missing_ok=True)
        raise


def _colored(args: argparse.Namespace) -> bool:
    if args.color != "auto":
        return bool(args.color == "always")
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb" or args.output != "-"
    return not plain and sys.stdout is not None and sys.stdout.isatty()
