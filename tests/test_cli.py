"""The command line: exit status, formats, options, and where results go."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from knaster import renderers
from knaster.arguments import HELP
from knaster.cli import main
from knaster.commands import validate
from knaster.diagnostics import WorldError
from tests.repo import PC5, PVE44, ROLES, files, lay

ROOT = Path(__file__).parent.parent
BAD = files(roles=ROLES.replace("tier0", "tier9"))
REQUIRED = files(roles=ROLES.replace("min_vram_gb: 16}", "min_vram_gb: 48}\n    required: true"))
Capture = pytest.CaptureFixture[str]


def run(*command: str, cwd: Path, **settings: str) -> subprocess.CompletedProcess[bytes]:
    """A command in a process of its own, with this package on its path."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), **settings}
    return subprocess.run(command, cwd=cwd, capture_output=True, env=environment, check=False)


def git(root: Path, *arguments: str) -> None:
    """Run git with an author of its own."""
    settings = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", "-C", str(root), *settings, *arguments], check=True, capture_output=True)


def test_help_fits_a_screen_and_names_every_command(capsys: Capture) -> None:
    assert main(["--help"]) == 0
    shown = capsys.readouterr().out
    assert shown == HELP
    lines = shown.splitlines()
    assert len(lines) <= 36
    assert max(map(len, lines)) < 80
    for command in ("validate", "placement plan", "render", "verify", "land", "inventory collect", "explain"):
        assert f"\n  {command} " in shown


@pytest.mark.parametrize(
    "command",
    [
        ["validate"],
        ["placement", "plan"],
        ["render"],
        ["verify"],
        ["report"],
        ["pr", "fetch"],
        ["pr", "plan"],
        ["pr", "comment"],
        ["pr", "sweep"],
        ["land"],
        ["inventory", "collect"],
        ["explain"],
    ],
)
def test_every_command_has_help(command: list[str], capsys: Capture) -> None:
    assert main([*command, "--help"]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith(f"usage: knaster {' '.join(command)} ")
    assert len(shown.splitlines()) <= 36


@pytest.mark.parametrize(("words", "same"), [(["help"], ["--help"]), (["help", "render"], ["render", "--help"])])
def test_help_is_a_command_too(words: list[str], same: list[str], capsys: Capture) -> None:
    assert main(words) == 0
    shown = capsys.readouterr().out
    assert main(same) == 0
    assert capsys.readouterr().out == shown


def test_a_refused_output_does_nothing(tmp_path: Path, capsys: Capture) -> None:
    lay(tmp_path)
    assert main(["-C", str(tmp_path), "-o", str(tmp_path / "generated/report"), "render"]) == 2
    assert "such as -o report.txt" in capsys.readouterr().err
    assert not (tmp_path / "generated").exists()


@pytest.mark.parametrize("kind", ["text", "json", "markdown"])
def test_quiet_hides_warnings_in_every_format(kind: str, tmp_path: Path, capsys: Capture) -> None:
    assumed = PVE44.replace("platform: proxmox", "platform: proxmox\nsource: assumed")
    lay(tmp_path, files(pve44=assumed, roles=ROLES.replace("tier0", "tier9")))
    assert main(["-C", str(tmp_path), "--format", kind, "validate"]) == 1
    assert "assumed" in capsys.readouterr().out
    assert main(["-C", str(tmp_path), "--format", kind, "validate", "-q"]) == 1
    quiet = capsys.readouterr().out
    assert "assumed" not in quiet
    assert "unknown-fallback" in quiet


def test_version(capsys: Capture) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == "knaster 0.1.0\n"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "usage: knaster"),
        (["rendr"], "did you mean render?"),
        (["plan"], "did you mean placement plan?"),
        (["colect"], "did you mean inventory collect?"),
        (["validate", "--format", "jsn"], "did you mean json?"),
        (["placement"], "required"),
        (["inventory"], "required"),
        (["inventory", "colect"], "did you mean collect?"),
        (["validate", "extra"], "unrecognized arguments: extra"),
        (
            ["render", "--chek"],
            "unrecognized arguments: --chek\nhint: did you mean --check?\nTry 'knaster render --help'.",
        ),
        (["placement", "plan", "x"], "unrecognized arguments: x\nTry 'knaster placement plan --help'."),
        (["-C", "REPO", "-o", "REPO/inventory/x.yaml", "validate"], "inventory/ holds the fleet's own files"),
        (["-C", "REPO", "-o", "REPO/inventory/../generated/x", "render"], "generated/ holds the fleet's own files"),
        (["-C", "REPO", "-o", "REPO/schemas/x", "explain"], "schemas/ holds the fleet's own files"),
        (["-C", "REPO", "-o", "REPO/catalog", "placement", "plan"], "catalog/ holds the fleet's own files"),
        (["placement", "plan", "--explain", "a", "--without", "b"], "not allowed with"),
        (["-C", "nowhere-at-all", "validate"], "nowhere-at-all"),
        (["-C", "REPO", "placement", "plan", "--explain", "embeding"], 'did you mean "embedding"?'),
        (["-C", "REPO", "placement", "plan", "--without", "pve4"], "known nodes: GODE-PC-05, pve44"),
        (["-C", "REPO", "placement", "plan", "--without", "pve44/7"], "it has 0, 1"),
        (["-C", "REPO", "placement", "plan", "--without", "pve44/"], "it has 0, 1"),
        (["-C", "REPO", "-o", "REPO/no/such/folder/x", "validate"], "cannot write"),
        (["-C", "EMPTY", "validate"], "neither inventory/ nor catalog/"),
    ],
)
def test_what_cannot_be_answered_is_2_and_says_why(
    arguments: list[str], said: str, tmp_path: Path, capsys: Capture
) -> None:
    lay(tmp_path / "repo")
    (tmp_path / "empty").mkdir()
    names = {"REPO": str(tmp_path / "repo"), "EMPTY": str(tmp_path / "empty")}
    filled = [names.get(word, word.replace("REPO", names["REPO"])) for word in arguments]
    assert main(filled) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert said in err
    assert "Traceback" not in err


