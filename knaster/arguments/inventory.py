"""The arguments of `inventory collect`."""

from __future__ import annotations

import argparse

from knaster.arguments.parser import Parser, command


def inventory(commands: argparse._SubParsersAction[Parser], common: Parser) -> None:
    """Add them."""
    machines = command(commands, common, "inventory", "", "Facts of machines.")
    kinds = machines.add_subparsers(prog="knaster inventory", metavar="collect", required=True, parser_class=Parser)
    text = "Read the facts of machines into their profiles (-o, --all), or print one."
    _collect(command(kinds, common, "collect", "inventory", text))


def _collect(collect: Parser) -> None:
    collect.usage = "knaster inventory collect [--from | --ssh | --pve] [-o | --all] [...]"
    source = collect.add_mutually_exclusive_group()
    source.add_argument("--from", dest="captures", metavar="PATH", help="a folder of NAME.capture files, or one file")
    source.add_argument("--ssh", nargs="+", action="extend", metavar="HOST", help="other machines, through ssh")
    source.add_argument("--pve", metavar="URL", help="a Proxmox VE cluster; token: $PROXMOX_VE_API_TOKEN")
    systems = ("linux", "windows", "proxmox")
    known = "the script that captures: linux, windows or proxmox"
    source.add_argument("--print-commands", choices=systems, metavar="OS", help=known)
    collect.add_argument(
        "--all", nargs="?", const="", metavar="DIR", help="write DIR/NAME.yaml of each host (default: inventory/)"
    )
    collect.add_argument("--name", help="the node's name (default: the machine's own)")
    collect.add_argument("--check", action="store_true", help="write nothing; report where profiles differ")
