"""``litellm.yaml``: which deployments a slot has, in which order, and what is asked after them (design §2, §5)."""

from __future__ import annotations

from typing import Any

import pytest

from knaster.cluster import Catalog, External, Worker
from knaster.placement.result import Assignment, PlacementPlan
from knaster.renderers import documents
from tests.builders import catalog, engine, gpu, model, node, role, roles, slot
from tests.consumer_fleets import FLEETS, evaluated
from tests.small_fleet import fleet, ground

Data = dict[str, Any]


def config(name: str) -> Data:
    """The data of one of the consumers' fleets."""
    return dict(evaluated(name).documents["litellm.yaml"])


def bases(data: Data, group: str) -> list[tuple[str, int | None]]:
    """Address and order of each deployment of a group."""
    params = [one["litellm_params"] for one in data["model_list"] if one["model_name"] == group]
    return [(one["api_base"], one.get("order")) for one in params]


def chains(data: Data) -> Data:
    """The fallbacks as one mapping."""
    return {name: chain for entry in data["router_settings"]["fallbacks"] for name, chain in entry.items()}


def test_both_workstations_stand_in_one_group_the_slots_own_first() -> None:
    data = config("own")
    five, six = "http://192.168.100.105:8084/v1", "http://192.168.100.106:8085/v1"
    assert bases(data, "tier1-general") == [(five, 1), (six, 2)]
    assert bases(data, "tier1-flex") == [(six, 1), (five, 2)]
    assert chains(data) == {
        "tier1-flex": ["tier1-general", "tier0"],
        "tier1-general": ["tier0"],
        "verifier": ["tier0"],
    }


def test_who_is_switched_off_is_left_alone_after_one_failure() -> None:
    settings = config("own")["router_settings"]
    assert (settings["allowed_fails"], settings["cooldown_time"], settings["num_retries"]) == (0, 60, 0)
    assert all(one["litellm_params"]["timeout"] > 0 for one in config("own")["model_list"])


def test_a_slot_that_nothing_serves_is_answered_by_its_chain() -> None:
    assert config("own")["router_settings"]["model_group_alias"] == {"tts-de-hq": "tts-de"}
    changed = config("on linux")
    assert changed["router_settings"]["model_group_alias"] == {}
    assert chains(changed)["tts-de-hq"] == ["tts-de"]
    assert bases(changed, "tts-de-hq") == [("http://192.168.100.106:8091/v1", 1)]


def test_an_embedding_slot_has_one_model_and_no_fallback_to_another() -> None:
    data = config("own")
    models = {one["litellm_params"]["model"] for one in data["model_list"] if one["model_name"] == "embedding"}
    assert models == {"hosted_vllm/bge-m3-f16"}
    assert "embedding" not in chains(data)


def test_a_card_each_is_a_deployment_each_of_equal_rank() -> None:
    assert bases(config("workstations only"), "chat") == [
        ("http://10.0.0.1:8081/v1", 1),
        ("http://10.0.0.2:8081/v1", 1),
    ]


def test_an_external_endpoint_has_its_key_from_the_environment() -> None:
    (tier0,) = [one for one in config("own")["model_list"] if one["model_name"] == "tier0"]
    assert tier0["litellm_params"] == {
        "model": "litellm_proxy/tier0",
        "api_base": "https://litellm.example.internal/v1",
        "api_key": "os.environ/TIER0_API_KEY",
        "timeout": 120,
    }


@pytest.mark.parametrize("name", FLEETS)
def test_the_only_keys_are_names_of_variables(name: str) -> None:
    keys = {one["litellm_params"].get("api_key") for one in config(name)["model_list"]}
    assert keys <= {None, "none", "os.environ/TIER0_API_KEY"}


@pytest.mark.parametrize("name", FLEETS)
def test_names_meet(name: str) -> None:
    """Ids are unique, and no fallback or alias names a group that has no deployment."""
    data = config(name)
    ids = [one["model_info"]["id"] for one in data["model_list"]]
    assert len(ids) == len(set(ids))
    groups = {one["model_name"] for one in data["model_list"]}
    aliases = data["router_settings"]["model_group_alias"]
    assert {target for chain in chains(data).values() for target in chain} | set(aliases.values()) <= groups
    assert not aliases.keys() & groups


# -- small fleets: workers w1, w2, w3 and whatever they serve

