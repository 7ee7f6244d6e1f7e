"""Names of ops as users give them."""

from __future__ import annotations

from collections.abc import Iterable

from ..ops.registry import all_ops


def our_op_names(names: Iterable[str] | None) -> frozenset[str]:
    """Our names of the ops that `names` lists by ours or by Paddle's."""
    if names is None:
        return frozenset()
    ours = {op.maps["paddle"]: op.name for op in all_ops() if "paddle" in op.maps}
    return frozenset(ours.get(name, name) for name in names)
