"""Variables that live in a Scope: parameters and global variables of hand-built programs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..core.dtype import as_dtype
from ..core.meta import Meta
from ..ir.guard import create_persistable
from ..ir.program import Variable
from ..ops.creation import full
from ..ops.random import uniform


def create_parameter(
    shape: Sequence[int],
    dtype: Any,
    name: str | None = None,
    attr: Any = None,
    is_bias: bool = False,
    default_initializer: Any = None,
) -> Variable:
    """A trainable parameter of the main program; the startup program fills it.

    Without an initializer: zeros for a bias, else Xavier uniform. Source: paddle.static.create_parameter.
    """
    meta = Meta(tuple(shape), as_dtype(dtype))
    name = name or getattr(attr, "name", None)
    initializer = getattr(attr, "initializer", None) or default_initializer

    def initial() -> Any:
        if initializer is not None:
            return initializer.sample(meta.shape, meta.dtype)
        if is_bias:
            return full(list(shape), 0.0, dtype)
        fan_in, fan_out = (shape[0], shape[-1]) if shape else (1, 1)
        limit = (6.0 / (fan_in + fan_out)) ** 0.5
        return uniform(list(shape), dtype, -limit, limit)

    return create_persistable(meta, name, initial, is_parameter=True, trainable=getattr(attr, "trainable", True))


def create_global_var(
    shape: Sequence[int], value: float, dtype: Any, persistable: bool = False, force_cpu: bool = False,
    name: str | None = None,
) -> Variable:  # fmt: skip
    """A variable filled with `value` by the startup program, kept between runs. Source: paddle.static.create_global_var."""
    return create_persistable(Meta(tuple(shape), as_dtype(dtype)), name, lambda: full(list(shape), value, dtype))
