"""The arguments of `bench tts`, `bench llm` and `bench server`."""

from __future__ import annotations

import argparse
from collections.abc import Callable

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
    parser.usage = "knaster bench tts URL [--voice NAME] [--stream] [--model NAME] [--card CARD|NODE/INDEX] [...]"
    _endpoint(parser)
    parser.add_argument("--voice", metavar="NAME", help="the voice, as the server calls it (default: none is named)")
    formats = ("wav", "mp3", "opus", "flac")
    parser.add_argument("--audio", choices=formats, default="wav", help="the format to ask for (default: wav)")
    parser.add_argument("--stream", action="store_true", help="ask for a stream; time the first sound too")
    text = "how often each sentence is spoken (default: 3)"
    parser.add_argument("--repetitions", type=_number(1, 1000), default=3, metavar="N", help=text)
    _whose(parser)
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
    text = "the program (default: of the PATH)"
    parser.add_argument("--llama-bench", metavar="PATH", default="llama-bench", help=text)
    text = "of each test, with --file (default: 5)"
    parser.add_argument("--repetitions", type=_number(1, 1000), default=5, metavar="N", help=text)
    text = "for the run to end, with --file (default: 3600)"
    parser.add_argument("--timeout", type=_seconds, default=3600.0, metavar="SECONDS", help=text)
    power = parser.add_mutually_exclusive_group()
    power.add_argument("--power-watts", type=_watts, metavar="W", help="with --import: the mean power that was read")
    text = "with --import: what `nvidia-smi --query-gpu=timestamp,power.draw --format=csv -l 1 -i N` printed meanwhile"
    power.add_argument("--power-log", metavar="FILE", help=text)
    parser.add_argument("--node", metavar="NAME", help="the machine in inventory/ (default: that of --card)")
    text = "the day (default: as llama-bench says, else today, UTC)"
    parser.add_argument("--date", type=_date, metavar="YYYY-MM-DD", help=text)
    _recording(parser)


def _server(parser: Parser) -> None:
    parser.usage = "knaster bench server URL [--concurrency N] [--model NAME] [--card CARD|NODE/INDEX] [...]"
    _endpoint(parser)
    parser.add_argument("--requests", type=_number(1, 100_000), default=8, metavar="N", help="in all (default: 8)")
    parser.add_argument("--concurrency", type=_number(1, 256), default=1, metavar="N", help="at a time (default: 1)")
    text = "about so many in each prompt (default: 256)"
    parser.add_argument("--prompt-tokens", type=_number(1, 1_000_000), default=256, metavar="N", help=text)
    text = "at most so many in each answer (default: 128)"
    parser.add_argument("--max-tokens", type=_number(2, 1_000_000), default=128, metavar="N", help=text)
    _whose(parser)
    _recording(parser)


def _endpoint(parser: Parser) -> None:
    """The server, and how it is asked."""
    text = "its address, with or without /v1 or the endpoint: http://192.168.100.221:5000"
    parser.add_argument("url", metavar="URL", help=text)
    text = "what the server calls the model (default: as --model, else the only one that it has)"
    parser.add_argument("--api-model", metavar="NAME", help=text)
    text = "the environment variable that holds the server's key"
    parser.add_argument("--api-key-env", metavar="NAME", help=text)
    text = "for one answer to be whole (default: 300)"
    parser.add_argument("--timeout", type=_seconds, default=300.0, metavar="SECONDS", help=text)
    text = "requests before, which do not count (default: 1)"
    parser.add_argument("--warm-up", type=_number(0, 1000), default=1, metavar="N", help=text)


def _whose(parser: Parser) -> None:
    """What the figures are recorded under."""
    group = parser.add_argument_group("what is measured (default: what the plan has at this address)")
    group.add_argument("--model", metavar="NAME", help="the model in catalog/models.yaml")
    group.add_argument("--engine", metavar="NAME", help="the engine in catalog/models.yaml")
    group.add_argument("--build", metavar="TEXT", help="its version (default: what the server says, if it does)")
    text = "card type (Quadro M4000), a card of the inventory (pve44/0), or cpu"
    group.add_argument("--card", metavar="CARD", help=text)
    group.add_argument("--node", metavar="NAME", help="the machine in inventory/")
    group.add_argument("--date", type=_date, metavar="YYYY-MM-DD", help="the day (default: today, UTC)")


def _number(least: int, most: int) -> Callable[[str], int]:
    def number(text: str) -> int:
        if not text.isascii() or not text.isdigit() or len(text) > 9 or not least <= int(text) <= most:
            raise argparse.ArgumentTypeError(f"{text!r} is no number from {least} to {most}")
        return int(text)

    return number


def _seconds(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not 0 < number <= 86_400:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of seconds up to 86400")
    return number


def _watts(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not 0 < number <= 100_000:
        raise argparse.ArgumentTypeError(f"{text!r} is no power in watts")
    return number


def _date(text: str) -> str:
    from datetime import date

    try:
        if len(text) == 10 and date.fromisoformat(text):
            return text
    except ValueError:
        pass
    raise argparse.ArgumentTypeError(f"{text!r} is no day such as 2026-11-29")


def _recording(parser: Parser) -> None:
    """Options that all three have."""
    parser.add_argument("--dry-run", action="store_true", help="measure and print, write nothing into the catalog")
