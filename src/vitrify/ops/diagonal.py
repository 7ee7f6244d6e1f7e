"""Diagonals and triangles of matrices."""

from __future__ import annotations

from typing import Any

from ..core.alias import aliased
from ..core.errors import ArgumentError, DTypeError, ShapeError
from ..core.meta import UNKNOWN, Meta, Shape, normalize_axis
from .arguments import as_int, finish, is_unknown, rank_of, static_int
from .creation import arange, full
from .moving_forms import diagonal_written, triangle_form
from .registry import OpDef, define_op
from .select import where_op
from .shape import flatten, reshape, unsqueeze
from .sizes import size_of


def _length(rows: int, cols: int, offset: int) -> int:
    if UNKNOWN in (rows, cols):
        return UNKNOWN
    return max(min(rows, cols - offset) if offset >= 0 else min(rows + offset, cols), 0)


def _diagonal_shape(x: Shape, offset: int, axis1: int, axis2: int) -> Shape:
    rest = [d for i, d in enumerate(x) if i not in (axis1, axis2)]
    return (*rest, _length(x[axis1], x[axis2], offset))


def diagonal_view(xp: Any, x: Any, offset: int, axis1: int, axis2: int) -> Any:
    """The diagonal as a view that can be written where x can."""
    out = xp.diagonal(x, offset, axis1, axis2)
    if hasattr(out.flags, "writeable"):
        out.flags.writeable = x.flags.writeable
    return out


# -- reading ---------------------------------------------------------------------------------------------------------


def _adjoint_kernel(xp: Any, x: Any, like: Any, *, offset: int, axis1: int, axis2: int) -> Any:
    out = xp.zeros(like.shape, x.dtype)
    diagonal_view(xp, out, offset, axis1, axis2)[...] = x
    return out


diagonal_op: OpDef = define_op(
    "diagonal",
    kernel=lambda xp, x, *, offset, axis1, axis2: diagonal_view(xp, x, offset, axis1, axis2),
    meta=lambda x, *, offset, axis1, axis2: x.with_shape(_diagonal_shape(x.shape, offset, axis1, axis2)),
    vjp={
        "x": lambda ct, *, x_like, offset, axis1, axis2: diagonal_adjoint_op(
            ct, x_like, offset=offset, axis1=axis1, axis2=axis2
        )
    },
    view=True,
    maps={"paddle": "diagonal"},
)
diagonal_adjoint_op: OpDef = define_op(
    "diagonal_adjoint",
    kernel=_adjoint_kernel,
    meta=lambda x, like, *, offset, axis1, axis2: x.with_shape(like.shape),
    vjp={"x": lambda ct, *, offset, axis1, axis2: diagonal_op(ct, offset=offset, axis1=axis1, axis2=axis2)},
    shape_only=["like"],
    ahead=lambda n, x, like, *, offset, axis1, axis2: diagonal_written(
        n, n.copy(n.full(like.shape, 0, x.dtype)), x, offset, axis1, axis2
    ),
)


def _two_axes(op: str, axis1: int, axis2: int, ndim: int) -> tuple[int, int]:
    if ndim < 2:
        raise ShapeError(f"{op}: expected at least 2 dimensions, got {ndim}")
    a, b = normalize_axis(op, axis1, ndim, "axis1"), normalize_axis(op, axis2, ndim, "axis2")
    if a == b:
        raise ArgumentError(f"{op}: axis1 and axis2 must differ, both are {a}")
    return a, b


@aliased(x="input", axis2="dim2", axis1="dim1")
def diagonal(
    x: Any, offset: int = 0, axis1: int = 0, axis2: int = 1, name: str | None = None, *, out: Any = None
) -> Any:
    """The diagonal number `offset` of the matrices in dimensions axis1 and axis2, as the last dimension; a view.

    Source: paddle.diagonal.

    Example:
        >>> import vitrify as paddle
        >>> paddle.diagonal(paddle.to_tensor([[1, 2], [3, 4]])).tolist()
        [1, 4]
    """
    a, b = _two_axes("diagonal", axis1, axis2, rank_of("diagonal", x))
    return finish("diagonal", diagonal_op(x, offset=offset, axis1=a, axis2=b), out)


