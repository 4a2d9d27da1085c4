"""Units: GiB written by people become exact numbers, so that sums never lie by a rounding error.

``0.1 + 0.2 > 0.3`` in floats; three roles that fill a card exactly must fit it. Whole numbers stay `int` (fast);
only true fractions become `Fraction`.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

Exact = int | Fraction
MIB_PER_GIB = 1024
MIB, GIB = 1 << 20, 1 << 30
"""Bytes."""


@lru_cache(maxsize=4096, typed=True)
def exact(number: int | float | Fraction) -> Exact:
    """The number as written in decimal: ``exact(0.1) * 10 == 1``."""
    if isinstance(number, int):
        return number
    fraction = Fraction(repr(number)) if isinstance(number, float) else number
    return fraction.numerator if fraction.denominator == 1 else fraction


@lru_cache(maxsize=4096, typed=True)
def mib(gib: int | float | Fraction) -> Exact:
    """GiB to MiB, exactly."""
    return exact(Fraction(exact(gib)) * MIB_PER_GIB)


def gib(size: int) -> Exact:
    """Bytes to GiB, exactly."""
    return exact(Fraction(size, GIB))


def hundredths(gib: Exact, *, up: bool = False) -> Exact:
    """GiB in whole hundredths: a need is rounded up and room down, so that what does not fit never seems to."""
    return exact(Fraction(-(-gib * 100 // 1) if up else gib * 100 // 1, 100))


def show_hundredths(gib: Exact, *, up: bool = False) -> str:
    """`hundredths` with both decimals: ``4.30``."""
    return f"{float(hundredths(gib, up=up)):.2f}"


def show(number: Exact | float, digits: int = 2) -> str:
    """A number for people: at most `digits` decimals, without trailing zeros (``8``, ``4.3``, ``0.55``)."""
    text = f"{float(number):.{digits}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def show_cc(compute_cap: int | float) -> str:
    """A compute capability as NVIDIA writes it: ``8.0``, ``8.9``, ``12.1``."""
    return f"{float(compute_cap):.1f}"
