"""`bench llm` as people run it: a llama-bench and an nvidia-smi that do what they are told, and runs made elsewhere."""

from __future__ import annotations

import io
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from ast import literal_eval
from pathlib import Path
from typing import Any

import pytest

from knaster.adapters import profiles
from knaster.cli import main
from tests.llama_runs import GENERATION, LAYOUTS, PROMPT, UUID, llama_bench, nvidia_smi, output, program, row

ROOT = Path(__file__).parent.parent
MODEL = "mistral-7b-instruct-v0.3-q4_k_m"
HISTORY = f"catalog/benchmarks/{MODEL}.yaml"
Capture = pytest.CaptureFixture[str]

FIRST, SECOND = f"[\n{row('2026', PROMPT)}", f",\n{row('2026', GENERATION)}"
END = "\n]\n"


@pytest.fixture
def fleet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The data of this repository and a model's file; the PATH holds what a test puts into ``bin`` alone."""
    for folder in ("inventory", "catalog", "schemas"):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    (tmp_path / "m.gguf").write_bytes(b"GGUF")
    (tmp_path / "bin").mkdir()
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def bench(capsys: Capture, *words: str, card: str = "pve44/0") -> dict[str, Any]:
    """The JSON report of `bench llm`, with the exit status under ``exit``."""
    capsys.readouterr()
    status = main(["bench", "llm", MODEL, "--card", card, "--format", "json", *words])
    said = capsys.readouterr()
    return {"exit": status, "stderr": said.err, **(json.loads(said.out) if said.out else {})}


def figures(found: dict[str, Any]) -> dict[str, float]:
    return {one["metric"]: one["value"] for one in found["figures"]}


def messages(found: dict[str, Any]) -> list[str]:
    return [f"{one['code']}: {one['message']}" for one in found["diagnostics"]]


def measured(fleet: Path) -> str:
    """The lines of the catalog that were not there before."""
    old = (ROOT / "catalog/models.yaml").read_text("utf-8").splitlines()
    new = (fleet / "catalog/models.yaml").read_text("utf-8").splitlines()
    assert [line for line in new if line in old] == old
    return "\n".join(line for line in new if line not in old)


def test_a_run_here_is_measured_with_its_power_and_recorded(fleet: Path, capsys: Capture) -> None:
    llama_bench(fleet / "bin", FIRST, SECOND, END)
    nvidia_smi(fleet / "bin", f"assert sys.argv[-2:] == ['-i', {UUID!r}]; print('80.00')")
    found = bench(capsys, "--file", "m.gguf")
    assert found["exit"] == 0, found
    assert figures(found) == {"prompt_rate": 200.0, "generation_rate": 16.0, "power": 80.0, "efficiency": 0.2}
    assert [one["test"] for one in found["tests"]] == ["pp512", "tg128"]
    assert found["recorded"] == [HISTORY, "catalog/models.yaml"]
    assert measured(fleet).count("\n") == 4
    assert (
        '      - {metric: generation_rate, value: 16, unit: token/s, spread: 0.25, card: "Quadro M4000", node: pve44, '
        'engine: llamacpp, build: "b5163 (8cf427ff)", date: "2026-11-29", source: "llama-bench tg128"}'
    ) in measured(fleet)
    arguments, visible = literal_eval((fleet / "bin/told").read_text("utf-8"))
    assert visible == UUID
    assert arguments == ["-m", str(fleet / "m.gguf"), "-o", "json", "-p", "512", "-n", "128", "-r", "5"]


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_run_made_elsewhere(layout: str, fleet: Path, capsys: Capture) -> None:
    (fleet / "run.json").write_text(output(layout), encoding="utf-8")
    found = bench(capsys, "--import", "run.json", "--power-watts", "80")
    assert (found["exit"], found["node"], found["card"]) == (0, "pve44", "Quadro M4000")
    assert figures(found) == {"prompt_rate": 200.0, "generation_rate": 16.0, "power": 80.0, "efficiency": 0.2}
    assert found["diagnostics"] == []


