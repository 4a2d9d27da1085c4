"""Edits to the YAML of people at the offsets of its keys and values: comments, order, quotes and line ends stay."""
