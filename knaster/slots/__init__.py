"""Slots: the names that clients call, who serves them now, and what they fall back to."""

from knaster.slots.views import Endpoint, SlotView, slot_views

__all__ = ["Endpoint", "SlotView", "slot_views"]