MODELS = catalog(
    engine("llamacpp", os=("linux", "windows")),
    model("big", 9, engines=("llamacpp",), context=4096),
    model("small", 2, engines=("llamacpp",)),
    model("bge", 1, kind="embedding", engines=("llamacpp",)),
    model("gte", 1, kind="embedding", engines=("llamacpp",)),
)


def served(*places: tuple[str, str, str], catalog: Catalog = MODELS, **more: Any) -> Data:
    """Slots (name, worker, model), each of a role of its own; ``more`` are fallbacks by slot, and ``external``."""
    external = more.pop("external", {"tier0": External("tier0", "https://t0.example.org/v1", "T0")})
    unplaced: dict[str, str] = more.pop("unplaced", {})
    kinds = {name: catalog.models[served_].kind for name, _, served_ in places} | unplaced
    named = {name: served_ for name, _, served_ in places}
    some = roles(
        *(
            role(
                name,
                engine="llamacpp",
                kinds=(kind,),
                slots=(slot(name, model=named.get(name), fallback=more.get(name, ())),),
            )
            for name, kind in kinds.items()
        )
    )
    machines = [node(f"w{n}", gpu(0), address=f"10.0.0.{n}", platform="workstation") for n in (1, 2, 3)]
    answer = PlacementPlan(
        tuple(Assignment(name, where, 0, (served_,), slots=(name,)) for name, where, served_ in places)
    )
    ground_ = ground(workers={f"w{n}": Worker(f"w{n}", "worker") for n in (1, 2, 3)}, external=external)
    return dict(documents(fleet(*machines, roles=some, plan=answer, platform=ground_, catalog=catalog))["litellm.yaml"])


def test_a_workstation_that_serves_another_model_is_no_stand_in() -> None:
    data = served(("a", "w1", "big"), ("b", "w2", "big"), ("c", "w3", "small"))
    assert bases(data, "a") == [("http://10.0.0.1:8080/v1", 1), ("http://10.0.0.2:8080/v1", 2)]
    assert bases(data, "c") == [("http://10.0.0.3:8080/v1", 1)]


def test_a_workstation_stands_in_once_and_not_for_itself() -> None:
    data = served(("a", "w1", "big"), ("b", "w2", "big"), ("c", "w2", "big"), ("d", "w1", "big"))
    assert bases(data, "a") == [("http://10.0.0.1:8080/v1", 1), ("http://10.0.0.2:8080/v1", 2)]


@pytest.mark.parametrize(
    ("chain", "external", "expected"),
    [
        (("same",), None, ["same"]),
        (("other", "tier0"), None, None),
        (("same", "other", "tier0"), None, ["same"]),
        (("tier0",), "bge", ["tier0"]),
        (("tier0",), "gte", None),
    ],
)
def test_embeddings_fall_back_to_the_same_model_alone(
    chain: tuple[str, ...], external: str | None, expected: list[str] | None
) -> None:
    outside = {"tier0": External("tier0", "https://t0.example.org/v1", None, external)}
    data = served(("e", "w1", "bge"), ("same", "w2", "bge"), ("other", "w3", "gte"), e=chain, external=outside)
    assert chains(data).get("e") == expected


def test_an_endpoint_outside_is_asked_for_the_model_that_it_has() -> None:
    data = served(external={"t": External("t", "https://t.example.org/v1", None, "gpt-oss-120b")})
    assert data["model_list"] == [
        {
            "model_name": "t",
            "litellm_params": {
                "model": "litellm_proxy/gpt-oss-120b",
                "api_base": "https://t.example.org/v1",
                "api_key": "none",
                "timeout": 120,
            },
            "model_info": {"id": "t"},
        }
    ]


def test_the_rest_of_a_chain_follows_its_alias() -> None:
    data = served(("b", "w1", "big"), unplaced={"a": "llm", "gone": "llm"}, a=("gone", "b", "tier0"))
    assert data["router_settings"]["model_group_alias"] == {"a": "b"}
    assert chains(data) == {"a": ["tier0"]}


def test_a_slot_without_place_and_chain_is_not_there() -> None:
    data = served(("b", "w1", "big"), unplaced={"a": "llm"})
    assert (data["router_settings"]["model_group_alias"], data["router_settings"]["fallbacks"]) == ({}, [])
    assert {one["model_name"] for one in data["model_list"]} == {"b", "tier0"}


def test_the_context_of_the_model_is_told() -> None:
    data = served(("a", "w1", "big"), ("c", "w3", "small"))
    assert [one["model_info"].get("max_input_tokens") for one in data["model_list"]] == [4096, None, None]