@pytest.mark.parametrize(
    ("texts", "status", "last"),
    [
        (files(), 0, "2 nodes, 3 GPUs, 3 roles: 0 warnings, 0 errors"),
        (BAD, 1, "2 nodes, 3 GPUs, 3 roles: 0 warnings, 1 error"),
        (REQUIRED, 1, "2 nodes, 3 GPUs, 3 roles: 0 warnings, 1 error"),
        (files(roles="roles: ["), 1, "2 nodes, 3 GPUs, roles not loaded: 0 warnings, 1 error"),
        ({"inventory/notes": ""}, 1, "0 nodes, 0 GPUs, roles not loaded: 1 warning, 4 errors"),
    ],
)
def test_validate(texts: dict[str, str], status: int, last: str, tmp_path: Path, capsys: Capture) -> None:
    lay(tmp_path, texts)
    assert main(["-C", str(tmp_path), "validate"]) == status
    out, err = capsys.readouterr()
    assert out.splitlines()[-1] == last
    assert err == ""


def test_validate_points_to_the_spot(tmp_path: Path, capsys: Capture) -> None:
    lay(tmp_path, BAD)
    main(["-C", str(tmp_path), "validate"])
    out = capsys.readouterr().out
    line = ROLES[: ROLES.index("tier0")].count("\n") + 1
    assert f"catalog/roles.yaml:{line}:" in out
    assert "fallback: [tier9]" in out
    assert "^" in out
    assert "[unknown-fallback]" in out


