"""Literal secrets, wherever people may write text."""

from __future__ import annotations

import pytest

from knaster.checks.secrets import literal_secrets
from knaster.cluster import Assumption, Cluster, External, Figure, Worker
from tests.builders import catalog, cluster, engine, gpu, lxc, model, node, platform, policy, role, roles, slot
from tests.checking import only, route

TOKEN = "ghp_0123456789abcdefghij0123456789abcdef"
MODELS, ROLES, PLATFORM = "catalog/models.yaml", "catalog/roles.yaml", "catalog/platform.yaml"

LEAKS = [
    (cluster(roles=roles(role("a", description=TOKEN))), (ROLES, ("roles", "a", "description"))),
    (
        cluster(roles=roles(role("a", slots=(slot("s", fallback=("x", TOKEN), position=2),)))),
        (ROLES, ("roles", "a", "slots", 2, "fallback", 1)),
    ),
    (cluster(catalog=catalog(model("m", args=("--port", TOKEN)))), (MODELS, ("models", "m", "args", 1))),
    (cluster(catalog=catalog(model("m", args=("--api-key", "hunter22")))), (MODELS, ("models", "m", "args", 1))),
    (cluster(catalog=catalog(model("m", args=("--api-key=hunter22",)))), (MODELS, ("models", "m", "args", 0))),
    (cluster(catalog=catalog(model("m", source=f"https://{TOKEN}@hub"))), (MODELS, ("models", "m", "source"))),
    (
        cluster(catalog=catalog(model("m", figures=(Figure("speed", 1, "token/s", "estimated", source=TOKEN),)))),
        (MODELS, ("models", "m", "figures", "source")),
    ),
    (cluster(catalog=catalog(engine(TOKEN))), (MODELS, ("engines", TOKEN, "name"))),
    (
        cluster(platform=platform(external={"t": External("t", "https://u:pw@example.org")})),
        (PLATFORM, ("external", "t", "url")),
    ),
    (
        cluster(platform=platform(external={"t": External("t", "https://example.org", "AKIAIOSFODNN7EXAMPLE")})),
        (PLATFORM, ("external", "t", "credential", "env")),
    ),
    (
        cluster(platform=platform(workers={"p": Worker("p", "w.ps1 -Token abcdefgh1")})),
        (PLATFORM, ("workers", "p", "program")),
    ),
    (cluster(platform=platform(lxc(services=(TOKEN,)))), (PLATFORM, ("guests", "infra", "services"))),
    (cluster(platform=platform(lxc(TOKEN))), (PLATFORM, ("guests", TOKEN))),
    (
        cluster(platform=platform(cards={"10de:1c30": policy("10de:1c30", name=TOKEN)})),
        (PLATFORM, ("cards", "10de:1c30", "name")),
    ),
    (
        cluster(platform=platform(assumptions=(Assumption("a", "b"), Assumption("a", TOKEN)))),
        (PLATFORM, ("assumptions", 1, "assumed")),
    ),
    (cluster(node("a", reason=TOKEN)), ("inventory/a.yaml", ("reason",))),
    (cluster(node("a", warnings=("x", TOKEN))), ("inventory/a.yaml", ("warnings",))),
    (cluster(node("a", gpu(3, reason=TOKEN, position=1))), ("inventory/a.yaml", ("gpus", 1, "reason"))),
]


@pytest.mark.parametrize(("fleet", "place"), LEAKS)
def test_a_literal_secret_is_refused_and_never_shown(fleet: Cluster, place: tuple[str, tuple[str | int, ...]]) -> None:
    found = only(literal_secrets(fleet))
    assert found.code == "literal-secret"
    assert route(found) == (*place, "value")
    shown = f"{found.message} {found.hint}"
    assert all(secret not in shown for secret in (TOKEN, "hunter22", "u:pw", "AKIA", "abcdefgh1"))


def test_what_only_looks_technical_is_no_secret() -> None:
    uuid = "GPU-12345678-1234-1234-1234-123456789abc"
    fleet = cluster(
        node("a", gpu(uuid=uuid, reason=f"{uuid} is lost, 12 token/s before"), warnings=("max_tokens: 4096",)),
        catalog=catalog(
            model("m", args=("--api-key", "$LITELLM_KEY", "--api-key-file", "/run/key", "--max-tokens", "4096"))
        ),
        platform=platform(lxc(), external={"t": External("t", "https://example.org/v1", "TIER0_API_KEY")}),
        roles=roles(role("a", description="secret of good speech: bf16 tokens")),
    )
    assert list(literal_secrets(fleet)) == []


def test_nothing_to_look_at() -> None:
    assert list(literal_secrets(Cluster((), None, None, None))) == []


@pytest.mark.parametrize(
    ("fleet", "hint"),
    [
        (cluster(catalog=catalog(model("m", args=(TOKEN,)))), 'name the variable that holds it ("${NAME}")'),
        (
            cluster(platform=platform(external={"t": External("t", "https://example.org", TOKEN)})),
            "name the variable that holds it (credential: {env: NAME})",
        ),
        (cluster(node("a", reason=TOKEN)), "take it out"),
    ],
)
def test_the_way_out_fits_the_place(fleet: Cluster, hint: str) -> None:
    assert only(literal_secrets(fleet)).hint == f"{hint}, and replace the secret itself: it has leaked"


def test_the_way_out_of_an_argument_is_accepted() -> None:
    args = ("--api-key", "${NAME}", "--api-key=${NAME}")
    assert list(literal_secrets(cluster(catalog=catalog(model("m", args=args))))) == []
