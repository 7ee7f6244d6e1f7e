"""Meta: what is known of a tensor before any data. Shape rules shared by all ops."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .dtype import DType
from .errors import DTypeError, IndexRangeError, ShapeError

UNKNOWN = -1
Shape = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Meta:
    """Shape and dtype of a tensor; an unknown dimension is -1. Place is fixed later, when a program is lowered."""

    shape: Shape
    dtype: DType

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        return len(self.shape)

    @property
    def is_static(self) -> bool:
        """Whether every dimension is known."""
        return UNKNOWN not in self.shape

    def with_shape(self, shape: Sequence[int]) -> Meta:
        """This meta with another shape."""
        return Meta(tuple(shape), self.dtype)

    def with_dtype(self, dtype: DType) -> Meta:
        """This meta with another dtype."""
        return Meta(self.shape, dtype)

    def __str__(self) -> str:
        return f"{self.dtype.name}[{', '.join('?' if d == UNKNOWN else str(d) for d in self.shape)}]"


def numel(shape: Sequence[int]) -> int:
    """Number of elements, or -1 when a dimension is unknown (and none is 0)."""
    total = 1
    unknown = False
    for dim in shape:
        if dim == UNKNOWN:
            unknown = True
        else:
            total *= dim
    return UNKNOWN if unknown and total != 0 else total


def normalize_axis(op: str, axis: int, ndim: int, name: str = "axis") -> int:
    """`axis` as a non-negative number; raises IndexRangeError naming the op outside [-ndim, ndim)."""
    if axis.__class__ is not int:
        axis = _axis_number(op, axis, name)
    if not -ndim <= axis < max(ndim, 1):
        if ndim == 0 and axis in (0, -1):
            return 0
        bounds = f"[{-ndim}, {ndim}) for a tensor with {ndim} dimensions"
        raise IndexRangeError(f"{op}: {name} must be in {bounds}, got {axis}")
    return axis + ndim if axis < 0 else axis


def _axis_number(op: str, axis: Any, name: str) -> int:
    """An axis as an int; a tensor, which attributes do not hold, gives its value."""
    try:
        return int(axis) if hasattr(axis, "stop_gradient") else operator.index(axis)
    except TypeError:
        raise DTypeError(f"{op}: {name} must be an int, got {type(axis).__name__}") from None


def normalize_axes(op: str, axes: int | Sequence[int] | None, ndim: int, name: str = "axis") -> Shape:
    """All axes for None or an empty list, else each one normalized; raises ShapeError on duplicates."""
    if axes is None:
        return tuple(range(ndim))
    if isinstance(axes, int):
        axes = (axes,)
    out = tuple(normalize_axis(op, a, ndim, name) for a in axes)
    if len(set(out)) != len(out):
        raise ShapeError(f"{op}: {name} repeats a dimension: {tuple(axes)}")
    return out or tuple(range(ndim))


def merge_dim(a: int, b: int) -> int:
    """The common size of two dimensions that must be equal, -1 if both unknown; raises ValueError if they differ."""
    if a == UNKNOWN:
        return b
    if b == UNKNOWN or a == b:
        return a
    raise ValueError(f"{a} != {b}")


def broadcast_dim(a: int, b: int) -> int:
    """NumPy broadcasting of one dimension with unknowns: -1 against n > 1 gives n."""
    if a == b:
        return a
    if a == 1:
        return b
    if b == 1:
        return a
    if a == UNKNOWN:
        return b
    if b == UNKNOWN:
        return a
    raise ValueError(f"{a} != {b}")


def broadcast_shapes(op: str, shapes: Sequence[Shape], names: Sequence[str]) -> Shape:
    """The broadcast of `shapes`; raises ShapeError naming the arguments and the dimension that differs."""
    out: list[int] = []
    for shape in shapes:
        if len(shape) > len(out):
            out = [1] * (len(shape) - len(out)) + out
    for shape in shapes:
        offset = len(out) - len(shape)
        for i, dim in enumerate(shape):
            try:
                out[offset + i] = broadcast_dim(out[offset + i], dim)
            except ValueError as err:
                listed = ", ".join(f"{n} is {list(s)}" for n, s in zip(names, shapes))
                raise ShapeError(f"{op}: shapes do not broadcast: {listed} (dimension {offset + i}: {err})") from None
    return tuple(out)


@dataclass(frozen=True, slots=True)
class ListMeta:
    """A list of tensors of unknown length, as a loop stacks them up one an iteration; `item` describes each."""

    item: Meta | ListMeta | FrameMeta

    def __str__(self) -> str:
        return f"list<{self.item}>"


@dataclass(frozen=True, slots=True)
class FrameMeta:
    """What one run of a function keeps for its gradient: values, and the frames of the calls it made itself."""

    def __str__(self) -> str:
        return "frame"


@dataclass(frozen=True, slots=True)
class Ref:
    """Stands in an attribute for a value known only at run time: input `index` of the operator, or one item of it."""

    index: int
    item: int | None = None

    def __str__(self) -> str:
        return f"%{self.index}" if self.item is None else f"%{self.index}[{self.item}]"


def known_dim(value: object) -> int:
    """An attribute entry as a dimension: the int, or -1 for a `Ref`."""
    return value if isinstance(value, int) else UNKNOWN
