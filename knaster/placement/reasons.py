"""Reasons: why a role has fewer places than it wants, as data with counts that add up, and as one sentence."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from knaster.placement import cpu_roles, gpu_roles, sharing
from knaster.placement.board import Board
from knaster.placement.filters import CAUSES, Ask, Failure, pin_of
from knaster.placement.result import Count, Reason

_CARD_ORDER = {cause: at for at, cause in enumerate(CAUSES)}
_NODE_ORDER = {cause: at for at, cause in enumerate(cpu_roles.NODE_CAUSES)}
_HOLDERS_SHOWN = 4


def for_cards(board: Board, ask: Ask) -> Reason:
    """Why a GPU role got fewer cards than ``count``."""
    got, counts = gpu_roles.tally(board, ask)
    holders = {name for key, name in board.taken.items() if name != ask.role.name and _would_serve(board, ask, key)}
    total = len(board.fleet.cards.all)
    told = _counts("GPUs", counts, tuple(sorted(holders)))
    return Reason(total=total, fit=got, counts=_with_pin(told, _pinned_cards(board, ask)))


def for_nodes(board: Board, ask: Ask) -> Reason:
    """Why no node takes a CPU role."""
    told = _counts("nodes", cpu_roles.tally(board, ask))
    return Reason(kind="nodes", total=len(board.fleet.nodes), counts=_with_pin(told, _pinned_node(board, ask)))


def for_sharer(board: Board, ask: Ask) -> Reason:
    """Why no card (or node) of the target takes a sharer."""
    total, counts = sharing.tally(board, ask)
    kind = "GPUs" if ask.role.needs.gpu else "nodes"
    return Reason(kind=kind, subject=f"of {ask.role.share_with}", total=total, counts=_counts(kind, counts))


def _pinned_cards(board: Board, ask: Ask) -> str:
    """What is wrong with the cards that the pin names, where that is counted before the pin; else nothing."""
    pin = pin_of(ask.role)
    if pin is None:
        return ""
    cards = [card for card in board.fleet.cards.by_node.get(pin[0], ()) if pin[1] in (None, card.gpu.index)]
    failures = {gpu_roles.judge(board, ask, card) for card in cards}
    failure = failures.pop() if len(failures) == 1 else None
    if failure is None or failure.cause not in ("disabled", "state"):
        return ""
    if failure.cause == "state":
        return f"that node is {failure.text}"
    return "that card is disabled" if len(cards) == 1 else "all of its cards are disabled"


def _pinned_node(board: Board, ask: Ask) -> str:
    pin = pin_of(ask.role)
    node = board.fleet.nodes.get(pin[0]) if pin is not None else None
    failure = cpu_roles.serving(board, ask, node) if node is not None else None
    if not isinstance(failure, Failure) or failure.cause not in ("cpu-roles", "state"):
        return ""
    return f"that node is {failure.text}" if failure.cause == "state" else "that node takes no CPU roles"


def _with_pin(counts: tuple[Count, ...], problem: str) -> tuple[Count, ...]:
    """The counts with what is wrong at the pin said beside it: the numbers alone do not tell it."""
    if not problem:
        return counts
    return tuple(replace(one, text=f"{one.text} ({problem})") if one.cause == "pin" else one for one in counts)


def _would_serve(board: Board, ask: Ask, key: tuple[str, int]) -> bool:
    node, at = key
    return gpu_roles.judge(board, ask, board.fleet.cards.by_node[node][at]) is None


def _counts(kind: str, failures: Counter[Failure], holders: tuple[str, ...] = ()) -> tuple[Count, ...]:
    order = _CARD_ORDER if kind == "GPUs" else _NODE_ORDER
    ordered = sorted(failures.items(), key=lambda item: (order[item[0].cause], item[0].text))
    return tuple(Count(one.cause, number, _text(one, holders)) for one, number in ordered)


def _text(failure: Failure, holders: tuple[str, ...]) -> str:
    if failure.cause != "taken" or not holders:
        return failure.text
    shown, more = holders[:_HOLDERS_SHOWN], len(holders) - _HOLDERS_SHOWN
    return f"taken by {', '.join(shown)}" + (f" and {more} more" if more > 0 else "")


def sentence(reason: Reason, *, placed: int = 0, wanted: int = 1) -> str:
    """``0/9 GPUs fit: 4 disabled, 2 on windows (…)``; partly met counts and arrangements are told around it."""
    text = reason.problem or _told(reason)
    if placed:
        text = f"{placed} of {wanted} placed: {text}"
    if reason.fallback is not None:
        text += f"; on a CPU {sentence(reason.fallback)}"
    if reason.moves:
        told = " and ".join(f"moving {move.role} from {move.source} to {move.target}" for move in reason.moves)
        pins = ", ".join(f"pin {move.role}: {move.target}" for move in reason.moves)
        text += f"; {told} would make room ({pins})"
    return text


def _told(reason: Reason) -> str:
    subject = f" {reason.subject}" if reason.subject else ""
    counts = ", ".join(f"{count.number} {count.text}" for count in reason.counts)
    told = counts or ("" if reason.total else _nothing(reason))
    return f"{reason.fit}/{reason.total} {reason.kind}{subject} fit" + (f": {told}" if told else "")


def _nothing(reason: Reason) -> str:
    if not reason.subject:
        return "there is none"
    holds = "holds no card" if reason.kind == "GPUs" else "has no place"
    return f"{reason.subject.removeprefix('of ')} {holds}"
