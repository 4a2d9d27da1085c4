"""`knaster placement plan`: the plan, one role explained, or what a failure would do."""

from __future__ import annotations

import argparse
import re
from collections.abc import Collection

from knaster.cluster import Cluster
from knaster.commands.common import Survey, survey
from knaster.commands.output import show
from knaster.diagnostics import WorldError
from knaster.names import suggestion
from knaster.planned import Planned
from knaster.reports import explained, lost, placement, validation
from knaster.reports.blocks import Report


def run(args: argparse.Namespace) -> int:
    """1 on any error, an unplaced ``required`` role among them; 2 for a role, node or card that does not exist."""
    found = survey(args)
    planned = found.evaluation.planned
    if planned is None:
        text = "no plan: the inputs did not load"
        report = validation.refused("placement plan", found.evaluation, found.files, text)
    elif args.explain is not None:
        report = _explained(found, planned, args)
    elif args.without is not None:
        report = _without(found, planned, args)
    else:
        report = placement.report(found.evaluation, planned, found.files, verbose=args.verbose)
    show(args, report)
    return 0 if found.evaluation.ok else 1


def _explained(found: Survey, planned: Planned, args: argparse.Namespace) -> Report:
    role = args.explain
    _known("role", role, planned.cluster.roles or {})
    lines = found.evaluation.explain(role)
    return explained.report(found.evaluation, planned, role, lines, found.files, verbose=args.verbose)


def _without(found: Survey, planned: Planned, args: argparse.Namespace) -> Report:
    after = found.evaluation.after_loss(*_target(planned.cluster, args.without))
    return lost.report(found.evaluation, planned, after or planned, args.without, found.files, verbose=args.verbose)


def _target(cluster: Cluster, target: str) -> tuple[str, int | None]:
    name, _, index = target.partition("/")
    nodes = {node.name: node for node in cluster.nodes}
    _known("node", name, nodes)
    if not index and "/" not in target:
        return name, None
    indices = [str(gpu.index) for gpu in nodes[name].gpus]
    if not re.fullmatch(r"[0-9]+", index) or index not in indices:
        have = f"it has {', '.join(indices)}" if indices else "it has none"
        raise WorldError(f'{name} has no card with index "{index}"', have)
    return name, int(index)


def _known(kind: str, name: str, names: Collection[str]) -> None:
    """Raises WorldError (exit status 2: a question that cannot be answered) for an unknown name."""
    if name not in names:
        raise WorldError(f'there is no {kind} "{name}"', suggestion(name, names, f"{kind}s"))
