"""The program that terraform and tofu start: plugin protocol 6 over PyPI's `tf`, which brings transport and messages.

Environment: ``STUB_IMPORTS`` is a JSON object, import id to the attributes that are found there; ``STUB_GONE`` a JSON
list of VM ids that a refresh no longer finds.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import tf.provider
from tf.gen import tfplugin_pb2 as pb
from tf.runner import run_provider
from tf.types import Unknown
from tf.utils import read_dynamic_value, to_dynamic_value

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.tofu_stub.table import Part, read

TABLE = read()
Path_ = list[Any]


def attribute(part: Part) -> Any:
    """An attribute's description for the wire."""
    flags = {
        flag: True for flag in ("required", "optional", "computed", "sensitive", "deprecated") if flag in part.flags
    }
    if part.kind.startswith("nested:"):
        nested = pb.Schema.Object(attributes=[attribute(one) for one in part.parts], nesting=pb.Schema.Object.SET)
        return pb.Schema.Attribute(name=part.name, nested_type=nested, **flags)
    return pb.Schema.Attribute(name=part.name, type=part.wire_type, **flags)


def block(part: Part) -> Any:
    """The content of a block or resource for the wire."""
    return pb.Schema.Block(
        attributes=[attribute(one) for one in part.parts if not one.is_block],
        block_types=[
            pb.Schema.NestedBlock(
                type_name=one.name, block=block(one), nesting=pb.Schema.NestedBlock.LIST, max_items=one.most
            )
            for one in part.parts
            if one.is_block
        ],
    )


def planned(part: Part, value: dict[str, Any], unknown: Any) -> dict[str, Any]:
    """`value` with what the provider will compute as `unknown`."""
    found: dict[str, Any] = {}
    for one in part.parts:
        inner = value.get(one.name)
        if one.is_block:
            found[one.name] = [planned(one, each, unknown) for each in inner or []]
        else:
            found[one.name] = unknown if inner is None and "computed" in one.flags else inner
    return found


def settled(part: Part, value: dict[str, Any]) -> dict[str, Any]:
    """What an apply makes of a plan: nothing stays unknown."""
    found: dict[str, Any] = {}
    for one in part.parts:
        inner = value.get(one.name)
        if one.is_block:
            found[one.name] = [settled(one, each) for each in inner or []]
        elif inner is Unknown:
            found[one.name] = None
            if one.name == "id":
                found["id"] = str(value.get("vm_id") or value.get("name") or f"local:import/{value.get('file_name')}")
        else:
            found[one.name] = inner
    return found


def replaced(part: Part, old: dict[str, Any], new: dict[str, Any]) -> Iterator[Path_]:
    """Paths whose change makes a new resource."""
    for one in part.parts:
        before, after = old.get(one.name), new.get(one.name)
        if before == after or (one.name == "node_name" and new.get("migrate") is True):
            continue
        if "replaces" in one.flags:
            yield [one.name]
        elif one.is_block:
            for at, (left, right) in enumerate(zip(before or [], after or [], strict=False)):
                yield from ([one.name, at, *rest] for rest in replaced(one, left, right))


def wire_path(path: Path_) -> Any:
    """A path for the wire."""
    step = pb.AttributePath.Step
    steps = [step(element_key_int=part) if isinstance(part, int) else step(attribute_name=part) for part in path]
    return pb.AttributePath(steps=steps)


class Servicer:
    """The calls that validate, plan, apply, refresh, import and move make."""

    def __init__(self, _app: object) -> None:
        """`tf` hands over its provider, which this one has no use for."""

    def __getattr__(self, name: str) -> Any:
        """Any other call: unimplemented."""
        return getattr(tf.provider.rpc.ProviderServicer, name).__get__(self)

    def GetProviderSchema(self, _request: Any, _context: Any) -> Any:
        resources = {
            name: pb.Schema(version=0, block=block(part)) for name, part in TABLE.items() if name != "provider"
        }
        empty = pb.Schema(version=0, block=pb.Schema.Block())
        provider = pb.Schema(version=0, block=block(TABLE["provider"]))
        return pb.GetProviderSchema.Response(provider=provider, provider_meta=empty, resource_schemas=resources)

    def ValidateProviderConfig(self, _request: Any, _context: Any) -> Any:
        return pb.ValidateProviderConfig.Response()

    def ValidateResourceConfig(self, _request: Any, _context: Any) -> Any:
        return pb.ValidateResourceConfig.Response()

    def ConfigureProvider(self, _request: Any, _context: Any) -> Any:
        return pb.ConfigureProvider.Response()

    def StopProvider(self, _request: Any, _context: Any) -> Any:
        return pb.StopProvider.Response()

    def UpgradeResourceState(self, request: Any, _context: Any) -> Any:
        return pb.UpgradeResourceState.Response(upgraded_state=to_dynamic_value(json.loads(request.raw_state.json)))

    def ReadResource(self, request: Any, _context: Any) -> Any:
        state = read_dynamic_value(request.current_state)
        gone = state is not None and state.get("vm_id") in json.loads(os.environ.get("STUB_GONE", "[]"))
        return pb.ReadResource.Response(new_state=to_dynamic_value(None) if gone else request.current_state)

    def PlanResourceChange(self, request: Any, _context: Any) -> Any:
        part = TABLE[request.type_name]
        old, proposed = read_dynamic_value(request.prior_state), read_dynamic_value(request.proposed_new_state)
        new = planned(part, proposed, Unknown if old is None else None)
        paths = [] if old is None else [wire_path(path) for path in replaced(part, old, new)]
        return pb.PlanResourceChange.Response(planned_state=to_dynamic_value(new), requires_replace=paths)

    def ApplyResourceChange(self, request: Any, _context: Any) -> Any:
        new = read_dynamic_value(request.planned_state)
        state = None if new is None else settled(TABLE[request.type_name], new)
        return pb.ApplyResourceChange.Response(new_state=to_dynamic_value(state))

    def ImportResourceState(self, request: Any, _context: Any) -> Any:
        node, _, vmid = request.id.partition("/")
        found = json.loads(os.environ.get("STUB_IMPORTS", "{}")).get(request.id, {})
        part = TABLE[request.type_name]
        state = {**part.empty(), "id": vmid, "vm_id": int(vmid), "node_name": node, **found}
        resource = pb.ImportResourceState.ImportedResource(
            type_name=request.type_name, state=to_dynamic_value(full(part, state))
        )
        return pb.ImportResourceState.Response(imported_resources=[resource])


def full(part: Part, value: dict[str, Any]) -> dict[str, Any]:
    """`value` with all that it leaves out."""
    found = {**part.empty(), **value}
    for one in part.parts:
        if one.is_block:
            found[one.name] = [full(one, each) for each in found[one.name]]
    return found


if __name__ == "__main__":
    tf.provider.ProviderServicer = Servicer
    run_provider(None)
