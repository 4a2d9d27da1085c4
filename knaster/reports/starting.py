"""The report of `init`."""

from __future__ import annotations

from collections import Counter

from knaster.reports.blocks import Items, Line, Report, plural


def made(folder: str, paths: tuple[str, ...], *, repository: bool, nested: bool = False) -> Report:
    """JSON: ``{command, ok, folder, files, repository}``; `repository` is whether git's was made as well.

    `nested`: the folder lies inside another repository, whose top is where a server looks for workflows.
    """
    data = {"command": "init", "ok": True, "folder": folder, "files": paths, "repository": repository}
    tops = Counter(path.partition("/")[0] + ("/" if "/" in path else "") for path in paths)
    lines = tuple(f"+ {top}" + (f" ({plural(number, 'file')})" if number > 1 else "") for top, number in tops.items())
    around = "a git repository on branch main" if repository else "in the git repository that was there"
    steps = (
        "1. replace the example by your machines: knaster inventory collect --help",
        "2. knaster validate, knaster placement plan, knaster render",
        "3. commit and push; README.md says how the server is set up",
        *(("the server reads .gitea/ at the top of the repository alone: move it there",) if nested else ()),
    )
    return Report(
        data,
        (Items(folder, lines), Items("next", steps), Line(f"{plural(len(paths), 'file')} written: {around}", "good")),
    )


def refused(folder: str, there: tuple[str, ...]) -> Report:
    """JSON: ``{command, ok: false, folder, found}``."""
    data = {"command": "init", "ok": False, "folder": folder, "found": there}
    some = ", ".join(there[:3]) + (", …" if len(there) > 3 else "")
    told = f"{folder} is not empty ({some}): nothing was written; name a new folder"
    return Report(data, (Line(told, "bad"),))
