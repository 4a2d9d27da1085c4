"""`knaster model plan` as a user runs it: fleets, sources, answers, exit status, and what --write leaves behind."""

from __future__ import annotations

import io
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from knaster.adapters import huggingface
from knaster.cli import main
from tests.hub_server import COMMIT, TOKEN, Loopback, Repository, loopback
from tests.model_fleets import BGE_M3, LLAMA_70B, QWEN3_14B, lay_fleet, lay_model, node_yaml
from tests.model_truth import TRUTH

ROOT = Path(__file__).parent.parent
ADA = ("NVIDIA RTX 4000 Ada Generation", 20, 8.9)
H100 = ("NVIDIA H100 80GB HBM3", 80, 9.0)
P2000 = ("Quadro P2000", 5, 6.1)
M4000 = ("Quadro M4000", 8, 5.2)
DECODER = ["Qwen3ForCausalLM"]
EMBEDDING_06: Mapping[str, object] = {**TRUTH["Qwen/Qwen3-0.6B"].config, "vocab_size": 151669, "architectures": DECODER}
REAL = (
    ("bge-m3-f16", "BAAI--bge-m3", BGE_M3, "1 x p2000-5g", "embedding"),
    ("bge-m3-q8_0", "BAAI--bge-m3", BGE_M3, "1 x p2000-5g", "embedding"),
    ("bge-reranker-v2-m3-f16", "BAAI--bge-reranker-v2-m3", BGE_M3, "1 x p2000-5g", "reranker"),
    ("bge-reranker-v2-m3-q8_0", "BAAI--bge-reranker-v2-m3", BGE_M3, "1 x p2000-5g", "reranker"),
    ("qwen3-embedding-0.6b-q8_0", "Qwen3-Embedding-0.6B", EMBEDDING_06, "1 x p2000-5g", "embedding"),
    (
        "qwen3-embedding-4b-q4_k_m",
        "Qwen3-Embedding-4B",
        TRUTH["Qwen/Qwen3-4B"].config,
        "1 x p2000-5g",
        "embedding",
    ),
    (
        "qwen3-embedding-8b-q4_k_m",
        "Qwen3-Embedding-8B",
        TRUTH["Qwen/Qwen3-Embedding-8B"].config,
        "1 x rtx4000ada-20g",
        "embedding",
    ),
    ("qwen3-4b-q4_k_m", "Qwen3-4B", TRUTH["Qwen/Qwen3-4B"].config, "1 x p2000-5g", "llm"),
    (
        "mistral-7b-instruct-v0.3-q4_k_m",
        "Mistral-7B-Instruct-v0.3",
        TRUTH["mistralai/Mistral-7B-Instruct-v0.3"].config,
        "1 x rtx4000ada-20g",
        "llm",
    ),
    ("phi-4-q4_k_m", "phi-4", TRUTH["microsoft/phi-4"].config, "1 x rtx4000ada-20g", "llm"),
    ("qwen3-14b-q4_k_m", "Qwen3-14B", QWEN3_14B, "1 x rtx4000ada-20g", "llm"),
)
"""Catalog model, repository, config, the cards that engineers run it on today, and its kind."""


@pytest.fixture
def real(tmp_path: Path) -> Path:
    """The real fleet in a folder of its own."""
    root = tmp_path / "fleet"
    for folder in ("inventory", "catalog"):
        shutil.copytree(ROOT / folder, root / folder)
    return root


@pytest.fixture
def qwen(tmp_path: Path) -> Path:
    """A folder with the config of a 14B."""
    return lay_model(tmp_path / "Qwen3-14B", QWEN3_14B)


def planned(root: Path, *args: str, status: int = 0) -> dict[str, Any]:
    """What the command answers, as data."""
    result = root / "answer.json"
    assert main(["-C", str(root), "model", "plan", *args, "--format", "json", "-o", str(result)]) == status
    answer: dict[str, Any] = json.loads(result.read_text("utf-8"))
    result.unlink()
    return answer


