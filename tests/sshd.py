"""A real sshd on the loopback interface, with keys of its own, and ways in that behave badly."""

from __future__ import annotations

import getpass
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

WAYS = {
    "plain": None,
    "motd": "echo; echo 'Welcome to box9'; echo '#1 server'; eval \"$SSH_ORIGINAL_COMMAND\"; echo bye",
    "hangs": "sleep 30",
    "flood": "yes",
    "dies": "echo '#knaster-capture 1'; echo 'no sh here' >&2; exit 3",
}
"""Name of a key to the command that the server runs for it, None: what was asked for."""


@dataclass(frozen=True, slots=True)
class Server:
    """``config``: an ssh configuration in which every key is any number of hosts (``plain-1``, ``plain-2``)."""

    config: Path
    log: Path

    def logins(self) -> int:
        """How many connections were let in so far."""
        return self.log.read_text("utf-8").count("Accepted publickey")


@contextmanager
def server(folder: Path) -> Iterator[Server]:
    """The server, running. Skips where there is no sshd."""
    program = shutil.which("sshd", path=f"{os.environ['PATH']}:/usr/sbin:/usr/local/sbin")
    if not program or not shutil.which("ssh"):
        pytest.skip("there is no OpenSSH server on this machine (Debian: openssh-server)")
    if os.geteuid() == 0:
        Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)
    for name in ("host", *WAYS, "stranger"):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", folder / name], check=True)
    port = _free_port()
    _configure(folder, port)
    log = folder / "log"
    with subprocess.Popen([program, "-D", "-f", folder / "sshd_config", "-E", log]) as process:
        try:
            _wait(port, process, log)
            yield Server(folder / "ssh_config", log)
        finally:
            process.terminate()


def _configure(folder: Path, port: int) -> None:
    lines = []
    for name, command in WAYS.items():
        forced = 'command="' + command.replace('"', '\\"') + '" ' if command else ""
        lines.append(forced + (folder / f"{name}.pub").read_text("utf-8"))
    (folder / "authorized_keys").write_text("".join(lines), "utf-8")
    key = (folder / "host.pub").read_text("utf-8")
    (folder / "known_hosts").write_text(f"[127.0.0.1]:{port} {key}", "utf-8")
    (folder / "no_hosts").write_text("", "utf-8")
    (folder / "banner").write_text("Authorised use only.\n", "utf-8")
    (folder / "sshd_config").write_text(
        f"Port {port}\nListenAddress 127.0.0.1\nHostKey {folder}/host\nAuthorizedKeysFile {folder}/authorized_keys\n"
        f"PidFile {folder}/pid\nBanner {folder}/banner\nPasswordAuthentication no\nKbdInteractiveAuthentication no\n"
        "StrictModes no\nPermitRootLogin yes\nUsePAM no\nLogLevel INFO\nMaxStartups 100\n",
        "utf-8",
    )
    shared = f"  HostName 127.0.0.1\n  User {getpass.getuser()}\n  IdentitiesOnly yes\n  IdentityAgent none\n"
    hosts = [
        *(f"Host {name}-*\n  Port {port}\n  IdentityFile {folder}/{name}\n{_known(folder)}{shared}" for name in WAYS),
        f"Host closed\n  Port {_free_port()}\n{shared}",
        f"Host unknown-key\n  Port {port}\n  IdentityFile {folder}/plain\n{_known(folder, 'no_hosts')}{shared}",
        f"Host stranger\n  Port {port}\n  IdentityFile {folder}/stranger\n{_known(folder)}{shared}",
    ]
    (folder / "ssh_config").write_text("".join(hosts), "utf-8")


def _known(folder: Path, name: str = "known_hosts") -> str:
    return f"  UserKnownHostsFile {folder}/{name}\n  GlobalKnownHostsFile /dev/null\n  StrictHostKeyChecking yes\n"


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _wait(port: int, process: subprocess.Popen[bytes], log: Path) -> None:
    for _ in range(100):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        if process.poll() is not None:
            pytest.skip(f"sshd does not start here: {log.read_text('utf-8').strip()[-200:]}")
        time.sleep(0.05)
    pytest.skip("sshd does not listen")
