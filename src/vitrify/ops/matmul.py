"""Matrix products: matmul and the products that are matmuls under other names."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from ..core.alias import aliased
from ..core.errors import DTypeError, ShapeError
from ..core.meta import UNKNOWN, Meta, broadcast_shapes, merge_dim, numel
from .arguments import finish, is_tensor, need_tensors, rank_of
from .elementwise import conj
from .like import cast, sum_to_like
from .reduce import sum_op
from .registry import OpDef, define_op
from .shape import flatten, reshape, squeeze, unsqueeze
from .sizes import dim_size

# -- matmul ----------------------------------------------------------------------------------------------------------


def _swapped(xp: Any, x: Any, transposed: bool) -> Any:
    return xp.swapaxes(x, -1, -2) if transposed else x


def _product(xp: Any, x: Any, y: Any) -> Any:
    """x @ y; the rows of a stacked x go through one matrix product when y is a single matrix."""
    if y.ndim == 2 and x.ndim > 2 and x.flags.c_contiguous:
        rows = x.reshape(prod(x.shape[:-1]), x.shape[-1])  # how many there are cannot be told of rows without elements
        return xp.matmul(rows, y).reshape(*x.shape[:-1], y.shape[-1])
    return xp.matmul(x, y)


def _matmul_kernel(xp: Any, x: Any, y: Any, *, transpose_x: bool, transpose_y: bool) -> Any:
    x, y = _swapped(xp, x, transpose_x), _swapped(xp, y, transpose_y)
    if x.dtype.itemsize == 2 and x.dtype.kind in "fV":  # 16-bit products are summed in float32, through BLAS
        return _product(xp, x.astype(xp.float32), y.astype(xp.float32)).astype(x.dtype)
    return _product(xp, x, y)


def _matrix_dims(x: Meta, transposed: bool) -> tuple[int, int]:
    rows, columns = x.shape[-2:]
    return (columns, rows) if transposed else (rows, columns)


def _matmul_meta(x: Meta, y: Meta, *, transpose_x: bool, transpose_y: bool) -> Meta:
    if x.ndim < 2 or y.ndim < 2:
        raise ShapeError(f"matmul: x is {x}, y is {y}, expected at least 1 dimension each")
    if x.dtype.is_bool:
        raise DTypeError(f"matmul: x is {x}, y is {y}, expected numeric dtypes")
    rows, inner = _matrix_dims(x, transpose_x)
    other, columns = _matrix_dims(y, transpose_y)
    try:
        merge_dim(inner, other)
    except ValueError as err:
        hint = "pass transpose_y=True" if other != inner == columns else "check the order of the arguments"
        raise ShapeError(f"matmul: inner sizes differ: x is {x}, y is {y} ({err})", hint=hint) from None
    batch = broadcast_shapes("matmul", (x.shape[:-2], y.shape[:-2]), ("the batch of x", "the batch of y"))
    return x.with_shape((*batch, rows, columns))


def _times(x: Any, y: Any, transpose_x: bool, transpose_y: bool) -> Any:
    return matmul_op(x, y, transpose_x=transpose_x, transpose_y=transpose_y)


def _x_vjp(ct: Any, *, x_like: Any, y: Any, transpose_x: bool, transpose_y: bool) -> Any:
    other = conj(y)
    dx = _times(other, ct, transpose_y, True) if transpose_x else _times(ct, other, False, not transpose_y)
    return dx if x_like.ndim >= y.ndim and y.ndim == 2 else sum_to_like(dx, x_like)


def _y_vjp(ct: Any, *, x: Any, y_like: Any, transpose_x: bool, transpose_y: bool) -> Any:
    other = conj(x)
    if y_like.ndim == 2 and x.ndim > 2 and not transpose_x:
        other, ct = flatten(other, 0, -2), flatten(ct, 0, -2)  # one product instead of a stack of them to add up
    dy = _times(ct, other, True, transpose_x) if transpose_y else _times(other, ct, not transpose_x, False)
    return dy if y_like.ndim == 2 and ct.ndim == 2 else sum_to_like(dy, y_like)


def _matmul_work(x: Meta, y: Meta, *, transpose_x: bool, transpose_y: bool) -> float:
    out = _matmul_meta(x, y, transpose_x=transpose_x, transpose_y=transpose_y)
    return 2.0 * numel(out.shape) * x.shape[-2 if transpose_x else -1]


def _matmul_native(n: Any, x: Any, y: Any, *, transpose_x: bool, transpose_y: bool, onto: Any = None) -> Any:
    return n.matmul(n.swapped(x) if transpose_x else x, n.swapped(y) if transpose_y else y, onto=onto)


matmul_op: OpDef = define_op(
    "matmul",
    kernel=_matmul_kernel,
    meta=_matmul_meta,
    vjp={"x": _x_vjp, "y": _y_vjp},
    promote=("x", "y"),
    work=_matmul_work,
    amp="allow",
    maps={"paddle": "matmul_v2"},
    native=_matmul_native,
    native_alone=True,
)


@aliased(x="input", y="other")
def matmul(
    x: Any, y: Any, transpose_x: bool = False, transpose_y: bool = False, name: str | None = None, *, out: Any = None
) -> Any:
    """The matrix product of x and y, over leading batch dimensions that broadcast.

    x: [*b, n, k], y: [*b, k, m] -> [*b, n, m]; with transpose_x / transpose_y the last two dimensions are swapped
    first. A 1-D x counts as a row and a 1-D y as a column, and that dimension is dropped from the result.
    Raises ShapeError when the inner sizes differ. Source: paddle.matmul.

    Example:
        >>> import vitrify as paddle
        >>> x = paddle.to_tensor([[1.0, 2.0], [3.0, 4.0]])
        >>> paddle.matmul(x, x, transpose_y=True).tolist()
        [[5.0, 11.0], [11.0, 25.0]]
    """
    return finish("matmul", _matmul(x, y, bool(transpose_x), bool(transpose_y)), out)


def _matmul(x: Any, y: Any, transpose_x: bool = False, transpose_y: bool = False) -> Any:
    if not (is_tensor(x) and is_tensor(y)):
        need_tensors("matmul", x, y)
    if x.ndim > 1 and y.ndim > 1:
        return matmul_op(x, y, transpose_x=transpose_x, transpose_y=transpose_y)
    return _vector_product(x, y, transpose_x, transpose_y)


def _vector_product(x: Any, y: Any, transpose_x: bool, transpose_y: bool) -> Any:
    row, column = x.ndim == 1, y.ndim == 1
    left = unsqueeze(x, 0) if row else x
    right = unsqueeze(y, 1) if column else y
    product = matmul_op(left, right, transpose_x=transpose_x and not row, transpose_y=transpose_y and not column)
    dropped = ([-2] if row else []) + ([-1] if column else [])
    return squeeze(product, dropped) if dropped else product


# -- matmuls with fixed numbers of dimensions ------------------------------------------------------------------------


def _need_ndim(op: str, ndims: Sequence[tuple[str, Any, int]]) -> None:
    for name, x, ndim in ndims:
        if rank_of(op, x, name) != ndim:
            raise ShapeError(f"{op}: {name} is {Meta(tuple(x.shape), x.dtype)}, expected {ndim} dimensions")


def sizes_of(x: Any) -> list[Any]:
    """The sizes of x's dimensions for `reshape`: ints, and 0-D tensors for those not known yet."""
    return [dim_size(x, i) if size == UNKNOWN else size for i, size in enumerate(x.shape)]


