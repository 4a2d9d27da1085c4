"""What is written to a pull request: every decision by hand, and all runs together under any order of events."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass, field, replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from knaster.adapters.gitea import Comment, Pull, Temporary
from knaster.commands.upsert import Posted, Run
from knaster.diagnostics import WorldError
from knaster.posting import CommitStatus, Poster, Shown, Step, Wanted, decide, pending, shown, status, wanted
from knaster.reports.comment.markers import Marker
from tests.gitea_plans import BASE, BASE2, HEAD, HEAD2, RESULT, body

JOB = Poster()
ALERT = f"<!-- knaster alert v1 target=main result={RESULT} head={HEAD} -->"


def pull(head: str = HEAD, base: str = BASE, **more: object) -> Pull:
    return replace(Pull(7, head, base, "main", "http://x/pulls/7", "open", False, 1, 1, "t"), **more)  # type: ignore[arg-type]


def plan(head: str = HEAD, base: str = BASE, *, destructive: int = 0, target: str = "main", ok: bool = True) -> Wanted:
    encoded = target.replace(" ", "%20")
    text = body(head, base, destructive=destructive, target=encoded)
    return Wanted(target, base, head, "abc123", RESULT, destructive, ok, "This merge moves 1 role", text)


def said(number: int, text: str, author: int = -2, login: str = "gitea-actions") -> Comment:
    return Comment(number, author, login, text, f"http://x/pulls/7#issuecomment-{number}")


def step(*comments: Comment, wanted: Wanted | None = None, now: Pull | None = None, poster: Poster = JOB) -> Step:
    return decide(wanted or plan(), now or pull(), comments, poster)


def test_nothing_there() -> None:
    assert step() == Step("create", body=body())


def test_an_older_head_is_replaced() -> None:
    assert step(said(1, body(HEAD2))) == Step("edit", 1, body(), "http://x/pulls/7#issuecomment-1")


@pytest.mark.parametrize("text", [body(), body().replace("\n", "\r\n"), body() + "\n"])
def test_the_same_is_not_written_again(text: str) -> None:
    assert step(said(1, text)) == Step("done", 1, url="http://x/pulls/7#issuecomment-1")


@pytest.mark.parametrize(
    "other",
    [
        said(1, body(), 5, "anna"),
        said(1, body(), 5, "gitea-actions"),
        said(1, body(), -1, "Ghost"),
        said(1, f"> {body()}"),
        said(1, f"\n{body()}"),
        said(1, f"quote: {body()}"),
        said(1, "<!-- knaster plan v1 target=mainline -->\n"),
        said(1, "<!-- knaster plan v1 target=main --> and more\n"),
        said(1, "<!-- another tool target=main -->\n"),
        said(1, body(target="main:lab")),
    ],
    ids=["person", "same login", "ghost", "quote", "not first", "text first", "prefix", "more", "tool", "folder"],
)
def test_what_is_not_ours_is_left_alone(other: Comment) -> None:
    assert step(other).act == "create"
    assert step(said(2, body()), other) == Step("done", 2, url="http://x/pulls/7#issuecomment-2")


@pytest.mark.parametrize("login", ["gitea-actions", "forgejo-actions", "Gitea-Actions"])
def test_a_jobs_own_user(login: str) -> None:
    assert step(said(1, body(), -2, login)).act == "done"


def test_a_named_bot() -> None:
    bot = Poster("Knaster-Bot")
    assert step(said(1, body(), 9, "knaster-bot"), poster=bot).act == "done"
    assert step(said(1, body()), poster=bot).act == "create"


def test_a_poster_who_is_learned() -> None:
    mine = said(2, body(), 9, "anna")
    learned = JOB.learned(mine)
    assert JOB.learned(said(1, "x")) == JOB
    assert step(mine, poster=learned).act == "done"
    assert step(said(1, body(HEAD2), 9, "anna"), mine, poster=learned).act == "edit"


def test_duplicates_are_deleted_and_the_oldest_is_kept() -> None:
    assert step(said(9, body()), said(3, body())) == Step("delete", 9, url="http://x/pulls/7#issuecomment-3")
    assert step(said(9, body()), said(3, body(HEAD2))).act == "edit"  # right first, then alone


@pytest.mark.parametrize(
    ("now", "why"),
    [
        (pull(HEAD2), f"its head is {HEAD2[:12]} by now, this plan is for {HEAD[:12]}"),
        (pull(state="closed"), "the pull request is closed"),
        (pull(state="closed", merged=True), "the pull request is merged"),
    ],
)
def test_an_outdated_plan_yields(now: Pull, why: str) -> None:
    assert step(now=now) == Step("yield", why=why)
    assert step(said(1, body(HEAD2)), now=now) == Step("yield", why=why)
    assert step(said(1, body(HEAD)), said(2, body(HEAD2)), now=now) == Step("yield", why=why)


def test_an_outdated_run_takes_its_own_duplicate_back() -> None:
    assert step(said(1, body(HEAD2)), said(2, body(HEAD)), now=pull(HEAD2)).comment == 2
    assert step(said(1, body(HEAD)), now=pull(HEAD2)).act == "yield"  # the oldest is never deleted


@pytest.mark.parametrize(("verdict", "ok"), [("changes", True), ("invalid", False), ("conflict", False)])
def test_a_plan_for_an_older_base_yields_to_one_for_the_tip(verdict: str, ok: bool) -> None:
    there = said(1, body(HEAD, BASE2, verdict=verdict))
    found = step(there, now=pull(base=BASE2))
    assert (found.act, found.ok, found.url) == ("yield", ok, there.html_url)
    assert BASE2[:12] in found.why


@pytest.mark.parametrize(
    ("there", "now"),
    [
        (said(1, body(HEAD2, BASE2)), pull(base=BASE2)),  # for the tip, but another head
        (said(1, body(HEAD, BASE2)), pull(base=BASE)),  # ours is for the tip
        (said(1, body(HEAD, BASE2)), pull(base="3" * 40)),  # both are older
        (said(1, body(HEAD, BASE2)), pull(base=BASE2, base_ref="lab")),  # the tip of another branch
    ],
)
def test_no_other_plan_is_yielded_to(there: Comment, now: Pull) -> None:
    assert step(there, now=now).act == "edit"


def test_a_result_that_turns_destructive_is_said_aloud_first() -> None:
    found = step(said(1, body(HEAD2)), wanted=plan(destructive=2))
    assert found.act == "alert"
    assert found.body.startswith(f"{ALERT}\n")
    assert "2" in found.body
    assert "http://x/pulls/7#issuecomment-1" in found.body
    told = said(2, found.body)
    assert step(said(1, body(HEAD2)), told, wanted=plan(destructive=2)).act == "edit"
    assert step(said(1, plan(destructive=2).body), told, wanted=plan(destructive=2)).act == "done"
    assert step(said(1, body(HEAD2)), said(2, found.body, 5, "anna"), wanted=plan(destructive=2)).act == "alert"


def test_no_alert_without_a_turn() -> None:
    assert step(wanted=plan(destructive=2)).act == "create"
    assert step(said(1, body(HEAD2, destructive=1)), wanted=plan(destructive=2)).act == "edit"
    assert step(said(1, "<!-- knaster plan v1 target=main -->\nbroken"), wanted=plan(destructive=2)).act == "edit"
    assert step(said(1, body(HEAD2, destructive=1))).act == "edit"


def test_the_text_of_the_alert_comes_with_the_plan() -> None:
    for text in ("It drops `rerank`.", f"{ALERT}\n\nIt drops `rerank`.\n"):
        found = step(said(1, body(HEAD2)), wanted=replace(plan(destructive=1), alert=text))
        assert found.body == f"{ALERT}\nIt drops `rerank`.\n"


def test_an_alert_that_two_runs_wrote() -> None:
    there = (said(1, plan(destructive=1).body), said(2, f"{ALERT}\nx"), said(3, f"{ALERT}\ny"))
    assert step(*there, wanted=plan(destructive=1)) == Step("delete", 3, url="http://x/pulls/7#issuecomment-1")


def test_an_alert_that_is_no_longer_true() -> None:
    """Told of an earlier head: it goes once nothing is destructive, or a newer one says it; a person's stays."""
    old = f"<!-- knaster alert v1 target=main result={RESULT} head={HEAD2} -->\nx"
    delete = Step("delete", 2, url="http://x/pulls/7#issuecomment-1")
    assert step(said(1, plan().body), said(2, old)) == delete
    bad = plan(destructive=1)
    assert step(said(1, bad.body), said(2, old), said(3, f"{ALERT}\nx"), wanted=bad) == delete
    assert step(said(1, bad.body), said(2, old), wanted=bad).act == "done"
    assert step(said(1, plan().body), said(2, old, 5, "anna")).act == "done"


