"""Measurements: a generated fleet and the ratios that bound knaster's speed."""
