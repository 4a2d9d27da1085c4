"""Models on a hub: what is asked of it, what it refuses, and where the token goes."""

from __future__ import annotations

import hashlib
import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from knaster.adapters.hub_errors import Denied
from knaster.adapters.hub_model import HubModel, model
from knaster.adapters.huggingface import Hub
from knaster.adapters.model_files import LocalModel
from knaster.diagnostics import WorldError
from knaster.weights import Published, published
from tests.hub_server import COMMIT, TOKEN, Loopback, Repository, loopback
from tests.model_repositories import gguf, index, safetensors
from tests.test_weights import EXPECTED, llama_file

CONFIG = json.dumps({"model_type": "llama"}).encode()
WEIGHTS = safetensors({"lm_head.weight": ("BF16", (128, 64))})
FILES = {"config.json": CONFIG, "model.safetensors": WEIGHTS, "onnx/model.onnx": b"x"}


@pytest.fixture
def server() -> Iterator[Loopback]:
    with loopback(
        plain=Repository(FILES),
        large=Repository(FILES, cdn=frozenset({"model.safetensors"})),
        gated=Repository(FILES, gated=True),
        private=Repository(FILES, private=True),
    ) as state:
        yield state


def hub(server: Loopback, tmp_path: Path, token: str | None = None, *, offline: bool = False) -> Hub:
    waited: list[float] = []
    return Hub(server.hub, tmp_path / "cache", token, offline=offline, sleep=waited.append)


def test_a_repository_is_read_at_one_commit_and_by_range(server: Loopback, tmp_path: Path) -> None:
    reader = model(hub(server, tmp_path), "org/plain")
    assert reader.revision == COMMIT
    assert reader.files["model.safetensors"] == (len(WEIGHTS), None)
    found = published(reader)
    assert isinstance(found, Published)
    assert found.config == {"model_type": "llama"}
    assert found.tensors is not None
    assert found.tensors[0].shape == (128, 64)
    paths = [(request.path, request.headers.get("range")) for request in server.requests]
    assert paths == [
        ("/api/models/org/plain/revision/main?blobs=true", None),
        (f"/org/plain/resolve/{COMMIT}/config.json", f"bytes=0-{len(CONFIG) - 1}"),
        (f"/org/plain/resolve/{COMMIT}/model.safetensors", f"bytes=0-{len(WEIGHTS) - 1}"),
    ]


def test_the_token_goes_to_the_hub_and_never_to_another_host(server: Loopback, tmp_path: Path) -> None:
    found = published(model(hub(server, tmp_path, TOKEN), "org/large"))
    assert isinstance(found, Published)
    assert found.tensors is not None
    assert {request.headers.get("authorization") for request in server.seen("hub")} == {f"Bearer {TOKEN}"}
    assert [request.path for request in server.seen("store")] == ["/org/large/model.safetensors?X-Amz-Signature=secret"]
    assert "authorization" not in server.seen("store")[0].headers


def test_without_a_token_none_is_sent(server: Loopback, tmp_path: Path) -> None:
    published(model(hub(server, tmp_path), "org/large"))
    assert not [request for request in server.requests if "authorization" in request.headers]


@pytest.mark.parametrize(
    ("name", "token", "refusal", "said", "way_out"),
    [
        ("org/gated", None, "gated", "org/gated, config.json: it is gated", "and set HF_TOKEN: http://127.0.0.1:"),
        ("org/gated", "hf_other", "gated", "it is gated", "with the account of your token"),
        ("org/private", None, "repository", "org/private: there is no such model, or it is private", "HF_TOKEN"),
        ("org/nothing", None, "repository", "there is no such model", "spelling"),
        ("org/nothing", TOKEN, "repository", "there is no such model", "spelling"),
    ],
)
def test_what_the_hub_refuses_is_said(
    server: Loopback, tmp_path: Path, name: str, token: str | None, refusal: str, said: str, way_out: str
) -> None:
    with pytest.raises(Denied) as caught:
        published(model(hub(server, tmp_path, token), name))
    assert caught.value.refusal == refusal
    assert said in caught.value.message
    assert way_out in (caught.value.hint or "")
    assert "hf_" not in f"{caught.value.message}{caught.value.hint}"
    assert len([request for request in server.requests if "/api/" in request.path]) == 1  # no second try