def mm(input: Any, mat2: Any, name: str | None = None) -> Any:
    """The matrix product of input and mat2, as `matmul` gives it. Source: paddle.mm.

    Example:
        >>> import vitrify as paddle
        >>> paddle.mm(paddle.ones([2, 3]), paddle.ones([3, 1])).tolist()
        [[3.0], [3.0]]
    """
    return _matmul(input, mat2)


@aliased(x="input", y="mat2")
def bmm(x: Any, y: Any, name: str | None = None, *, out: Any = None) -> Any:
    """The matrix products of two stacks: [b, n, k], [b, k, m] -> [b, n, m]. Raises ShapeError. Source: paddle.bmm.

    Example:
        >>> import vitrify as paddle
        >>> paddle.bmm(paddle.ones([2, 1, 3]), paddle.ones([2, 3, 1])).tolist()
        [[[3.0]], [[3.0]]]
    """
    _need_ndim("bmm", (("x", x, 3), ("y", y, 3)))
    if UNKNOWN not in (x.shape[0], y.shape[0]) and x.shape[0] != y.shape[0]:
        raise ShapeError(f"bmm: batch sizes differ: x has {x.shape[0]}, y has {y.shape[0]}")
    return finish("bmm", _matmul(x, y), out)


def mv(x: Any, vec: Any, name: str | None = None) -> Any:
    """The product of a matrix and a vector: [n, k], [k] -> [n]. Raises ShapeError. Source: paddle.mv.

    Example:
        >>> import vitrify as paddle
        >>> paddle.mv(paddle.to_tensor([[1.0, 2.0]]), paddle.to_tensor([3.0, 4.0])).tolist()
        [11.0]
    """
    _need_ndim("mv", (("x", x, 2), ("vec", vec, 1)))
    return _matmul(x, vec)


