"""A real Gitea and a real runner in host mode, on the loopback interface, with SQLite, in one folder.

They are looked for on PATH (``gitea``; ``gitea-runner`` or ``act_runner``). A Gitea that was built without its assets
needs its source folder in the environment variable GITEA_STATIC_ROOT.
"""

from __future__ import annotations

import http.client
import json
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit

import pytest

from tests import gitea_settings

STATIC_ROOT = "GITEA_STATIC_ROOT"
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Programs:
    """Where the two are."""

    gitea: str
    runner: str


def programs() -> Programs:
    """What is installed here; skips the test where something is missing."""
    runner = shutil.which("gitea-runner") or shutil.which("act_runner")
    if not (gitea := shutil.which("gitea")):
        pytest.skip("there is no gitea on PATH")
    if not runner:
        pytest.skip("there is no gitea-runner and no act_runner on PATH")
    if not shutil.which("curl"):
        pytest.skip("there is no curl on PATH, which docs/gitea.md uses")
    return Programs(gitea, runner)


@dataclass(frozen=True, slots=True)
class Server:
    """``url`` without a slash at its end; ``tokens`` maps a login to an access token."""

    programs: Programs
    folder: Path
    url: str
    environment: Mapping[str, str]
    tokens: dict[str, str] = field(default_factory=dict)

    @property
    def tool_cache(self) -> Path:
        """RUNNER_TOOL_CACHE of the jobs."""
        return self.folder / "runner/host/tool_cache"

    def gitea(self, *arguments: str) -> str:
        """What ``gitea ARGUMENTS`` prints, run on the server."""
        command = [self.programs.gitea, "--config", str(self.folder / "app.ini"), *arguments]
        return _run(command, self.folder, self.environment)

    def user(self, login: str, *options: str, scopes: str = "write:repository,write:issue,write:user") -> None:
        """A person, whose token is in ``tokens`` afterwards."""
        about = ("--username", login, "--email", f"{login}@example.org", "--random-password")
        self.gitea("admin", "user", "create", *about, "--must-change-password=false", *options)
        token = ("--username", login, "--token-name", "test", "--scopes", scopes, "--raw")
        self.tokens[login] = self.gitea("admin", "user", "generate-access-token", *token).split()[-1]

    def ask(self, login: str, method: str, path: str, data: object = None) -> tuple[int, Any]:
        """The status and the JSON (else text) of one call below ``/api/v1``."""
        connection = http.client.HTTPConnection(urlsplit(self.url).netloc, timeout=30)
        headers = {"Authorization": f"token {self.tokens[login]}", "Content-Type": "application/json"}
        try:
            connection.request(method, f"/api/v1{path}", None if data is None else json.dumps(data), headers)
            answer = connection.getresponse()
            text = answer.read().decode("utf-8", "replace")
        finally:
            connection.close()
        with suppress(ValueError):
            return answer.status, json.loads(text)
        return answer.status, text

    def call(self, login: str, method: str, path: str, data: object = None) -> Any:
        """The same for a call that must go well."""
        status, answer = self.ask(login, method, path, data)
        assert 200 <= status < 300, (method, path, status, answer)
        return answer


def until(what: str, look: Callable[[], T | None], seconds: float = 120) -> T:
    """What `look` finds, asked until it is neither None nor False. AssertionError when that takes too long."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if found := look():
            return found
        time.sleep(0.3)
    raise AssertionError(f"not within {seconds:g} s: {what}")


@contextmanager
def running(folder: Path, path: str) -> Iterator[Server]:
    """Server and runner, up and connected; `path` is PATH of the jobs. Both end with their process groups."""
    found = programs()
    server = _configured(found, folder)
    registration = secrets.token_hex(20)
    environment = {**server.environment, "GITEA_RUNNER_REGISTRATION_TOKEN": registration}
    server.gitea("migrate")
    command = [found.gitea, "--config", str(folder / "app.ini"), "web"]
    with _process(command, folder, environment, folder / "gitea.log") as web:
        until("gitea answers", lambda: web.poll() is not None or _healthy(server.url))
        assert web.poll() is None, _tail(folder / "gitea.log")
        (folder / "runner/home").mkdir(parents=True)
        (folder / "runner/config.yaml").write_text(
            gitea_settings.RUNNER.format(folder=folder, below=str(folder)[1:]), "utf-8"
        )
        environment = {"PATH": path, "HOME": str(folder / "runner/home"), "LANG": "C.UTF-8"}
        runner = [found.runner, "-c", str(folder / "runner/config.yaml")]
        about = ("--instance", server.url, "--token", registration, "--name", "test", "--labels", "ubuntu-latest:host")
        _run([*runner, "register", "--no-interactive", *about], folder / "runner", environment)
        log = folder / "runner.log"
        with _process([*runner, "daemon"], folder / "runner", environment, log) as daemon:
            until("the runner is ready", lambda: daemon.poll() is not None or "declare successfully" in _tail(log))
            assert daemon.poll() is None, _tail(log)
            yield server


def _configured(found: Programs, folder: Path) -> Server:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    url = f"http://127.0.0.1:{port}"
    for name in ("work", "data", "home", "repositories"):
        (folder / name).mkdir(parents=True)
    static = f"STATIC_ROOT_PATH = {os.environ[STATIC_ROOT]}" if os.environ.get(STATIC_ROOT) else ""
    text = gitea_settings.SERVER.format(folder=folder, port=port, url=url, static=static, key=secrets.token_hex(32))
    (folder / "app.ini").write_text(text, "utf-8")
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder / "home"), "LANG": "C.UTF-8", "USER": "test"}
    if os.geteuid() == 0:
        environment["GITEA_I_AM_BEING_UNSAFE_RUNNING_AS_ROOT"] = "true"
    return Server(found, folder, url, environment)


def _run(command: list[str], cwd: Path, environment: Mapping[str, str]) -> str:
    done = subprocess.run(
        command,
        cwd=cwd,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        stdin=subprocess.DEVNULL,
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@contextmanager
def _process(
    command: list[str], cwd: Path, environment: Mapping[str, str], log: Path
) -> Iterator[subprocess.Popen[bytes]]:
    with log.open("wb") as file:
        process = subprocess.Popen(
            command,
            cwd=cwd,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        yield process
    finally:
        process.terminate()
        with suppress(subprocess.TimeoutExpired):
            process.wait(timeout=10)
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _healthy(url: str) -> bool:
    connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=5)
    try:
        connection.request("GET", "/api/healthz")
        return connection.getresponse().status == 200
    except OSError:
        return False
    finally:
        connection.close()


def _tail(log: Path) -> str:
    return log.read_text("utf-8", "replace")[-4000:] if log.exists() else ""


def job_path() -> str:
    """A PATH for jobs on which ``python3`` is this one's base and git is there."""
    folders = [str(Path(sys.base_prefix) / "bin"), "/usr/local/bin", "/usr/bin", "/bin"]
    if git := shutil.which("git"):
        folders.append(str(Path(git).parent))
    return ":".join(dict.fromkeys(folders))
