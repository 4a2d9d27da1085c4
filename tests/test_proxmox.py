"""A Proxmox VE cluster through its API: what is read, and every way in which it can refuse."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from knaster.adapters.proxmox import Node, access, nodes
from knaster.cli import main
from knaster.diagnostics import WorldError
from knaster.document import parse
from tests.pve_server import CARD, SECRET, TOKEN, Server, certificates, server
from tests.repo import lay

ROOT = Path(__file__).parent.parent
Capture = pytest.CaptureFixture[str]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return certificates(tmp_path_factory.mktemp("tls"))


@pytest.fixture
def api(files: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    with server(*files) as running:
        for name in ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"):
            monkeypatch.delenv(name, raising=False)
        monkeypatch.setenv("PROXMOX_VE_CA", str(running.ca))
        monkeypatch.setenv("PROXMOX_VE_API_TOKEN", TOKEN)
        yield running


def ask(api: Server, **environment: str) -> dict[str, Node]:
    settings = {"PROXMOX_VE_CA": str(api.ca), "PROXMOX_VE_API_TOKEN": TOKEN, **environment}
    return {node.name: node for node in nodes(access(api.url, settings))}


def refusal(api: Server, **environment: str) -> WorldError:
    with pytest.raises(WorldError) as caught:
        ask(api, **environment)
    assert SECRET not in f"{caught.value.message} {caught.value.hint} {caught.value!r}"
    assert caught.value.hint
    return caught.value


def test_every_node_in_one_go(api: Server) -> None:
    found = ask(api)
    assert sorted(found) == ["pve44", "pve46", "pve48"]
    assert found["pve48"] == Node("pve48", problem="the node is offline")
    assert found["pve44"].address == "192.168.100.44"
    assert json.loads(found["pve46"].sources["pve-pci"])[0] == CARD
    assert sorted(found["pve46"].sources) == ["pve-disks", "pve-pci", "pve-status"]
    assert len(api.asked) == 2 + 2 * 3
    assert "/api2/json/nodes/pve44/disks/list?skipsmart=1" in api.asked
    assert not any("pve48" in path for path in api.asked)


def collect(repository: Path, api: Server, *more: str) -> int:
    return main(["-C", str(repository), "inventory", "collect", "--pve", api.url, *more])


def test_into_profiles(api: Server, tmp_path: Path, capsys: Capture) -> None:
    lay(tmp_path)
    before = (tmp_path / "inventory/pve44.yaml").read_text("utf-8")
    assert collect(tmp_path, api, "--all", "--format", "json") == 2
    out, err = capsys.readouterr()
    assert err == ""
    hosts = {host["name"]: host for host in json.loads(out)["hosts"]}
    assert {name: host["state"] for name, host in hosts.items()} == {
        "pve44": "updated",
        "pve46": "created",
        "pve48": "unreachable",
    }
    assert hosts["pve48"]["problem"] == "the node is offline"
    after = (tmp_path / "inventory/pve44.yaml").read_text("utf-8")
    assert after != before
    assert 'driver: "580.95.05"' in after  # the API does not tell it: what was known stays
    made, _ = parse("", (tmp_path / "inventory/pve46.yaml").read_text("utf-8"))
    assert made is not None
    data: Any = made.data
    assert (data["name"], data["platform"], data["address"]) == ("pve46", "proxmox", "192.168.100.46")
    assert (data["memory_gb"], data["cpu"]["cores"], data["cpu"]["threads"]) == (31, 6, 12)
    assert data["disks"] == [{"name": "nvme0n1", "size_gb": 512, "rotational": False}]
    assert [(card["name"], card["memory_gb"], card["compute_cap"]) for card in data["gpus"]] == [
        ("Quadro P2000", 5, 6.1)
    ]
    assert data["gpus"][0]["pci"] == {
        "address": "0000:01:00.0",
        "id": "10de:1c30",
        "subsystem_id": "10de:11b3",
        "iommu_group": 21,
    }
    assert "warnings" not in data


def test_a_moved_iommu_group_is_called_out(api: Server, tmp_path: Path, capsys: Capture) -> None:
    lay(tmp_path, {})
    (tmp_path / "inventory").mkdir()
    api.answers["/nodes"] = api.answers["/nodes"][:2]
    assert collect(tmp_path, api, "--all") == 0
    capsys.readouterr()
    assert collect(tmp_path, api, "--check") == 0
    assert capsys.readouterr().out.splitlines()[-1] == "2 hosts: 2 unchanged; nothing was written"
    api.answers["/nodes/pve46/hardware/pci"] = [{**CARD, "iommugroup": 22}]
    assert collect(tmp_path, api, "--check") == 1
    out = capsys.readouterr().out
    rows = [line.split() for line in out.splitlines()]
    assert ["pve46", "gpus[0000:01:00.0].pci.iommu_group", "21", "22"] in rows
    assert "the VM would not start" in out


@pytest.mark.parametrize(
    ("status", "reason", "said"),
    [
        (403, "Permission check failed (/, Sys.Audit)", "403 Forbidden: Permission check failed (/, Sys.Audit)"),
        (500, "got timeout", "500 Internal Server Error: got timeout"),
        (596, "Connection timed out", "596 "),
    ],
)
def test_a_source_that_is_refused_overwrites_nothing(
    api: Server, tmp_path: Path, capsys: Capture, status: int, reason: str, said: str
) -> None:
    (tmp_path / "inventory").mkdir()
    api.answers["/nodes"] = api.answers["/nodes"][:1]
    assert collect(tmp_path, api, "--all") == 0
    before = (tmp_path / "inventory/pve44.yaml").read_bytes()
    api.answers["/nodes/pve44/hardware/pci"] = (status, reason)
    capsys.readouterr()
    assert collect(tmp_path, api, "--all") == 1
    out = capsys.readouterr().out
    assert (tmp_path / "inventory/pve44.yaml").read_bytes() == before
    assert "required fact missing: gpus" in out
    assert said in out
    (tmp_path / "inventory/pve44.yaml").unlink()
    assert collect(tmp_path, api, "--all") == 1
    assert list((tmp_path / "inventory").iterdir()) == []


def test_a_node_that_refuses_everything_does_not_harm_the_others(api: Server) -> None:
    for path in ("status", "hardware/pci", "disks/list"):
        api.answers[f"/nodes/pve44/{path}"] = (595, "No route to host")
    found = ask(api)
    assert found["pve46"].problem is None
    assert found["pve44"].sources == {}
    assert "No route to host" in (found["pve44"].problem or "")


@pytest.mark.parametrize(
    ("path", "answer", "said"),
    [
        ("/nodes", (401, "no such token"), "the token knaster@pve!collect is not accepted"),
        ("/nodes", (403, "Permission check failed"), "403 Forbidden: Permission check failed"),
        ("/nodes", (404, "nothing here"), "404 Not Found"),
        ("/nodes", (503, f"echo of {SECRET}"), "echo of [redacted]"),
        ("/nodes", [], "lists no nodes"),
        ("/nodes", None, "lists no nodes"),
        ("/nodes", [{"node": "../../etc", "status": "online"}], "that is no name"),
        ("/nodes", [{"node": "a/b", "status": "offline"}], "that is no name"),
    ],
)
def test_what_the_api_refuses(api: Server, path: str, answer: Any, said: str) -> None:
    api.answers[path] = answer
    assert said in refusal(api).message


@pytest.mark.parametrize("body", [b"", b"<html>", b"[]", b"{}", b"null", b'{"data":', b"\xff"])
@pytest.mark.parametrize("status", [200, 500])
def test_answers_of_something_else(api: Server, body: bytes, status: int) -> None:
    api.raw["/nodes"] = (status, body)
    message = refusal(api).message
    assert "none of Proxmox VE" in message or (status == 500 and "500 Internal Server Error" in message)
    del api.raw["/nodes"]
    api.raw["/nodes/pve44/status"] = (status, body)
    found = ask(api)["pve44"]
    assert "pve-status" not in found.sources
    assert found.refused["pve-status"]


def test_a_redirect_is_not_followed(api: Server) -> None:
    api.raw["/nodes"] = (301, b"")
    assert "redirect" in refusal(api).message
    assert api.asked == ["/api2/json/nodes"]


def test_addresses_are_a_nicety(api: Server) -> None:
    api.answers["/cluster/status"] = (403, "no")
    assert ask(api)["pve44"].address is None


def test_a_wrong_token_is_never_shown(api: Server, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    other = TOKEN.replace("12345678", "deadbeef")
    monkeypatch.setenv("PROXMOX_VE_API_TOKEN", other)
    assert main(["-v", "inventory", "collect", "--pve", api.url]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert "401" in err
    assert "hint: see PROXMOX_VE_API_TOKEN" in err
    assert "deadbeef" not in err
    assert "deadbeef" not in repr(access(api.url))


@pytest.mark.parametrize(
    "token", ["", "x", "root@pam", "root@pam!x", f"root!x={SECRET}", f"root@pam!x={SECRET} {SECRET}"]
)
def test_tokens_that_are_none(api: Server, token: str) -> None:
    assert "PROXMOX_VE_API_TOKEN is not" in refusal(api, PROXMOX_VE_API_TOKEN=token).message
    assert api.asked == []


def test_tls_is_verified(api: Server, files: tuple[Path, Path], tmp_path: Path) -> None:
    assert "not trusted" in refusal(api, PROXMOX_VE_CA="").message
    assert "pve-root-ca.pem" in (refusal(api, PROXMOX_VE_CA="").hint or "")
    other, _ = certificates(tmp_path)
    assert "not trusted" in refusal(api, PROXMOX_VE_CA=str(other)).message
    api.url = api.url.replace("127.0.0.1", "localhost")  # the certificate is of another name
    assert "not trusted" in refusal(api).message
    assert api.asked == []
    assert files[0] == api.ca


def test_certificates_of_requests_own_variable(api: Server) -> None:
    assert len(ask(api, PROXMOX_VE_CA="", REQUESTS_CA_BUNDLE=str(api.ca))) == 3


@pytest.mark.parametrize("content", [None, "no certificate"])
def test_certificates_that_are_none(api: Server, tmp_path: Path, content: str | None) -> None:
    path = tmp_path / "ca.pem"
    if content:
        path.write_text(content, "utf-8")
    error = refusal(api, PROXMOX_VE_CA=str(path))
    assert "PROXMOX_VE_CA" in f"{error.message} {error.hint}"


def test_nobody_there(api: Server, files: tuple[Path, Path]) -> None:
    with server(*files) as gone:
        pass
    api.url = gone.url
    assert "Connection refused" in refusal(api).message
    api.url = "https://no-such-host.invalid"
    assert "cannot connect" in refusal(api).message


def test_silence_ends(api: Server) -> None:
    slow = replace(access(api.url), seconds=(1.0, 0.2))
    api.answers["/nodes"] = _Slow()
    start = time.monotonic()
    with pytest.raises(WorldError, match="no answer in time"):
        list(nodes(slow))
    assert time.monotonic() - start < 5


def zeros(count: int) -> Iterator[bytes]:
    yield b'{"data":["'
    for _ in range(count):
        yield b"0" * 65536
    yield b'"]}'


BOMB = gzip.compress(b'{"data":[' + b" " * (32 << 20) + b"]}")


def drip() -> Iterator[bytes]:
    while True:
        yield b" "
        time.sleep(0.05)


PATHS = ("/nodes", "/nodes/pve44/status")


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize(
    ("headers", "parts", "said"),
    [
        ({}, lambda: zeros(1 << 20), "it answers with more than 4 MiB"),
        ({"Content-Length": str(1 << 30)}, lambda: zeros(1 << 14), "it answers with more than 4 MiB"),
        ({"Content-Encoding": "gzip"}, lambda: [BOMB], "it sends a compressed answer, which was not asked for"),
        ({}, lambda: [b'{"data":', b"[" * 200_000, b"]" * 200_000, b"}"], "the answer is none of Proxmox VE"),
        ({}, lambda: [b'{"data":', b"[" * 900, b"]" * 900, b"}"], None),
        ({}, lambda: [b'{"data":[{"node":', b"[" * 900, b"]" * 900, b"}]}"], None),
    ],
    ids=["endless", "1 GiB", "gzip", "nested", "nested less", "nested as a name"],
)
def test_an_answer_has_a_bound(api: Server, path: str, headers: dict[str, str], parts: Any, said: str | None) -> None:
    api.streams[path] = headers, parts
    tracemalloc.start()
    if path == "/nodes":
        message = refusal(api).message
    else:
        found = ask(api)
        message = found["pve44"].refused.get("pve-status", "")
        assert sorted(found["pve44"].sources) >= ["pve-disks", "pve-pci"]
        assert found["pve46"].refused == {}
    used = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert said is None or message.endswith(said)
    assert used < 32 << 20


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("headers", [{}, {"Content-Length": "100000"}, {"Transfer-Encoding": "chunked"}])
def test_all_answers_have_a_deadline(api: Server, path: str, headers: dict[str, str]) -> None:
    chunks = partial(map, lambda part: b"1\r\n" + part + b"\r\n")
    api.streams[path] = headers, lambda: chunks(drip()) if "Transfer-Encoding" in headers else drip()
    hurried = replace(access(api.url), whole=1.0)
    start = time.monotonic()
    if path == "/nodes":
        with pytest.raises(WorldError, match="no answer within 1 s"):
            list(nodes(hurried))
    else:
        found = {node.name: node for node in nodes(hurried)}
        assert found["pve44"].problem == "no answer within 1 s"
        assert found["pve46"].problem is None
    assert time.monotonic() - start < 10


def test_nobody_waits_for_a_drip_at_the_end_of_the_program(api: Server) -> None:
    api.streams["/nodes/pve44/status"] = {}, drip
    script = (
        "import sys; from dataclasses import replace; from knaster.adapters.proxmox import access, nodes;"
        "print(sorted((n.name, n.problem) for n in nodes(replace(access(sys.argv[1]), whole=3.0))))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, api.url], cwd=ROOT, check=True, capture_output=True, text=True, timeout=30
    )
    assert "('pve44', 'no answer within 3 s')" in done.stdout
    assert done.stderr == ""


class _Slow(tuple[int, str]):
    """A status that takes a second."""

    def __new__(cls) -> _Slow:
        return super().__new__(cls, (200, "OK"))

    def __getitem__(self, key: Any) -> Any:
        time.sleep(0.5)
        return super().__getitem__(key)


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("pve44", "https://pve44:8006"),
        ("https://pve44/", "https://pve44:8006"),
        ("https://pve44:8006/api2/json", "https://pve44:8006"),
        ("https://[fe80::1]:443", "https://[fe80::1]:443"),
        ("https://proxy.example.org:443/berlin/", "https://proxy.example.org:443/berlin"),
    ],
)
def test_addresses(url: str, shown: str) -> None:
    assert access(url, {"PROXMOX_VE_API_TOKEN": TOKEN}).address == shown


@pytest.mark.parametrize(
    "url",
    ["", "http://pve44", "https://", "https://a:b@pve44", "https://pve44:99999", "https://x?y", "a b", "file:///x"],
)
def test_addresses_that_are_none(url: str) -> None:
    with pytest.raises(WorldError, match="--pve") as caught:
        access(url, {"PROXMOX_VE_API_TOKEN": TOKEN})
    assert "a:b" not in caught.value.message


def test_a_path_before_the_api(api: Server) -> None:
    api.url += "/berlin"
    refusal(api)
    assert api.asked == ["/berlin/api2/json/nodes"]


def test_without_the_package(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    monkeypatch.setitem(sys.modules, "proxmoxer", None)
    monkeypatch.setenv("PROXMOX_VE_API_TOKEN", TOKEN)
    monkeypatch.delenv("PROXMOX_VE_CA", raising=False)
    assert main(["inventory", "collect", "--pve", "pve44"]) == 2
    assert "pip install 'knaster[proxmox]'" in capsys.readouterr().err


def test_nobody_else_pays_for_the_package() -> None:
    script = "import sys, knaster.commands.inventory; sys.exit('proxmoxer' in sys.modules or 'requests' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", script], cwd=ROOT, check=False).returncode == 0