# -- building --------------------------------------------------------------------------------------------------------


def _embedded_shape(x: Shape, offset: int, dim1: int, dim2: int) -> Shape:
    size = UNKNOWN if x[-1] == UNKNOWN else x[-1] + abs(offset)
    out = list(x[:-1])
    for dim in sorted((dim1, dim2)):
        out.insert(dim, size)
    return tuple(out)


def _embed_kernel(xp: Any, x: Any, *, offset: int, dim1: int, dim2: int, padding_value: Any) -> Any:
    out = xp.full(_embedded_shape(x.shape, offset, dim1, dim2), padding_value, x.dtype)
    diagonal_view(xp, out, offset, dim1, dim2)[...] = x
    return out


diag_embed_op = define_op(
    "diag_embed",
    kernel=_embed_kernel,
    meta=lambda x, *, offset, dim1, dim2, padding_value: x.with_shape(_embedded_shape(x.shape, offset, dim1, dim2)),
    vjp={"x": lambda ct, *, offset, dim1, dim2: diagonal_op(ct, offset=offset, axis1=dim1, axis2=dim2)},
    maps={"paddle": "diag_embed"},
    ahead=lambda n, x, *, offset, dim1, dim2, padding_value: diagonal_written(
        n, n.copy(n.full(_embedded_shape(x.shape, offset, dim1, dim2), padding_value, x.dtype)), x, offset, dim1, dim2
    ),
)


