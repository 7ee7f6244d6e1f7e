"""Ops: each defined once, run eagerly or recorded through `core.dispatch.bind`."""
