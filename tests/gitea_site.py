"""One repository on a real Gitea, as an engineer and a browser see it: clone, branches, pull requests, checks, jobs."""

from __future__ import annotations

import re
import subprocess
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from tests.real_gitea import Server, job_path, until
from tests.tool_cache import ROOT, lay_tool, set_up, stub

OWNER, BOT, MARKER = "dev", "knaster-bot", "<!-- knaster plan v1 target=main -->"
STATUS = "knaster/plan"


def set_up_as_documented(server: Server, repo: str) -> None:
    """Every call that docs/gitea.md shows in its set-up, in its order, as it stands there."""
    steps = (ROOT / "docs/gitea.md").read_text("utf-8").partition("\n## Set-up\n")[2].partition("\n## ")[0]
    first, *rest = re.findall(r"(?ms)^```sh\n(.*?)^```$", steps)
    assert len(rest) == 5
    script = "\n".join(
        [
            "set -euo pipefail",
            f'gitea() {{ command "{server.programs.gitea}" --config "{server.folder}/app.ini" "$@"; }}',
            first,
            f"GITEA={server.url} REPO={repo} BOT={BOT}",
            *rest,
            'echo "token $BOT_TOKEN"',
        ]
    )
    about = ("--username", OWNER, "--token-name", "set-up", "--scopes", "write:repository", "--raw")
    token = server.gitea("admin", "user", "generate-access-token", *about).split()[-1]
    done = subprocess.run(
        ["bash", "-c", script],
        input=f"{token}\n",
        env=dict(server.environment),
        cwd=server.folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    server.tokens[BOT] = done.stdout.split()[-1]


def fill_tool_cache(server: Server, root: Path) -> None:
    """The tool of a checkout, as the first job of this version would install it from an index."""
    done = set_up(root, server.tool_cache, stub(server.folder / "stub"))
    assert done.returncode == 0, done.stderr


@dataclass(frozen=True, slots=True)
class Site:
    """``root`` is a clone; `who` in a method is a login."""

    server: Server
    repo: str
    root: Path

    def git(self, *arguments: str, who: str = OWNER) -> str:
        """What git prints, with that user's credentials."""
        done = self.attempt(*arguments, who=who)
        assert done.returncode == 0, f"git {arguments}\n{done.stderr}"
        return done.stdout.strip()

    def attempt(self, *arguments: str, who: str = OWNER) -> subprocess.CompletedProcess[str]:
        """The same for a command that may fail."""
        settings = {
            "http.extraHeader": f"Authorization: token {self.server.tokens[who]}",
            "user.name": who,
            "user.email": f"{who}@example.org",
            "init.defaultBranch": "main",
        }
        environment = {"PATH": job_path(), "HOME": str(self.root), "GIT_CONFIG_COUNT": str(len(settings))}
        for number, (key, value) in enumerate(settings.items()):
            environment |= {f"GIT_CONFIG_KEY_{number}": key, f"GIT_CONFIG_VALUE_{number}": value}
        command = ["git", "-C", str(self.root), *arguments]
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=60)

    def create(self, files: Mapping[str, str], *, private: bool = True) -> None:
        """The repository with the tool, the workflows and `files` on main."""
        about = {"name": self.repo.partition("/")[2], "private": private, "default_branch": "main"}
        self.server.call(OWNER, "POST", "/user/repos", about)
        self.root.mkdir(parents=True)
        lay_tool(self.root)
        (self.root / ".gitattributes").write_text((ROOT / ".gitattributes").read_text("utf-8"), "utf-8")
        self.git("init", "-q")
        self.git("remote", "add", "origin", f"{self.server.url}/{self.repo}.git")
        self.write(files)
        self.git("commit", "-q", "-m", "The fleet")
        self.git("push", "-q", "origin", "main")

    def write(self, files: Mapping[str, str | None]) -> None:
        """Files of the clone, staged; None removes one."""
        for path, text in files.items():
            (self.root / path).parent.mkdir(parents=True, exist_ok=True)
            if text is None:
                (self.root / path).unlink()
            else:
                (self.root / path).write_text(text, "utf-8")
        self.git("add", "-A")

    def push(self, branch: str, files: Mapping[str, str | None], *, onto: str = "origin/main") -> str:
        """A commit of `files` on top of `onto`, pushed as `branch`; its SHA."""
        self.git("fetch", "-q", "origin")
        self.git("checkout", "-q", "-f", "--detach", onto)
        self.write(files)
        self.git("commit", "-q", "-m", "Change the fleet")
        self.git("push", "-q", "origin", f"HEAD:refs/heads/{branch}")
        return self.git("rev-parse", "HEAD")

    def open(self, branch: str, title: str = "A change", who: str = OWNER) -> int:
        """A pull request into main; its number."""

        def number() -> int | None:
            status, answer = self.server.ask(
                who, "POST", f"/repos/{self.repo}/pulls", {"head": branch, "base": "main", "title": title}
            )
            return int(answer["number"]) if status == 201 else None

        return until("the pull request can be opened", number, 30)

    def merge(self, number: int, how: str = "merge") -> None:
        """As the button does, once the server allows it."""
        path = f"/repos/{self.repo}/pulls/{number}/merge"
        until("the pull request can be merged", lambda: self.server.ask(OWNER, "POST", path, {"Do": how})[0] == 200)

    def comments(self, number: int) -> list[tuple[str, str]]:
        """Author and body of each comment, oldest first."""
        found = self.server.call(OWNER, "GET", f"/repos/{self.repo}/issues/{number}/comments")
        return [(one["user"]["login"], one["body"]) for one in found]

    def shown(self, number: int, head: str, *bases: str) -> str:
        """The body of the one plan comment, once it speaks of `head` on one of `bases` (none named: on any)."""

        def look() -> str | None:
            plans = [body for _, body in self.comments(number) if body.startswith(MARKER)]
            assert len(plans) <= 1, plans
            second = plans[0].splitlines()[1].split() if plans else []
            onto = not bases or any(f"base={base}" in second for base in bases)
            return plans[0] if f"head={head}" in second and onto else None

        return until(f"the comment of pull request {number} speaks of {head} and {bases}", look)

    def status(self, sha: str) -> tuple[str, str]:
        """State and description of the newest ``knaster/plan`` on a commit; empty without one."""
        found = self.server.call(OWNER, "GET", f"/repos/{self.repo}/statuses/{sha}?sort=recentupdate&limit=50")
        ours = [
            (int(one["id"]), str(one["status"]), str(one["description"])) for one in found if one["context"] == STATUS
        ]
        return max(ours)[1:] if ours else ("", "")

    def judged(self, sha: str, state: str) -> None:
        """Wait until ``knaster/plan`` on a commit is in that state."""
        try:
            until("", lambda: self.status(sha)[0] == state)
        except AssertionError:
            logs = "\n".join(self.log(run) for run in self.runs()[:2])
            raise AssertionError(f"{sha} is {self.status(sha)}, not {state}\n{logs}") from None

    def tip(self) -> str:
        """The SHA of main on the server, which the clone has afterwards."""
        self.git("fetch", "-q", "origin")
        return self.git("rev-parse", "refs/remotes/origin/main")

    def landed(self, merged: str) -> str:
        """The landing commit on top of `merged`, once it is there."""
        return until("main is landed", lambda: tip if (tip := self.tip()) != merged else None)

    def runs(self) -> list[dict[str, Any]]:
        """All runs of workflows."""
        found = self.server.call(OWNER, "GET", f"/repos/{self.repo}/actions/runs?limit=50")
        return list(found["workflow_runs"])

    def quiet(self) -> list[dict[str, Any]]:
        """All runs, once none is left to be done: looked at twice, as a run is done before its next job waits."""

        def done() -> list[dict[str, Any]] | None:
            for _ in range(2):
                time.sleep(0.7)
                runs = self.runs()
                if not runs or any(run["status"] != "completed" for run in runs):
                    return None
            return runs

        return until("all jobs are done", done)

    def failures(self) -> list[str]:
        """The workflow, the event and the log's end of each run that failed."""
        failed = [run for run in self.quiet() if run["conclusion"] == "failure"]
        return [f"{run['path']} {run['event']}\n{self.log(run)[-1500:]}" for run in failed]

    def log(self, run: dict[str, Any]) -> str:
        """What the jobs of a run printed; nothing for one that was cancelled before it began."""
        jobs = self.server.call(OWNER, "GET", f"/repos/{self.repo}/actions/runs/{run['id']}/jobs")["jobs"]
        answers = [self.server.ask(OWNER, "GET", f"/repos/{self.repo}/actions/jobs/{job['id']}/logs") for job in jobs]
        return "".join(str(text) for status, text in answers if status == 200)


def seconds(log: str) -> list[tuple[str, float]]:
    """How long each step of the first job in a log took, by the first of its lines, from the times in the log."""
    steps, start = log.split("Cleaning up container", 1)[0].splitlines(), "::group::Run "
    stamped = [(datetime.fromisoformat(line[:26]), line.partition(" ")[2]) for line in steps if line[:2] == "20"]
    starts = [(text.removeprefix(start), when) for when, text in stamped if text.startswith(start)]
    ends = [when for _, when in starts[1:]] + [stamped[-1][0]]
    return [(name, (after - when).total_seconds()) for (name, when), after in zip(starts, ends, strict=True)]
