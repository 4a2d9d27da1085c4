"""Gitea's REST API, as far as a pull request needs it: pulls, comments, commit statuses."""

from knaster.adapters.gitea.access import Access, access
from knaster.adapters.gitea.client import Gitea
from knaster.adapters.gitea.errors import Denied, Temporary
from knaster.adapters.gitea.records import Comment, Pull, Status

__all__ = ["Access", "Comment", "Denied", "Gitea", "Pull", "Status", "Temporary", "access"]
