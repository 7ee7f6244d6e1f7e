"""Variables that a scope keeps from run to run and that are no parameters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..core import names
from ..core.dtype import as_dtype
from ..core.errors import ArgumentError
from ..core.meta import Meta
from ..ir.guard import create_persistable
from ..ir.program import Variable
from ..ops.creation import full


def create_global_var(
    shape: Sequence[int],
    value: float,
    dtype: Any,
    persistable: bool = False,
    force_cpu: bool = False,
    name: str | None = None,
) -> Variable:
    """A variable that the startup program fills with `value`, kept between runs.

    persistable, force_cpu: every such variable is kept, and at the place where the program runs.
    Raises ArgumentError for unknown sizes. Source: paddle.static.create_global_var.

    Example:
        >>> import vitrify as paddle
        >>> main, startup = paddle.static.Program(), paddle.static.Program()
        >>> with paddle.static.program_guard(main, startup):
        ...     step = paddle.static.create_global_var([1], 0.0, "float32", persistable=True)
        ...     _ = paddle.increment(step)
        >>> with paddle.static.scope_guard(paddle.static.Scope()):
        ...     exe = paddle.static.Executor()
        ...     _ = exe.run(startup), exe.run(main)
        ...     [out.tolist() for out in exe.run(main, fetch_list=[step])]
        [[2.0]]
    """
    meta = Meta(tuple(int(size) for size in shape), as_dtype(dtype))
    if not meta.is_static:
        raise ArgumentError(f"create_global_var: every size must be known, got shape={list(shape)}")
    return create_persistable(meta, name or names.generate("global_var"), lambda: full(list(meta.shape), value, dtype))


__all__ = ["create_global_var"]
