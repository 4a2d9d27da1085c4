"""The jsonschema door: whether data meets a schema of ``schemas/``, and what is wrong where it does not."""

from knaster.schema.validator import KINDS, Kind, check, schema

__all__ = ["KINDS", "Kind", "check", "schema"]