def test_a_run_from_standard_input_with_a_log_of_power(
    fleet: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = "timestamp, power.draw [W]\n" + "".join(f"2026/11/29 10:00:{at:02}.000, 64.00 W\n" for at in range(30))
    (fleet / "power.csv").write_text(log, encoding="utf-8")
    stdin = io.TextIOWrapper(io.BytesIO(output("2025").encode("utf-16")))  # as PowerShell's > writes it
    monkeypatch.setattr(sys, "stdin", stdin)
    found = bench(capsys, "--import", "-", "--power-log", "power.csv", card="nvidia quadro m4000")
    assert found["card"] == "Quadro M4000"
    assert figures(found) == {"prompt_rate": 200.0, "generation_rate": 16.0, "power": 64.0, "efficiency": 0.25}
    assert (found["node"], found["power"]["samples"], found["power"]["seconds"]) == (None, 30, 29.0)


def test_a_dry_run_writes_nothing(fleet: Path, capsys: Capture) -> None:
    (fleet / "run.json").write_text(output("2026"), encoding="utf-8")
    found = bench(capsys, "--import", "run.json", "--dry-run")
    assert (found["exit"], found["not_recorded"], found["recorded"]) == (0, "--dry-run", [])
    assert measured(fleet) == ""
    assert not (fleet / HISTORY).exists()


def test_without_nvidia_smi_there_is_no_power_and_it_says_so(fleet: Path, capsys: Capture) -> None:
    llama_bench(fleet / "bin", FIRST, SECOND, END)
    found = bench(capsys, "--file", "m.gguf")
    assert found["exit"] == 0
    assert figures(found) == {"prompt_rate": 200.0, "generation_rate": 16.0}
    assert messages(found) == ["bench-power: no power: there is no nvidia-smi here"]


@pytest.mark.parametrize(
    ("power", "why"),
    [
        ("print('[N/A]')", "nvidia-smi shows no power of this card"),
        ("print('ERR!')", "nvidia-smi shows no power of this card"),
        ("print('Unable to determine the device handle'); sys.exit(15)", "nvidia-smi ended with status 15: Unable to"),
        ("os.kill(os.getpid(), 9)", "nvidia-smi ended with status -9"),
    ],
)
def test_an_nvidia_smi_that_fails_costs_the_power_alone(power: str, why: str, fleet: Path, capsys: Capture) -> None:
    llama_bench(fleet / "bin", FIRST, SECOND, END, end="time.sleep(0.3)")
    nvidia_smi(fleet / "bin", power)
    found = bench(capsys, "--file", "m.gguf")
    assert found["exit"] == 0
    assert messages(found)[0].startswith(f"bench-power: no power: {why}")


def test_answers_with_gaps_still_give_a_mean(fleet: Path, capsys: Capture) -> None:
    """Every second question fails."""
    llama_bench(fleet / "bin", FIRST, SECOND, END, end="time.sleep(2.5)")
    count = str(fleet / "count")
    power = f"open({count!r}, 'a').write('x'); print('70.00' if len(open({count!r}).read()) % 2 else '[N/A]')"
    nvidia_smi(fleet / "bin", power)
    found = bench(capsys, "--file", "m.gguf")
    assert figures(found)["power"] == 70.0


def test_a_crash_keeps_the_complete_tests_and_marks_them(fleet: Path, capsys: Capture) -> None:
    llama_bench(
        fleet / "bin", FIRST, SECOND[:200], end="sys.stderr.write('CUDA error\\nout of memory\\n'); sys.exit(1)"
    )
    nvidia_smi(fleet / "bin")
    found = bench(capsys, "--file", "m.gguf")
    assert (found["exit"], found["partial"]) == (1, True)
    assert messages(found)[0] == (
        "bench-run: only a part was measured, and is marked so: llama-bench was cut: it ended with status 1: "
        "CUDA error | out of memory"
    )
    assert set(figures(found)) >= {"prompt_rate"}
    assert "partial: true" in measured(fleet)


def test_a_crash_before_any_test_measures_nothing(fleet: Path, capsys: Capture) -> None:
    llama_bench(fleet / "bin", end="sys.stderr.write('error: failed to load model\\n'); os.abort()")
    found = bench(capsys, "--file", "m.gguf")
    assert (found["exit"], found["measured"], found["recorded"]) == (1, False, [])
    assert messages(found) == [
        "bench-run: llama-bench measured nothing: it ended with signal SIGABRT: error: failed to load model"
    ]
    assert measured(fleet) == ""


def test_a_run_that_hangs_is_ended_with_what_it_has(fleet: Path, capsys: Capture) -> None:
    llama_bench(fleet / "bin", FIRST, end="import subprocess; subprocess.run(['/bin/sleep', '600'])")
    found = bench(capsys, "--file", "m.gguf", "--timeout", "1")
    assert (found["exit"], found["partial"], figures(found)) == (1, True, {"prompt_rate": 200.0})
    assert "it did not end within 1 s" in messages(found)[0]


@pytest.mark.parametrize("told", [["SIGINT"], ["SIGTERM"], ["SIGHUP"], ["SIGINT", "SIGINT", "SIGTERM"]])
def test_an_interruption_loses_nothing_measured(fleet: Path, told: list[str]) -> None:
    """A process of its own, told to stop once the first test is there: by Ctrl-C, by the system, by an ssh session that
    breaks, by somebody without patience."""
    llama_bench(fleet / "bin", FIRST, SECOND[:100], end="time.sleep(600)")
    command = [sys.executable, "-m", "knaster", "bench", "llm", MODEL, "--card", "pve44/0", "--file", "m.gguf"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(
        command, cwd=fleet, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        wait_for(fleet / "bin/told")
        time.sleep(0.5)
        for name in told:
            process.send_signal(getattr(signal, name))
        said, complaints = process.communicate(timeout=60)
    assert process.returncode == 130, complaints
    assert b"measured in part (interrupted): 1 test" in said
    assert "metric: prompt_rate, value: 200" in measured(fleet)
    assert "partial: true" in (fleet / HISTORY).read_text("utf-8")


def test_runs_that_end_at_once_lose_nothing_of_each_other(fleet: Path) -> None:
    """Somebody else is in the middle of writing into the catalog: the record waits, and reads it anew."""
    catalog = fleet / "catalog/models.yaml"
    (fleet / "run.json").write_text(output("2026"), encoding="utf-8")
    command = [
        sys.executable,
        "-P",
        "-m",
        "knaster",
        "bench",
        "llm",
        MODEL,
        "--card",
        "pve44/0",
        "--import",
        "run.json",
    ]
    with profiles.opened(fleet / "catalog") as folder, profiles.locked(folder):
        process = subprocess.Popen(
            command, cwd=fleet, env={**os.environ, "PYTHONPATH": str(ROOT)}, stdout=subprocess.DEVNULL
        )
        time.sleep(2)
        catalog.write_text(catalog.read_text("utf-8") + "# by somebody else\n", encoding="utf-8")
    assert process.wait(60) == 0
    assert catalog.read_text("utf-8").endswith("# by somebody else\n")
    assert measured(fleet).count("metric:") == 2


def wait_for(path: Path) -> None:
    for _ in range(600):
        if path.exists():
            return
        time.sleep(0.1)
    raise AssertionError(f"{path} did not appear")


@pytest.mark.parametrize(
    ("other", "why"),
    [
        ({"gpu_info": "Quadro P2000"}, "pp512 ran on Quadro P2000, not on Quadro M4000"),
        ({"gpu_info": "Quadro M4000, Quadro P2000"}, "pp512 ran on 2 cards at once: Quadro M4000, Quadro P2000"),
        ({"gpu_info": ""}, "pp512 ran on the CPU: it saw no card"),
        ({"n_gpu_layers": 0}, "pp512 ran on the CPU: it saw Quadro M4000, but used none"),
    ],
)
def test_a_figure_of_another_card_is_never_recorded(
    other: dict[str, Any], why: str, fleet: Path, capsys: Capture
) -> None:
    rows = [row("2026", test, **other) for test in (PROMPT, GENERATION)]
    (fleet / "run.json").write_text(output("2026", *rows), encoding="utf-8")
    found = bench(capsys, "--import", "run.json", "--power-watts", "80")
    assert (found["exit"], found["figures"], found["recorded"]) == (1, [], [])
    assert messages(found) == [f"bench-run: this run is not recorded: {why}"]
    assert measured(fleet) == ""


def test_rows_of_two_models_are_no_run(fleet: Path, capsys: Capture) -> None:
    text = output("2026", row("2026", PROMPT), row("2026", GENERATION, model_filename="other.gguf"))
    (fleet / "run.json").write_text(text, encoding="utf-8")
    found = bench(capsys, "--import", "run.json")
    assert "it is of 2 models: Mistral-7B-Instruct-v0.3-Q4_K_M.gguf, other.gguf" in messages(found)[0]


@pytest.mark.parametrize("text", ["", "<html>\x1b]0;x\x07", "[{}]", '[{"n_gen": NaN}]', '[{"a":' + "[" * 90_000])
def test_hostile_files_are_refused_in_words(text: str, fleet: Path, capsys: Capture) -> None:
    (fleet / "run.json").write_text(text, encoding="utf-8")
    found = bench(capsys, "--import", "run.json")
    assert (found["exit"], found["recorded"], found["stderr"]) == (1, [], "")
    assert [one["code"] for one in found["diagnostics"]] == ["bench-run"]


def test_names_out_of_a_file_are_inert_on_a_terminal(fleet: Path, capsys: Capture) -> None:
    odd = row("2026", GENERATION, gpu_info="Quadro \x1b[31mP2000")
    (fleet / "run.json").write_text(output("2026", odd), encoding="utf-8")
    assert main(["bench", "llm", MODEL, "--card", "pve44/0", "--import", "run.json"]) == 1
    assert "\x1b" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["bench", "llm", "mistral", "--card", "pve44/0", "--file", "m.gguf"], 'has no model "mistral"'),
        (["bench", "llm", "qwen3-tts-1.7b-bf16", "--card", "pve44/0", "--file", "m.gguf"], "does not run on llamacpp"),
        (["bench", "llm", MODEL, "--card", "pve44/9", "--file", "m.gguf"], 'there is no card "pve44/9"'),
        (["bench", "llm", MODEL, "--card", "pve4/0", "--file", "m.gguf"], 'there is no card "pve4/0"'),
        (["bench", "llm", MODEL, "--card", "pve44/0", "--file", "none.gguf"], "there is no file none.gguf"),
        (["bench", "llm", MODEL, "--card", "pve44/0", "--file", "m.gguf"], "cannot start llama-bench"),
        (["bench", "llm", MODEL, "--card", "pve44/0", "--import", "none.json"], "there is no file none.json"),
        (["bench", "llm", MODEL, "--card", "pve44/0", "--file", "m.gguf", "--power-watts", "3"], "belong to --import"),
        (
            ["bench", "llm", MODEL, "--card", "pve44/0", "--import", "m.gguf", "--power-watts", "nan"],
            "no power in watts",
        ),
        (["bench", "llm", MODEL, "--card", "pve44/0", "--import", "m.gguf", "--node", "pve46"], "is not in pve46"),
        (["bench", "llm", MODEL, "--card", "pve44/0"], "one of the arguments --file --import is required"),
    ],
)
def test_what_cannot_be_right_ends_before_anything_is_measured(
    words: list[str], message: str, fleet: Path, capsys: Capture
) -> None:
    assert main(words) == 2
    assert message in capsys.readouterr().err
    assert measured(fleet) == ""


