"""An HTTPS server on the loopback interface, with a CA of its own, that answers like Proxmox VE 9's API."""

from __future__ import annotations

import http.server
import json
import shutil
import ssl
import subprocess
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import pytest

SECRET = "12345678-9abc-4def-8123-456789abcdef"
TOKEN = f"knaster@pve!collect={SECRET}"

CARD = {
    "id": "0000:01:00.0",
    "class": "0x030000",
    "vendor": "0x10de",
    "device": "0x1c30",
    "iommugroup": 21,
    "vendor_name": "NVIDIA Corporation",
    "device_name": "GP106GL [Quadro P2000]",
    "subsystem_vendor": "0x10de",
    "subsystem_device": "0x11b3",
}
AUDIO = {"id": "0000:01:00.1", "class": "0x040300", "vendor": "0x10de", "device": "0x10f1", "iommugroup": 21}
STATUS = {
    "memory": {"total": 33567154176, "used": 8110505984, "free": 25456648192},
    "cpuinfo": {"model": "Intel(R) Xeon(R) CPU E5-1650 v3 @ 3.50GHz", "cores": 6, "cpus": 12, "sockets": 1},
    "pveversion": "pve-manager/9.1.2/6b4d9c1f7e6f2d34",
}
DISK = {"devpath": "/dev/nvme0n1", "size": 512110190592, "type": "nvme", "rpm": 0, "health": "UNKNOWN", "gpt": 1}


def cluster() -> dict[str, Any]:
    """Path below ``/api2/json`` to what it answers: data, or a status and its reason. pve48 is offline."""
    names = ("pve44", "pve46")
    answers: dict[str, Any] = {
        "/nodes": [
            *({"node": name, "status": "online", "type": "node", "id": f"node/{name}"} for name in names),
            {"node": "pve48", "status": "offline", "type": "node", "id": "node/pve48"},
        ],
        "/cluster/status": [
            {"type": "cluster", "name": "berlin", "nodes": 3, "quorate": 1},
            *({"type": "node", "name": name, "ip": f"192.168.100.{name[3:]}", "online": 1} for name in names),
        ],
    }
    for name in names:
        answers[f"/nodes/{name}/status"] = STATUS
        answers[f"/nodes/{name}/hardware/pci"] = [CARD, AUDIO]
        answers[f"/nodes/{name}/disks/list"] = [DISK]
    return answers


@dataclass(slots=True)
class Server:
    """``asked``: each path with its query, in order. What a test puts into ``answers`` is what comes next."""

    url: str
    ca: Path
    answers: dict[str, Any] = field(default_factory=cluster)
    asked: list[str] = field(default_factory=list)
    raw: dict[str, tuple[int, bytes]] = field(default_factory=dict)
    streams: dict[str, tuple[dict[str, str], Callable[[], Iterable[bytes]]]] = field(default_factory=dict)
    """Path to headers and parts, which are sent one by one until they end or nobody listens."""


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def __init__(self, server: Server, *more: Any) -> None:
        self.wanted = server
        super().__init__(*more)

    def do_GET(self) -> None:
        path, _, _ = self.path.removeprefix("/api2/json").partition("?")
        self.wanted.asked.append(self.path)
        if path in self.wanted.streams:
            self._stream(*self.wanted.streams[path])
        elif path in self.wanted.raw:
            status, body = self.wanted.raw[path]
            self._send(status, None, body)
        elif self.headers.get("Authorization") != f"PVEAPIToken={TOKEN}":
            self._send(401, f"invalid token value {self.headers.get('Authorization')}", b"")
        else:
            found = self.wanted.answers.get(path, (501, f"Method 'GET {path}' not implemented"))
            if isinstance(found, tuple):
                self._send(found[0], found[1], b'{"data":null}')
            else:
                self._send(200, "OK", json.dumps({"data": found}).encode())

    def _send(self, status: int, reason: str | None, body: bytes) -> None:
        self.send_response(status, reason)
        if status == 301:
            self.send_header("Location", "/elsewhere")
        self.send_header("Content-Type", "application/json;charset=UTF-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _stream(self, headers: dict[str, str], parts: Callable[[], Iterable[bytes]]) -> None:
        self.close_connection = True
        self.send_response(200)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        try:
            for part in parts():
                self.wfile.write(part)
        except OSError:
            return

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


def certificates(folder: Path) -> tuple[Path, Path]:
    """A CA, and beside it ``server.pem`` and ``server.key`` for 127.0.0.1. Skips where there is no openssl."""
    if not shutil.which("openssl"):
        pytest.skip("there is no openssl on this machine")

    def openssl(*words: str) -> None:
        subprocess.run(["openssl", *words], cwd=folder, check=True, capture_output=True)

    key = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")
    usage = ("-addext", "keyUsage=critical,keyCertSign,cRLSign")
    openssl(
        "req", "-x509", *key, "-keyout", "ca.key", "-out", "ca.pem", "-subj", "/CN=PVE Cluster CA", "-days", "2", *usage
    )
    openssl("req", *key, "-keyout", "server.key", "-out", "server.csr", "-subj", "/CN=pve44")
    (folder / "names").write_text("subjectAltName=IP:127.0.0.1\nauthorityKeyIdentifier=keyid\n", "utf-8")
    sign = ("-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days", "2", "-extfile", "names")
    openssl("x509", "-req", "-in", "server.csr", "-out", "server.pem", *sign)
    return folder / "ca.pem", folder / "server.pem"


@contextmanager
def server(ca: Path, certificate: Path) -> Iterator[Server]:
    """The server, running."""
    found = Server("", ca)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), partial(_Handler, found)) as running:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, certificate.with_suffix(".key"))
        running.socket = context.wrap_socket(running.socket, server_side=True)
        running.handle_error = lambda *_: None  # type: ignore[method-assign]  # clients that do not trust it leave
        found.url = f"https://127.0.0.1:{running.server_address[1]}"
        thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield found
        finally:
            running.shutdown()
            thread.join()