@pytest.mark.parametrize("place", ["before", "after"])
def test_global_options_stand_before_or_after_the_command(place: str, tmp_path: Path, capsys: Capture) -> None:
    lay(tmp_path)
    options = ["-C", str(tmp_path), "--format", "json"]
    assert main([*options, "placement", "plan"] if place == "before" else ["placement", "plan", *options]) == 0
    assert json.loads(capsys.readouterr().out)["command"] == "placement plan"


KEYS = {
    ("validate",): ["command", "ok", "counts", "input_digest", "diagnostics"],
    ("placement", "plan"): [
        "command",
        "ok",
        "assignments",
        "unplaced",
        "disabled_gpus",
        "inactive_nodes",
        "diagnostics",
    ],
    ("placement", "plan", "--explain", "general"): ["command", "ok", "role", "asks", "candidates", "diagnostics"],
    ("placement", "plan", "--without", "pve44"): [
        "command",
        "ok",
        "without",
        "survived",
        "changes",
        "guests",
        "slots",
        "diagnostics",
    ],
    ("render", "--check"): ["command", "ok", "up_to_date", "findings", "diagnostics"],
    ("render",): ["command", "ok", "created", "changed", "removed", "unchanged", "diagnostics"],
    ("explain",): ["command", "codes"],
    ("explain", "yaml-tab"): ["command", "code", "summary", "why", "fix"],
}


@pytest.mark.parametrize("command", KEYS, ids=" ".join)
def test_json_has_stable_keys(command: tuple[str, ...], tmp_path: Path, capsys: Capture) -> None:
    lay(tmp_path)
    main(["-C", str(tmp_path), "--format", "json", *command])
    assert list(json.loads(capsys.readouterr().out)) == ["format_version", *KEYS[command]]


@pytest.mark.parametrize("command", KEYS, ids=" ".join)
@pytest.mark.parametrize("kind", ["text", "markdown"])
def test_every_command_has_every_format(command: tuple[str, ...], kind: str, tmp_path: Path, capsys: Capture) -> None:
    lay(tmp_path)
    main(["-C", str(tmp_path), "--format", kind, *command])
    out, err = capsys.readouterr()
    assert out.endswith("\n")
    assert len(out) > 20
    assert err == ""


def test_the_plan_in_text_and_json(tmp_path: Path, capsys: Capture) -> None:
    lay(tmp_path)
    assert main(["-C", str(tmp_path), "placement", "plan"]) == 0
    rows = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["embedding", "pve44/1", "Quadro", "P2000,", "5", "GB", "bge-m3"] in rows
    assert ["speech", "pve44", "(infra)", "CPU", "piper-de"] in rows
    assert ["pve44/0", "Quadro", "M4000:", "no", "benchmark", "yet"] in rows
    assert main(["-C", str(tmp_path), "placement", "plan", "--format", "json"]) == 0
    plan = json.loads(capsys.readouterr().out)
    assert plan["assignments"][0] == {
        "role": "embedding",
        "node": "pve44",
        "gpu_index": 1,
        "card": "pci:0000:02:00.0/10de:1c30",
        "card_name": "Quadro P2000",
        "guest": "gpu-pve44",
        "slots": ["embed"],
        "models_fitting": ["bge-m3"],
        "change": None,
    }


def test_an_unplaced_role_has_its_reason(tmp_path: Path, capsys: Capture) -> None:
    lay(tmp_path, REQUIRED)
    assert main(["-C", str(tmp_path), "placement", "plan"]) == 1
    out = capsys.readouterr().out
    assert "  general: 0/3 GPUs fit: " in out
    assert "this plan would not be rendered" in out


def test_explain_a_role(tmp_path: Path, capsys: Capture) -> None:
    lay(tmp_path)
    assert main(["-C", str(tmp_path), "placement", "plan", "--explain", "general", "--format", "json"]) == 0
    candidates = json.loads(capsys.readouterr().out)["candidates"]
    assert [(item["node"], item["gpu_index"], item["card"]) for item in candidates] == [
        ("GODE-PC-05", 0, "NVIDIA RTX 4000 Ada Generation"),
        ("pve44", 0, "Quadro M4000"),
        ("pve44", 1, "Quadro P2000"),
    ]
    assert candidates[0]["verdict"] == "chosen"
    assert all(item["verdict"] not in {"chosen", "fits"} for item in candidates[1:])


