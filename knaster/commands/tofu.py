"""`knaster tofu gate PLAN.json`: may this plan be applied?"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from knaster import foreign_json
from knaster.adapters import files as adapter
from knaster.commands.common import Survey, survey
from knaster.commands.given import called, text_of
from knaster.commands.output import show
from knaster.diagnostics import Diagnostic
from knaster.gate import Fleet, Verdict, judge, read_plan
from knaster.guests import carriers
from knaster.renderers import MANIFEST, TFVARS, digest
from knaster.reports import gate, validation
from knaster.units import MIB

_BOUND = 256 * MIB
_AGAIN = "make it so: tofu show -json PLAN > PLAN.json"


def run(args: argparse.Namespace) -> int:
    """1 where the plan must not be applied, or is none, or the inputs have errors."""
    text = text_of(args.plan, _BOUND, _AGAIN)
    found = survey(args)
    if not found.evaluation.ok:
        show(args, validation.refused("tofu gate", found.evaluation, found.files, "the plan was not judged"))
        return 1
    verdict = _verdict(args, text, found)
    show(args, gate.report(verdict, found.evaluation.plan_id))
    return 0 if verdict.ok else 1


def _verdict(args: argparse.Namespace, text: str, found: Survey) -> Verdict:
    manifest = _manifest(found.root)
    if manifest.get("input_digest") != found.evaluation.digest or _recorded(manifest) != _needed(found):
        message = "generated/ was not made from the inputs that are here, so no plan of it can be judged"
        return Verdict((), (Diagnostic("gate-files", message, hint="run: knaster render --check"),))
    try:
        plan = read_plan(text)
        if not isinstance(plan, str):
            return judge(plan, _fleet(found, manifest, elsewhere=args.elsewhere))
    except RecursionError:
        plan = "it is nested too deep"
    return Verdict((), (Diagnostic("gate-plan", f"{called(args.plan)} cannot be used: {plan}", hint=_AGAIN),))


def _fleet(found: Survey, manifest: Mapping[str, Any], *, elsewhere: bool) -> Fleet:
    cluster = found.evaluation.cluster
    return Fleet(
        variables={name: value for name, value in found.evaluation.documents[TFVARS].items() if name != "//"},
        files={path.removeprefix("tofu/"): one.removeprefix("sha256:") for path, one in _recorded(manifest).items()},
        retire=frozenset(cluster.platform.retire if cluster.platform else ()),
        assumed=frozenset(node.name for node in cluster.nodes if node.source == "assumed"),
        down=frozenset(node.name for node in cluster.nodes if node.state == "down"),
        carriers=carriers(found.evaluation.planned.guests if found.evaluation.planned else ()),
        elsewhere=elsewhere,
    )


def _recorded(manifest: Mapping[str, Any]) -> dict[str, str]:
    """What the manifest records of the module; it may hold anything at all."""
    files = manifest.get("files")
    return (
        {path: str(one) for path, one in files.items() if path.startswith("tofu/")} if isinstance(files, dict) else {}
    )


def _needed(found: Survey) -> dict[str, str]:
    """What it has to record: a manifest that was changed by hand, with a module, judges nothing."""
    return {path: digest(text) for path, text in found.evaluation.generated.items() if path.startswith("tofu/")}


def _manifest(root: Path) -> Mapping[str, Any]:
    """What ``manifest.json`` holds; nothing where it is missing or none."""
    data = adapter.load(str(root / "generated" / MANIFEST), adapter.GENERATED_BOUND)
    return foreign_json.mapping(data) or {} if isinstance(data, bytes) else {}
