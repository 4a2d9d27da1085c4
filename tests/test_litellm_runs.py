"""LiteLLM itself with the ``litellm.yaml`` of this repository's fleet, and stand-ins for all machines on the loopback.

LiteLLM with its proxy is three quarters of a gigabyte, so it is no development dependency: these tests run where a
``litellm`` is on PATH (``pip install 'litellm[proxy]'`` into a virtual environment of its own).
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.consumer_fleets import FLEETS, evaluated, generated

LITELLM = shutil.which("litellm")
pytestmark = pytest.mark.skipif(LITELLM is None, reason="no litellm on PATH: pip install 'litellm[proxy]'")

KEY = "sk-" + "Wq8vJzr2uP0xLk71nTe5bYcD93"
"""The proxy wants a key of its own that is not weak."""


def answer(path: str, asked: dict[str, Any], name: str) -> dict[str, Any]:
    """What llama-server says, with the machine's name in it."""
    if path.endswith("/embeddings"):
        return {
            "object": "list",
            "model": asked["model"],
            "data": [{"object": "embedding", "index": 0, "embedding": [0.5]}],
        }
    if path.endswith("/rerank"):
        return {"object": "list", "model": asked["model"], "results": [{"index": 0, "relevance_score": 0.5}]}
    message = {"role": "assistant", "content": f"{name} {asked['model']}"}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    return {"id": "1", "object": "chat.completion", "created": 1, "model": asked["model"], "choices": [choice]}


class Machine:
    """A stand-in that answers on one address until it is stopped, and knows what it was asked."""

    def __init__(self, name: str, host: str, port: int) -> None:
        self.asked: list[tuple[str, str | None]] = []
        machine = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
                machine.asked.append((self.path, self.headers.get("authorization")))
                speech = self.path.endswith("/audio/speech")
                body = name.encode() if speech else json.dumps(answer(self.path, asked, name)).encode()
                self.send_response(200)
                self.send_header("content-type", "audio/wav" if speech else "application/json")
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer((host, port), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def stop(self) -> None:
        self.server.shutdown()
        self.server.server_close()


def ask(port: int, path: str, **body: Any) -> bytes:
    """One request to the proxy."""
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}{path}",
        json.dumps(body).encode(),
        {"content-type": "application/json", "authorization": f"Bearer {KEY}"},
    )
    with urllib.request.urlopen(request, timeout=60) as found:
        return bytes(found.read())


def says(port: int, group: str) -> str:
    """The machine and model that answer a chat."""
    found = json.loads(ask(port, "/v1/chat/completions", model=group, messages=[{"role": "user", "content": "?"}]))
    return str(found["choices"][0]["message"]["content"])


def free_port() -> int:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return int(sock.getsockname()[1])


@pytest.fixture
def machines() -> Iterator[dict[str, Machine]]:
    """Every machine of the fleet, at its last two octets of 127/8."""
    places = {
        "embedding": ("127.0.100.224", 8081),
        "rerank": ("127.0.100.226", 8082),
        "verifier": ("127.0.100.228", 8083),
        "PC-05": ("127.0.100.105", 8084),
        "PC-06": ("127.0.100.106", 8085),
        "infra": ("127.0.100.221", 5000),
        "tier0": ("127.0.100.1", 8000),
    }
    found = {name: Machine(name, host, port) for name, (host, port) in places.items()}
    yield found
    for machine in found.values():
        with suppress(OSError):
            machine.stop()


@pytest.fixture
def proxy(tmp_path: Path) -> Iterator[int]:
    """The port of a proxy that runs the rendered configuration, with only the addresses changed."""
    text = generated("own")["litellm.yaml"]
    text = text.replace("192.168.", "127.0.").replace(
        "https://litellm.example.internal/v1", "http://127.0.100.1:8000/v1"
    )
    (tmp_path / "litellm.yaml").write_text(text, "utf-8")
    port, log = free_port(), tmp_path / "log"
    own = {"LITELLM_MASTER_KEY": KEY, "TIER0_API_KEY": "of-tier0", "LITELLM_LOCAL_MODEL_COST_MAP": "True"}
    with log.open("wb") as out:
        running = subprocess.Popen(
            [str(LITELLM), "--config", "litellm.yaml", "--host", "127.0.0.1", "--port", str(port)],
            cwd=tmp_path,
            env={**os.environ, **own},
            stdout=out,
            stderr=out,
        )
    try:
        for _ in range(240):
            with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
                break
            assert running.poll() is None, log.read_text("utf-8", "replace")
            time.sleep(0.5)
        yield port
    finally:
        running.terminate()
        running.wait(30)


