"""The git door: commits, trees, merges and histories, read by git itself; nothing is checked out.

Outside a repository nothing of git is needed: neither the package nor the executable. `root` is the folder of the
fleet, which may lie below the top of its repository; paths are relative to it.
"""

from knaster.adapters.git.commits import (
    current_branch,
    is_ancestor,
    is_shallow,
    merge_base,
    message,
    parents,
    prefix,
    resolve,
)
from knaster.adapters.git.history import History
from knaster.adapters.git.landing import commit, with_generated
from knaster.adapters.git.lines import fork_point, main_branch
from knaster.adapters.git.merging import Merged, merge
from knaster.adapters.git.network import fetch, fetch_reference, push
from knaster.adapters.git.pulls import fetch_pulls
from knaster.adapters.git.trees import generated, read, read_many, touched
from knaster.adapters.git.worktree import create, head_file, inside_git, tracked, unborn, uncommitted

__all__ = [
    "History",
    "Merged",
    "commit",
    "create",
    "current_branch",
    "fetch",
    "fetch_pulls",
    "fetch_reference",
    "fork_point",
    "generated",
    "head_file",
    "inside_git",
    "is_ancestor",
    "is_shallow",
    "main_branch",
    "merge",
    "merge_base",
    "message",
    "parents",
    "prefix",
    "push",
    "read",
    "read_many",
    "resolve",
    "touched",
    "tracked",
    "unborn",
    "uncommitted",
    "with_generated",
]
