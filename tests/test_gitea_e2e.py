"""The pull request loop against a real Gitea and a real runner, from the documented set-up to a revert.

Skips where they are not installed: CONTRIBUTING.md says how to run it.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.gitea_fleet import FLEET, VERIFIER, rerank
from tests.gitea_site import BOT, OWNER, Site, fill_tool_cache, set_up_as_documented
from tests.real_gitea import Server, job_path, running, until
from tests.repo import ROLES
from tests.tool_cache import ROOT

BRANCH = "x$(touch${IFS}pwned)`touch${IFS}pwned`;touch${IFS}pwned"
TITLE = "`touch pwned` $(touch pwned) ${{ secrets.KNASTER_BOT_TOKEN }} closes #1 @dev"


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    with running(tmp_path / "server", job_path()) as server:
        server.user(OWNER)
        yield server


def landing(site: Site, merged: str, evidence: str) -> str:
    """The landing commit on top of `merged`: of the bot, with trailers, of generated/ alone; verify agrees."""
    sha = site.landed(merged)
    assert site.git("rev-parse", f"{sha}^@") == merged, evidence
    touched = site.git("diff-tree", "-r", "--name-only", "--no-commit-id", sha).splitlines()
    assert touched
    assert {path.partition("/")[0] for path in touched} == {"generated"}
    assert site.git("log", "-1", "--format=%an %ae %cn", sha) == f"{BOT} {BOT}@example.org {BOT}"
    trailers = dict(
        line.split(": ") for line in site.git("log", "-1", "--format=%(trailers:only,unfold)", sha).splitlines() if line
    )
    assert trailers.keys() == {"Knaster-Source", "Knaster-Plan"}
    assert trailers["Knaster-Source"] == merged
    assert knaster(site, "verify", sha) == 0
    return sha


def knaster(site: Site, *command: str) -> int:
    """The exit status of the tool that the runner installed, in the clone."""
    (folder,) = (site.server.tool_cache / "knaster").glob("*/bin")
    done = subprocess.run([folder / "knaster", *command], cwd=site.root, capture_output=True, check=False, timeout=60)
    return done.returncode


def placed(site: Site, rev: str) -> dict[str, str]:
    """Role to card, out of the landed placement."""
    text = site.git("show", f"{rev}:generated/placement.yaml")
    found = re.findall(r'role: "([^"]+)"\n +node: "([^"]+)"(?:\n +gpu_index: (\d+))?', text)
    return {role: f"{node}/{index}" if index else node for role, node, index in found}


def test_a_pull_request_from_its_opening_to_its_revert(server: Server, tmp_path: Path) -> None:
    site = Site(server, f"{OWNER}/fleet", tmp_path / "clone")
    site.create(FLEET)
    fill_tool_cache(server, site.root)
    site.quiet()  # the first push started `land` and `sweep` in a repository that is not set up
    set_up_as_documented(server, site.repo)
    first = landing(site, site.git("rev-parse", "main"), "the first landing, started by hand as documented")
    start = {"embedding": "pve44/1", "general": "GODE-PC-05/0", "speech": "pve44"}
    assert placed(site, first) == start

    # one comment and a green status; names are data, nothing of them runs
    head = site.push(BRANCH, rerank(gb=6))
    rerank_pr = site.open(BRANCH, TITLE)
    body = site.shown(rerank_pr, head, first)
    assert "rerank" in body
    assert "pve44/0" in body
    site.judged(head, "success")
    (author,) = {login for login, _ in site.comments(rerank_pr)}
    assert author == "gitea-actions"

    # three more pushes at once: the same comment, the newest head
    (before,) = server.call(OWNER, "GET", f"/repos/{site.repo}/issues/{rerank_pr}/comments")
    newer = head
    for gb in (8, 5, 7):
        newer = site.push(BRANCH, rerank(gb), onto=newer)
    site.shown(rerank_pr, newer, first)
    site.judged(newer, "success")
    (after,) = server.call(OWNER, "GET", f"/repos/{site.repo}/issues/{rerank_pr}/comments")
    assert (after["id"], after["body"] != before["body"]) == (before["id"], True)

    # a second pull request wants the same card: both say so
    rival = site.push("verifier", VERIFIER)
    verifier_pr = site.open("verifier", "Verify what is said")
    site.shown(verifier_pr, rival, first)
    names_it(site, verifier_pr, rerank_pr, "rerank")
    names_it(site, rerank_pr, verifier_pr, "verifier")

    # a pull request that rewrites workflow, set-up and tool: the base's run, and say that the fleet stays as it is
    marker = tmp_path / "pwned"
    evil = f"touch {marker}\nexit 1\n"
    workflow = (ROOT / ".gitea/workflows/plan.yaml").read_text("utf-8")
    taken = site.push(
        "takeover",
        {
            ".gitea/workflows/plan.yaml": re.sub(r"run: .gitea/setup.sh.*", f"run: touch {marker}", workflow),
            ".gitea/setup.sh": f"#!/bin/sh\n{evil}",
            "knaster/__init__.py": f"open({str(marker)!r}, 'w')\nraise SystemExit(1)\n",
        },
    )
    takeover_pr = site.open("takeover", "Improve the workflow")
    # and an invalid one: red, and the server does not merge it
    bad = site.push("bad", {"catalog/roles.yaml": ROLES.replace("min_vram_gb", "min_vram", 1)})
    bad_pr = site.open("bad", "A typing error")
    assert "verdict=unchanged" in site.shown(takeover_pr, taken)
    site.judged(taken, "success")
    assert "schema-unknown-key" in site.shown(bad_pr, bad)
    site.judged(bad, "failure")
    assert not marker.exists()
    assert server.ask(OWNER, "POST", f"/repos/{site.repo}/pulls/{bad_pr}/merge", {"Do": "merge"})[0] == 405

    # merged: the bot lands generated/ alone, and the others are planned again
    site.merge(rerank_pr)
    merged = site.tip()
    second = landing(site, merged, "the landing of the first merge")
    assert placed(site, second) == {**start, "rerank": "pve44/0"}
    lost = site.shown(verifier_pr, rival, merged, second)
    assert "verifier" in lost
    site.quiet()
    assert site.tip() == second, "the bot's own push starts a run that ends quietly"

    # nobody pushes to main, the bot only generated/
    site.git("checkout", "-q", "-f", "--detach", "origin/main")
    site.write({"README.md": "hello\n"})
    site.git("commit", "-q", "-m", "Past the check")
    for who in (OWNER, BOT):
        refused = site.attempt("push", "origin", "HEAD:main", who=who)
        assert (refused.returncode != 0, "protected branch" in refused.stderr) == (True, True), refused.stderr

    # reverted, as one squashed commit: the old placement lands, and the other pull request finds its card free again
    site.git("checkout", "-q", "-f", "--detach", "origin/main")
    site.git("revert", "--no-edit", "-m", "1", merged)
    site.git("push", "-q", "origin", "HEAD:refs/heads/revert")
    revert_pr = site.open("revert", "Revert the change")
    site.shown(revert_pr, site.git("rev-parse", "HEAD"), second)
    site.merge(revert_pr, "squash")
    reverted = site.tip()
    third = landing(site, reverted, "the landing of the revert")
    assert site.git("rev-parse", f"{third}:generated") == site.git("rev-parse", f"{first}:generated")

    # and the second pull request merges without a conflict, and without anyone who renders
    site.shown(verifier_pr, rival, reverted, third)
    site.judged(rival, "success")
    site.merge(verifier_pr)
    fourth = landing(site, site.tip(), "the landing of the second merge")
    assert placed(site, fourth) == {**start, "verifier": "pve44/0"}

    site.quiet()
    assert not list(server.folder.rglob("pwned*"))
    conclusions = [(run["path"].partition("@")[0], run["conclusion"]) for run in site.runs()]
    failed = [name for name, conclusion in conclusions if conclusion == "failure"]
    assert sorted(failed) == ["land.yaml", "plan.yaml"], site.failures()  # before the set-up; the invalid one
    assert_no_token_shows(site)


def names_it(site: Site, number: int, other: int, role: str) -> None:
    """The comment of one pull request says which card the other one wants, and for which role."""
    sentence = f"pull request `#{other}` wants card `pve44/0` too, for {role}"

    def look() -> bool:
        return any(sentence in body for _, body in site.comments(number))

    until(f"the comment of pull request {number} says: {sentence}", look)


def assert_no_token_shows(site: Site) -> None:
    """Neither in a comment, nor in a log, nor in a file that a job left behind."""
    logs = [log for run in site.runs() if (log := site.log(run))]
    texts = [body for number in range(1, 6) for _, body in site.comments(number)] + logs
    assert len(texts) > 20
    for token in site.server.tokens.values():
        assert not [text for text in texts if token in text]
