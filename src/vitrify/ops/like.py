"""Ops that take only a shape from a second tensor, and the copies and casts that other ops' vjps are written with.

`sum_to_like(x, y)` and its kin use the op with a fixed shape where y's shape is known while the call is made
(always so when eager), and the op that reads the shape at run time where a dimension is still -1.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.alias import aliased
from ..core.dtype import FLOATING, as_dtype, float32
from ..core.meta import UNKNOWN, Meta, Shape
from .arguments import finish, is_tensor, rank_of
from .registry import NoGradient, OpDef, define_op, get_op
from .scalar import scalars_for
from .sizes import sizes_of

# --- cast and assign ---------------------------------------------------------------------------------------------


cast_op = define_op(
    "cast",
    amp="keep",
    kernel=lambda xp, x, *, dtype: scalars_for(xp).cast(x, dtype),
    meta=lambda x, *, dtype: x.with_dtype(dtype),
    vjp={"x": lambda ct, *, x_like: cast(ct, x_like.dtype)},
    scalar=lambda s, x, *, dtype: s.cast(x, dtype),
    maps={"onnx": "Cast", "paddle": "cast"},
)
assign_op = define_op(
    "assign",
    kernel=lambda xp, x: x.copy(),
    meta=lambda x: x,
    vjp={"x": lambda ct: ct},
    maps={"onnx": "Identity", "paddle": "assign"},
    native=lambda n, x: n.copy(x),
)
# Shares the memory of x, as in eager code, so that changes reach across the programs of a split function. It is no
# `view`: within one program such changes are refused (ir/aliases.py).
detach_op = define_op(
    "detach",
    kernel=lambda xp, x: x[...],
    meta=lambda x: x,
    vjp=NoGradient("the gradient is cut"),
    native=lambda n, x: x,
    ahead=lambda n, x: n.copy(x),
)


# Ops whose first input, unchanged, is their result: what else they do, such as stopping gradients or refusing sizes, no
# other format's files have.
IN_FILES_THE_SAME = (
    "assign", "classes", "detach", "given", "probabilities", "sized", "sized_like", "straight_through", "with_ones",
    "without_ones",
)  # fmt: skip


def shows_input(op: OpDef) -> bool:
    """Whether the result of an op is in the memory of its first input."""
    return op.view or op is detach_op


def constant(value: Any) -> Any:
    """`value`, a tensor of it without its gradient: what PaddlePaddle's kernels take for given."""
    return detach_op(value) if is_tensor(value) else value


def cast(x: Any, dtype: Any) -> Any:
    """x with its elements converted to `dtype`; x itself when it has that dtype already.

    x: [*s] -> [*s]. Floats are cut to integers towards zero, non-zero is True, complex to real drops the imaginary
    part. Raises DTypeError for an unknown dtype. Source: paddle.cast.

    Example:
        >>> import vitrify as paddle
        >>> paddle.cast(paddle.to_tensor([1.7, -1.7]), "int32").tolist()
        [1, -1]
    """
    wanted = as_dtype(dtype)
    return x if getattr(x, "dtype", None) is wanted else cast_op(x, dtype=wanted)


def as_float(value: Any) -> Any:
    """`value`, an integer or bool (a tensor as float32) as what ops with fractional results compute in."""
    if is_tensor(value):
        return value if value.dtype.kind >= FLOATING else cast_op(value, dtype=float32)
    if isinstance(value, int):
        return float(value)
    # an array that meets a tensor is NumPy's own
    is_whole = hasattr(value, "dtype") and value.dtype.kind in "biu"
    return cast_op(value, dtype=float32) if is_whole else value


# --- shapes taken from another tensor ------------------------------------------------------------------------------


def summed_to(xp: Any, x: Any, shape: Shape) -> Any:
    """The array x summed over the dimensions along which `shape` was broadcast to x's shape."""
    axes = _added(x.shape, shape)
    if not axes:
        return x.copy()
    wide = xp.float32 if x.dtype.itemsize == 2 and x.dtype.kind in "fV" else x.dtype
    return xp.asarray(x.sum(axis=axes, keepdims=True, dtype=wide)).astype(x.dtype, copy=False).reshape(shape)


def _added(given: Shape, shape: Shape) -> Shape:
    """The dimensions along which `shape` was broadcast to the given one."""
    lead = len(given) - len(shape)
    return (*range(lead), *[lead + i for i, size in enumerate(shape) if size == 1 and given[lead + i] != 1])


def _summed_native(n: Any, x: Any, shape: Shape) -> Any:
    return n.reshape(n.reduce("sum", x, _added(x.shape, shape), True), shape)


def broadcast_view(xp: Any, x: Any, shape: Shape) -> Any:
    """The array x broadcast to `shape`, read-only and without memory of its own."""
    if x.__class__ is not np.ndarray or not x.flags.c_contiguous:
        return xp.broadcast_to(x, shape)
    lead = len(shape) - x.ndim
    fits = lead >= 0 and all(a in (1, b) for a, b in zip(x.shape, shape[lead:]))
    if not fits:
        return xp.broadcast_to(x, shape)  # says what is wrong
    steps = [s if a == b else 0 for a, b, s in zip(x.shape, shape[lead:], x.strides)]
    # a tenth of the time of np.broadcast_to, which every backward of a reduction pays
    view = np.ndarray(shape, x.dtype, x, 0, (*(0,) * lead, *steps))
    view.flags.writeable = False
    return view


def _to_y(x: Meta, y: Meta) -> Meta:
    return x.with_shape(y.shape)


