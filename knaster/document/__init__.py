"""Strict YAML: text to data with positions, and data to text that every reader takes for the same."""

from knaster.document.nodes import Value
from knaster.document.offsets import Span
from knaster.document.parser import Document, locate, parse, spans
from knaster.document.source import MAX_BYTES, MAX_DEPTH

__all__ = ["MAX_BYTES", "MAX_DEPTH", "Document", "Span", "Value", "locate", "parse", "spans"]
