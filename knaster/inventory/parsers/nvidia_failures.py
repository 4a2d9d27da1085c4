"""What nvidia-smi says instead of facts: sentences and exit statuses, as causes that a collector can act on.

All texts, errors too, come on stdout. Sentences are looked at before the exit status, because a captured output may
have lost its status. Source: runs of nvidia-smi 390 to 550 over a mock NVML, and public reports.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from knaster.inventory.reading import Problem

WARNING = "WARNING"
"""Start of a line that stands beside valid rows (a corrupt infoROM, status 14)."""

_LONGEST_LINE = 1000

_SENTENCES = tuple(
    (re.compile(pattern, re.IGNORECASE), cause, advice)
    for pattern, cause, advice in (
        (r"is not a valid field to query", "unsupported-field", "ask again without it"),
        (r"no devices were found\. please", "no-permission", "no device file may be read by this user"),
        (r"couldn't communicate with the nvidia driver", "driver-not-loaded", "another driver may hold the cards"),
        (r"driver not loaded", "driver-not-loaded", "another driver may hold the cards"),
        (r"couldn't find (libnvidia-ml|nvml)", "library-missing", "the driver is not installed whole"),
        (r"unable to determine the device handle", "gpu-lost", "a query hides every card then: ask with -i"),
        (r"gpu access blocked by the operating system", "blocked-by-os", "WSL without access to the driver"),
        (r"version mismatch", "version-mismatch", "the driver was upgraded and not loaded again: reboot"),
        (r"failed to initialize nvml: insufficient permissions", "no-permission", "run it as another user"),
        (r"failed to initialize nvml", "unknown-error", "a container may have lost its devices"),
        (r"permission denied", "no-permission", "nvidia-smi may not be run by this user"),
        (r"not recognized|command not found|: not found|no such file", "tool-missing", "there is no nvidia-smi"),
    )
)

_STATUSES = {
    2: ("unsupported-field", "an argument was refused"),
    4: ("no-permission", "no permission"),
    9: ("driver-not-loaded", "the driver is not loaded"),
    12: ("library-missing", "the NVML library is missing"),
    15: ("gpu-lost", "a card has fallen off the bus"),
    17: ("blocked-by-os", "the operating system blocks the cards"),
    18: ("version-mismatch", "driver and library differ"),
    126: ("no-permission", "nvidia-smi may not be run by this user"),
    127: ("tool-missing", "there is no nvidia-smi"),
    9009: ("tool-missing", "there is no nvidia-smi"),
}
_HANDLE = re.compile(r"handle for GPU\s*([0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7])", re.IGNORECASE)
_LIBRARY = re.compile(r"NVML library version:\s*([0-9.]+)")


def failure(text: str, status: int, is_fact: Callable[[str], bool]) -> Problem | None:
    """Why `text` holds no facts, or None. Lines for which `is_fact` holds are never read as sentences.

    A device handle that cannot be had is ``gpu-lost`` whatever the reason (lost, unknown error, needs a reset):
    it hides the rows of the healthy cards, and the way out is the same.
    """
    if _killed(status):
        return Problem("killed", f"nvidia-smi did not end by itself (status {status})")
    for number, whole in enumerate(text.split("\n"), 1):
        line = whole[:_LONGEST_LINE]
        if not line.strip() or line.startswith(WARNING) or is_fact(line):
            continue
        for pattern, cause, advice in _SENTENCES:
            if pattern.search(line):
                return Problem(cause, _message(line, text, advice), number)
    return _by_status(text, status)


def no_devices(text: str, status: int) -> bool:
    """Whether the driver works and shows no card at all: status 6 (or a lost status) and its one sentence."""
    lines = [line.strip() for line in text.split("\n") if line.strip()]
    return (status == 6 and not lines) or (
        status in (0, 6) and len(lines) == 1 and lines[0].rstrip(".") == "No devices were found"
    )


def short_address(address: str) -> str:
    """``00000000:01:00.0`` as sysfs writes it: ``0000:01:00.0``. Domains that need more digits keep them."""
    domain, _, rest = address.lower().partition(":")
    return f"{domain.lstrip('0').rjust(4, '0')}:{rest}"


def quoted(line: str) -> str:
    """A line of nvidia-smi as a warning or problem quotes it: printable, single blanks, at most 300 characters."""
    return " ".join("".join(sign if sign.isprintable() else " " for sign in line[:_LONGEST_LINE]).split())[:300]


def _killed(status: int) -> bool:
    """By a signal (Python's and a shell's way to say so), by ``timeout``, or by Windows."""
    return status < 0 or status == 124 or 128 < status < 255 or status >= 0xC0000000


def _by_status(text: str, status: int) -> Problem | None:
    if status in (0, 14):
        return None
    first = next((quoted(line) for line in text.split("\n") if line.strip()), "it printed nothing")
    cause, meaning = _STATUSES.get(status, ("unknown-error", "see its manual"))
    return Problem(cause, f"nvidia-smi ended with status {status} ({meaning}): {first}")


def _message(line: str, text: str, advice: str) -> str:
    said = quoted(line).rstrip(".")
    if lost := _HANDLE.search(line):
        advice = f"{short_address(lost[1])} does not answer; {advice}"
    if library := _LIBRARY.search(text):
        advice = f"library {library[1]}; {advice}"
    return f"nvidia-smi: {said} ({advice})"
