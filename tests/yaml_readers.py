"""Other readers of YAML, as independent witnesses: each takes text and gives data.

Missing tools skip the test, with the reason.
"""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml
from ruamel.yaml import YAML

_GO_MODULE = """module reader

go 1.21

require gopkg.in/yaml.v3 v3.0.1
"""

_GO_PROGRAM = """package main

import (
	"encoding/json"
	"os"

	"gopkg.in/yaml.v3"
)

func main() {
	var data interface{}
	if err := yaml.NewDecoder(os.Stdin).Decode(&data); err != nil {
		panic(err)
	}
	if err := json.NewEncoder(os.Stdout).Encode(data); err != nil {
		panic(err)
	}
}
"""


def pyyaml(text: str) -> Any:
    """PyYAML, YAML 1.1."""
    return yaml.safe_load(text)


def ruamel(text: str) -> Any:
    """ruamel.yaml in pure Python, YAML 1.2."""
    reader = YAML(typ="safe", pure=True)
    return reader.load(text)


def opentofu(text: str) -> Any:
    """``yamldecode`` of OpenTofu or Terraform (go-cty-yaml), handed over as JSON."""
    tool = shutil.which("tofu") or shutil.which("terraform")
    if tool is None:
        pytest.skip("neither tofu nor terraform is on PATH")
    env = {name: value for name, value in os.environ.items() if not name.startswith("TF_")} | {
        "CHECKPOINT_DISABLE": "1"
    }
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "data.yaml").write_text(text, encoding="utf-8", newline="")
        question = 'base64encode(jsonencode(yamldecode(file("data.yaml"))))\n'
        done = subprocess.run(
            [tool, "console"], cwd=folder, env=env, input=question, capture_output=True, text=True, check=False
        )
    assert done.returncode == 0, done.stderr
    return json.loads(base64.b64decode(json.loads(done.stdout)))


def go_yaml(text: str) -> Any:
    """gopkg.in/yaml.v3, handed over as JSON."""
    binary, reason = _go_reader()
    if reason:
        pytest.skip(reason)
    with tempfile.TemporaryDirectory() as folder:
        reader = Path(folder, "reader")
        reader.write_bytes(binary)
        reader.chmod(0o700)
        done = subprocess.run([reader], input=text.encode(), capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
    return json.loads(done.stdout)


@cache
def _go_reader() -> tuple[bytes, str]:
    """The program, built once in a process and kept in memory, so that nothing is left behind; or why there is none."""
    go = shutil.which("go")
    if go is None:
        return b"", "go is not on PATH"
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "go.mod").write_text(_GO_MODULE, encoding="utf-8")
        Path(folder, "main.go").write_text(_GO_PROGRAM, encoding="utf-8")
        command = [go, "build", "-mod=mod", "-o", "reader", "."]
        try:
            done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120, check=False)
        except subprocess.TimeoutExpired:
            return b"", "go build took more than two minutes"
        if done.returncode:
            return b"", f"go build failed: {done.stderr.strip()[-300:]}"
        return Path(folder, "reader").read_bytes(), ""


READERS = (pyyaml, ruamel, opentofu, go_yaml)
