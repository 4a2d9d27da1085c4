"""How commands reach Gitea: from flags, else from the environment of a job."""

from __future__ import annotations

import argparse
import os

from knaster.adapters.gitea import Gitea, access
from knaster.posting import Poster

BOT = "KNASTER_BOT"


def connect(args: argparse.Namespace) -> Gitea:
    """The server and repository that the arguments or the job name. Raises WorldError where neither does."""
    where = access(args.api, args.repo)
    return Gitea(where.url, where.repo, where.token)


def poster(args: argparse.Namespace) -> Poster:
    """Who writes our comments: ``--bot``, ``KNASTER_BOT``, else the job's own user."""
    return Poster(args.bot or os.environ.get(BOT) or None)
