"""Proxmox VE's API: what every node of a cluster tells of itself. The door of proxmoxer and of its requests.

The token comes from the environment and goes to the one address that the user names: TLS is verified always, a redirect
is not followed, and no text of ours holds the token. Paths and fields: Proxmox VE's API viewer, ``/nodes/{node}``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from knaster.adapters.proxmox_access import CA, RIGHTS, Access, access, refusal
from knaster.diagnostics import WorldError

__all__ = ["Access", "Node", "access", "nodes"]

AT_ONCE = 8

_NODE = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?")
_SOURCES: Mapping[str, tuple[str, Mapping[str, int]]] = {
    "pve-status": ("status", {}),
    "pve-pci": ("hardware/pci", {}),
    "pve-disks": ("disks/list", {"skipsmart": 1}),  # waking every disk for its health would take minutes
}


@dataclass(frozen=True, slots=True)
class Node:
    """One node. ``sources``: name of a capture's source to the API's answer as JSON; ``refused``: to why there is none.

    ``problem``: nothing could be read of it.
    """

    name: str
    address: str | None = None
    sources: Mapping[str, str] = field(default_factory=dict)
    refused: Mapping[str, str] = field(default_factory=dict)
    problem: str | None = None
    hint: str | None = None


def nodes(given: Access) -> Iterator[Node]:
    """Every node of the cluster, as the answers come; offline ones too.

    Raises:
        WorldError: the API cannot be reached, its certificate is not trusted, or it refuses the token.
    """
    with _api(given) as api:
        listed, addresses = _nodes(api), _addresses(api)
    online = [name for name, there in listed.items() if there]
    ready = [Node(name, problem="the node is offline") for name, there in listed.items() if not there]
    with ThreadPoolExecutor(max_workers=AT_ONCE) as pool:
        running = [pool.submit(_read, given, name, addresses.get(name)) for name in online]
        try:
            yield from ready
            yield from (future.result() for future in as_completed(running))
        finally:
            for future in running:
                future.cancel()


def _nodes(api: Any) -> dict[str, bool]:
    """Name to whether it is there. What the API calls a node becomes a part of addresses: only a name may."""
    found = api.nodes.get()
    if not isinstance(found, list) or not found:
        raise WorldError("the API lists no nodes", RIGHTS)
    names = {str(item.get("node")): item.get("status") != "offline" for item in found if isinstance(item, dict)}
    for name in names:
        if not _NODE.fullmatch(name):
            raise WorldError(f"the API lists a node {name[:80]!r}: that is no name", "see that --pve names Proxmox VE")
    return dict(sorted(names.items()))


def _addresses(api: Any) -> dict[str, str]:
    """The nodes' own addresses, as far as the token may see them."""
    try:
        found = api.cluster.status.get()
    except WorldError:
        return {}
    items = [item for item in found if isinstance(item, dict)] if isinstance(found, list) else []
    return {str(item["name"]): str(item["ip"]) for item in items if item.get("type") == "node" and item.get("ip")}


def _read(given: Access, name: str, address: str | None) -> Node:
    sources: dict[str, str] = {}
    refused: dict[str, WorldError] = {}
    with _api(given) as api:
        for source, (path, options) in _SOURCES.items():
            try:
                sources[source] = json.dumps(api.nodes(name)(path).get(**options))
            except WorldError as error:
                refused[source] = error
    said = {source: error.message for source, error in refused.items()}
    if sources:
        return Node(name, address, sources, said)
    first = next(iter(refused.values()))
    return Node(name, address, refused=said, problem=first.message, hint=first.hint)


class _Guarded:
    """proxmoxer's resource, its errors turned into ours."""

    def __init__(self, resource: Any, given: Access) -> None:
        self._resource, self._given = resource, given

    def __getattr__(self, name: str) -> _Guarded:
        return _Guarded(getattr(self._resource, name), self._given)

    def __call__(self, name: str) -> _Guarded:
        return _Guarded(self._resource(name), self._given)

    def get(self, **options: int) -> Any:
        """The ``data`` of the answer. Raises WorldError."""
        from proxmoxer import ResourceException
        from requests.exceptions import RequestException

        try:
            found = self._resource.get(**options)
            if isinstance(found, dict) and isinstance(found.get("errors"), bytes):
                raise ValueError("no JSON")  # proxmoxer hands out the bytes
            return found
        except ResourceException as error:
            said, hint = refusal(error.status_code, f"{error.status_message or ''}: {error.content}", self._given)
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            if isinstance(error, RequestException):  # some of those are values too
                said, hint = _unreachable(error)
            else:
                said, hint = "the answer is none of Proxmox VE", "see that --pve names Proxmox VE itself"
        except (RequestException, OSError) as error:
            said, hint = _unreachable(error)
        raise WorldError(f"{self._given.address}: {said}".replace(self._given.secret, "[redacted]"), hint) from None


@contextmanager
def _api(given: Access) -> Iterator[_Guarded]:
    try:
        import requests  # noqa: F401  without it proxmoxer would end the process
        from proxmoxer import ProxmoxResource
        from proxmoxer.backends.https import Backend
    except ImportError as error:
        raise WorldError("--pve needs the package proxmoxer", "pip install 'knaster[proxmox]'") from error
    backend = Backend(
        given.host,
        user=given.user,
        token_name=given.token,
        token_value=given.secret,
        port=given.port,
        verify_ssl=given.verify,
        timeout=given.seconds,
        path_prefix=given.prefix,
    )
    with backend.get_session() as session:
        session.max_redirects = 0  # the token goes where the user said
        resource = ProxmoxResource(
            base_url=backend.get_base_url(), session=session, serializer=backend.get_serializer()
        )
        yield _Guarded(resource, given)


def _unreachable(error: Exception) -> tuple[str, str]:
    from requests import exceptions

    if isinstance(error, exceptions.SSLError):
        found = re.search(r"certificate verify failed: ([^(]*)", str(error))
        why = found[1].strip() if found else "no TLS"
        return f"its certificate is not trusted ({why})", f"name the cluster's CA (/etc/pve/pve-root-ca.pem) in {CA}"
    if isinstance(error, exceptions.TooManyRedirects):
        return "it answers with a redirect, which is not followed", "name the address that it leads to"
    if isinstance(error, exceptions.Timeout):
        return "no answer in time", "see that the host is up and that no firewall is between"
    known = re.search(
        r"Connection refused|Name or service not known|No route to host|Temporary failure in name", str(error)
    )
    return (
        f"cannot connect ({known[0] if known else type(error).__name__})",
        "see that the address and the port are right",
    )
