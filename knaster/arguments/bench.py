"""The arguments of `bench tts`, `bench llm` and `bench server`."""

from __future__ import annotations

import argparse

from knaster.arguments.parser import Parser, command


def bench(commands: argparse._SubParsersAction[Parser], common: Parser) -> None:
    """Add them."""
    module = command(commands, common, "bench", "", "Measure, and record it in the catalog.")
    kinds = module.add_subparsers(prog="knaster bench", metavar="tts|llm|server", required=True, parser_class=Parser)
    _tts(command(kinds, common, "tts", "bench_tts", "Real-time factor of a speech endpoint."))
    _llm(
        command(kinds, common, "llm", "bench_llm", "Tokens per second and power of a model on a card, by llama-bench.")
    )
    _server(command(kinds, common, "server", "bench_server", "Tokens per second of an OpenAI-compatible endpoint."))


def _tts(parser: Parser) -> None:
    _recording(parser)


def _llm(parser: Parser) -> None:
    parser.usage = "knaster bench llm MODEL --card CARD|NODE/INDEX (--file GGUF | --import FILE) [...]"
    parser.add_argument("model", metavar="MODEL", help="name of the model in catalog/models.yaml")
    card = "card type (Quadro M4000), or a card of the inventory (pve44/0)"
    parser.add_argument("--card", required=True, metavar="CARD", help=card)
    run = parser.add_mutually_exclusive_group(required=True)
    run.add_argument("--file", metavar="GGUF", help="run llama-bench here with this file of the model")
    run.add_argument(
        "--import", dest="imported", metavar="FILE", help="take what `llama-bench -o json` printed; - is stdin"
    )
    parser.add_argument(
        "--llama-bench", metavar="PATH", default="llama-bench", help="the program (default: of the PATH)"
    )
    power = parser.add_mutually_exclusive_group()
    power.add_argument("--power-watts", type=float, metavar="W", help="with --import: the mean power that was read")
    log = "with --import: what `nvidia-smi --query-gpu=timestamp,power.draw --format=csv -l 1` printed meanwhile"
    power.add_argument("--power-log", metavar="FILE", help=log)
    _recording(parser)


def _server(parser: Parser) -> None:
    _recording(parser)


def _recording(parser: Parser) -> None:
    """Options that all three have."""
    parser.add_argument("--dry-run", action="store_true", help="measure and print, write nothing into the catalog")
