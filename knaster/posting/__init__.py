"""What to write to a pull request, decided from what is there."""

from knaster.posting.decisions import CONTEXT, context, decide, outdated, pending, shown, status
from knaster.posting.values import CommitStatus, Poster, Shown, Step, Wanted, wanted

__all__ = [
    "CONTEXT",
    "CommitStatus",
    "Poster",
    "Shown",
    "Step",
    "Wanted",
    "context",
    "decide",
    "outdated",
    "pending",
    "shown",
    "status",
    "wanted",
]
