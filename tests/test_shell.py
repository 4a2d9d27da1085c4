"""The capture script over a real ssh: many hosts at once, and hosts that refuse, hang, talk too much or are options."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from knaster.adapters import shell
from knaster.adapters.captures import script
from knaster.adapters.shell import Ran, label, local, remote
from knaster.diagnostics import WorldError
from knaster.inventory.capture import Section, parse
from tests.sshd import Server, server
from tests.stubs import captured


@pytest.fixture(scope="module")
def sshd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with server(tmp_path_factory.mktemp("sshd")) as running:
        yield running


def ask(sshd: Server, *hosts: str, seconds: float = 60, text: str | None = None) -> dict[str, Ran]:
    found = list(remote(hosts, text or script("linux"), options=("-F", str(sshd.config)), seconds=seconds))
    assert len({ran.host for ran in found}) == len(found)
    return {ran.host: ran for ran in found}


def test_many_hosts_at_once_one_connection_each(sshd: Server) -> None:
    hosts = [f"plain-{number}" for number in range(12)]
    before, seen = sshd.logins(), list[str]()
    answers = remote(
        [*hosts, "plain-3"],
        script("linux"),
        options=("-F", str(sshd.config)),
        at_once=4,
        progress=lambda ran: seen.append(ran.host),
    )
    found = {ran.host: ran for ran in answers}
    assert sorted(found) == sorted(seen) == sorted(hosts)
    assert sshd.logins() - before == 12
    for ran in found.values():
        assert ran.problem is None
        assert captured(ran.output)["os"] == Section("linux\n", 0)


def test_they_run_side_by_side(sshd: Server) -> None:
    start = time.monotonic()
    found = ask(sshd, *(f"plain-{number}" for number in range(8)), text="sleep 2; echo done")
    assert time.monotonic() - start < 10
    assert {ran.output for ran in found.values()} == {b"done\n"}


def test_a_message_of_the_day_is_no_part_of_the_capture(sshd: Server) -> None:
    (ran,) = ask(sshd, "motd-1").values()
    assert ran.problem is None
    assert ran.output.startswith(b"\nWelcome to box9\n")
    assert captured(ran.output)["os"] == Section("linux\n", 0)


def test_bad_hosts_do_not_harm_the_good(sshd: Server) -> None:
    start = time.monotonic()
    found = ask(sshd, "hangs-1", "closed", "stranger", "unknown-key", "flood-1", "dies-1", "plain-1", seconds=6)
    assert time.monotonic() - start < 20
    assert {host: ran.problem is None for host, ran in found.items() if ran.problem is None} == {"plain-1": True}
    assert found["hangs-1"].problem == "no answer within 6 s"
    assert "Connection refused" in (found["closed"].problem or "")
    assert "Permission denied" in (found["stranger"].problem or "")
    assert "agent" in (found["stranger"].hint or "")
    assert found["unknown-key"].problem == "Host key verification failed."
    assert "by hand" in (found["unknown-key"].hint or "")
    assert found["flood-1"].problem == "it printed more than 16 MiB"
    assert found["dies-1"].problem == "no sh here"
    problem = parse(found["dies-1"].output).problem
    assert problem is not None
    assert problem.cause == "truncated"


@pytest.mark.parametrize(
    "host",
    [
        "-oProxyCommand=touch {mark}",
        "--",
        "-F{mark}",
        "me@-oProxyCommand=touch {mark}",
        "ssh://-oProxyCommand=touch {mark}",
        "plain-1 touch {mark}",
        "plain-1;touch {mark}",
        "$(touch {mark})",
        "plain-1\n-oProxyCommand=touch {mark}",
        "",
        "\0",
        "../{mark}",
    ],
)
def test_no_name_of_a_host_is_an_option_or_a_command(tmp_path: Path, host: str) -> None:
    mark = tmp_path / "mark"
    (ran,) = remote([host.format(mark=mark)], "echo hello")
    assert ran.problem == "this is no name of a host"
    assert not mark.exists()


@pytest.mark.parametrize(
    "host",
    ["pve44", "root@pve44", "192.168.1.2", "root@[fe80::1%eth0]", "ssh://root@pve44:2222", "a_b.example.org", "::1"],
)
def test_names_of_hosts(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, host: str) -> None:
    fake = tmp_path / "ssh"
    fake.write_text('#!/bin/sh\nprintf "%s\\n" "$@"\n')
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    (ran,) = remote([host], "echo hello", options=("-F", "none"))
    words = ran.output.decode().splitlines()
    assert words[-5:] == ["-F", "none", "--", host, "sh -s"]
    assert "BatchMode=yes" in words


def children() -> set[str]:
    done = subprocess.run(
        ["ps", "-o", "pid=,args=", "--ppid", str(os.getpid())], capture_output=True, text=True, check=True
    )
    return {line.strip() for line in done.stdout.splitlines() if " ssh " in line}


def test_who_stops_listening_leaves_nothing_behind(sshd: Server) -> None:
    answers = remote(["plain-1", "hangs-1", "hangs-2"], "echo hello", options=("-F", str(sshd.config)), seconds=100)
    assert next(answers).host == "plain-1"
    start = time.monotonic()
    assert len(children()) == 2
    answers.close()  # type: ignore[attr-defined]
    assert time.monotonic() - start < 5
    assert children() == set()


def test_without_ssh(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(WorldError, match="cannot start ssh"):
        list(remote(["pve44"], "echo hello"))
    with pytest.raises(WorldError, match="cannot start sh"):
        local("echo hello")


def test_locally() -> None:
    ran = local(script("linux"))
    assert ran.problem is None
    assert captured(ran.output)["hostname"].text.strip() == os.uname().nodename


def test_locally_with_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    assert local("cat; echo hello; exit 3") == Ran("localhost", b"hello\n", "sh ended with status 3")
    assert local("echo a >&2; echo b >&2; exit 1").problem == "b"
    assert local("echo half; sleep 50", seconds=1) == Ran("localhost", b"half\n", "no answer within 1 s")
    assert local("[ -t 0 ] || [ -t 1 ] || [ -t 2 ] || echo none").output == b"none\n"
    monkeypatch.setattr(shell, "OUTPUT_BOUND", 1000)
    assert len(local("yes").output) > 1000
    assert local("exec >&- 2>&-; sleep 1; exit 0").problem is None


def test_a_script_that_nobody_reads_blocks_nobody() -> None:
    long = "exit 0\n" + "# filler\n" * 200_000
    assert local(long, seconds=20).problem is None


@pytest.mark.parametrize(
    ("host", "name"),
    [
        ("pve44", "pve44"),
        ("root@pve44.lan", "pve44"),
        ("ssh://root@pve44.lan:2222", "pve44"),
        ("ssh://pve44", "pve44"),
        ("root@192.168.100.44", None),
        ("ssh://192.168.100.44:22", None),
        ("fe80::1", None),
        ("root@[fe80::1]", None),
        ("root@", None),
    ],
)
def test_what_a_host_is_called(host: str, name: str | None) -> None:
    assert label(host) == name