def diag_embed(input: Any, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Any:
    """Matrices of zeros, in dimensions dim1 and dim2, with input's last dimension on their diagonal `offset`.

    Source: paddle.diag_embed.

    Example:
        >>> import vitrify as paddle
        >>> paddle.diag_embed(paddle.to_tensor([1, 2])).tolist()
        [[1, 0], [0, 2]]
    """
    a, b = _two_axes("diag_embed", dim1, dim2, rank_of("diag_embed", input) + 1)
    return diag_embed_op(input, offset=static_int("diag_embed", offset, "offset"), dim1=a, dim2=b, padding_value=0)


def diag(x: Any, offset: int = 0, padding_value: Any = 0, name: str | None = None) -> Any:
    """The diagonal of a matrix, or for a vector the matrix that has it on its diagonal and padding_value elsewhere.

    Raises ShapeError above 2 dimensions. Source: paddle.diag.

    Example:
        >>> import vitrify as paddle
        >>> paddle.diag(paddle.to_tensor([1, 2]), padding_value=9).tolist()
        [[1, 9], [9, 2]]
    """
    if rank_of("diag", x) > 2:
        raise ShapeError(f"diag: x must have 1 or 2 dimensions, got {list(x.shape)}", hint="use diagonal or diag_embed")
    offset = static_int("diag", offset, "offset")
    if x.ndim == 2:
        return diagonal_op(x, offset=offset, axis1=0, axis2=1)
    return diag_embed_op(flatten(x), offset=offset, dim1=0, dim2=1, padding_value=padding_value)


def diagflat(x: Any, offset: int = 0, name: str | None = None) -> Any:
    """The matrix with all elements of x on its diagonal `offset`. Source: paddle.diagflat.

    Example:
        >>> import vitrify as paddle
        >>> paddle.diagflat(paddle.to_tensor([1, 2])).tolist()
        [[1, 0], [0, 2]]
    """
    return diag_embed_op(flatten(x), offset=offset, dim1=0, dim2=1, padding_value=0)


# -- writing ---------------------------------------------------------------------------------------------------------


def _scatter_kernel(xp: Any, x: Any, y: Any, *, offset: int, axis1: int, axis2: int) -> Any:
    out = x.copy()
    diagonal_view(xp, out, offset, axis1, axis2)[...] = y
    return out


def _scatter_meta(x: Meta, y: Any, *, offset: int, axis1: int, axis2: int) -> Meta:
    wanted = _diagonal_shape(x.shape, offset, axis1, axis2)
    given = y.shape if isinstance(y, Meta) else ()
    differ = len(given) != len(wanted) or any(a != b and UNKNOWN not in (a, b) for a, b in zip(given, wanted))
    if given and differ:
        raise ShapeError(f"diagonal_scatter: y is {y}, the diagonal has shape {list(wanted)}")
    return x


diagonal_scatter_op: OpDef = define_op(
    "diagonal_scatter",
    kernel=_scatter_kernel,
    meta=_scatter_meta,
    vjp={
        "x": lambda ct, *, offset, axis1, axis2: diagonal_scatter_op(ct, 0, offset=offset, axis1=axis1, axis2=axis2),
        "y": lambda ct, *, offset, axis1, axis2: diagonal_op(ct, offset=offset, axis1=axis1, axis2=axis2),
    },
    ahead=lambda n, x, y, *, offset, axis1, axis2: diagonal_written(n, n.copy(x), y, offset, axis1, axis2),
)


def diagonal_scatter(x: Any, y: Any, offset: int = 0, axis1: int = 0, axis2: int = 1, name: str | None = None) -> Any:
    """A copy of x whose diagonal is `y`. Source: paddle.diagonal_scatter.

    Example:
        >>> import vitrify as paddle
        >>> paddle.diagonal_scatter(paddle.zeros([2, 2]), paddle.ones([2])).tolist()
        [[1.0, 0.0], [0.0, 1.0]]
    """
    a, b = _two_axes("diagonal_scatter", axis1, axis2, rank_of("diagonal_scatter", x))
    return diagonal_scatter_op(x, y, offset=offset, axis1=a, axis2=b)


def fill_diagonal_tensor(x: Any, y: Any, offset: int = 0, dim1: int = 0, dim2: int = 1, name: str | None = None) -> Any:
    """A copy of x whose diagonal in dimensions dim1 and dim2 is `y`. Source: paddle.Tensor.fill_diagonal_tensor.

    Example:
        >>> import vitrify as paddle
        >>> x = paddle.zeros([2, 2])
        >>> x.fill_diagonal_tensor(paddle.to_tensor([5.0, 6.0])).tolist()
        [[5.0, 0.0], [0.0, 6.0]]
    """
    return diagonal_scatter(x, y, offset, dim1, dim2)


def _fill_kernel(xp: Any, x: Any, *, value: Any, offset: int, wrap: bool) -> Any:
    out = x.copy()
    cols = x.shape[-1]
    step = sum(cols**i for i in range(x.ndim))  # equal sizes, or a matrix
    end = None if wrap or x.ndim > 2 else (min(x.shape[0], cols - offset) if offset >= 0 else x.shape[0]) * cols
    start = offset if offset >= 0 else -offset * cols
    out.reshape(-1)[start:end:step] = value
    return out


fill_diagonal_op: OpDef = define_op(
    "fill_diagonal",
    kernel=_fill_kernel,
    meta=lambda x, *, value, offset, wrap: x,
    vjp={"x": lambda ct, *, offset, wrap: fill_diagonal_op(ct, value=0, offset=offset, wrap=wrap)},
    maps={"paddle": "fill_diagonal"},
)


def fill_diagonal(x: Any, value: Any, offset: int = 0, wrap: bool = False, name: str | None = None) -> Any:
    """A copy of x (a matrix, or more dimensions of equal size) with `value` on its diagonal.

    With `wrap` the diagonal of a tall matrix starts again below. Source: paddle.Tensor.fill_diagonal_.

    Example:
        >>> import vitrify as paddle
        >>> x = paddle.zeros([2, 3])
        >>> x.fill_diagonal(7.0, offset=1).tolist()
        [[0.0, 7.0, 0.0], [0.0, 0.0, 7.0]]
    """
    if x.ndim < 2 or (x.ndim > 2 and len(set(x.shape)) > 1):
        raise ShapeError(f"fill_diagonal_: expects a matrix, or dimensions of equal size, got {list(x.shape)}")
    return fill_diagonal_op(x, value=value, offset=offset, wrap=bool(wrap))


# -- triangles -------------------------------------------------------------------------------------------------------


def _need_matrix(op: str, x: Meta) -> Meta:
    if x.ndim < 2:
        raise ShapeError(f"{op}: x must have at least 2 dimensions, got {x}")
    return x


tril_op: OpDef = define_op(
    "tril",
    kernel=lambda xp, x, *, diagonal: xp.tril(x, diagonal),
    meta=lambda x, *, diagonal: _need_matrix("tril", x),
    vjp={"x": lambda ct, *, diagonal: tril_op(ct, diagonal=diagonal)},
    maps={"onnx": "Trilu", "paddle": "tril"},
    native=triangle_form(is_lower=True),
)
triu_op: OpDef = define_op(
    "triu",
    kernel=lambda xp, x, *, diagonal: xp.triu(x, diagonal),
    meta=lambda x, *, diagonal: _need_matrix("triu", x),
    vjp={"x": lambda ct, *, diagonal: triu_op(ct, diagonal=diagonal)},
    maps={"paddle": "triu"},
    native=triangle_form(is_lower=False),
)


def _triangle(op: OpDef, x: Any, diagonal: Any) -> Any:
    """The triangle that `op` keeps; from a diagonal that only a run knows it is a choice between x and 0."""
    rank_of(op.name, x)
    diagonal = as_int(op.name, diagonal, "diagonal")
    if not is_unknown(diagonal):
        return op(x, diagonal=static_int(op.name, diagonal, "diagonal"))
    if diagonal.dtype.is_complex:
        raise DTypeError(f"{op.name}: diagonal must be an int or an integer tensor, got {diagonal.dtype.name}")
    _need_matrix(op.name, Meta(tuple(x.shape), x.dtype))
    above = arange(size_of(x, -1)) - unsqueeze(arange(size_of(x, -2)), 1)
    diagonal = reshape(diagonal, [])
    kept = above <= diagonal if op is tril_op else above >= diagonal
    return where_op(kept, x, full([], 0, x.dtype))


@aliased(x="input")
def tril(x: Any, diagonal: int = 0, name: str | None = None, *, out: Any = None) -> Any:
    """x with zeros above the given diagonal of its last two dimensions. Source: paddle.tril.

    Example:
        >>> import vitrify as paddle
        >>> paddle.tril(paddle.to_tensor([[1, 2], [3, 4]])).tolist()
        [[1, 0], [3, 4]]
    """
    return finish("tril", _triangle(tril_op, x, diagonal), out)


@aliased(x="input")
def triu(x: Any, diagonal: int = 0, name: str | None = None, *, out: Any = None) -> Any:
    """x with zeros below the given diagonal of its last two dimensions. Source: paddle.triu.

    Example:
        >>> import vitrify as paddle
        >>> paddle.triu(paddle.to_tensor([[1, 2], [3, 4]])).tolist()
        [[1, 2], [0, 4]]
    """
    return finish("triu", _triangle(triu_op, x, diagonal), out)


METHODS = {
    "diag": diag,
    "diagflat": diagflat,
    "diag_embed": diag_embed,
    "diagonal": diagonal,
    "diagonal_scatter": diagonal_scatter,
    "fill_diagonal": fill_diagonal,
    "fill_diagonal_tensor": fill_diagonal_tensor,
    "tril": tril,
    "triu": triu,
}
INPLACE = ("fill_diagonal", "fill_diagonal_tensor", "tril", "triu")
__all__ = ["diag", "diag_embed", "diagflat", "diagonal", "diagonal_scatter", "tril", "triu"]