@pytest.mark.parametrize(
    ("target", "said"),
    [
        ("pve44/0", "without pve44/0 nothing changes: every placed role stays where it is"),
        ("GODE-PC-05", "without GODE-PC-05 the fleet drops general"),
    ],
)
def test_without(target: str, said: str, tmp_path: Path, capsys: Capture) -> None:
    lay(tmp_path)
    assert main(["-C", str(tmp_path), "placement", "plan", "--without", target]) == 0
    assert capsys.readouterr().out.splitlines()[0] == said


def test_without_says_that_every_role_stays_placed(tmp_path: Path, capsys: Capture) -> None:
    lay(tmp_path, {**files(), "inventory/pve46.yaml": PVE44.replace("pve44", "pve46")})
    assert main(["-C", str(tmp_path), "placement", "plan", "--without", "pve44/1"]) == 0
    assert capsys.readouterr().out.splitlines()[0] == "without pve44/1 every placed role stays placed"


def test_render_writes_checks_and_repeats(tmp_path: Path, capsys: Capture) -> None:
    lay(tmp_path)
    assert main(["-C", str(tmp_path), "render", "--check"]) == 1
    assert "to fix: knaster render" in capsys.readouterr().out
    assert not (tmp_path / "generated").exists()
    assert main(["-C", str(tmp_path), "render"]) == 0
    assert re.search(r"\n[0-9]+ created, 0 changed, 0 removed, 0 unchanged\n", capsys.readouterr().out)
    before = {path: path.read_bytes() for path in (tmp_path / "generated").rglob("*") if path.is_file()}
    assert main(["-C", str(tmp_path), "render"]) == 0
    assert capsys.readouterr().out == f"generated/ is up to date: {len(before)} files\n"
    assert main(["-C", str(tmp_path), "render", "--check"]) == 0
    assert {path: path.read_bytes() for path in (tmp_path / "generated").rglob("*") if path.is_file()} == before


def test_render_refuses_on_an_error_and_writes_nothing(tmp_path: Path, capsys: Capture) -> None:
    lay(tmp_path, BAD)
    assert main(["-C", str(tmp_path), "render"]) == 1
    assert capsys.readouterr().out.splitlines()[-1] == "nothing was written"
    assert not (tmp_path / "generated").exists()


def test_render_refuses_to_empty_the_guest_list(tmp_path: Path, capsys: Capture) -> None:
    lay(tmp_path)
    main(["-C", str(tmp_path), "render"])
    before = (tmp_path / "generated/proxmox.yaml").read_bytes()
    (tmp_path / "inventory/pve44.yaml").unlink()
    bare = "network:" + files()["catalog/platform.yaml"].partition("network:")[2].partition("gpu_vm:")[0]
    lay(
        tmp_path, {"catalog/platform.yaml": bare, "catalog/roles.yaml": "roles: {}\n", "inventory/GODE-PC-05.yaml": PC5}
    )
    capsys.readouterr()
    assert main(["-C", str(tmp_path), "render"]) == 1
    out = capsys.readouterr().out
    assert "gpu-pve44, infra" in out
    assert "[no-guests]" in out
    assert (tmp_path / "generated/proxmox.yaml").read_bytes() == before


def test_render_refuses_to_write_through_a_link(tmp_path: Path, capsys: Capture) -> None:
    lay(tmp_path / "repo")
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "repo/generated").symlink_to(tmp_path / "elsewhere")
    assert main(["-C", str(tmp_path / "repo"), "render"]) == 1
    assert "[generated-link]" in capsys.readouterr().out
    assert list((tmp_path / "elsewhere").iterdir()) == []


