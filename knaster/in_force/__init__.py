"""The placement in force: what landed on main last, carried forward."""
