"""The OpenTofu module: files that no input changes, so they are written as they lie here.

``*.tf`` here is the root module, ``fleet/`` the module that it calls and that others may call.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

_HERE = Path(__file__).parent
_LOCK = "terraform.lock.hcl"


@lru_cache(maxsize=1)
def module_texts() -> Mapping[str, str]:
    """The texts by path below ``generated/``. Both modules declare the same variables, from one file."""
    found = {f"tofu/{path.relative_to(_HERE).as_posix()}": path.read_text("utf-8") for path in _HERE.rglob("*.tf")}
    found["tofu/fleet/variables.tf"] = found["tofu/variables.tf"]
    found[f"tofu/.{_LOCK}"] = (_HERE / _LOCK).read_text("utf-8")
    return dict(sorted(found.items()))
