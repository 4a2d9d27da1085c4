"""Whether a model fits where it would run: one answer for placement, registry and model plan."""

from knaster.fit.fits import Device, fits, why_not

__all__ = ["Device", "fits", "why_not"]
