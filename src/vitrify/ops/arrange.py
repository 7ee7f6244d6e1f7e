"""Ops that move elements around without changing the shape's sizes: flip, roll, rot90; and grids of coordinates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..core.alias import aliased
from ..core.errors import ArgumentError, ShapeError
from ..core.meta import Shape, normalize_axes, normalize_axis
from .arguments import as_ints, entries, finish, rank_of, static_ints
from .creation import full
from .expand import broadcast_tensors
from .index import getitem
from .join import concat, stack
from .moving_forms import flip_form, roll_form
from .registry import OpDef, define_op
from .shape import flatten, reshape
from .sizes import size_of
from .transpose import swapped

# -- flip ------------------------------------------------------------------------------------------------------------

flip_op: OpDef = define_op(
    "flip",
    kernel=lambda xp, x, *, axis: xp.flip(x, axis).copy(),
    meta=lambda x, *, axis: x,
    vjp={"x": lambda ct, *, axis: flip_op(ct, axis=axis)},
    maps={"paddle": "flip"},
    native=flip_form,
)


def flip(x: Any, axis: Any, name: str | None = None) -> Any:
    """x with the order of its elements reversed along `axis`, one or several. Source: paddle.flip.

    Example:
        >>> import vitrify as paddle
        >>> paddle.flip(paddle.to_tensor([[1, 2], [3, 4]]), [0]).tolist()
        [[3, 4], [1, 2]]
    """
    rank_of("flip", x)
    named = static_ints("flip", axis, "axis")
    return flip_op(x, axis=normalize_axes("flip", named, x.ndim) if named else ())


reverse = flip


def rot90(x: Any, k: int = 1, axes: Sequence[int] = (0, 1), name: str | None = None) -> Any:
    """x turned by k quarter turns in the plane of two axes, from the first towards the second. Source: paddle.rot90.

    Example:
        >>> import vitrify as paddle
        >>> paddle.rot90(paddle.to_tensor([[1, 2], [3, 4]])).tolist()
        [[2, 4], [1, 3]]
    """
    if rank_of("rot90", x) < 2 or len(axes) != 2:
        raise ShapeError(f"rot90: needs 2 or more dimensions and 2 axes, got shape {list(x.shape)}, axes {list(axes)}")
    a, b = (normalize_axis("rot90", axis, x.ndim, "axes") for axis in axes)
    if a == b:
        raise ArgumentError(f"rot90: the two axes must differ, got {list(axes)}")
    turns = k % 4
    if turns == 0:
        return getitem(x, Ellipsis)
    if turns == 2:
        return flip_op(x, axis=(a, b))
    return swapped(flip_op(x, axis=(b,)), a, b) if turns == 1 else flip_op(swapped(x, a, b), axis=(b,))


# -- roll ------------------------------------------------------------------------------------------------------------


def _roll_kernel(xp: Any, x: Any, *, shifts: Any, axis: Shape | None) -> Any:
    moved = entries(shifts)
    return xp.roll(x, moved[0] if axis is None else moved, axis)


def _roll_back(ct: Any, shifts: Any, axis: Shape | None) -> Any:
    return roll_op(ct, shifts=tuple(-s for s in entries(shifts)), axis=axis)


roll_op: OpDef = define_op(
    "roll",
    kernel=_roll_kernel,
    meta=lambda x, *, shifts, axis: x,
    vjp={"x": lambda ct, *, shifts, axis: _roll_back(ct, shifts, axis)},
    dynamic=("shifts",),
    maps={"paddle": "roll"},
    native=roll_form,
)


@aliased(x="input", axis="dims")
def roll(x: Any, shifts: Any, axis: Any = None, name: str | None = None, *, out: Any = None) -> Any:
    """x with its elements moved by `shifts` along `axis`, those that leave coming in again at the other end.

    Without an axis x is rolled as one row. Raises ArgumentError when the numbers of shifts and axes differ.
    Source: paddle.roll.

    Example:
        >>> import vitrify as paddle
        >>> paddle.roll(paddle.to_tensor([1, 2, 3]), 1).tolist()
        [3, 1, 2]
    """
    moved = as_ints("roll", shifts, "shifts")
    if axis is None:
        if isinstance(moved, tuple) and len(moved) != 1:
            raise ArgumentError(f"roll: {len(moved)} shifts without axes, expected one")
        return finish("roll", roll_op(x, shifts=moved, axis=None), out)
    places = tuple(normalize_axis("roll", a, x.ndim) for a in static_ints("roll", axis, "axis"))
    if len(entries(moved)) != len(places) and isinstance(moved, tuple):
        raise ArgumentError(f"roll: {len(moved)} shifts for {len(places)} axes")
    return finish("roll", roll_op(x, shifts=moved, axis=places), out)


# -- grids and products ----------------------------------------------------------------------------------------------


def meshgrid(*args: Any, **kwargs: Any) -> list[Any]:
    """For 1-D tensors of sizes n0, n1, ...: as many tensors [n0, n1, ...], each varying along its own dimension.

    With indexing="xy" the first two dimensions are swapped. Source: paddle.meshgrid.

    Example:
        >>> import vitrify as paddle
        >>> rows, columns = paddle.meshgrid(paddle.to_tensor([1, 2]), paddle.to_tensor([3, 4, 5]))
        >>> rows.tolist(), columns.shape
        ([[1, 1, 1], [2, 2, 2]], paddle.Size([2, 3]))
    """
    indexing = kwargs.get("indexing", "ij")
    if indexing not in ("ij", "xy"):
        raise ArgumentError(f"meshgrid: indexing must be 'ij' or 'xy', got {indexing!r}")
    tensors = list(args[0]) if len(args) == 1 and isinstance(args[0], (list, tuple)) else list(args)
    if any(x.ndim > 1 for x in tensors):
        raise ShapeError(f"meshgrid: expects 0-D or 1-D tensors, got shapes {[[*x.shape] for x in tensors]}")
    count = len(tensors)
    columns = [reshape(x, [1] * i + [-1] + [1] * (count - 1 - i)) for i, x in enumerate(tensors)]
    grids = broadcast_tensors(columns)
    return [swapped(g, 0, 1) for g in grids] if indexing == "xy" and count > 1 else grids


def cartesian_prod(x: Sequence[Any], name: str | None = None) -> Any:
    """Every combination of one element from each 1-D tensor, as rows. Source: paddle.cartesian_prod.

    Example:
        >>> import vitrify as paddle
        >>> paddle.cartesian_prod([paddle.to_tensor([1, 2]), paddle.to_tensor([3, 4])]).tolist()
        [[1, 3], [1, 4], [2, 3], [2, 4]]
    """
    if len(x) == 1:
        return x[0]
    return stack([flatten(g) for g in meshgrid(*x)], axis=1)


def block_diag(inputs: Sequence[Any], name: str | None = None) -> Any:
    """The matrix with the inputs (0-D to 2-D) along its diagonal and zeros elsewhere. Source: paddle.block_diag.

    Example:
        >>> import vitrify as paddle
        >>> paddle.block_diag([paddle.ones([1, 2]), paddle.ones([1, 1])]).tolist()
        [[1.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    """
    blocks = [reshape(b, [1, -1]) if b.ndim < 2 else b for b in inputs]
    widths = [size_of(b, 1) for b in blocks]
    rows = []
    for i, block in enumerate(blocks):
        sides = (sum(widths[:i]), sum(widths[i + 1 :]))
        before, after = (full([size_of(block, 0), width], 0, block.dtype) for width in sides)
        rows.append(concat([before, block, after], axis=1))
    return concat(rows, axis=0)


METHODS = {"flip": flip, "reverse": flip, "rot90": rot90, "roll": roll, "block_diag": block_diag}
__all__ = ["block_diag", "cartesian_prod", "flip", "meshgrid", "reverse", "roll", "rot90"]
