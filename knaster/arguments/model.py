"""The arguments of `model plan`."""

from __future__ import annotations

import argparse

from knaster.arguments.parser import Parser, command


def model(commands: argparse._SubParsersAction[Parser], common: Parser) -> None:
    """Add them."""
    models = command(commands, common, "model", "", "Models.")
    kinds = models.add_subparsers(prog="knaster model", metavar="plan", required=True, parser_class=Parser)
    plan = command(
        kinds, common, "plan", "model", "Show every way a model could run on the fleet, and its catalog entry."
    )
    plan.usage = "knaster model plan MODEL [--context N] [--precision P,P] [--free] [--write] [...]"
    forms = "OWNER/NAME of the hub (also OWNER/NAME:q4_k_m, OWNER/NAME/FILE.gguf), a folder, or a file .gguf"
    plan.add_argument("source", metavar="MODEL", help=forms)
    plan.add_argument(
        "--context", metavar="N", help="tokens of one sequence (default: the trained context); 32k is 32768"
    )
    plan.add_argument("--parallel", metavar="N", default="1", help="sequences at once, each with N tokens (default: 1)")
    plan.add_argument("--precision", metavar="P,P", help="default: bf16,fp8,q8_0,q4_k_m; for a GGUF file its own")
    plan.add_argument(
        "--kv-precision", metavar="P", default="auto", help="of the KV cache, such as q8_0 or fp8 (default: 16 bits)"
    )
    plan.add_argument("--params", metavar="N", help="parameters, where none or a wrong count is published: 14.8B")
    plan.add_argument("--free", action="store_true", help="only what the placement leaves")
    plan.add_argument("--explain", action="store_true", help="list every combination that is absent, with the reason")
    plan.add_argument("--write", action="store_true", help="add the best one to catalog/models.yaml")
    plan.add_argument(
        "--name", metavar="NAME", help="the entry's name (default: made of the model's and the precision)"
    )
