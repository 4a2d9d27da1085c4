"""A bound for what a Proxmox VE API answers: so many bytes of one answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from knaster.units import MIB

ANSWER_BOUND = 4 * MIB
"""A node with two thousand PCI functions answers with one."""

_PART = 64 * 1024


class UnboundedError(Exception):
    """An answer that is not read to its end."""


@dataclass(frozen=True, slots=True)
class Reply:
    """As much of a response as proxmoxer looks at."""

    status_code: int
    reason: str
    content: bytes

    @property
    def text(self) -> str:
        """The content as text."""
        return self.content.decode("utf-8", "replace")


@dataclass(frozen=True, slots=True)
class Bounded:
    """A session of requests whose answers come plain and have a bound. Compressed ones are not asked for, nor read."""

    session: Any

    def request(self, method: str, url: str, **more: Any) -> Reply:
        """The whole answer. Raises `UnboundedError`, and what requests raises."""
        headers = {"Accept-Encoding": "identity"}
        with self.session.request(method, url, headers=headers, stream=True, **more) as response:
            if response.headers.get("Content-Encoding", "identity").lower() != "identity":
                raise UnboundedError("it sends a compressed answer, which was not asked for")
            content = bytearray()
            for part in response.iter_content(_PART):
                content += part
                if len(content) > ANSWER_BOUND:
                    raise UnboundedError(f"it answers with more than {ANSWER_BOUND // MIB} MiB")
            return Reply(response.status_code, response.reason, bytes(content))