def test_the_card_has_to_be_in_this_machine(fleet: Path, capsys: Capture) -> None:
    llama_bench(fleet / "bin", FIRST, SECOND, END)
    nvidia_smi(fleet / "bin", cards="0, GPU-1, Quadro P2000")
    assert main(["bench", "llm", MODEL, "--card", "pve44/0", "--file", "m.gguf"]) == 2
    said = capsys.readouterr().err
    assert "there is no Quadro M4000 in this machine; nvidia-smi lists 0: Quadro P2000" in said
    assert not (fleet / "bin/told").exists()


def test_of_two_cards_the_one_of_the_type_is_shown_to_the_program(fleet: Path, capsys: Capture) -> None:
    llama_bench(fleet / "bin", FIRST, SECOND, END)
    nvidia_smi(fleet / "bin", cards=f"0, GPU-1, Quadro P2000\n1, {UUID}, NVIDIA Quadro M4000\nno line")
    assert bench(capsys, "--file", "m.gguf")["exit"] == 0
    assert literal_eval((fleet / "bin/told").read_text("utf-8"))[1] == UUID


def test_a_catalog_that_is_a_link_is_not_written_through(fleet: Path, capsys: Capture) -> None:
    (fleet / "run.json").write_text(output("2026"), encoding="utf-8")
    (fleet / "outside").mkdir()
    (fleet / "catalog/benchmarks").symlink_to(fleet / "outside")
    found = bench(capsys, "--import", "run.json")
    assert found["exit"] == 2
    assert "figures cannot be recorded: catalog/benchmarks: catalog/benchmarks is no folder" in found["stderr"]
    assert list((fleet / "outside").iterdir()) == []
    assert measured(fleet) == ""


def test_a_program_that_prints_without_end_is_ended(fleet: Path, capsys: Capture) -> None:
    program(fleet / "bin", "llama-bench", "while True: sys.stdout.write('x' * 65536)\n")
    found = bench(capsys, "--file", "m.gguf")
    assert found["exit"] == 1
    assert threading.active_count() == 1
