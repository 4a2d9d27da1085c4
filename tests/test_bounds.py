"""A small file never costs much more than its size: steps, sizes and messages are counted, not seconds."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from knaster import names, schema
from knaster.adapters import files as working
from knaster.adapters import git
from knaster.adapters.git import trees
from knaster.checks import bounds, references
from knaster.cluster import Role
from knaster.files import Refused
from knaster.inventory import plan
from knaster.placement import gpu_roles
from knaster.placement.on_card import OnCard
from knaster.placement.share_tree import MOST, concurrent_top
from knaster.placement.share_tree import trees as share_trees
from knaster.schema import errors, validator
from knaster.schema.repeats import repeated
from knaster.slots.chains import LONGEST, expand_chain
from knaster.slots.meeting import Seat, neighbours
from tests.builders import catalog, cluster, gpu, node, role, roles, slot
from tests.git_repo import Repo, plain
from tests.test_slots import at


def counted(monkeypatch: pytest.MonkeyPatch, where: Any, name: str) -> list[None]:
    """One entry for every call of a function from now on."""
    calls: list[None] = []
    real: Callable[..., Any] = getattr(where, name)

    def counting(*arguments: Any, **more: Any) -> Any:
        calls.append(None)
        return real(*arguments, **more)

    monkeypatch.setattr(where, name, counting)
    return calls


class TestSharers:
    """Roles that share one card."""

    def test_a_thousand_are_placed_in_a_thousand_steps(self, monkeypatch: pytest.MonkeyPatch) -> None:
        climbs = counted(monkeypatch, OnCard, "_top")
        wanted = roles(
            role("r0"), *(role(f"r{i}", share_with=f"r{i - 1}", share_mode="concurrent") for i in range(1, 1000))
        )
        assert len(plan([node("n", gpu(0, 20))], wanted, catalog()).assignments) == 1000
        assert len(climbs) <= 5 * 1000  # asking, putting and telling; all pairs would be 500,000

    def test_more_than_the_bound_are_an_error_and_no_pair_is_looked_at(self) -> None:
        def near(number: int) -> tuple[int, int]:
            some = roles(role("top"), *(role(f"r{i:03}", share_with="top") for i in range(number - 1)))
            seats = [Seat(one, None, (at(one.name, "bare1/0"),)) for one in some.values()]
            return len(list(bounds.crowds(cluster(roles=some)))), sum(
                len(apart) + len(together) for apart, together in neighbours(some, seats).values()
            )

        assert near(MOST) == (0, MOST * (MOST - 1))  # each excludes each other one
        assert near(MOST + 1) == (1, 0)

    @given(st.data())
    def test_groups_are_those_of_the_tree(self, data: st.DataObject) -> None:
        """`share_tree.concurrent_top` climbs anew for every question; `OnCard` remembers."""
        some: dict[str, Role] = {}
        for name in "abcdefgh":
            target = data.draw(st.sampled_from([None, *some]))
            mode = data.draw(st.sampled_from(["alternating", "concurrent"]))
            floor = data.draw(st.sampled_from([0, 0.1, 2, 7.5]))
            some[name] = role(name, share_with=target, share_mode=mode, min_vram_gb=floor)
        card = OnCard.of(some.values())
        tops = {name: concurrent_top(one, some) for name, one in some.items()}
        for name, one in some.items():
            beside = [other for other in some if other != name and tops[other] == tops[name]]
            assert [other.name for other in card.beside(one)] == beside
            tenths = sum(round(some[other].needs.min_vram_gb * 10) for other in beside)
            assert card.floors_beside(one) * 10 == tenths

    @given(st.dictionaries(st.sampled_from("abcdef"), st.sampled_from("abcdefx")))
    def test_every_role_is_in_one_tree(self, targets: dict[str, str]) -> None:
        some = roles(*(role(name, share_with=target if target != "x" else None) for name, target in targets.items()))
        found = share_trees(some)
        assert sorted(name for members in found.values() for name in members) == sorted(targets)
        for members in found.values():
            for name in members:
                assert targets[name] in members or targets[name] == "x" or targets[name] not in targets


def test_roles_pinned_to_one_node_ask_each_kind_of_card_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = counted(monkeypatch, gpu_roles, "first_failure")
    wanted = roles(*(role(f"r{i}", pin="n") for i in range(300)))
    answer = plan([node("n", *(gpu(at, 20) for at in range(64)))], wanted, catalog())
    assert len(answer.assignments) == 64
    # One node, one class of cards: twice for each role and run; every card by itself would be 300 * 64 * 4 a run.
    assert len(asked) < 300 * 64


class TestChains:
    """Fallbacks of fallbacks."""

    def test_no_chain_is_followed_without_end(self) -> None:
        declared = {f"s{i}": slot(f"s{i}", fallback=(f"s{i + 1}",)) for i in range(5000)}
        chain, cycle = expand_chain(declared["s0"], declared)
        assert (len(chain), cycle) == (LONGEST + 1, None)

    def test_the_longest_one_is_fine(self) -> None:
        def found(number: int) -> int:
            some = (role(f"r{i}", slots=(slot(f"s{i}", fallback=(f"s{i + 1}",)),)) for i in range(number))
            return len(list(bounds.chains(cluster(roles=roles(*some)))))

        assert (found(LONGEST), found(LONGEST + 1)) == (0, 1)


class TestNames:
    """Near misses."""

    def test_they_are_searched_for_the_first_hundred_mistakes(self, monkeypatch: pytest.MonkeyPatch) -> None:
        searches = counted(monkeypatch, names, "nearest")
        some = roles(*(role(f"r{i}", share_with=f"rx{i}") for i in range(900)))
        found = list(references.share_targets(cluster(roles=some)))
        assert len(found) == 900
        assert len(searches) == 100
        assert found[-1].hint == "known roles: r0, r1, r10, r100, r101, r102, r103, r104 and 892 more"

    def test_they_are_searched_among_few(self, monkeypatch: pytest.MonkeyPatch) -> None:
        letters = counted(monkeypatch, names, "_letters")
        known = [f"n{number}" for number in range(100_000)]
        assert names.Names(known, "nodes").suggestion("nx1") == 'did you mean "n1"?'
        assert len(letters) <= 2001


class TestSchema:
    """What a schema refused is explained in bounded steps."""

    def test_a_list_that_is_too_long_is_one_mistake(self, monkeypatch: pytest.MonkeyPatch) -> None:
        looked_at = counted(monkeypatch, validator, "_part_accepts")
        items: list[Any] = [text for number in range(20_000) for text in (f"x{number}", number, [number])]
        data = {"roles": {"a": {"needs": {"engine": "e"}, "kinds": items}}}
        (found,) = schema.check("roles", "f.yaml", data)
        assert found.message == "roles.a.kinds: need at most 20 items, have 60000"
        assert len(looked_at) < 10

    def test_a_mapping_that_is_too_long_is_one_mistake(self) -> None:
        data = {"roles": {f"r{number}": {"needs": 1} for number in range(1001)}}
        (found,) = schema.check("roles", "f.yaml", data)
        assert found.message == "roles: need at most 1000 keys, have 1001"

    def test_unknown_keys_are_told_to_200(self, monkeypatch: pytest.MonkeyPatch) -> None:
        searches = counted(monkeypatch, errors, "nearest")
        data = {"roles": {}, **{f"role{number}": 1 for number in range(5000)}}
        assert len(schema.check("roles", "f.yaml", data)) == 200
        assert len(searches) <= 400

    def test_of_many_good_entries_only_the_bad_one_is_looked_into(self, monkeypatch: pytest.MonkeyPatch) -> None:
        explained = counted(monkeypatch, type(validator._slow("roles")), "descend")
        good = {"needs": {"engine": "e"}, "kinds": ["llm"]}
        data = {"roles": {**{f"r{number}": good for number in range(999)}, "bad": {**good, "priority": "x"}}}
        (found,) = schema.check("roles", "f.yaml", data)
        assert found.message.startswith("roles.bad.priority: ")
        assert 0 < len(explained) < 30  # an entry by itself has some twenty

    values = st.recursive(
        st.sampled_from([None, True, False, 0, 1, 1.0, 0.0, "", "1", "a"]),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("ab"), inner, max_size=2),
        max_leaves=6,
    )

    @settings(max_examples=300)
    @given(st.lists(values, max_size=6))
    def test_equal_items_are_those_of_jsonschema(self, items: list[Any]) -> None:
        distinct = jsonschema.Draft202012Validator({"uniqueItems": True}).is_valid(items)
        assert (repeated(items) == ()) is distinct


class TestTotals:
    """All files of a repository together."""

    @pytest.fixture(autouse=True)
    def _small(self, monkeypatch: pytest.MonkeyPatch) -> None:
        plain(monkeypatch)
        for module in (working, trees):
            monkeypatch.setattr(module, "INPUTS_BOUND", 1024 * 1024)
            monkeypatch.setattr(module, "RENDERED_BOUND", 2 * 1024 * 1024)

    def test_a_folder_and_a_commit_of_it_are_cut_at_the_same_file(self, tmp_path: Path) -> None:
        text = "#" * 400_000
        names = ("catalog/models.yaml", "inventory/a.yaml", "inventory/b.yaml", "generated/a", "generated/b")
        repo = Repo.new(tmp_path / "repo")
        repo.commit({**dict.fromkeys(names, text), "inventory/c.yaml": "name: c"})
        found = working.read(repo.path, generated=True)
        beyond = Refused("beyond the 1 MiB that all files together may have")
        assert found == {
            **{name: text for name in names if name != "inventory/b.yaml"},
            "inventory/b.yaml": beyond,
            "inventory/c.yaml": "name: c",
        }
        assert git.read(repo.path, "HEAD", generated=True) == found

    def test_one_text_at_many_paths_counts_as_often(self, tmp_path: Path) -> None:
        """Git stores it once, so that a pull request of a few bytes could stand for gigabytes."""
        repo = Repo.new(tmp_path / "repo")
        repo.commit({f"inventory/n{number:03}.yaml": "#" * 500_000 for number in range(200)})
        found = git.read(repo.path, "HEAD")
        assert len(found) == 200
        assert [path for path, entry in found.items() if isinstance(entry, str)] == [
            "inventory/n000.yaml",
            "inventory/n001.yaml",
        ]

    def test_generated_files_of_a_commit(self, tmp_path: Path) -> None:
        repo = Repo.new(tmp_path / "repo")
        repo.commit({f"generated/{name}": name * 900_000 for name in "abc"})
        assert [path for path, one in git.generated(repo.path, "HEAD").items() if one.data is not None] == ["a", "b"]

    def test_more_than_is_read_is_an_error_of_each_file(self, tmp_path: Path) -> None:
        (tmp_path / "inventory").mkdir()
        for name in "ab":
            (tmp_path / f"inventory/{name}.yaml").touch()
            os.truncate(tmp_path / f"inventory/{name}.yaml", 600_000)
        assert list(working.read(tmp_path).values())[1:] == [
            Refused("beyond the 1 MiB that all files together may have")
        ]
