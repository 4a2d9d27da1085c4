"""The report of `model plan`: the ways to run a model, best first, and the catalog entry for the best."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from knaster.cluster.architecture import Architecture
from knaster.diagnostics import Severity
from knaster.figures import amount
from knaster.model_plan.advice import Change
from knaster.model_plan.attempts import Fit
from knaster.model_plan.candidates import Absent, Row
from knaster.model_plan.catalog_edit import lines
from knaster.model_plan.pools import Room, rank
from knaster.model_plan.shapes import Spread
from knaster.reports.blocks import Block, Code, Items, Line, Report, Table, plural
from knaster.reports.model_json import Answer, data
from knaster.units import gib, show_hundredths

_PLACES_SHOWN = 4
_REASONS_SHOWN = 6
_ROWS_SHOWN = 24


def report(answer: Answer, *, explain: bool = False, verbose: bool = False) -> Report:
    """JSON: ``{command, ok, model, context, parallel, kv_precision, bytes_per_token, rows, absent, left_out, changes,
    entry, written, notes, diagnostics}``; sizes are bytes where the key says so, else GiB."""
    rows = answer.outcome.rows
    blocks: list[Block] = [Line(_header(answer)), Line(_planned_for(answer))]
    if rows:
        blocks += _table(rows, verbose=verbose)
    else:
        blocks += _misfit(answer)
    blocks.append(Items("to know", answer.notes))
    if explain:
        blocks += _absences(answer)
    if answer.entry is not None:
        blocks.append(Code(_entry_title(answer), tuple(lines(answer.entry)), "yaml"))
    if wrong := sum(one.severity is Severity.ERROR for one in answer.diagnostics):
        blocks.append(Line(f"the fleet has {plural(wrong, 'error')}, shown by knaster validate", "bad"))
    if answer.written is not None:
        told = f"written: {', '.join(answer.written)}" if answer.written else "nothing to write: it is there already"
        blocks.append(Line(told, "good"))
    return Report(data(answer, per_token(answer)), tuple(blocks))


def _header(answer: Answer) -> str:
    model = answer.model
    parts = [_count(model.parameters) + " parameters", _layers(model), _kept(model)]
    if model.experts:
        parts.append(f"{model.experts} experts")
    parts.append(f"stored as {model.stored}")
    parts.append(f"trained context {model.context:,}" if model.context else "trained context not published")
    return f"{answer.name}: {', '.join(parts)}"


def _layers(model: Architecture) -> str:
    """``34 layers (5 full, 29 sliding)``; the kinds only where there are several."""
    kinds: dict[str, int] = {}
    for cache in model.caches:
        kinds[cache.kind] = kinds.get(cache.kind, 0) + cache.layers
    told = ", ".join(f"{count} {kind}" for kind, count in kinds.items())
    several = len(kinds) > 1 or sum(kinds.values()) < model.layers
    return plural(model.layers, "layer") + (f" ({told})" if several and told else "")


def _kept(model: Architecture) -> str:
    """What a layer keeps per token: ``8 KV heads of 128``, or one latent vector."""
    if model.encoder:
        return "encoder, no KV cache"
    latent = next((cache.key_dim for cache in model.caches if cache.kind == "latent"), None)
    return f"{plural(model.kv_heads, 'KV head')} of {model.head_dim}" if latent is None else f"latent KV of {latent}"


def _planned_for(answer: Answer) -> str:
    ask = answer.ask
    text = f"planned for {ask.context:,} tokens"
    if ask.parallel > 1:
        text += f" in each of {ask.parallel} sequences"
    each = per_token(answer)
    if each:
        cache = "" if ask.kv_precision == "auto" else f" in {ask.kv_precision}"
        text += f"; {each:,} bytes of KV cache{cache} per token"
    return text


def per_token(answer: Answer) -> int | None:
    """Bytes of KV cache per token in the best row (or in the advice first given); None where nothing fits at all."""
    if answer.model.encoder:
        return 0
    rows = answer.outcome.rows
    fit = rows[0].fit if rows else answer.changes[0].row.fit if answer.changes else None
    return fit.need.bytes_per_token if fit else None


def _count(number: int) -> str:
    """``14.8B``, ``596M``."""
    for unit, size in (("T", 10**12), ("B", 10**9), ("M", 10**6)):
        if number >= size:
            return f"{number / size:.3g}{unit}"
    return f"{number:,}"


def _table(rows: tuple[Row, ...], *, verbose: bool) -> Iterator[Block]:
    plain = [row for row in rows if not row.spare]
    cards = [row for row in plain if row.fit.shape][:_ROWS_SHOWN]
    shown = list(rows) if verbose else [row for row in plain if row in cards or not row.fit.shape]
    cells = tuple(
        (
            row.where,
            row.fit.tried.precision,
            _engine(row),
            _per_card(row.fit),
            f"{show_hundredths(gib(row.fit.headroom))} GiB",
            _places(row),
        )
        for row in shown
    )
    yield Table(("GPUS", "PRECISION", "ENGINE", "PER CARD", "HEADROOM", "WHERE"), cells)
    if len(shown) < len(rows):
        yield Line(f"{plural(len(rows) - len(shown), 'way')} more, with cards to spare or larger sets (-v shows all)")
    yield Items("on record", tuple(line for row in shown for line in _on_record(row)))


def _on_record(row: Row) -> Iterator[str]:
    """``1 x m4000-8g, q4_k_m under llamacpp: generation rate 14.2 token/s (measured 2026-11-29)``, a line a model."""
    told: dict[str, list[str]] = {}
    for one in row.figures:
        told.setdefault(one.model, []).append(f"{one.figure.metric.replace('_', ' ')} {amount(one.figure)}")
    for model, amounts in told.items():
        yield f"{row.where}, {row.fit.tried.precision} under {_engine(row)}: {', '.join(amounts)}; {model} has it"


def _engine(row: Row) -> str:
    name = row.fit.tried.planning.engine.name
    return f"{name} ({row.build})" if row.build else name


def _per_card(fit: Fit) -> str:
    """The fullest card of each class, in the order of the label; RAM with what is kept beside it."""
    if fit.shape is None:
        return f"{show_hundredths(gib(fit.demand[0]), up=True)} GiB RAM"
    most: dict[str, int] = {}
    for kind, size in sorted(zip(fit.shape.each, fit.demand, strict=True), key=lambda pair: rank(pair[0])):
        most[kind.name] = max(most.get(kind.name, 0), size)
    return f"{' + '.join(show_hundredths(gib(size), up=True) for size in most.values())} GiB"


def _places(row: Row) -> str:
    """The free places first, at most four; cards that are taken name their holder."""
    if row.fit.shape is None:
        need = row.fit.demand[0]
        rooms = sorted(row.rooms, key=lambda room: room.left < need)
        return _some([_room(room, need) for room in rooms])
    return _some([_spread(spread) for spread in sorted(row.spreads, key=lambda spread: spread.held)])


def _some(places: list[str]) -> str:
    more = len(places) - _PLACES_SHOWN
    return ", ".join(places[:_PLACES_SHOWN]) + (f" and {more} more" if more > 0 else "")


def _spread(spread: Spread) -> str:
    nodes: dict[str, list[int]] = {}
    for card in spread.cards:
        nodes.setdefault(card.node, []).append(card.index)
    where = " + ".join(f"{node}/{_ranges(indices)}" for node, indices in nodes.items())
    holders = sorted({holder for card in spread.cards for holder in card.holders})
    held = f" (held by {' and '.join(holders)})" if holders else ""
    return (f"fabric {spread.fabric}: " if spread.fabric else "") + where + held


def _ranges(indices: list[int]) -> str:
    """``0-3`` for neighbours, ``0,2`` for others."""
    first, last = min(indices), max(indices)
    whole = len(indices) > 2 and last - first == len(indices) - 1
    return f"{first}-{last}" if whole else ",".join(map(str, indices))


def _room(room: Room, need: int) -> str:
    guest = f" in {room.guest}" if room.guest else ""
    held = f" (held by {' and '.join(room.holders)})" if room.left < need else ""
    return f"{room.node}{guest}{held}"


def _misfit(answer: Answer) -> Iterator[Block]:
    yield Line(f"{answer.name} does not fit", "bad")
    yield Items("why", tuple(_nearest(answer.outcome.absent)), bad=True)
    helps = tuple(_change(change) for change in answer.changes)
    yield Items("what would change it", helps or ("nothing that was tried",), bad=True)


def _nearest(absent: Iterable[Absent]) -> Iterator[str]:
    """Where it is a matter of size, the precisions that lack least; then the other reasons, each once."""
    short = sorted((one for one in absent if one.missing), key=lambda one: one.missing)
    best: dict[tuple[str, str], Absent] = {}
    for one in short:
        best.setdefault((one.precision, one.engine), one)
    told = [f"{one.precision} under {one.engine} on {one.where}: {one.reason}" for one in best.values()]
    others: dict[str, list[str]] = {}
    for one in absent:
        if not one.missing and one.where != "CPU":
            others.setdefault(f"under {one.engine}: {one.reason}", []).append(one.precision)
    told += [f"{', '.join(dict.fromkeys(names))} {reason}" for reason, names in others.items()]
    yield from told[:_REASONS_SHOWN]
    if len(told) > _REASONS_SHOWN:
        yield f"and {len(told) - _REASONS_SHOWN} more reasons (--explain lists them all)"


def _change(change: Change) -> str:
    fit = change.row.fit
    how = f"{fit.tried.precision} under {fit.tried.planning.title} on {change.row.where}"
    if change.kind == "context":
        return f"a shorter context: {change.options} ({fit.tried.ask.context:,} tokens) fits as {how}"
    if change.kind == "parallel":
        return f"fewer sequences at once: {change.options} fits as {how}"
    if change.kind == "precision":
        return f"a heavier quantisation: {change.options} fits as {how}"
    if change.kind == "held":
        places = _places(change.row)
        return f"a card that is taken: it fits as {how}: {places}"
    return (
        f"more cards: {change.row.where} in one node would hold {fit.tried.precision} under {fit.tried.planning.title}"
    )


def _absences(answer: Answer) -> Iterator[Block]:
    rows = tuple((one.where, one.precision, one.engine, one.reason) for one in answer.outcome.absent)
    yield Table(("WHERE", "PRECISION", "ENGINE", "WHY NOT"), rows, "absent")
    yield Items("not planned with", tuple(f"{one.name}: {one.reason}" for one in answer.fleet.left_out))


def _entry_title(answer: Answer) -> str:
    if answer.written is not None:
        return "the catalog entry"
    return "the catalog entry for the first row (--write adds it to catalog/models.yaml)"