def test_a_gated_model_is_named_with_its_page(server: Loopback, tmp_path: Path) -> None:
    with pytest.raises(Denied) as caught:
        published(model(hub(server, tmp_path), "org/gated"))
    assert (caught.value.hint or "").endswith(f"{server.hub}/org/gated")


def test_with_the_right_token_gated_and_private_models_are_read(server: Loopback, tmp_path: Path) -> None:
    for name in ("org/gated", "org/private"):
        assert isinstance(published(model(hub(server, tmp_path, TOKEN), name)), Published)


def test_a_revision_that_is_not_there(server: Loopback, tmp_path: Path) -> None:
    assert model(hub(server, tmp_path), "org/plain", COMMIT).revision == COMMIT
    with pytest.raises(Denied, match="org/plain at refs/pr/1: it has no such revision"):
        model(hub(server, tmp_path), "org/plain", "refs/pr/1")
    assert server.requests[-1].path == "/api/models/org/plain/revision/refs%2Fpr%2F1?blobs=true"


def test_what_passes_is_tried_again(server: Loopback, tmp_path: Path) -> None:
    waited: list[float] = []
    server.failing = [(503, {}), (429, {"Retry-After": "7"})]
    reader = model(Hub(server.hub, tmp_path, sleep=waited.append), "org/plain")
    assert isinstance(reader, HubModel)
    assert waited == [0.5, 7.0]


@pytest.mark.parametrize(
    ("failing", "said"),
    [
        ([(500, {})] * 3, "127.0.0.1 answers 500"),
        ([(429, {"Retry-After": "3600"})], "too many requests"),
        ([(418, {})], "127.0.0.1 answers 418"),
        ([(401, {})], "there is no such model, or it is private"),
    ],
)
def test_what_does_not_pass_is_said(
    server: Loopback, tmp_path: Path, failing: list[tuple[int, dict[str, str]]], said: str
) -> None:
    server.failing = list(failing)
    with pytest.raises(WorldError, match=said):
        model(hub(server, tmp_path), "org/plain")
    assert len(server.requests) == len(failing)


@pytest.mark.parametrize(("status", "said"), [(401, "the token is not accepted"), (403, "the token may not read it")])
def test_a_token_that_does_not_count(server: Loopback, tmp_path: Path, status: int, said: str) -> None:
    server.failing = [(status, {})]
    with pytest.raises(Denied, match=said) as caught:
        model(hub(server, tmp_path, TOKEN), "org/plain")
    assert "hf auth login" in (caught.value.hint or "")
    assert TOKEN not in f"{caught.value}{caught.value.hint}"


