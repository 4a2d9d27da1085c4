"""Measured figures: what a benchmark printed -> measurements -> the catalog's text. Pure."""
