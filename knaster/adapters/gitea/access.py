"""Where a repository's API is, and the token for it: from flags, else from the environment of a Gitea job."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from knaster.adapters.web import credential, split
from knaster.diagnostics import WorldError

API = ("KNASTER_API_URL", "GITHUB_API_URL")
REPOSITORY = "GITHUB_REPOSITORY"
TOKENS = ("KNASTER_TOKEN", "GITEA_TOKEN")
"""Variables, the first that is set counts. KNASTER_ is for people: a job's own address may be an internal one."""

_FORM = "name Gitea's API as https://HOST/api/v1, with the path before it if Gitea has one"
_ROOT = "/api/v1"
_NAME = re.compile(r"[A-Za-z0-9._-]{1,100}")


@dataclass(frozen=True, slots=True)
class Access:
    """``url`` ends in ``/api/v1`` and holds no user; ``repo`` is ``OWNER/NAME``; no ``token``: one may only read."""

    url: str
    repo: str
    token: str | None = field(default=None, repr=False)


def access(api: str | None = None, repo: str | None = None, environment: Mapping[str, str] | None = None) -> Access:
    """What the flags `api` and `repo` say, or the environment (default: this process's).

    Raises:
        WorldError: the address or the repository is missing, or is none; the token is no token. Never shows them.
    """
    known = os.environ if environment is None else environment
    url = api or _first(known, API)
    name = repo or known.get(REPOSITORY, "")
    if not url:
        raise WorldError("the address of Gitea's API is not known", f"{_FORM}: --api URL, or {API[0]}")
    if not name:
        raise WorldError("the repository is not known", f"name it: --repo OWNER/NAME, or {REPOSITORY}")
    return Access(root(url), repository(name), _token(known))


def root(url: str) -> str:
    """The API's address without a slash at its end; ``/api/v1`` is added where it is missing. Raises WorldError."""
    host, path = split(url, "Gitea's API", _FORM, f"put the token into {TOKENS[0]}")
    return f"{host}{path.removesuffix(_ROOT).rstrip('/')}{_ROOT}"


def repository(name: str) -> str:
    """``OWNER/NAME``, as Gitea allows names. Raises WorldError for anything else."""
    parts = name.strip().split("/")
    if len(parts) != 2 or not all(_NAME.fullmatch(part) and part.strip(".") for part in parts):
        raise WorldError("this is no name of a repository", "name it as OWNER/NAME")
    return "/".join(parts)


def _first(environment: Mapping[str, str], names: tuple[str, ...]) -> str:
    return next((environment[name] for name in names if environment.get(name, "").strip()), "")


def _token(environment: Mapping[str, str]) -> str | None:
    return credential(" or ".join(TOKENS), _first(environment, TOKENS))
