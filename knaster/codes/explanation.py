"""What is said about a diagnostic code."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Explanation:
    """One sentence on what is wrong, why knaster asks for better, and how it is put right."""

    summary: str
    why: str
    fix: str
