"""Proxmox VE's API: what every node of a cluster tells of itself. The door of proxmoxer and of its requests.

The token comes from the environment and goes to the one address that the user names: TLS is verified always, a redirect
is not followed, and no text of ours holds the token. Whoever answers is not trusted: an answer has a bound, and all of
them together a deadline. Paths and fields: Proxmox VE's API viewer, ``/nodes/{node}``.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from knaster.adapters.at_once import within
from knaster.adapters.proxmox_access import CA, RIGHTS, Access, access, refusal
from knaster.adapters.proxmox_bounds import Bounded, UnboundedError
from knaster.diagnostics import WorldError

__all__ = ["Access", "Node", "access", "nodes"]

AT_ONCE = 8
_UP = "see that the host is up and that no firewall is between"

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
    """Every node of the cluster, as the answers come; offline ones too, and those that do not answer in time.

    Raises:
        WorldError: the API cannot be reached, its certificate is not trusted, or it refuses the token.
    """
    end = time.monotonic() + given.whole
    ((_, first),) = within(end, 1, {"": partial(_listed, given)})
    if first is None:
        raise WorldError(f"{given.address}: {_late(given)}", _UP)
    listed, addresses = first()
    yield from (Node(name, problem="the node is offline") for name, there in listed.items() if not there)
    online = {name: partial(_read, given, name, addresses.get(name)) for name, there in listed.items() if there}
    for name, answer in within(end, AT_ONCE, online):
        yield Node(name, problem=_late(given), hint=_UP) if answer is None else answer()


def _late(given: Access) -> str:
    return f"no answer within {given.whole:g} s"


def _listed(given: Access) -> tuple[dict[str, bool], dict[str, str]]:
    with _api(given) as api:
        return _nodes(api), _addresses(api)


def _nodes(api: Any) -> dict[str, bool]:
    """Name to whether it is there. What the API calls a node becomes a part of addresses: only a name may."""
    found = api.nodes.get()
    if not isinstance(found, list) or not found:
        raise WorldError("the API lists no nodes", RIGHTS)
    names: dict[str, bool] = {}
    for item in found:
        name = item.get("node") if isinstance(item, dict) else None
        if not isinstance(name, str) or not _NODE.fullmatch(name):
            shown = repr(name[:80]) if isinstance(name, str) else "without a name"
            raise WorldError(f"the API lists a node {shown}: that is no name", "see that --pve names Proxmox VE")
        names[name] = item.get("status") != "offline"
    return dict(sorted(names.items()))


def _addresses(api: Any) -> dict[str, str]:
    """The nodes' own addresses, as far as the token may see them."""
    try:
        found = api.cluster.status.get()
    except WorldError:
        return {}
    items = [item for item in found if isinstance(item, dict)] if isinstance(found, list) else []
    known = [(item.get("name"), item.get("ip")) for item in items if item.get("type") == "node"]
    return {name: ip for name, ip in known if isinstance(name, str) and isinstance(ip, str) and ip}


def _read(given: Access, name: str, address: str | None) -> Node:
    sources: dict[str, str] = {}
    refused: dict[str, WorldError] = {}
    with _api(given) as api:
        for source, (path, options) in _SOURCES.items():
            try:
                sources[source] = api.nodes(name)(path).text(**options)
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
        return self._asked(lambda found: found, options)

    def text(self, **options: int) -> str:
        """The same as JSON."""
        found: str = self._asked(json.dumps, options)
        return found

    def _asked(self, read: Callable[[Any], Any], options: Mapping[str, int]) -> Any:
        from proxmoxer import ResourceException
        from requests.exceptions import RequestException

        try:
            found = self._resource.get(**options)
            if isinstance(found, dict) and isinstance(found.get("errors"), bytes):
                raise ValueError("no JSON")  # proxmoxer hands out the bytes
            return read(found)
        except ResourceException as error:
            said, hint = refusal(error.status_code, f"{error.status_message or ''}: {error.content}", self._given)
        except UnboundedError as error:
            said, hint = str(error), "see that --pve names Proxmox VE itself"
        except (AttributeError, KeyError, TypeError, ValueError, RecursionError) as error:
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
            base_url=backend.get_base_url(), session=Bounded(session), serializer=backend.get_serializer()
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
    if isinstance(error, exceptions.Timeout) or "Read timed out" in str(error):
        return "no answer in time", _UP
    known = re.search(
        r"Connection refused|Name or service not known|No route to host|Temporary failure in name", str(error)
    )
    return (
        f"cannot connect ({known[0] if known else type(error).__name__})",
        "see that the address and the port are right",
    )
