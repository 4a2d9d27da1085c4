"""``litellm.yaml``: the configuration of the LiteLLM proxy. One model group per slot, one deployment per endpoint.

A slot that workers serve has further deployments: the other workstations whose worker serves the same model, in second
place (``order``). Who is switched off fails once and is then left alone for `COOLDOWN`; after the last deployment
LiteLLM goes on with the slot's fallbacks. Tried with LiteLLM 1.108, see docs/consumers.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from knaster.cluster import External, Model
from knaster.planned import Planned
from knaster.renderers.known import Data, known
from knaster.slots import Endpoint, SlotView, slot_views

COOLDOWN = 60
"""Seconds for which a deployment that failed is not asked again."""

_MODES = {
    "llm": ("chat", "hosted_vllm", 120),
    "embedding": ("embedding", "hosted_vllm", 30),
    "reranker": ("rerank", "hosted_vllm", 30),
    "tts": ("audio_speech", "openai", 60),
}
"""Kind of model -> LiteLLM's mode, its provider, and the seconds after which a request counts as failed.

``hosted_vllm`` speaks OpenAI's dialect, as llama-server does, and wants no key; it has no speech, so there ``openai``.
"""

_OUTSIDE = ("litellm_proxy", 120)
_NO_KEY = "none"
"""For an endpoint that wants no key, where LiteLLM's provider insists on one."""


def litellm(planned: Planned) -> Data:
    """The data of ``litellm.yaml``; groups and fallbacks sorted by name, the deployments of a group in their order."""
    cluster = planned.cluster
    models = cluster.catalog.models if cluster.catalog else {}
    external = cluster.platform.external if cluster.platform else {}
    views = slot_views(planned)
    deployed = {view.name: found for view in views if (found := _deployments(view, views, models))}
    return {
        "model_list": [
            *(one for name in sorted(deployed) for one in deployed[name]),
            *(_outside(endpoint) for _, endpoint in sorted(external.items())),
        ],
        "router_settings": _router(views, deployed.keys() | external.keys(), frozenset(deployed)),
    }


def _router(views: Iterable[SlotView], groups: Iterable[str], deployed: frozenset[str]) -> Data:
    """A slot that nothing serves is an alias of the first group of its chain, with the rest as fallbacks."""
    known_groups = frozenset(groups)
    chains = {view.name: [name for name in view.fallback if name in known_groups] for view in views}
    aliases = {name: chain.pop(0) for name, chain in chains.items() if chain and name not in deployed}
    return {
        # One failure is enough: a fallback answers at once. A deployment without any is never left alone.
        "allowed_fails": 0,
        "cooldown_time": COOLDOWN,
        "num_retries": 0,
        "model_group_alias": aliases,
        "fallbacks": [{name: chain} for name, chain in chains.items() if chain],
    }


def _deployments(view: SlotView, views: Iterable[SlotView], models: Mapping[str, Model]) -> list[Data]:
    """The deployments of a slot's group; none while it is unavailable or nobody knows host, port or model."""
    model = models.get(view.model or "")
    if view.state != "available" or model is None:
        return []
    own = [endpoint for endpoint in view.endpoints if _callable(endpoint)]
    spare = _spare(view, views) if any(endpoint.worker for endpoint in view.endpoints) else []
    ranked = [*((endpoint, 1) for endpoint in own), *((endpoint, 2) for endpoint in spare)]
    return [_deployment(view.name, model, endpoint, order) for endpoint, order in ranked]


def _spare(view: SlotView, views: Iterable[SlotView]) -> list[Endpoint]:
    """Workers of other slots that serve the same model with the same engine, one per workstation, sorted by node."""
    found: dict[str, Endpoint] = {}
    for other in views:
        if other.name != view.name and (other.model, other.engine, other.state) == (
            view.model,
            view.engine,
            "available",
        ):
            for endpoint in other.endpoints:
                if endpoint.worker and _callable(endpoint):
                    found.setdefault(endpoint.node, endpoint)
    own = {endpoint.node for endpoint in view.endpoints}
    return [endpoint for node, endpoint in sorted(found.items()) if node not in own]


def _callable(endpoint: Endpoint) -> bool:
    return endpoint.host is not None and endpoint.port is not None


def _deployment(group: str, model: Model, endpoint: Endpoint, order: int) -> Data:
    mode, provider, timeout = _MODES[model.kind]
    params = {
        "model": f"{provider}/{model.name}",
        "api_base": f"http://{endpoint.host}:{endpoint.port}/v1",
        "api_key": _NO_KEY if provider == "openai" else None,
        "timeout": timeout,
        "order": order,
    }
    info = {"id": f"{group}@{endpoint.guest or endpoint.node}", "mode": mode, "max_input_tokens": model.context}
    return {"model_name": group, "litellm_params": known(params), "model_info": known(info)}


def _outside(endpoint: External) -> Data:
    provider, timeout = _OUTSIDE
    key = endpoint.credential_env
    params = {
        "model": f"{provider}/{endpoint.model or endpoint.name}",
        "api_base": endpoint.url,
        "api_key": f"os.environ/{key}" if key else _NO_KEY,
        "timeout": timeout,
    }
    return {"model_name": endpoint.name, "litellm_params": known(params), "model_info": {"id": endpoint.name}}