def home_of_embedding(root: Path, capsys: Capture) -> str:
    """The node that the plan gives to the role embedding."""
    capsys.readouterr()
    assert main(["-C", str(root), "placement", "plan", "--format", "json"]) == 0
    plan = json.loads(capsys.readouterr().out)
    return str(next(item["node"] for item in plan["assignments"] if item["role"] == "embedding"))


def test_the_placement_in_force_is_that_of_main(tmp_path: Path, capsys: Capture) -> None:
    twin = PVE44.replace("pve44", "pve46")
    lay(tmp_path, {**files(), "inventory/pve46.yaml": twin})
    git(tmp_path, "init", "-q", "-b", "main")
    assert main(["-C", str(tmp_path), "render"]) == 0
    placement = tmp_path / "generated/placement.yaml"
    assert '"pve44"' in placement.read_text()
    # Somebody moves the role by hand to an equally good card, but has not committed it: HEAD has no placement yet.
    moved = (
        placement.read_text()
        .replace("gpu-pve44", "gpu-pve46")
        .replace('"pve44"\n    gpu_index', '"pve46"\n    gpu_index')
    )
    assert moved != placement.read_text()
    rendered = renderers.digest(placement.read_text())
    placement.write_text(moved)
    capsys.readouterr()
    assert main(["-C", str(tmp_path), "render", "--check"]) == 1
    assert "generated/placement.yaml" in capsys.readouterr().out
    # Committed as it is, it is still not trusted: the manifest records another content.
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-q", "-m", "move")
    assert home_of_embedding(tmp_path, capsys) == "pve44"
    # With its manifest it is still what is judged, as long as the inputs are the very same.
    manifest = tmp_path / "generated/manifest.json"
    manifest.write_text(manifest.read_text().replace(rendered, renderers.digest(moved)))
    git(tmp_path, "commit", "-aqm", "land")
    assert home_of_embedding(tmp_path, capsys) == "pve44"
    # For other inputs it is the placement in force, and what is equally good stays.
    workstation = tmp_path / "inventory/GODE-PC-05.yaml"
    workstation.write_text(workstation.read_text().replace("memory_gb: 64", "memory_gb: 63"))
    assert home_of_embedding(tmp_path, capsys) == "pve46"


def test_a_placement_in_force_that_cannot_be_read_is_a_warning(tmp_path: Path, capsys: Capture) -> None:
    lay(tmp_path, {**files(), "generated/placement.yaml": "assignments: [\n"})
    assert main(["-C", str(tmp_path), "validate"]) == 0
    out = capsys.readouterr().out
    assert "[current-unreadable]" in out
    assert out.splitlines()[-1].endswith("1 warning, 0 errors")


def test_output_goes_to_a_file_whole(tmp_path: Path, capsys: Capture) -> None:
    lay(tmp_path / "repo")
    target = tmp_path / "plan.json"
    target.write_text("old")
    assert main(["-C", str(tmp_path / "repo"), "-o", str(target), "placement", "plan", "--format", "json"]) == 0
    assert capsys.readouterr().out == ""
    assert json.loads(target.read_text())["ok"] is True
    assert [path.name for path in tmp_path.iterdir() if path.is_file()] == ["plan.json"]


def test_output_may_be_a_device(tmp_path: Path) -> None:
    lay(tmp_path)
    assert main(["-C", str(tmp_path), "-o", os.devnull, "validate"]) == 0