@aliased(x="input", y="tensor")
def dot(x: Any, y: Any, name: str | None = None, *, out: Any = None) -> Any:
    """The sum of products of two vectors, or of each pair of rows: [k] -> [], [b, k] -> [b]. Source: paddle.dot.

    Raises ShapeError unless both have the same 1 or 2 dimensions.

    Example:
        >>> import vitrify as paddle
        >>> paddle.dot(paddle.to_tensor([1.0, 2.0]), paddle.to_tensor([3.0, 4.0])).item()
        11.0
    """
    _need_ndim("dot", (("x", x, min(max(rank_of("dot", x), 1), 2)), ("y", y, x.ndim)))
    product = x * y
    return finish("dot", cast(sum_op(product, axis=(x.ndim - 1,), keepdim=False), product.dtype), out)


def inner(x: Any, y: Any, name: str | None = None) -> Any:
    """Sums of products over the last dimensions: [*a, k], [*b, k] -> [*a, *b]; 0-D multiplies. Source: paddle.inner.

    Example:
        >>> import vitrify as paddle
        >>> paddle.inner(paddle.to_tensor([1.0, 2.0]), paddle.to_tensor([3.0, 4.0])).item()
        11.0
    """
    if rank_of("inner", x) == 0 or rank_of("inner", y, "y") == 0:
        return x * y
    rows = flatten(x, 0, -2) if x.ndim > 1 else unsqueeze(x, 0)
    columns = flatten(y, 0, -2) if y.ndim > 1 else unsqueeze(y, 0)
    product = matmul_op(rows, columns, transpose_x=False, transpose_y=True)
    return reshape(product, [*sizes_of(x)[:-1], *sizes_of(y)[:-1]])


@aliased(x="input", y="vec2")
def outer(x: Any, y: Any, name: str | None = None, *, out: Any = None) -> Any:
    """All products of an element of x and one of y, both flattened: [n], [m] -> [n, m]. Source: paddle.outer.

    Example:
        >>> import vitrify as paddle
        >>> paddle.outer(paddle.to_tensor([1, 2]), paddle.to_tensor([3, 4])).tolist()
        [[3, 4], [6, 8]]
    """
    return finish("outer", unsqueeze(flatten(x), 1) * unsqueeze(flatten(y), 0), out)


ger = outer


def addmm(
    input: Any, x: Any, y: Any, beta: float = 1.0, alpha: float = 1.0, name: str | None = None, *, out: Any = None
) -> Any:
    """beta * input + alpha * (x @ y); input: what broadcasts to [n, m]. Source: paddle.addmm.

    Example:
        >>> import vitrify as paddle
        >>> paddle.addmm(paddle.ones([1, 1]), paddle.ones([1, 2]), paddle.ones([2, 1])).tolist()
        [[3.0]]
    """
    _need_ndim("addmm", (("x", x, 2), ("y", y, 2)))
    return finish("addmm", _scaled(input, beta) + _scaled(_matmul(x, y), alpha), out)


def baddbmm(
    input: Any, x: Any, y: Any, beta: float = 1.0, alpha: float = 1.0, name: str | None = None, *, out: Any = None
) -> Any:
    """beta * input + alpha * (x @ y) on stacks of matrices. Source: paddle.baddbmm.

    Example:
        >>> import vitrify as paddle
        >>> paddle.baddbmm(paddle.ones([1, 1, 1]), paddle.ones([1, 1, 2]), paddle.ones([1, 2, 1])).tolist()
        [[[3.0]]]
    """
    _need_ndim("baddbmm", (("x", x, 3), ("y", y, 3)))
    return finish("baddbmm", _scaled(input, beta) + _scaled(bmm(x, y), alpha), out)


def _operator(x: Any, y: Any) -> Any:
    """x @ y, in x's dtype if both hold real numbers, as in Paddle."""
    return _matmul(x, _in_dtype_of(x, y))


def _in_dtype_of(x: Any, y: Any) -> Any:
    """y, a tensor or array, brought to the dtype of the tensor x; numbers are complex if either's are."""
    if isinstance(y, np.ndarray):
        y = reshape(y, y.shape)
    elif hasattr(type(y), "__vitrify_host_value__"):  # an array that only a run of the program knows
        y = y.tensor()
    if not is_tensor(y) or y.dtype is x.dtype or x.dtype.is_complex or y.dtype.is_complex:
        return y
    return cast(y, x.dtype)


def _scaled(x: Any, factor: float) -> Any:
    return x if factor == 1 else x * factor


METHODS: dict[str, Any] = {
    fn.__name__: fn for fn in (matmul, mm, bmm, mv, dot, inner, outer, addmm, baddbmm)
} | {
    "ger": outer,
    "__matmul__": _operator,
    "__rmatmul__": lambda x, y: _matmul(_in_dtype_of(x, y), x),
}  # fmt: skip
INPLACE = ("addmm", "baddbmm")
__all__ = ["addmm", "baddbmm", "bmm", "dot", "ger", "inner", "matmul", "mm", "mv", "outer"]
