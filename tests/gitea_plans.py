"""Folders as `knaster pr plan` leaves them, by hand, for tests of what is posted."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

HEAD, HEAD2, HEAD3 = "a" * 40, "b" * 40, "c" * 40
BASE, BASE2 = "1" * 40, "2" * 40
RESULT = "00112233445566ff"


def body(head: str = HEAD, base: str = BASE, *, target: str = "main", destructive: int = 0, **more: str) -> str:
    """A comment as it is written, down to the marker."""
    encoded = target.replace(":", "%3A")
    verdict = more.get("verdict", "destructive" if destructive else "changes")
    result = more.get("result", RESULT)
    return (
        f"<!-- knaster plan v1 target={encoded} -->\n"
        f"<!-- knaster head={head} base={base} plan=abc123 result={result} verdict={verdict}"
        f" destructive={destructive} -->\n\n### This merge moves 1 role\n\n{more.get('text', '')}\n"
    )


def lay(folder: Path, head: str = HEAD, base: str = BASE, *, ok: bool = True, **more: Any) -> Path:
    """A folder with ``plan.json`` and ``comment.md``."""
    folder.mkdir(parents=True, exist_ok=True)
    verdict = more.setdefault(
        "verdict", "invalid" if not ok else "destructive" if more.get("destructive") else "changes"
    )
    plan = {
        "version": 1,
        "command": "pr plan",
        "target": more.get("name", more.get("target", "main")),
        "base": base,
        "head": head,
        "compared_with": base,
        "verdict": verdict,
        "ok": ok,
        "plan_id": more.pop("plan_id", "abc123"),
        "result_id": more.get("result", RESULT),
        "destructive": more.get("destructive", 0),
        "sentence": more.pop("sentence", "This merge moves 1 role; nothing is lost or restarted"),
        "counts": {},
        "changes": [],
    }
    more.pop("name", None)
    (folder / "plan.json").write_text(json.dumps(plan), "utf-8")
    (folder / "comment.md").write_text(body(head, base, **more), "utf-8")
    return folder


def arguments(plan: Path, number: int | None = 7, **more: Any) -> argparse.Namespace:
    """As the command line gives them."""
    known: dict[str, Any] = {
        "plan": str(plan),
        "number": number,
        "status": False,
        "gate": None,
        "bot": None,
        "api": None,
        "repo": None,
        "directory": ".",
        "format": "text",
        "output": "-",
        "quiet": False,
        "verbose": False,
        "color": "never",
    }
    return argparse.Namespace(**{**known, **more})