def test_an_alert_of_a_run_that_came_too_late_is_taken_back() -> None:
    there, newer = (said(1, body(HEAD2)), said(2, f"{ALERT}\nx")), pull(HEAD2)
    assert step(*there, now=newer, wanted=plan(destructive=1)).act == "delete"
    assert step(*there, now=replace(newer, state="closed", merged=True), wanted=plan(destructive=1)).act == "yield"


def test_status() -> None:
    url = "http://x/pulls/7#issuecomment-1"
    long = replace(plan(), plan_id="0123456789abcdef" * 4, sentence="This merge moves 1 role; nothing is lost")
    assert status(long, "main", url) == CommitStatus(
        "success", "knaster/plan", "0123456789ab This merge moves 1 role; nothing is lost (on 111111111111)", url
    )
    refused = replace(plan(ok=False), plan_id="", sentence="Invalid: 2 errors; nothing can land")
    said = "Invalid: 2 errors; nothing can land (on 111111111111)"
    assert status(refused) == CommitStatus("failure", "knaster/plan", said)


def test_status_of_another_target() -> None:
    assert status(plan(target="lab")).context == "knaster/plan (lab)"
    assert status(plan(target="lab"), "lab").context == "knaster/plan"
    assert status(plan(target="main"), "trunk").context == "knaster/plan (main)"
    assert status(plan(target="a\u202eb")).context == "knaster/plan (a\\u202eb)"