LOAD = """
import asyncio, json, sys
from litellm.proxy.proxy_server import ProxyConfig

async def main():
    found = {}
    for path in sys.argv[1:]:
        router, models, _ = await ProxyConfig().load_config(router=None, config_file_path=path)
        found[path] = {
            "groups": sorted(set(router.get_model_names())),
            "deployments": sorted(one["model_info"]["id"] for one in router.model_list),
            "fallbacks": {k: v for one in router.fallbacks or [] for k, v in one.items()},
            "aliases": router.model_group_alias or {},
            "settings": [router.allowed_fails, router.cooldown_time, router.num_retries],
        }
    print("FOUND " + json.dumps(found))

asyncio.run(main())
"""
"""What the proxy does with its configuration when it starts, run by its own Python."""


def test_litellm_loads_the_configuration_of_every_fleet(tmp_path: Path) -> None:
    """Each deployment is one that LiteLLM can call: it leaves those out that it does not understand."""
    names = list(FLEETS)
    for at, name in enumerate(names):
        (tmp_path / f"{at}.yaml").write_text(generated(name)["litellm.yaml"], "utf-8")
    python = Path(str(LITELLM)).resolve().parent / "python"
    own = {"LITELLM_MASTER_KEY": KEY, "TIER0_API_KEY": "of-tier0", "LITELLM_LOCAL_MODEL_COST_MAP": "True"}
    done = subprocess.run(
        [str(python), "-c", LOAD, *(f"{at}.yaml" for at in range(len(names)))],
        cwd=tmp_path,
        env={**os.environ, **own},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    (line,) = (line for line in done.stdout.splitlines() if line.startswith("FOUND "))
    found = json.loads(line.removeprefix("FOUND "))
    for at, name in enumerate(names):
        registry = evaluated(name).documents["registry.yaml"]
        served = {slot for slot, one in registry["slots"].items() if one["state"] == "available"}
        got = found[f"{at}.yaml"]
        assert set(got["groups"]) - set(got["aliases"]) == served | set(registry["external"]), name
        at_home = {
            f"{slot}@{one.get('guest', one['node'])}" for slot in served for one in registry["slots"][slot]["endpoints"]
        }
        assert at_home | set(registry["external"]) <= set(got["deployments"]), name
        assert got["settings"] == [0, 60, 0]
        for slot, chain in got["fallbacks"].items():
            assert set(chain) <= served | set(registry["external"]), (name, slot)


def test_litellm_goes_where_the_registry_says(proxy: int, machines: dict[str, Machine]) -> None:
    assert says(proxy, "tier1-general") == "PC-05 qwen3-14b-q4_k_m"
    assert says(proxy, "tier1-flex") == "PC-06 qwen3-14b-q4_k_m"
    assert says(proxy, "verifier") == "verifier qwen3-4b-q4_k_m"
    ask(proxy, "/v1/embeddings", model="embedding", input=["x"])
    ask(proxy, "/v1/rerank", model="rerank", query="x", documents=["y"])
    assert ask(proxy, "/v1/audio/speech", model="tts-de", input="x", voice="v") == b"infra"
    assert ask(proxy, "/v1/audio/speech", model="tts-de-hq", input="x", voice="v") == b"infra"
    assert [path for path, _ in machines["embedding"].asked] == ["/v1/embeddings"]
    assert [path for path, _ in machines["rerank"].asked] == ["/v1/rerank"]

    machines["PC-05"].stop()
    assert [says(proxy, "tier1-general") for _ in range(2)] == ["PC-06 qwen3-14b-q4_k_m"] * 2
    machines["PC-06"].stop()
    machines["verifier"].stop()
    assert [says(proxy, group) for group in ("tier1-general", "tier1-flex", "verifier")] == ["tier0 tier0"] * 3
    assert machines["tier0"].asked == [("/v1/chat/completions", "Bearer of-tier0")] * 3

    machines["embedding"].stop()
    with pytest.raises(urllib.error.HTTPError):
        ask(proxy, "/v1/embeddings", model="embedding", input=["x"])
    assert len(machines["tier0"].asked) == 3