def test_nobody_there(tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with pytest.raises(WorldError, match=r"cannot connect to 127\.0\.0\.1") as caught:
        model(Hub(f"http://127.0.0.1:{port}", tmp_path, TOKEN, sleep=lambda _seconds: None), "org/plain")
    assert "HF_ENDPOINT" in (caught.value.hint or "")


@pytest.mark.parametrize("target", ["file:///etc/passwd", "", "/again", "ftp://x/y", "http://["])
def test_redirects_that_lead_nowhere_end(server: Loopback, tmp_path: Path, target: str) -> None:
    server.redirect = target
    with pytest.raises(WorldError) as caught:
        model(hub(server, tmp_path, TOKEN), "org/plain")
    assert TOKEN not in str(caught.value)
    assert len(server.requests) <= 15


@pytest.mark.parametrize(
    "info",
    [
        b"<html>",
        b"[" * 100_000,
        {"sha": "../../x", "siblings": []},
        {"sha": COMMIT},
        {"sha": 7, "siblings": []},
        {"siblings": [1]},
        {"sha": COMMIT, "siblings": [{"rfilename": f"f{number}"} for number in range(50_001)]},
    ],
    ids=lambda value: str(value)[:20],
)
def test_answers_that_are_no_hubs(server: Loopback, tmp_path: Path, info: object) -> None:
    server.repositories["org/plain"].info = info
    with pytest.raises(WorldError, match=r"hub|bound"):
        model(hub(server, tmp_path), "org/plain")


def test_odd_entries_of_a_listing_are_left_out(server: Loopback, tmp_path: Path) -> None:
    names: list[object] = ["../x", "/etc/passwd", "a//b", "a\nb", "\x1b[2J", "", "x" * 2000, 7, None, "fine.gguf"]
    entries = [{"rfilename": name, "size": -1, "lfs": {"sha256": "z"}} for name in names]
    server.repositories["org/plain"].info = {"sha": COMMIT, "siblings": [*entries, 5]}
    assert dict(model(hub(server, tmp_path), "org/plain").files) == {"fine.gguf": (None, None)}


def test_a_server_without_ranges_is_read_as_far_as_needed(server: Loopback, tmp_path: Path) -> None:
    server.ranges = False
    server.repositories["org/big"] = Repository({**FILES, "model.safetensors": WEIGHTS + bytes(20_000_000)})
    reader = model(hub(server, tmp_path), "org/big")
    assert isinstance(published(reader), Published)
    assert reader.read("model.safetensors", 4, 4) == WEIGHTS[4:8]
    with pytest.raises(WorldError, match="does not serve parts of files"):
        reader.read("model.safetensors", 9 * 1024 * 1024, 4)


def test_what_is_past_the_end_is_empty(server: Loopback, tmp_path: Path) -> None:
    reader = model(hub(server, tmp_path), "org/plain")
    assert reader.read("config.json", 10_000, 4) == b""
    assert reader.read("config.json", 0, 10_000) == CONFIG
    with pytest.raises(WorldError, match="has no file"):
        reader.read("other", 0, 4)


def test_an_indexed_repository_and_a_gguf_file(server: Loopback, tmp_path: Path) -> None:
    shards = {
        f"model-{number:05}-of-00012.safetensors": safetensors({f"t{number}": ("BF16", (4, 4))}) for number in range(12)
    }
    places = {f"t{number}": f"model-{number:05}-of-00012.safetensors" for number in range(12)}
    data = gguf(tmp_path / "m.gguf", llama_file)
    server.repositories["org/sharded"] = Repository(
        {"config.json": CONFIG, "model.safetensors.index.json": index(places), "m-Q6_K.gguf": data, **shards},
        cdn=frozenset({*shards, "m-Q6_K.gguf"}),
    )
    steps: list[tuple[str, int, int]] = []
    found = published(
        model(hub(server, tmp_path, TOKEN), "org/sharded"), ("q6_k",), progress=lambda *step: steps.append(step)
    )
    assert isinstance(found, Published)
    assert found.tensors is not None
    assert [tensor.name for tensor in found.tensors] == [f"t{number}" for number in range(12)]
    assert found.gguf[0].tensors == EXPECTED
    assert steps == [("config", 0, 1), *(("weights", number, 12) for number in range(12)), ("m-Q6_K.gguf", 0, 1)]
    assert not [request for request in server.seen("store") if "authorization" in request.headers]


def snapshot(tmp_path: Path, files: dict[str, bytes]) -> None:
    root = tmp_path / "cache" / "models--org--plain"
    (root / "refs").mkdir(parents=True)
    (root / "refs" / "main").write_text(COMMIT)
    (root / "blobs").mkdir()
    (root / "snapshots" / COMMIT).mkdir(parents=True)
    for number, (path, data) in enumerate(files.items()):
        (root / "blobs" / str(number)).write_bytes(data)
        (root / "snapshots" / COMMIT / path).symlink_to(root / "blobs" / str(number))


def test_what_the_cache_holds_is_not_asked_for(server: Loopback, tmp_path: Path) -> None:
    snapshot(tmp_path, {"config.json": CONFIG})
    found = published(model(hub(server, tmp_path), "org/plain"))
    assert isinstance(found, Published)
    assert found.config == {"model_type": "llama"}
    assert [request.path.rpartition("/")[2] for request in server.requests] == ["main?blobs=true", "model.safetensors"]


def test_offline_the_cache_is_all_there_is(server: Loopback, tmp_path: Path) -> None:
    with pytest.raises(WorldError, match="org/plain at main is not in the cache") as caught:
        model(hub(server, tmp_path, offline=True), "org/plain")
    assert "hf download org/plain" in (caught.value.hint or "")
    snapshot(tmp_path, {"config.json": CONFIG, "model.safetensors": WEIGHTS})
    reader = model(hub(server, tmp_path, offline=True), "org/plain")
    assert isinstance(reader, LocalModel)
    assert (reader.name, reader.revision) == ("org/plain", COMMIT)
    found = published(reader)
    assert isinstance(found, Published)
    assert found.tensors is not None
    assert not server.requests
    with pytest.raises(WorldError, match="not in the cache"):
        model(hub(server, tmp_path, offline=True), "org/plain", "../../../etc")


PROGRAM = """
import json, sys
from knaster.adapters.model_source import source
from knaster.weights import published
try:
    found = source(sys.argv[1])
    print(json.dumps([found.reader.name, found.reader.revision, found.only, sorted(found.reader.files)]))
except Exception as error:
    print(json.dumps([type(error).__name__, str(error)]))
"""


DOWNLOAD = """
import sys
from huggingface_hub import HfApi, hf_hub_download
info = HfApi().model_info(sys.argv[1], files_metadata=True)
print(info.sha, [(one.rfilename, one.size, one.lfs and one.lfs.sha256) for one in info.siblings])
for name in sys.argv[2:]:
    hf_hub_download(sys.argv[1], name)
"""


def test_what_the_hubs_own_client_downloads_is_read_offline(server: Loopback, tmp_path: Path) -> None:
    """The double speaks the hub's protocol, as huggingface_hub sees it, and its cache is the one that is read."""
    home = {"HF_HOME": str(tmp_path), "HF_ENDPOINT": server.hub, "HF_HUB_DISABLE_PROGRESS_BARS": "1"}
    environment = {**clean(), **home, "HF_HUB_DISABLE_TELEMETRY": "1"}
    names = ["config.json", "model.safetensors"]
    done = subprocess.run(
        [sys.executable, "-c", DOWNLOAD, "org/large", *names],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    sha256 = hashlib.sha256(WEIGHTS).hexdigest()
    theirs = [
        ("config.json", len(CONFIG), None),
        ("model.safetensors", len(WEIGHTS), sha256),
        ("onnx/model.onnx", 1, None),
    ]
    assert done.stdout.strip() == f"{COMMIT} {theirs}"
    ours = model(hub(server, tmp_path), "org/large").files
    assert [(path, *entry) for path, entry in ours.items()] == theirs
    before = len(server.requests)
    assert run("org/large", **home, HF_HUB_OFFLINE="1") == ["org/large", COMMIT, None, names]
    assert len(server.requests) == before


def clean() -> dict[str, str]:
    """This process's environment without what speaks of a hub."""
    return {name: value for name, value in os.environ.items() if not name.startswith(("HF_", "HUGGING"))}


def run(text: str, **environment: str) -> list[object]:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, text],
        env={**clean(), **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stderr == ""
    return json.loads(done.stdout)  # type: ignore[no-any-return]


def test_the_environment_names_hub_token_and_cache(server: Loopback, tmp_path: Path) -> None:
    home = {"HF_HOME": str(tmp_path), "HF_ENDPOINT": f"{server.hub}/"}
    assert run("org/plain:Q4_K_M", **home) == ["org/plain", COMMIT, "q4_k_m", sorted(FILES)]
    assert "authorization" not in server.requests[-1].headers
    (tmp_path / "token").write_text(f"{TOKEN}\n")
    assert run("org/private", **home)[1] == COMMIT
    assert run("org/private", **home, HF_TOKEN="hf_another")[0] == "Denied"
    assert server.requests[-1].headers["authorization"] == "Bearer hf_another"
    snapshot(tmp_path, {"config.json": CONFIG})
    assert run("org/plain", HF_HUB_CACHE=str(tmp_path / "cache"), HF_HUB_OFFLINE="1", HF_HOME=str(tmp_path)) == [
        "org/plain",
        COMMIT,
        None,
        ["config.json"],
    ]


@pytest.mark.parametrize("address", ["hub.example", "https://user:secret@hub.example", "ftp://x", "http://["])
def test_an_endpoint_that_is_none_is_not_shown(tmp_path: Path, address: str) -> None:
    name, said = run("org/plain", HF_ENDPOINT=address, HF_HOME=str(tmp_path))
    assert name in ("WorldError", "ValueError")
    assert "secret" not in str(said)