def test_quiet_says_nothing_when_all_is_well(tmp_path: Path, capsys: Capture) -> None:
    lay(tmp_path)
    for command in (["validate"], ["render"], ["render"], ["placement", "plan"]):
        assert main(["-C", str(tmp_path), "-q", *command]) == 0
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    ("options", "environment", "coloured"),
    [
        ([], {}, False),
        (["--color", "always"], {}, True),
        (["--color", "always"], {"NO_COLOR": "1"}, True),
        (["--color", "never"], {}, False),
    ],
)
def test_colour(
    options: list[str],
    environment: dict[str, str],
    coloured: bool,
    tmp_path: Path,
    capsys: Capture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for key, value in environment.items():
        monkeypatch.setenv(key, value)
    lay(tmp_path, BAD)
    main(["-C", str(tmp_path), *options, "validate"])
    assert ("\x1b[" in capsys.readouterr().out) is coloured


@pytest.mark.parametrize(("no_color", "coloured"), [("", True), ("1", False)])
def test_colour_on_a_terminal(
    no_color: str, coloured: bool, tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", no_color)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    lay(tmp_path, BAD)
    main(["-C", str(tmp_path), "validate"])
    assert ("\x1b[" in capsys.readouterr().out) is coloured


def test_explain_codes(capsys: Capture) -> None:
    assert main(["explain", "yaml-tab"]) == 0
    assert capsys.readouterr().out.startswith("yaml-tab: ")
    assert main(["explain", "yaml-aliaz"]) == 1
    assert "did you mean yaml-alias?" in capsys.readouterr().out
    assert main(["explain", "zzzzzz"]) == 1
    assert "lists all codes" in capsys.readouterr().out
    assert main(["explain"]) == 0
    names = [line.split()[0] for line in capsys.readouterr().out.splitlines()[1:]]
    assert names == sorted(names)
    assert "current-unreadable" in names


def test_a_bug_is_one_line_and_a_traceback_only_with_v(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_args: object) -> int:
        raise KeyError("x\x1b[31m")

    monkeypatch.setattr(validate, "run", broken)
    assert main(["validate"]) == 2
    assert capsys.readouterr().err == "This is a bug in knaster. KeyError: 'x\\x1b[31m'\n"
    assert main(["validate", "-v"]) == 2
    assert "Traceback" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("raised", "status", "said"),
    [
        (WorldError("git is missing", "install it"), 2, "knaster: error: git is missing\nhint: install it\n"),
        (KeyboardInterrupt(), 130, ""),
        (BrokenPipeError(), 141, ""),
    ],
)
def test_how_a_command_ends(
    raised: BaseException, status: int, said: str, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def ending(_args: object) -> int:
        raise raised

    monkeypatch.setattr(validate, "run", ending)
    monkeypatch.setattr("knaster.cli.os.dup2", lambda *_: None)
    assert main(["validate"]) == status
    assert capsys.readouterr().err == said


def test_a_reader_that_leaves_is_no_error(tmp_path: Path) -> None:
    script = f"{sys.executable} -m knaster explain | true; exit ${{PIPESTATUS[0]}}"
    done = run("bash", "-c", script, cwd=tmp_path)
    assert done.stderr == b""
    assert done.returncode in {0, 141}


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
def test_a_terminal_of_any_encoding(encoding: str, tmp_path: Path) -> None:
    lay(tmp_path, files(pve44=PVE44.replace("no benchmark yet", "nicht geprüft – 語")))
    done = run(sys.executable, "-m", "knaster", "placement", "plan", cwd=tmp_path, PYTHONIOENCODING=encoding)
    assert (done.returncode, done.stderr) == (0, b"")
    assert "nicht gepr" in done.stdout.decode(encoding)


def test_closed_standard_streams(tmp_path: Path) -> None:
    lay(tmp_path)
    assert run("bash", "-c", f"{sys.executable} -m knaster validate >&- 2>&-", cwd=tmp_path).returncode == 2


def test_a_working_folder_that_is_gone_is_an_error(tmp_path: Path) -> None:
    script = f'mkdir "$1" && cd "$1" && rmdir "$1" && exec {sys.executable} -m knaster explain -o x.txt'
    done = run("sh", "-c", script, "sh", str(tmp_path / "gone"), cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.decode().startswith("knaster: error: cannot tell where x.txt is:")
