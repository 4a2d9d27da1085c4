"""Strict YAML: text to data with positions, and data to text that every reader takes for the same."""

from knaster.document.nodes import Value
from knaster.document.parser import Document, locate, parse
from knaster.document.source import MAX_BYTES, MAX_DEPTH

__all__ = ["MAX_BYTES", "MAX_DEPTH", "Document", "Value", "locate", "parse"]