@given(st.text(max_size=400), st.text("0123456789abcdef", max_size=64))
def test_a_description_is_short_and_inert(sentence: str, plan_id: str) -> None:
    found = status(replace(plan(), sentence=sentence, plan_id=plan_id)).description
    assert len(found) <= 140
    assert not {unicodedata.category(character) for character in found} & {"Cc", "Cf", "Cs", "Zl", "Zp"}
    assert found.startswith(plan_id[:12])
    assert found.endswith(" (on 111111111111)")


def test_a_status_is_withdrawn() -> None:
    assert pending("main", BASE2) == CommitStatus("pending", "knaster/plan", "to be planned again (on 222222222222)")
    assert pending("lab", BASE2).context == "knaster/plan (lab)"


def test_what_is_shown() -> None:
    assert shown(
        "main", [said(3, body(destructive=1)), said(2, body(HEAD2)), said(1, body(), 5, "anna")], JOB
    ) == Shown(Marker("main", HEAD2, BASE, "abc123", RESULT, "changes", 0), "http://x/pulls/7#issuecomment-2")
    assert shown("main", [said(1, "<!-- knaster plan v1 target=main -->\nbroken")], JOB) is None
    assert shown("main", [said(1, body(target="lab"))], JOB) is None


DATA = {"target": "main", "base": BASE, "head": HEAD, "plan_id": "abc123", "sentence": "s", "ok": True}


def test_a_plan_and_its_comment() -> None:
    found = wanted(DATA, body(destructive=3), "an alert")
    assert (found.target, found.head, found.base, found.result_id) == ("main", HEAD, BASE, RESULT)
    assert (found.destructive, found.ok, found.alert) == (3, True, "an alert")
    assert wanted({**DATA, "target": "a b"}, body(target="a%20b")).mark == "<!-- knaster plan v1 target=a%20b -->"


@pytest.mark.parametrize(
    ("data", "text"),
    [
        ({**DATA, "head": HEAD2}, body()),
        ({**DATA, "base": BASE2}, body()),
        ({**DATA, "target": "lab"}, body()),
        ({**DATA, "ok": "yes"}, body()),
        ({**DATA, "sentence": None}, body()),
        ({}, body()),
        (DATA, "no marker"),
    ],
)
def test_a_plan_and_a_comment_that_do_not_belong_together(data: dict[str, object], text: str) -> None:
    with pytest.raises(WorldError) as caught:
        wanted(data, text)
    assert "knaster pr plan" in str(caught.value.hint)


