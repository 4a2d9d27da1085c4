"""`knaster bench server`: time to first token and tokens per second of an OpenAI-compatible endpoint."""

from __future__ import annotations

import argparse
import secrets
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from functools import partial
from queue import SimpleQueue

from knaster.adapters.at_once import within
from knaster.adapters.http import Session
from knaster.bench import answers, measured
from knaster.bench.chat import ChatRun, Completion, NoTokensError, completion
from knaster.bench.prompts import prompt
from knaster.bench.speech import AT_ONCE, Failure
from knaster.commands.bench_asking import UnmeasuredError
from knaster.commands.benching import GIVE_UP, Bench, Outcome, failure, finish, prepare, told
from knaster.commands.output import show
from knaster.commands.progress import progress
from knaster.commands.stopping import stoppable
from knaster.reports import benching as reports

PATH = "/chat/completions"
_BUFFERED = "the server, or a proxy before it, may not stream"
_ONE_AT_A_TIME = "the catalog's figures are of one request at a time; record with --concurrency 1"


@dataclass(frozen=True, slots=True)
class _Asking:
    """How each request is made. ``usage``: the server takes the option that makes it count tokens."""

    bench: Bench
    salt: str
    prompt_tokens: int
    max_tokens: int
    usage: bool = True


def run(args: argparse.Namespace) -> int:
    """1: nothing measured, not all of it, or not recorded. 2: no server was reached. 130: interrupted."""
    bench = prepare(args, "llm")
    with stoppable() as ending:
        found = _measured(args, bench)
        ending()
        return _told(args, bench, found)


def _told(args: argparse.Namespace, bench: Bench, found: ChatRun) -> int:
    tokens = "tokens" if found.counted_by_server else "pieces of text"
    sizes = f"{args.prompt_tokens} in, at most {args.max_tokens} out"
    source = f"knaster bench server, {args.requests} requests, {args.concurrency} at a time, {sizes}, {tokens}"
    taken = bench.taken(source, build=found.build)
    unfit = _ONE_AT_A_TIME if args.concurrency > 1 else None
    figures = measured.chat(found, taken)
    outcome = Outcome(figures, found.failures, found.partial, found.cut, tuple(_notes(found)), unfit)
    end, status = finish(args, "bench server", bench, outcome, taken)
    show(args, reports.chat(found, end))
    return status


def _notes(found: ChatRun) -> Iterator[str]:
    if not found.counted_by_server:
        yield "the server counts no tokens: pieces of text are counted for them"
    several = [one for one in found.completions if one.generated > 1]
    if found.completions and not several:
        yield "no rate of generation: each answer has one token alone"
    elif found.completions and found.rate is None:
        yield f"no rate of generation: each answer came at once; {_BUFFERED}"
    elif several and all(one.to_first >= AT_ONCE * (one.ended - one.started) for one in several):
        yield f"the first token comes with the last, so the rate of generation says little: {_BUFFERED}"


def _measured(args: argparse.Namespace, bench: Bench) -> ChatRun:
    done: list[Completion] = []
    failures: list[Failure] = []
    cut = False
    with ExitStack() as stack:
        sessions = [stack.enter_context(bench.server.session()) for _ in range(args.concurrency)]
        try:
            with progress(args) as tell:
                asking = _warmed_up(args, bench, sessions, tell, failures)
                if not failures:
                    _all(args, asking, sessions, tell, done, failures)
        except KeyboardInterrupt:
            cut = True
        return ChatRun(args.requests, args.concurrency, tuple(done), tuple(failures), cut)


def _warmed_up(
    args: argparse.Namespace,
    bench: Bench,
    sessions: Sequence[Session],
    tell: Callable[[str], None],
    failures: list[Failure],
) -> _Asking:
    """Requests that do not count. The first tells whether the server takes the option to count tokens."""
    asking = _Asking(bench, secrets.token_hex(4), args.prompt_tokens, args.max_tokens)
    for number in range(args.warm_up):
        tell(f"warm-up {number + 1} of {args.warm_up}")
        session = sessions[number % len(sessions)]
        try:
            try:
                _complete(asking, session, -1 - number)
            except UnmeasuredError as problem:
                if problem.status not in (400, 422) or "stream_options" not in problem.message:
                    raise
                asking = replace(asking, usage=False)
                _complete(asking, session, -1 - number)
        except UnmeasuredError as problem:
            failures.append(failure("warm-up", problem))
            break
    return asking


def _all(
    args: argparse.Namespace,
    asking: _Asking,
    sessions: Sequence[Session],
    tell: Callable[[str], None],
    done: list[Completion],
    failures: list[Failure],
) -> None:
    """`done` and `failures` grow by what each request comes to, by the request itself: an interruption loses none."""
    free: SimpleQueue[Session] = SimpleQueue()
    for session in sessions:
        free.put(session)

    def one(number: int) -> bool:
        session = free.get()
        try:
            done.append(_complete(asking, session, number))
            return True
        except UnmeasuredError as problem:
            what = f"request {number + 1}"
            failures.append(failure(what, problem) if number == 0 and not args.warm_up else told(what, problem))
            return False
        finally:
            free.put(session)

    row = 0
    end = time.monotonic() + args.timeout * args.requests + 60
    tasks = {str(number): partial(one, number) for number in range(args.requests)}
    with closing(within(end, args.concurrency, tasks)) as results:
        for count, (_, outcome) in enumerate(results, 1):
            tell(f"{count} of {args.requests} requests")
            row = 0 if outcome is not None and outcome() else row + 1
            if row >= GIVE_UP * args.concurrency:
                break


def _complete(asking: _Asking, session: Session, number: int) -> Completion:
    server = asking.bench.server
    data = {
        "model": asking.bench.api_model,
        "messages": [{"role": "user", "content": prompt(asking.salt, number, asking.prompt_tokens)}],
        "max_tokens": asking.max_tokens,
        "temperature": 0,
        "stream": True,
        **({"stream_options": {"include_usage": True}} if asking.usage else {}),
    }
    answer = server.ask(session, "POST", PATH, data)
    kind = answer.headers.get("content-type", "")
    if not kind.lower().startswith("text/event-stream"):
        raise server.failed(answers.no_stream(kind, answer.body))
    try:
        found = completion(answer.body, answer.arrivals, answer.started, answer.ended)
    except NoTokensError as problem:
        raise server.failed(str(problem)) from None
    if found.generated > max(asking.max_tokens, found.pieces):
        raise server.failed(f"it counts {found.generated} tokens, and at most {asking.max_tokens} were asked for")
    return found
