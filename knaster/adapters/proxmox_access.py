"""Where a Proxmox VE API is, the right to ask it, and what its refusals mean."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from knaster.diagnostics import WorldError

TOKEN = "PROXMOX_VE_API_TOKEN"  # noqa: S105  the name of a variable
CA = "PROXMOX_VE_CA"
RIGHTS = "give the role PVEAuditor on / to the token, and to its user if privileges are separated"
SECONDS = (10.0, 60.0)
"""To connect, and between two parts of an answer."""
WHOLE = 300.0
"""For all answers of all nodes together, however they drip."""

_TOKEN = re.compile(r"(?P<user>[^\s!=@:/]+@[^\s!=@:/]+)!(?P<name>[A-Za-z0-9_.-]+)=(?P<secret>[A-Za-z0-9-]{8,128})")
_PORT = 8006


@dataclass(frozen=True, slots=True)
class Access:
    """Where the API is, and the right to ask. ``verify``: a file of certificates, or True: those of the system."""

    address: str
    host: str
    port: int
    prefix: str | None
    user: str
    token: str
    secret: str = field(repr=False)
    verify: str | bool = True
    seconds: tuple[float, float] = SECONDS
    whole: float = WHOLE


def access(url: str, environment: Mapping[str, str] = os.environ) -> Access:
    """How to reach the API that `url` names: ``https://HOST[:8006]``, a path before ``/api2`` for a proxy.

    Raises:
        WorldError: no such URL, or the environment holds no token, or names certificates that are not there.
    """
    host, port, prefix = _address(url)
    text = environment.get(TOKEN, "")
    token = _TOKEN.fullmatch(text.strip())
    if token is None:
        said = f"{TOKEN} is not of the form user@realm!name=secret" if text else f"{TOKEN} is not set"
        raise WorldError(said, f"put an API token with the role PVEAuditor into {TOKEN}: user@realm!name=secret")
    verify = environment.get(CA) or environment.get("REQUESTS_CA_BUNDLE") or True
    if isinstance(verify, str) and not Path(verify).exists():
        name = CA if environment.get(CA) else "REQUESTS_CA_BUNDLE"
        raise WorldError(f"{name} names {verify}, which is not there", "copy /etc/pve/pve-root-ca.pem of the cluster")
    shown = f"https://{host}:{port}" + (f"/{prefix}" if prefix else "")
    return Access(shown, host, port, prefix, token["user"], token["name"], token["secret"], verify)


def _address(url: str) -> tuple[str, int, str | None]:
    form = "name the API as https://HOST:8006"
    try:
        parts = urlsplit(url if "://" in url else f"https://{url}")
        host, port = parts.hostname, parts.port
    except ValueError:
        host, port = None, None
    if not host or not re.fullmatch(r"[A-Za-z0-9._:-]+", host) or parts.query or parts.fragment:
        raise WorldError("--pve: this is no address of an API", form)
    if "@" in parts.netloc:
        raise WorldError("--pve: no user and no password belong into the address", f"{form}, the token in {TOKEN}")
    if parts.scheme != "https":
        raise WorldError(f"--pve: {parts.scheme} is not encrypted or not known", form)
    prefix = re.sub(r"/?(api2(/json)?)?/?$", "", parts.path).strip("/")
    return (f"[{host}]" if ":" in host else host), port or _PORT, prefix or None


def refusal(status: int, said: str, given: Access) -> tuple[str, str | None]:
    """What an HTTP status means here. 595 and up are Proxmox VE's own, for a node that it cannot reach itself."""
    if status == 401:
        return (
            f"the token {given.user}!{given.token} is not accepted (401)",
            f"see {TOKEN}, and that it has not expired",
        )
    if status == 403:
        return f"{status} {said}", RIGHTS
    if status == 404:
        return f"{status} {said}", "see that --pve names Proxmox VE itself, without a path behind it"
    if status >= 595:
        return f"{status} {said}", "the cluster does not reach this node"
    return f"{status} {said}", "try again; the log is in journalctl -u pveproxy on the node"
