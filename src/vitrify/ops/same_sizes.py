"""Tensors that must agree in size, or have one element: said while a program is built where that is known, else by its
runs.
"""

from __future__ import annotations

from typing import Any

from ..core.errors import ShapeError, TakenSizeError
from ..core.meta import UNKNOWN, Meta, Shape
from ..core.single import assert_single
from .arguments import dims, rank_of
from .like import reshape_like
from .registry import define_op


def _agree(what: str, a: Any, b: Any, lead: int | None) -> None:
    ours, theirs = (tuple(shape if lead is None else shape[:lead]) for shape in (a, b))
    if len(ours) != len(theirs) or any(x != y and UNKNOWN not in (x, y) for x, y in zip(ours, theirs)):
        raise ShapeError(f"{what}: {list(a)} and {list(b)}")


def _meta(y: Meta, x: Meta, *, what: str, lead: int | None) -> Meta:
    _agree(what, x.shape, y.shape, lead)
    return y


sized_like_op = define_op(
    "sized_like",
    kernel=lambda xp, y, x, *, what, lead: y,
    meta=_meta,
    vjp={"y": lambda ct: ct},
    native=lambda n, y, x, *, what, lead: y,
    view=True,
    raises=True,
    shape_only=["x"],
)


def _sized_meta(x: Meta, *, sizes: Any, what: str) -> Meta:
    sizes = dims(sizes)
    if any(UNKNOWN not in (given, wanted) and given != wanted for given, wanted in zip(x.shape, sizes)):
        raise ShapeError(what)
    return x.with_shape(tuple(given if wanted == UNKNOWN else wanted for given, wanted in zip(x.shape, sizes)))


def _sized_form(n: Any, x: Any, *, sizes: Any, what: str) -> Any:
    if any(wanted not in (UNKNOWN, given) for given, wanted in zip(x.shape, dims(sizes))):
        n.refuse(f"a size is left open that is to be a known one ({what})")
    return x


sized_op = define_op(
    "sized",
    kernel=lambda xp, x, *, sizes, what: x,
    meta=_sized_meta,
    vjp={"x": lambda ct: ct},
    dynamic=("sizes",),
    native=_sized_form,
    view=True,
    raises=True,
)


def _without_ones_meta(x: Meta, *, axes: Shape) -> Meta:
    ones = [axis for axis in axes if x.shape[axis] == 1]
    if ones:
        raise TakenSizeError(f"squeeze: dimension {ones[0]} of x {x} has size 1, which the program was not built for")
    return x


without_ones_op = define_op(
    "without_ones",
    kernel=lambda xp, x, *, axes: x,
    meta=_without_ones_meta,
    vjp={"x": lambda ct: ct},
    native=lambda n, x, *, axes: x,
    view=True,
    raises=True,
)


def _with_ones_meta(x: Meta, *, axes: Shape) -> Meta:
    wrong = [axis for axis in axes if x.shape[axis] not in (1, UNKNOWN)]
    if wrong:
        raise TakenSizeError(f"squeeze: dimension {wrong[0]} of x {x} has size {x.shape[wrong[0]]}, not 1")
    return x.with_shape([1 if axis in axes else size for axis, size in enumerate(x.shape)])


with_ones_op = define_op(
    "with_ones",
    kernel=lambda xp, x, *, axes: x,
    meta=_with_ones_meta,
    vjp={"x": lambda ct: ct},
    native=lambda n, x, *, axes: x,
    view=True,
    raises=True,
)


def _single_meta(x: Meta, *, what: str) -> Meta:
    assert_single(what, x.shape)
    return x.with_shape(())


def _single_kernel(xp: Any, x: Any, *, what: str) -> Any:
    assert_single(what, x.shape)
    return x.reshape(())


one_element_op = define_op(
    "one_element",
    kernel=_single_kernel,
    meta=_single_meta,
    vjp={"x": lambda ct, *, x_like: reshape_like(ct, x_like)},
    view=True,
    raises=True,
)


def same_sizes(what: str, x: Any, y: Any, lead: int | None = None) -> Any:
    """y, of which it is sure that it has the sizes of x, or the same first `lead` ones; else ShapeError with `what`."""
    op = what.partition(":")[0]
    for value in (x, y):
        rank_of(op, value, "each")
    _agree(what, x.shape, y.shape, lead)
    compared = [*x.shape[:lead], *y.shape[:lead]]
    return sized_like_op(y, x, what=what, lead=lead) if UNKNOWN in compared else y
