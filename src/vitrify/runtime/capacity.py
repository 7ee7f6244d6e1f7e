"""Programs that no memory of this machine could hold: found out before they run, not by the system that ends them."""

from __future__ import annotations

from ..core.errors import OutOfMemoryError
from ..core.lazy import lazy_module
from ..core.meta import Meta
from ..core.size_text import size_text
from ..device.memory import installed
from .costs import allocated
from .interpreter import InterpreterCore

_footprint = lazy_module("vitrify.runtime.footprint")  # of large programs only


def too_large(core: InterpreterCore, limit: int | None = None) -> OutOfMemoryError | None:
    """The error for a program whose buffers take more than `limit` bytes at a time; None where they do not.

    limit: by default all the memory there is. Where sizes are unknown nobody can say, so nothing is refused.
    """
    limit = installed() if limit is None else limit
    operators = [instruction.operator for instruction in core.instructions]
    if limit is None or sum(sum(allocated(operator)) for operator in operators) <= limit:
        return None
    metas = [v.meta for operator in operators for v in operator.outputs]
    if not all(isinstance(meta, Meta) and meta.is_static for meta in metas):
        return None
    needed = _footprint.footprint(core)
    if needed.peak <= limit:
        return None
    operator = next(operator for operator, live in zip(operators, needed.live) if live > limit)
    return OutOfMemoryError(
        f"the program needs {size_text(needed.peak)} at a time, beside what it is given, and more than there is "
        f"from {operator.op.name} on; this machine has {size_text(limit)}",
        loc=operator.locs[0] if operator.locs else None,
        hint="call it with smaller batches, or compute in parts",
    )


__all__ = ["too_large"]
