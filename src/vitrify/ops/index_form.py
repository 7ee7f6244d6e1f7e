"""What stands between the brackets of `x[...]`, brought to one plain form that eager, static and saved programs share.

An index is applied in two steps. First the basic part: per dimension an int, a slice or a new dimension (None), which
makes a view. Then the arrays: each takes one dimension of that view (a bool mask as many as it has itself), they
broadcast against each other, and their dimensions stand where the arrays stood, or in front when a dimension without
array lies between two of them. This is NumPy's rule with plain ints counted as basic, as in Paddle.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from ..core.errors import ArgumentError, DTypeError, IndexRangeError, ShapeError
from ..core.meta import UNKNOWN, Meta, Ref, Shape, broadcast_shapes
from .arguments import as_int, is_tensor
from .registry import get_op

FULL = slice(None)


class Index(NamedTuple):
    """A parsed index: `basic` has an entry for each dimension of x and each new one; arrays take dimensions `axes`."""

    basic: tuple[Any, ...]
    arrays: tuple[Any, ...]
    axes: Shape

    @property
    def is_trivial(self) -> bool:
        """Whether the basic part changes nothing."""
        return all(isinstance(b, slice) and b == FULL for b in self.basic)


@contextmanager
def range_errors(op: str) -> Iterator[None]:
    """Raise IndexRangeError, naming the op, for an IndexError of NumPy inside the block."""
    try:
        yield
    except IndexError as err:
        raise IndexRangeError(f"{op}: {err}") from None


# -- parsing ---------------------------------------------------------------------------------------------------------


def _is_bool_scalar(item: Any) -> bool:
    return isinstance(item, (bool, np.bool_)) or (hasattr(item, "dtype") and item.ndim == 0 and is_mask(item))


def is_mask(array: Any) -> bool:
    """Whether an index array holds truth values."""
    return str(getattr(array.dtype, "name", array.dtype)) == "bool"


def _as_array(op: str, item: Any) -> Any:
    """An index list as a tensor or NumPy array of integers or bool."""
    if isinstance(item, (list, tuple)) and any(is_tensor(i) for i in item):
        parts = [i if is_tensor(i) else np.asarray(i) for i in item]
        return get_op("stack")(*parts, axis=0)
    if is_tensor(item):
        return _checked(op, item, item.dtype.is_integer or item.dtype.is_bool)
    array = np.asarray(item)
    if array.size == 0 and not hasattr(item, "dtype"):
        array = array.astype(np.int64)
    return _checked(op, array, array.dtype.kind in "iub")


def _checked(op: str, array: Any, fits: bool) -> Any:
    if not fits:
        raise DTypeError(f"{op}: an index must be integer or bool, got {getattr(array.dtype, 'name', array.dtype)}")
    return array


def _taken(item: Any) -> int:
    """How many dimensions of x an index entry consumes."""
    if item is None or _is_bool_scalar(item):
        return 0
    return int(item.ndim) if hasattr(item, "dtype") and is_mask(item) else 1


def _entries(op: str, item: Any) -> list[Any]:
    items = list(item) if isinstance(item, tuple) else [item]
    return [_as_array(op, i) if isinstance(i, (list, tuple, range, np.ndarray)) else i for i in items]


def _spread(op: str, items: list[Any], ndim: int, shape: Sequence[int]) -> list[Any]:
    """`items` with the ellipsis replaced, and missing dimensions filled, by full slices."""
    dots = [i for i, item in enumerate(items) if item is Ellipsis]
    if len(dots) > 1:
        raise IndexRangeError(f"{op}: an index can only have one ellipsis ('...')")
    at = dots[0] if dots else len(items)
    before, after = items[:at], items[at + 1 :]
    missing = ndim - sum(_taken(i) for i in (*before, *after))
    if missing < 0:
        raise IndexRangeError(f"{op}: too many indices: {ndim - missing} for the {ndim} dimensions {list(shape)} of x")
    return [*before, *[FULL] * missing, *after]


def _bound(op: str, value: Any) -> Any:
    return None if value is None else as_int(op, value, "slice bound")


def _as_slice(op: str, item: slice) -> slice:
    if item == FULL:
        return FULL
    step = _bound(op, item.step)
    if isinstance(step, int) and step == 0:
        raise ArgumentError(f"{op}: slice step cannot be zero")
    return slice(_bound(op, item.start), _bound(op, item.stop), step)


def parse_index(op: str, x: Any, item: Any) -> Index:
    """The index `item` of x in plain form.

    Raises IndexRangeError for too many indices, DTypeError for what is no index.
    """
    basic: list[Any] = []
    arrays: list[Any] = []
    axes: list[int] = []
    place = 0  # the dimension of the basic view that comes next
    for entry in _spread(op, _entries(op, item), x.ndim, x.shape):
        if entry is None:
            basic.append(None)
            place += 1
        elif isinstance(entry, slice):
            basic.append(_as_slice(op, entry))
            place += 1
        elif _is_bool_scalar(entry):
            basic.append(None)
            arrays.append(get_op("unsqueeze")(entry, axes=(0,)) if is_tensor(entry) else np.asarray([bool(entry)]))
            axes.append(place)
            place += 1
        elif hasattr(entry, "dtype") and entry.ndim > 0:
            span = _taken(entry)
            basic.extend([FULL] * span)
            arrays.append(_as_array(op, entry))
            axes.append(place)
            place += span
        else:
            basic.append(_as_scalar(op, entry))
    return Index(tuple(basic), tuple(arrays), tuple(axes))


def _as_scalar(op: str, entry: Any) -> Any:
    if is_tensor(entry) and not entry.dtype.is_integer:
        raise DTypeError(f"{op}: an index must be integer or bool, got a {entry.dtype.name} tensor")
    if not is_tensor(entry) and not hasattr(entry, "__index__"):
        raise DTypeError(
            f"{op}: an index must be an int, slice, ..., None, bool, integer or bool array, got {type(entry).__name__}"
        )
    return as_int(op, entry, "index")


_BOUNDS = (int, type(None))


def plain_basic(item: Any, ndim: int) -> tuple[Any, ...] | None:
    """`parse_index(...).basic` for what most indices are (ints, slices of ints, None), None for any other."""
    items = item if item.__class__ is tuple else (item,)
    used = 0
    for part in items:
        kind = part.__class__
        if kind is slice:
            if part.start.__class__ not in _BOUNDS or part.stop.__class__ not in _BOUNDS:
                return None
            if part.step is not None and (part.step.__class__ is not int or part.step == 0):
                return None
        elif kind is not int:
            if part is None:
                continue
            return None
        used += 1
    missing = ndim - used
    if missing < 0:
        return None
    return (*items, *(FULL,) * missing) if missing else tuple(items)


# -- shapes ----------------------------------------------------------------------------------------------------------


def _sliced_dim(size: int, part: slice) -> int:
    if part is FULL or part == FULL:
        return size
    if size == UNKNOWN or Ref in (part.start.__class__, part.stop.__class__, part.step.__class__):
        return UNKNOWN
    return len(range(*part.indices(size)))


def basic_shape(op: str, x: Meta, basic: Sequence[Any]) -> Shape:
    """The shape of the basic view; raises IndexRangeError when an int lies outside its dimension."""
    out: list[int] = []
    sizes: Iterator[int] = iter(x.shape)
    axis = 0
    for part in basic:
        if part is None:
            out.append(1)
            continue
        size = next(sizes)
        if isinstance(part, slice):
            out.append(_sliced_dim(size, part))
        elif isinstance(part, int) and size != UNKNOWN and not -size <= part < size:
            raise IndexRangeError(f"{op}: index {part} is out of range for dimension {axis} of x {x}")
        axis += 1
    return tuple(out)


def _array_shape(op: str, x: Meta, array: Meta, axis: int) -> Shape:
    """The shape an index array contributes: its own, or [number of True] for a mask over as many dimensions of x."""
    if not array.dtype.is_bool:
        return array.shape
    covered = x.shape[axis : axis + array.ndim]
    if any(a != b and UNKNOWN not in (a, b) for a, b in zip(array.shape, covered)):
        raise IndexRangeError(f"{op}: a mask {array} does not fit dimensions {list(covered)} of x {x}")
    return (UNKNOWN,)


def spans(arrays: Sequence[Any], axes: Shape) -> tuple[Shape, bool]:
    """The dimensions that the arrays take, and whether they lie next to each other."""
    taken = [axis + i for array, axis in zip(arrays, axes) for i in range(len(array.shape) if is_mask(array) else 1)]
    return tuple(taken), taken == list(range(taken[0], taken[0] + len(taken)))


def array_shape(op: str, x: Meta, arrays: Sequence[Meta], axes: Shape) -> Shape:
    """The shape after indexing the dimensions `axes` of x with arrays."""
    shapes = [_array_shape(op, x, a, axis) for a, axis in zip(arrays, axes)]
    try:
        joint = broadcast_shapes(op, shapes, [f"index {i}" for i in range(len(shapes))])
    except ShapeError as err:
        raise IndexRangeError(err.message) from None
    taken, adjacent = spans(arrays, axes)
    rest = [d for i, d in enumerate(x.shape) if i not in taken]
    at = taken[0] if adjacent else 0
    return (*rest[:at], *joint, *rest[at:])
