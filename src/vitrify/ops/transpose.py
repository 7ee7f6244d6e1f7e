"""Ops that reorder dimensions."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Sequence
from typing import Any

from ..core.alias import aliased
from ..core.errors import ArgumentError, ShapeError
from ..core.meta import Meta, Shape, normalize_axes, normalize_axis
from .arguments import rank_of, static_ints
from .registry import OpDef, define_op

# All orders of few dimensions, to check the usual call by one look-up.
KNOWN_PERMS = {n: frozenset(itertools.permutations(range(n))) for n in range(6)}


def _inverse(perm: Shape) -> Shape:
    return tuple(sorted(range(len(perm)), key=perm.__getitem__))


transpose_op: OpDef = define_op(
    "transpose",
    kernel=lambda xp, x, *, perm: xp.transpose(x, perm),
    meta=lambda x, *, perm: Meta(tuple(x.shape[a] for a in perm), x.dtype),
    vjp={"x": lambda ct, *, perm: transpose_op(ct, perm=_inverse(perm))},
    view=True,
    maps={"onnx": "Transpose", "paddle": "transpose2"},
)


def _whole_perm(op: str, perm: Sequence[int], ndim: int) -> Shape:
    out = tuple(perm)
    if out in KNOWN_PERMS.get(ndim, ()):
        return out
    out = tuple(normalize_axis(op, a, ndim, "perm") for a in perm)
    if sorted(out) == list(range(len(out))):  # dimensions behind those named stay where they are
        out += tuple(range(len(out), ndim))
    if sorted(out) != list(range(ndim)):
        raise ShapeError(f"{op}: perm must name each of the {ndim} dimensions once, got {list(perm)}")
    return out


def _takes_two_dims(fn: Callable[..., Any]) -> Callable[..., Any]:
    """`fn(x, perm)` that also accepts `fn(x, 0, 2, 1)`, and two dimensions to swap: `fn(x, 0, 1)`."""

    @functools.wraps(fn)
    def call(x: Any, *perm: Any, **kwargs: Any) -> Any:
        if "dim0" in kwargs or (len(perm) == 2 and isinstance(perm[0], int) and isinstance(perm[1], int)):
            first, second = perm or (kwargs["dim0"], kwargs["dim1"])
            return swapped(x, first, second)
        if len(perm) > 1 and isinstance(perm[1], int):
            return fn(x, perm, **kwargs)
        return fn(x, *perm, **kwargs)

    return call


@aliased(x="input")
@_takes_two_dims
def transpose(x: Any, perm: Sequence[int], name: str | None = None) -> Any:
    """x with its dimensions in the order `perm`; shares memory with x.

    x: [d0, ..., dn] -> [d_perm[0], ..., d_perm[n]], same dtype. Two ints in place of perm swap these dimensions.
    Raises ShapeError unless perm names each dimension once. Source: paddle.transpose.

    Example:
        >>> import vitrify as paddle
        >>> paddle.transpose(paddle.ones([2, 3, 4]), [2, 0, 1]).shape
        paddle.Size([4, 2, 3])
    """
    rank = rank_of("transpose", x)
    return transpose_op(x, perm=_whole_perm("transpose", static_ints("transpose", perm, "perm"), rank))


def permute(input: Any, *dims: Any) -> Any:
    """`transpose`, with the dimensions in a list or one by one. Source: paddle.permute.

    Example:
        >>> import vitrify as paddle
        >>> paddle.permute(paddle.ones([2, 3, 4]), [2, 0, 1]).shape
        paddle.Size([4, 2, 3])
    """
    perm = dims[0] if len(dims) == 1 and not isinstance(dims[0], int) else dims
    axes = static_ints("permute", perm, "dims")
    return transpose_op(input, perm=_whole_perm("permute", axes, rank_of("permute", input)))


def t(input: Any, name: str | None = None) -> Any:
    """The transpose of a matrix; tensors with fewer dimensions as they are. Source: paddle.t.

    Raises ShapeError for more than two dimensions.

    Example:
        >>> import vitrify as paddle
        >>> paddle.t(paddle.ones([2, 3])).shape
        paddle.Size([3, 2])
    """
    if rank_of("t", input) > 2:
        raise ShapeError(f"t: input has {input.ndim} dimensions, expected at most 2", hint="use transpose(x, perm)")
    return reverse_dims(input)


def reverse_dims(x: Any) -> Any:
    """x with its dimensions in reverse order: the property `x.T`. Source: paddle.Tensor.T.

    Example:
        >>> import vitrify as paddle
        >>> paddle.ones([2, 3, 4]).T.shape
        paddle.Size([4, 3, 2])
    """
    return transpose_op(x, perm=tuple(reversed(range(x.ndim))))


def matrix_transpose(x: Any, name: str | None = None) -> Any:
    """x with its last two dimensions swapped. Raises ShapeError below two. Source: paddle.matrix_transpose.

    Example:
        >>> import vitrify as paddle
        >>> paddle.matrix_transpose(paddle.ones([2, 3, 4])).shape
        paddle.Size([2, 4, 3])
    """
    if rank_of("matrix_transpose", x) < 2:
        raise ShapeError(f"matrix_transpose: x has {x.ndim} dimensions, expected at least 2")
    return swapped(x, -1, -2)


def swapped(x: Any, axis0: int, axis1: int) -> Any:
    """x with two dimensions swapped."""
    rank_of("transpose", x)
    a, b = normalize_axis("transpose", axis0, x.ndim), normalize_axis("transpose", axis1, x.ndim)
    perm = list(range(x.ndim))
    if perm:
        perm[a], perm[b] = b, a
    return transpose_op(x, perm=tuple(perm))


def _places(name: str, axes: Any, ndim: int) -> Shape:
    named = static_ints("moveaxis", axes, name)
    return normalize_axes("moveaxis", named, ndim, name) if named else ()


def moveaxis(x: Any, source: int | Sequence[int], destination: int | Sequence[int], name: str | None = None) -> Any:
    """x with the dimensions `source` moved to the places `destination`, the others in order.

    Raises ArgumentError when the two differ in length or repeat a dimension. Source: paddle.moveaxis.

    Example:
        >>> import vitrify as paddle
        >>> paddle.moveaxis(paddle.ones([2, 3, 4]), 0, -1).shape
        paddle.Size([3, 4, 2])
    """
    rank_of("moveaxis", x)
    src = _places("source", source, x.ndim)
    dst = _places("destination", destination, x.ndim)
    if len(src) != len(dst):
        raise ArgumentError(f"moveaxis: source {source} and destination {destination} differ in length")
    perm = [a for a in range(x.ndim) if a not in src]
    for to, origin in sorted(zip(dst, src)):
        perm.insert(to, origin)
    return transpose_op(x, perm=tuple(perm))


swapaxes = swapdims = transpose

METHODS = {
    "transpose": transpose,
    "permute": permute,
    "t": t,
    "matrix_transpose": matrix_transpose,
    "swapaxes": swapaxes,
    "swapdims": swapaxes,
    "moveaxis": moveaxis,
    "T": property(reverse_dims),
    "mT": property(matrix_transpose),
}
INPLACE = ("transpose", "t")
__all__ = ["matrix_transpose", "moveaxis", "permute", "swapaxes", "swapdims", "t", "transpose"]