@dataclass
class World:
    """A pull request and the runs on it. Between a run's list and its write, `events` may happen.

    An event is the number of a run that does a whole round, or ``push`` (a new head, and a run for it), or what becomes
    of the next write: ``lost`` (it did not arrive, or did although no answer came).
    """

    events: list[object]
    head: str = "0" * 40
    last: int = 10
    there: list[Comment] = field(default_factory=list)
    runs: list[Run] = field(default_factory=list)
    busy: set[int] = field(default_factory=set)
    ended: dict[int, Posted] = field(default_factory=dict)
    lost: list[bool] = field(default_factory=list)
    troubles: int = 0
    pushes: int = 0
    author: tuple[int, str] = (-2, "gitea-actions")

    def start(self) -> None:
        """A run for the head of now; the result is destructive for every other head."""
        self.runs.append(Run(self, 7, plan(self.head, destructive=self.pushes % 2), JOB))

    def happen(self) -> None:
        """The next event."""
        event = self.events.pop() if self.events else None
        if event == "push":
            self.pushes += 1
            self.head = f"{self.pushes:040x}"
            self.start()
        elif isinstance(event, bool):
            self.lost.append(event)
        elif isinstance(event, int):
            self.go(event % len(self.runs))

    def go(self, number: int) -> None:
        """One round of one run, unless it is at it or at its end."""
        if number not in self.busy and number not in self.ended:
            self.busy.add(number)
            if (posted := self.runs[number].once()) is not None:
                self.ended[number] = posted
            self.busy.remove(number)

    def pull(self, _number: int, *, patience: int = 1) -> Pull:
        assert patience == 1
        self.happen()
        self.happen()
        return pull(self.head)

    def comments(self, _number: int) -> list[Comment]:
        return list(self.there)

    def _written(self, act: object) -> None:
        arrives = self.lost.pop() if self.lost and self.troubles < 2 else None
        if arrives is not False:
            act()  # type: ignore[operator]
        if arrives is not None:
            self.troubles += 1
            raise Temporary("lost")

    def create_comment(self, _number: int, text: str) -> Comment:
        self.last += 1
        new = Comment(self.last, *self.author, text, f"http://x/#{self.last}")
        self._written(lambda: self.there.append(new))
        return new

    def edit_comment(self, comment: int, text: str) -> Comment:
        assert any(item.id == comment for item in self.there), "the oldest was deleted"

        def edit() -> None:
            self.there = [replace(item, body=text) if item.id == comment else item for item in self.there]

        self._written(edit)
        return next(item for item in self.there if item.id == comment)

    def delete_comment(self, comment: int) -> None:
        def delete() -> None:
            self.there = [item for item in self.there if item.id != comment]

        self._written(delete)

    def pause(self, attempt: int, wait: float = 0.0) -> None:
        assert (attempt, wait) in ((0, 0.0), (1, 0.0))


EVENTS = st.lists(st.one_of(st.just("push"), st.booleans(), st.integers(0, 7)), max_size=60)


@settings(max_examples=400)
@given(EVENTS, st.integers(1, 3), st.sampled_from([(-2, "gitea-actions"), (9, "anna")]))
def test_whatever_happens_one_comment_is_left_and_it_is_the_newest(
    events: list[object], at_once: int, author: tuple[int, str]
) -> None:
    foreign = [said(1, body("f" * 40), 5, "bob"), said(2, "<!-- another tool -->\nhello", *author)]
    world = World(list(events), author=author, there=list(foreign))
    for _ in range(at_once):
        world.start()
    for _ in range(60):
        for number in range(len(world.runs)):
            world.go(number)
    assert len(world.ended) == len(world.runs)
    assert [item for item in world.there if item in foreign] == foreign
    own = [item for item in world.there if item.body.startswith("<!-- knaster plan") and item not in foreign]
    assert [item.body for item in own] == [plan(world.head, destructive=world.pushes % 2).body]
    alerts = [item for item in world.there if item.body.startswith("<!-- knaster alert")]
    assert len(alerts) <= 1