def cells(answer: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    """Where, precision and engine of each row that has nothing to spare."""
    return [(row["pool"], row["precision"], row["engine"]) for row in answer["rows"] if not row["spare"]]


@pytest.mark.parametrize(("name", "repository", "config", "where", "kind"), REAL, ids=[one[0] for one in REAL])
def test_the_real_fleet_is_told_to_run_what_it_runs(
    real: Path, tmp_path: Path, name: str, repository: str, config: Mapping[str, object], where: str, kind: str
) -> None:
    import yaml

    today = yaml.safe_load((real / "catalog/models.yaml").read_text("utf-8"))["models"][name]
    folder = lay_model(tmp_path / repository, config)
    wanted = ("--context", str(today["context"]), "--precision", today["precision"])
    answer = planned(real, str(folder), *wanted)
    assert cells(answer)[0] == (where, today["precision"], "llamacpp")
    entry = answer["entry"]["model"]
    assert (entry["kind"], entry["engines"], entry["context"]) == (kind, ["llamacpp"], today["context"])
    assert entry["vram_gb"] <= today["vram_gb"] + 0.5, "the catalog's own figure, give or take a buffer"
    pooling = [entry["args"][at + 1] for at, word in enumerate(entry["args"]) if word == "--pooling"]
    assert pooling == [today["args"][at + 1] for at, word in enumerate(today.get("args", ())) if word == "--pooling"]


def test_on_the_real_fleet_nothing_runs_under_vllm(real: Path, qwen: Path) -> None:
    every = "bf16,f16,fp8,q8_0,q6_k,q5_k_m,q4_k_m,q4_0,iq4_xs,mxfp4,awq,gptq"
    answer = planned(real, str(qwen), "--context", "4096", "--precision", every)
    assert {row["engine"] for row in answer["rows"]} == {"llamacpp"}
    absent = {(one["where"], one["precision"], one["engine"]): one["reason"] for one in answer["absent"]}
    assert "windows" in absent["rtx4000ada-20g", "fp8", "vLLM"]
    assert "compute capability" in absent["p2000-5g", "fp8", "vLLM"]
    assert "compute capability" in absent["p2000-5g", "bf16", "vLLM"]
    assert "GGUF" in absent["anywhere", "q4_k_m", "vLLM"]


def test_a_row_names_who_holds_its_cards(real: Path, qwen: Path) -> None:
    (row, *_) = planned(real, str(qwen), "--context", "16384", "--precision", "q4_k_m")["rows"]
    held = {card["node"]: card["held_by"] for place in row["where"] for card in place["cards"]}
    assert held == {"GODE-PC-05": ["gpu-general"], "GODE-PC-06": ["gpu-flex"]}


def test_free_leaves_nothing_of_a_full_fleet_and_says_whose_it_is(
    real: Path, qwen: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["-C", str(real), "model", "plan", str(qwen), "--context", "16k", "--free"]) == 1
    shown = capsys.readouterr().out
    assert "does not fit" in shown
    assert "GODE-PC-05/0 (held by gpu-general)" in shown


def test_a_node_of_four_cards(tmp_path: Path) -> None:
    root = lay_fleet(tmp_path / "four", node_yaml("quad", [ADA] * 4, memory_gb=256))
    folder = lay_model(tmp_path / "Llama-3.3-70B-Instruct", LLAMA_70B)
    answer = planned(root, str(folder), "--context", "16k")
    assert cells(answer) == [
        ("3 x rtx4000ada-20g", "q4_k_m", "llamacpp"),
        # 75.0 GB less 1.1 of embedding, and 5 GiB of cache: 73.7 GiB, and buffers, on 4 x 19.5
        ("4 x rtx4000ada-20g", "q8_0", "llamacpp"),
        ("CPU", "q8_0", "llamacpp"),
        ("CPU", "q4_k_m", "llamacpp"),
    ]
    assert answer["bytes_per_token"] == 327_680
    args = answer["entry"]["model"]["args"]
    assert args[-4:-1] == ["--split-mode", "layer", "--tensor-split"]
    small = planned(root, str(lay_model(tmp_path / "Qwen3-14B", QWEN3_14B)), "--context", "8k")
    assert cells(small)[:4] == [
        ("1 x rtx4000ada-20g", "q8_0", "llamacpp"),
        ("1 x rtx4000ada-20g", "q4_k_m", "llamacpp"),
        ("2 x rtx4000ada-20g", "bf16", "vllm"),
        ("2 x rtx4000ada-20g", "fp8", "vllm"),
    ]


BIG = {
    **LLAMA_70B,
    "num_hidden_layers": 126,
    "hidden_size": 16384,
    "num_attention_heads": 128,
    "intermediate_size": 53248,
}
"""Llama 3.1 405B."""


def test_a_fabric_of_nodes(tmp_path: Path) -> None:
    nodes = [
        node_yaml(name, [H100] * 8, fabric=fabric)
        for name, fabric in (("a1", "ib0"), ("a2", "ib0"), ("b1", "ib1"), ("b2", "ib1"), ("c1", "ib2"))
    ]
    root = lay_fleet(tmp_path / "fabrics", *nodes)
    answer = planned(root, str(lay_model(tmp_path / "Llama-3.1-405B", BIG)), "--context", "16k", "--precision", "bf16")
    assert cells(answer) == [("2 nodes x 8 x h100-80g", "bf16", "vllm")]
    (row,) = answer["rows"]
    assert [(place["fabric"], sorted({card["node"] for card in place["cards"]})) for place in row["where"]] == [
        ("ib0", ["a1", "a2"]),
        ("ib1", ["b1", "b2"]),
    ]
    assert (answer["entry"]["model"]["tensor_parallel"], answer["entry"]["model"]["nodes"]) == (16, 2)


def test_nodes_without_a_fabric_are_no_pool(tmp_path: Path) -> None:
    root = lay_fleet(tmp_path / "loose", *(node_yaml(name, [H100] * 8) for name in ("a1", "a2")))
    folder = lay_model(tmp_path / "Llama-3.1-405B", BIG)
    answer = planned(root, str(folder), "--context", "16k", "--precision", "bf16", status=1)
    assert any("no common fabric" in one["reason"] for one in answer["absent"])


def test_a_fleet_without_cards(tmp_path: Path, qwen: Path) -> None:
    root = lay_fleet(tmp_path / "cpu", node_yaml("c1", [], memory_gb=128), node_yaml("c2", [], memory_gb=24))
    answer = planned(root, str(qwen), "--context", "8k")
    assert cells(answer) == [("CPU", "q8_0", "llamacpp"), ("CPU", "q4_k_m", "llamacpp")]
    rooms = {row["precision"]: [place["node"] for place in row["where"]] for row in answer["rows"]}
    # 15.7 GB and 1.25 GiB and 2 GiB are more than the 20 GiB that c2 has for guests; 9 GB are not
    assert rooms == {"q8_0": ["c1", "c2"], "q4_k_m": ["c1", "c2"]}
    entry = answer["entry"]["model"]
    assert round(entry["min_memory_gb"] - entry["vram_gb"], 2) == 2


def test_one_build_serves_a_split_over_maxwell_and_ada(tmp_path: Path) -> None:
    root = lay_fleet(tmp_path / "mix", node_yaml("mix", [P2000, M4000, ADA]))
    folder = lay_model(tmp_path / "Qwen3-30B-A3B", TRUTH["Qwen/Qwen3-30B-A3B"].config)
    answer = planned(root, str(folder), "--context", "32k", "--precision", "q4_k_m")
    split = next(row for row in answer["rows"] if row["split"] == "layer")
    assert (split["pool"], split["build"]) == ("1 x p2000-5g + 1 x rtx4000ada-20g", "CUDA 12")


def test_no_usable_node_is_nothing_to_plan_against(
    tmp_path: Path, qwen: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = lay_fleet(tmp_path / "down", node_yaml("a", [ADA], state="down", reason="moved"))
    assert main(["-C", str(root), "model", "plan", str(qwen)]) == 1
    shown = capsys.readouterr().out
    assert shown.startswith("nothing to plan against")
    assert "a/0: a is down: moved" in shown


def test_what_does_not_fit_says_what_would_change_it_and_that_is_true(real: Path, qwen: Path) -> None:
    answer = planned(real, str(qwen), "--precision", "q8_0", status=1)
    changes = {one["kind"]: one for one in answer["changes"]}
    assert set(changes) == {"context", "precision", "cards"}
    options = changes["context"]["options"].split()
    longest = int(options[1])
    assert planned(real, str(qwen), "--precision", "q8_0", *options)["rows"]
    planned(real, str(qwen), "--precision", "q8_0", "--context", str(longest + 256), status=1)
    assert planned(real, str(qwen), *changes["precision"]["options"].split())["rows"]
    assert changes["cards"]["row"]["pool"] == "2 x rtx4000ada-20g"


@pytest.mark.parametrize("name", ["kimi_k3", "deepseek_v4", "minimax_m3", "glm5_moe"])
def test_an_unknown_architecture_is_never_a_number(
    real: Path, tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = lay_model(tmp_path / "new", {**QWEN3_14B, "model_type": name})
    assert main(["-C", str(real), "model", "plan", str(folder)]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "cannot tell" in shown.err
    assert name in shown.err


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["--precision", "q4_k_m,int3"], "there is no precision int3"),
        (["--precision", ","], "there is no precision"),
        (["--precision", "q9_q"], "there is no precision q9_q"),
        (["--kv-precision", "q1"], "there is no KV cache of precision q1"),
        (["--context", "0"], "--context 0 is no number that can be used"),
        (["--context", "many"], "--context many is no number"),
        (["--context=-5"], "--context -5 is no number"),
        (["--parallel", "0.5"], "--parallel 0.5 is no number"),
        (["--params", "x"], "--params x is no number"),
        (["--params", "1M"], "cannot tell"),
        (["--parallel", "0"], "give a number of sequences, such as 4"),
        (["--name", "a b/c"], "--name a b/c is no name of a model"),
        (["--name", ""], "--name  is no name of a model"),
        (["--name", "x" * 101], "is no name of a model"),
    ],
)
def test_options_that_cannot_be_used(
    real: Path, qwen: Path, args: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["-C", str(real), "model", "plan", str(qwen), *args]) == 2
    shown = capsys.readouterr()
    assert message in shown.err
    assert shown.out == ""
    if "precision q" in message or "int3" in message:
        assert "known: " in shown.err


def test_options_in_the_words_of_people(real: Path, qwen: Path) -> None:
    answer = planned(real, str(qwen), "--context", "16,384", "--precision", "Q4_K_M", "--params", "14.8B")
    assert (answer["context"], answer["model"]["parameters"], answer["model"]["exact"]) == (
        16384,
        14_800_000_000,
        False,
    )


def test_a_context_that_was_not_trained_is_said(real: Path, tmp_path: Path, qwen: Path) -> None:
    answer = planned(real, str(qwen), "--context", "64k", "--kv-precision", "q4_0", "--precision", "q4_k_m")
    assert any("RoPE" in note for note in answer["notes"])
    encoder = lay_model(tmp_path / "bge-m3", BGE_M3)
    assert main(["-C", str(real), "model", "plan", str(encoder), "--context", "16k"]) == 2


def test_markdown_and_text_show_the_same_and_the_entry_can_be_pasted(
    real: Path, qwen: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    args = ["-C", str(real), "model", "plan", str(qwen), "--context", "16k", "--precision", "q4_k_m"]
    assert main(args) == 0
    text = capsys.readouterr().out
    assert main([*args, "--format", "markdown"]) == 0
    markdown = capsys.readouterr().out
    entry = text[text.index("  qwen3-14b-q4_k_m:") :]
    assert f"```yaml\n{entry}```\n" in markdown
    assert "14.8B parameters, 40 layers, 8 KV heads of 128" in text
    assert "planned for 16,384 tokens; 163,840 bytes of KV cache per token" in text
    models = real / "catalog/models.yaml"
    models.write_text(models.read_text("utf-8") + entry.replace("qwen3-14b-q4_k_m:", "pasted:"), "utf-8")
    assert main(["-C", str(real), "validate", "-q"]) == 0


def test_explain_lists_every_absence(real: Path, qwen: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["-C", str(real), "model", "plan", str(qwen), "--context", "16k", "--explain"]) == 0
    shown = capsys.readouterr().out
    assert re.search(r"^absent\nWHERE +PRECISION +ENGINE +WHY NOT$", shown, re.MULTILINE)
    assert "pve44/0: disabled: Back only after a llama-bench run" in shown
    assert "pve61: no CPU rows: pve61 is without CPU roles" in shown
    assert "pytorch: what it needs is not calculated" in shown


def test_write_adds_the_entry_and_its_record_and_nothing_else(
    real: Path, qwen: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    models = real / "catalog/models.yaml"
    before = models.read_text("utf-8")
    args = ["-C", str(real), "model", "plan", str(qwen), "--context", "16k", "--name", "general", "--write"]
    assert main(args) == 0
    assert "written: catalog/models.yaml, catalog/architectures/general.yaml" in capsys.readouterr().out
    after = models.read_text("utf-8")
    assert after.startswith(before.rstrip("\n"))
    assert "  general:\n    # Estimated by knaster model plan" in after
    assert main(["-C", str(real), "validate", "-q"]) == 0
    assert "general" not in capsys.readouterr().out
    assert main(args) == 0
    assert "it is there already" in capsys.readouterr().out
    assert models.read_text("utf-8") == after


def test_write_never_changes_a_model_that_is_there(real: Path, qwen: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = (real / "catalog/models.yaml").read_bytes()
    args = ["-C", str(real), "model", "plan", str(qwen), "--context", "16k", "--precision", "q4_k_m", "--write"]
    assert main(args) == 2
    assert "has a model qwen3-14b-q4_k_m already" in capsys.readouterr().err
    assert (real / "catalog/models.yaml").read_bytes() == before


def test_write_refuses_what_validate_would_refuse(real: Path, qwen: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = (real / "catalog/models.yaml").read_bytes()
    roles = real / "catalog/roles.yaml"
    roles.write_text(roles.read_text("utf-8").replace("model: bge-m3-f16", "model: bge-m3-f32"), "utf-8")
    args = ["-C", str(real), "model", "plan", str(qwen), "--context", "16k", "--name", "new", "--write"]
    assert main(args) == 1
    assert "nothing was written" in capsys.readouterr().out
    assert (real / "catalog/models.yaml").read_bytes() == before
    assert not (real / "catalog/architectures/new.yaml").exists()


def test_write_follows_no_link(real: Path, qwen: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    shutil.rmtree(real / "catalog/architectures", ignore_errors=True)
    (real / "catalog/architectures").symlink_to(elsewhere)
    status = main(["-C", str(real), "model", "plan", str(qwen), "--context", "16k", "--name", "x", "--write"])
    assert status in (1, 2)
    assert list(elsewhere.iterdir()) == []


def test_a_fleet_that_does_not_load_is_told_not_planned(
    real: Path, qwen: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (real / "catalog/roles.yaml").write_text("roles: [\n", "utf-8")
    assert main(["-C", str(real), "model", "plan", str(qwen)]) == 1
    assert "nothing was planned" in capsys.readouterr().out


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Loopback]:
    """A hub with a model, a gated one, and one that is none."""
    config = json.dumps(QWEN3_14B).encode()
    with loopback(
        **{
            "Qwen3-14B": Repository({"config.json": config}),
            "gated": Repository({"config.json": config}, gated=True),
            "diffusion": Repository({"model_index.json": b"{}"}),
            "new": Repository({"config.json": json.dumps({**QWEN3_14B, "model_type": "kimi_k3"}).encode()}),
        }
    ) as state:
        client = huggingface.Hub(state.hub, tmp_path / "cache", None, offline=False, sleep=lambda _seconds: None)
        monkeypatch.setattr(huggingface, "hub", lambda: client)
        yield state


def test_a_repository_of_the_hub(
    real: Path, tmp_path: Path, hub: Loopback, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    known = huggingface.Hub(hub.hub, tmp_path / "own", TOKEN, offline=False, sleep=lambda _seconds: None)
    monkeypatch.setattr(huggingface, "hub", lambda: known)
    answer = planned(real, "org/Qwen3-14B", "--context", "16k", "--precision", "q4_k_m")
    assert (answer["model"]["name"], answer["model"]["revision"]) == ("org/Qwen3-14B", COMMIT)
    assert cells(answer)[0] == ("1 x rtx4000ada-20g", "q4_k_m", "llamacpp")
    assert "#   hf download org/Qwen3-14B --local-dir Qwen3-14B" in answer["entry"]["yaml"]
    assert TOKEN not in json.dumps(answer) + capsys.readouterr().err
    assert hub.seen("hub")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("org/gated", "gated"),
        ("org/missing", "there is no such model, or it is private"),
        ("org/diffusion", "a pipeline of diffusers"),
        ("org/new", "cannot tell whether org/new fits"),
        ("no such name", "this names no model"),
        ("/no/such/folder", "there is no /no/such/folder"),
    ],
)
@pytest.mark.usefixtures("hub")
def test_what_cannot_be_read_ends_with_2(
    real: Path, name: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["-C", str(real), "model", "plan", name]) == 2
    shown = capsys.readouterr()
    assert message in shown.err
    assert (shown.out, TOKEN in shown.err, "Traceback" in shown.err) == ("", False, False)


def test_the_environment_names_the_hub(real: Path, tmp_path: Path) -> None:
    with loopback(**{"Qwen3-14B": Repository({"config.json": json.dumps(QWEN3_14B).encode()})}) as state:
        clean = {name: value for name, value in os.environ.items() if not name.startswith(("HF_", "HUGGING"))}
        home = {"HF_ENDPOINT": state.hub, "HF_HOME": str(tmp_path / "home")}
        command = [
            sys.executable,
            "-m",
            "knaster",
            "-C",
            str(real),
            "model",
            "plan",
            "org/Qwen3-14B",
            "--context",
            "16k",
        ]
        ran = subprocess.run(command, cwd=ROOT, env={**clean, **home}, capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert "1 x rtx4000ada-20g  q4_k_m     llamacpp" in ran.stdout


def test_a_local_model_loads_nothing_that_speaks_to_the_network(real: Path, qwen: Path) -> None:
    code = (
        "import sys; from knaster.cli import main; "
        f"assert main(['-C', {str(real)!r}, 'model', 'plan', {str(qwen)!r}, '-q']) == 0; "
        "print(sorted({name.partition('.')[0] for name in sys.modules} & "
        "{'huggingface_hub', 'httpx', 'requests', 'numpy', 'gguf', 'ssl', 'jinja2', 'deepdiff'}))"
    )
    ran = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert ran.stdout == "[]\n"


HOSTILE = "a\u202eb\x1b[31m<script>`|@x"


def test_hostile_names_reach_no_terminal(real: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = lay_model(tmp_path / HOSTILE, {**QWEN3_14B, "architectures": [HOSTILE]})
    for form in ("text", "markdown", "json"):
        assert main(["-C", str(real), "model", "plan", str(folder), "--context", "16k", "--format", form]) == 0
        shown = capsys.readouterr().out
        assert "\x1b" not in shown
        assert "\u202e" not in shown
    assert main(["-C", str(real), "model", "plan", str(folder), "--context", "16k", "--write", "-q"]) == 0
    assert main(["-C", str(real), "validate", "-q"]) == 0


def test_a_name_that_leads_elsewhere_writes_nothing(real: Path, qwen: Path, tmp_path: Path) -> None:
    args = ["-C", str(real), "model", "plan", str(qwen), "--context", "16k", "--write", "--name"]
    assert main([*args, "../../../evil"]) == 2
    assert list(tmp_path.rglob("evil*")) == []


def test_the_errors_of_the_fleet_are_not_hidden(real: Path, qwen: Path, capsys: pytest.CaptureFixture[str]) -> None:
    roles = real / "catalog/roles.yaml"
    roles.write_text(roles.read_text("utf-8").replace("model: bge-m3-f16", "model: bge-m3-f32"), "utf-8")
    assert main(["-C", str(real), "model", "plan", str(qwen), "--context", "16k"]) == 0
    assert "the fleet has 1 error, shown by knaster validate" in capsys.readouterr().out
    answer = planned(real, str(qwen), "--context", "16k")
    assert [one["severity"] for one in answer["diagnostics"]].count("error") == 1


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_slow_reads_are_told_on_a_terminal_and_nowhere_else(
    real: Path, qwen: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    args = ["-C", str(real), "model", "plan", str(qwen), "--context", "16k"]
    assert main(args) == 0
    assert capsys.readouterr().err == ""
    terminal = _Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    assert main(args) == 0
    assert terminal.getvalue() == "\r\x1b[Kreading 1 of 1: config\r\x1b[K"


FLEETS = {
    "four cards": ((node_yaml("quad", [ADA] * 4, memory_gb=256),), ("2 x rtx4000ada-20g", "bf16", "vllm")),
    "a fabric": (
        tuple(node_yaml(name, [ADA], memory_gb=64, fabric="ib0") for name in ("a1", "a2")),
        ("2 nodes x 1 x rtx4000ada-20g", "bf16", "vllm"),
    ),
    "no fabric": (tuple(node_yaml(name, [ADA], memory_gb=64) for name in ("a1", "a2")), None),
    "unlike cards": (
        (node_yaml("mix", [P2000, M4000], memory_gb=64),),
        ("1 x p2000-5g + 1 x m4000-8g", "q4_k_m", "llamacpp"),
    ),
    "no cards": ((node_yaml("c1", [], memory_gb=64),), ("CPU", "q8_0", "llamacpp")),
}
"""Profiles, and a row that only such a fleet has."""


@pytest.mark.usefixtures("hub")
@pytest.mark.parametrize("name", FLEETS)
def test_every_kind_of_fleet_gets_its_rows_and_an_entry_that_validate_takes(
    tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    profiles, row = FLEETS[name]
    root = lay_fleet(tmp_path / "some", *profiles)
    answer = planned(root, "org/Qwen3-14B", "--context", "8k", "--write")
    assert row is None or row in cells(answer)
    assert row is not None or not any(nodes["nodes"] > 1 for nodes in answer["rows"])
    assert main(["-C", str(root), "validate"]) == 0
    assert capsys.readouterr().out.endswith("0 warnings, 0 errors\n")


@pytest.mark.parametrize(
    ("name", "head"),
    [
        ("Qwen/Qwen3-14B", "14.8B parameters, 40 layers, 8 KV heads of 128, stored as bf16, trained context 40,960"),
        # 34 layers, of which each sixth sees everything
        ("google/gemma-3-4b-it", "34 layers (5 full, 29 sliding), 4 KV heads of 256"),
        # 48 layers, of which each fourth attends; 576 = 512 + 64 of DeepSeek
        ("Qwen/Qwen3-Next-80B-A3B-Instruct", "48 layers (12 full, 36 recurrent), 2 KV heads of 256, 512 experts"),
        ("deepseek-ai/DeepSeek-R1", "61 layers, latent KV of 576, 256 experts, stored as fp8"),
        ("BAAI/bge-m3", "24 layers, encoder, no KV cache, stored as f32, trained context 8,192"),
    ],
)
def test_the_head_tells_what_memory_depends_on(
    real: Path, tmp_path: Path, name: str, head: str, capsys: pytest.CaptureFixture[str]
) -> None:
    own = {"Qwen/Qwen3-14B": QWEN3_14B, "BAAI/bge-m3": BGE_M3}
    config = own[name] if name in own else TRUTH[name].config
    main(["-C", str(real), "model", "plan", str(lay_model(tmp_path / "m", config)), "--context", "4k"])
    assert head in capsys.readouterr().out.partition("\n")[0]