sum_to = define_op(
    "sum_to",
    kernel=lambda xp, x, *, shape: summed_to(xp, x, shape),
    meta=lambda x, *, shape: x.with_shape(shape),
    vjp={"x": lambda ct, *, x_like: expand_like(ct, x_like)},
    native=lambda n, x, *, shape: _summed_native(n, x, shape),
)
sum_to_like_op = define_op(
    "sum_to_like",
    kernel=lambda xp, x, y: summed_to(xp, x, y.shape),
    meta=_to_y,
    vjp={"x": lambda ct, *, x_like: expand_like(ct, x_like)},
    shape_only=["y"],
    native=lambda n, x, y: _summed_native(n, x, y.shape),
)
expand_like_op = define_op(
    "expand_like",
    kernel=lambda xp, x, y: broadcast_view(xp, x, y.shape),
    meta=_to_y,
    vjp={"x": lambda ct, *, x_like: sum_to_like(ct, x_like)},
    view=True,
    shape_only=["y"],
    maps={"paddle": "expand_as_v2"},
    native=lambda n, x, y: n.view(lambda a: np.broadcast_to(a, y.shape), x),
)
reshape_like_op = define_op(
    "reshape_like",
    kernel=lambda xp, x, y: x.reshape(y.shape),
    meta=_to_y,
    vjp={"x": lambda ct, *, x_like: reshape_like(ct, x_like)},
    view=True,
    shape_only=["y"],
    ahead=lambda n, x, y: n.reshape(x, y.shape),
)
full_like_op = define_op(
    "full_like",
    kernel=lambda xp, x, *, fill_value, dtype: xp.full(x.shape, fill_value, dtype.np),
    meta=lambda x, *, fill_value, dtype: x.with_dtype(dtype),
    vjp=NoGradient("the result does not depend on the values of x"),
    shape_only=["x"],
    maps={"paddle": "fill_any_like"},
    native=lambda n, x, *, fill_value, dtype: n.full(x.shape, fill_value, dtype.np),
)


def _shaped(name: str, like: Callable[[Any, Any], Any], x: Any, y: Any) -> Any:
    rank_of(name, x)
    rank_of(name, y, "y")
    shape = tuple(y.shape)
    if UNKNOWN in shape:
        return x if x is y else like(x, y)
    return x if tuple(x.shape) == shape else get_op(name)(x, shape=shape)


def sum_to_like(x: Any, y: Any) -> Any:
    """x summed over the dimensions along which y's shape broadcasts to x's; has y's shape and x's dtype."""
    return _shaped("sum_to", sum_to_like_op, x, y)


def expand_like(x: Any, y: Any) -> Any:
    """x broadcast to y's shape."""
    return _shaped("expand_view", expand_like_op, x, y)


def reshape_like(x: Any, y: Any) -> Any:
    """x with y's shape; both have equally many elements."""
    rank_of("reshape", y, "y")
    if 0 in y.shape:  # to `reshape` a size of 0 means: copy x's size
        return reshape_like_op(x, y)
    return _shaped("reshape", reshape_like_op, x, y)


# --- constants in another tensor's shape ---------------------------------------------------------------------------


@aliased(x="input")
def full_like(
    x: Any, fill_value: Any, dtype: Any = None, name: str | None = None,
    *, device: Any = None, requires_grad: bool = False, pin_memory: bool = False,
) -> Any:  # fmt: skip
    """A tensor of x's shape filled with `fill_value`, of `dtype` or x's own.

    Source: paddle.full_like.

    Example:
        >>> import vitrify as paddle
        >>> paddle.full_like(paddle.to_tensor([1.0, 2.0]), 7).tolist()
        [7.0, 7.0]
    """
    rank_of("full_like", x)
    shape = tuple(x.shape)
    wanted = x.dtype if dtype is None else as_dtype(dtype)
    if UNKNOWN in shape and is_tensor(fill_value):
        made = get_op("full")(shape=sizes_of(x), fill_value=fill_value, dtype=wanted)
    elif UNKNOWN in shape:
        made = full_like_op(x, fill_value=fill_value, dtype=wanted)
    else:
        made = get_op("full")(shape=shape, fill_value=fill_value, dtype=wanted)
    return finish("full_like", made, None, device, requires_grad)


@aliased(x="input")
def zeros_like(
    x: Any, dtype: Any = None, name: str | None = None,
    *, device: Any = None, requires_grad: bool = False, pin_memory: bool = False,
) -> Any:  # fmt: skip
    """Zeros of x's shape, of `dtype` or x's own. Source: paddle.zeros_like.

    Example:
        >>> import vitrify as paddle
        >>> paddle.zeros_like(paddle.to_tensor([1, 2])).tolist()
        [0, 0]
    """
    return full_like(x, 0, dtype, device=device, requires_grad=requires_grad)


@aliased(x="input")
def ones_like(
    x: Any, dtype: Any = None, name: str | None = None,
    *, device: Any = None, requires_grad: bool = False, pin_memory: bool = False,
) -> Any:  # fmt: skip
    """Ones of x's shape, of `dtype` or x's own. Source: paddle.ones_like.

    Example:
        >>> import vitrify as paddle
        >>> paddle.ones_like(paddle.to_tensor([1.5, 2.0])).tolist()
        [1.0, 1.0]
    """
    return full_like(x, 1, dtype, device=device, requires_grad=requires_grad)


METHODS = {"cast": cast, "astype": cast}
INPLACE = ("cast",)
__all__ = ["IN_FILES_THE_SAME", "cast", "full_like", "ones_like", "zeros_like"]
