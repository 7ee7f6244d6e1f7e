"""Variables that live in a Scope: parameters and global variables of hand-built programs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ..core.dtype import DType, as_dtype
from ..core.errors import ArgumentError, DTypeError
from ..core.meta import Meta, Shape
from ..eager.initializer import Initializer, choose_initializer
from ..eager.param_attr import as_param_attr
from ..eager.tensor import wrap
from ..ir.guard import create_persistable
from ..ir.program import Variable
from ..ops.creation import constant, full
from ..ops.registry import NoGradient, define_op

PLAIN = (bool, int, float, str, type(None))


def _initialize_kernel(
    xp: Any, *, initializer: str, settings: tuple[Any, ...], shape: Shape, dtype: DType, key: Any
) -> Any:
    """What the initializer of that class name and those attributes puts into a new parameter."""
    found = next(cls for cls in _subclasses(Initializer) if cls.__name__ == initializer)
    made: Any = object.__new__(found)
    made.__dict__.update(settings)
    param = wrap(xp.zeros(shape, dtype.np))
    made(param)
    return param._data


initialize_op = define_op(
    "initialize",
    kernel=_initialize_kernel,
    meta=lambda *, initializer, settings, shape, dtype: Meta(tuple(shape), dtype),
    vjp=NoGradient("a new value depends on no other"),
    random=True,
)


def _subclasses(cls: type[Any]) -> Iterator[type[Any]]:
    for sub in cls.__subclasses__():
        yield sub
        yield from _subclasses(sub)


def _initial(initializer: Initializer, meta: Meta) -> Any:
    """The initial value, drawn whenever the startup program runs; arrays given by hand become constants."""
    settings = vars(initializer)
    if all(isinstance(value, PLAIN) for value in settings.values()):
        kind = type(initializer).__name__
        return initialize_op(initializer=kind, settings=tuple(settings.items()), shape=meta.shape, dtype=meta.dtype)
    return constant(np.asarray(initializer.values(meta.shape, meta.dtype), meta.dtype.np))


def create_parameter(
    shape: Sequence[int],
    dtype: Any,
    name: str | None = None,
    attr: Any = None,
    is_bias: bool = False,
    default_initializer: Initializer | None = None,
) -> Variable:
    """A trainable parameter of the main program; the startup program fills it.

    Without an initializer: zeros for a bias, else Xavier uniform, the numbers that an eager Layer would draw. Raises
    ArgumentError for unknown sizes or when `attr` is False, DTypeError for a dtype without a default initializer.
    Source: paddle.static.create_parameter.

    Example:
        >>> import vitrify as paddle
        >>> main, startup = paddle.static.Program(), paddle.static.Program()
        >>> with paddle.static.program_guard(main, startup):
        ...     w = paddle.static.create_parameter([2, 3], "float32")
        >>> w.shape, len(startup.global_block().ops)
        ([2, 3], 2)
    """
    chosen = as_param_attr(attr)
    if chosen is None:
        raise ArgumentError("create_parameter: attr=False asks for no parameter at all")
    meta = Meta(tuple(int(size) for size in shape), as_dtype(dtype))
    if not meta.is_static:
        raise ArgumentError(f"create_parameter: every size must be known, got shape={list(shape)}")
    if not (meta.dtype.is_floating or meta.dtype.is_complex) and not (chosen.initializer or default_initializer):
        raise DTypeError(
            f"create_parameter: {meta.dtype.name} has no default initializer",
            hint="pass default_initializer=paddle.nn.initializer.Constant(0)",
        )
    initializer = choose_initializer(chosen.initializer, default_initializer, is_bias)
    return create_persistable(
        meta,
        chosen.name or name,
        lambda: _initial(initializer, meta),
        is_parameter=True,
        trainable=chosen.trainable,
    )


def create_global_var(
    shape: Sequence[int],
    value: float,
    dtype: Any,
    persistable: bool = False,
    force_cpu: bool = False,
    name: str | None = None,
) -> Variable:
    """A variable that the startup program fills with `value`, kept between runs.

    Source: paddle.static.create_global_var.
    """
    return create_persistable(Meta(tuple(shape), as_dtype(dtype)), name, lambda: full(list(shape), value, dtype))
