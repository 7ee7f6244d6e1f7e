"""Ops that take a tensor apart: split, chunk, unbind and their relatives."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import Any

from ..core.alias import aliased
from ..core.errors import ArgumentError, ShapeError, UnknownValueError
from ..core.meta import UNKNOWN, Meta, Shape, normalize_axis
from .arguments import as_ints, is_tensor, is_unknown, rank_of, static_int, static_ints
from .moving_axis import at_axis
from .registry import VARIADIC_OUTPUTS, define_op, get_op
from .sizes import size_of


def _parts(x: Any, sizes: Sequence[int], axis: int) -> tuple[Any, ...]:
    """Copies of consecutive pieces of x along `axis`."""
    out = []
    start = 0
    for size in sizes:
        out.append(x[(slice(None),) * axis + (slice(start, start + size),)].copy())
        start += size
    return tuple(out)


# -- split -----------------------------------------------------------------------------------------------------------


def _equal_sizes(op: str, size: int, num: int) -> tuple[int, ...]:
    if num <= 0:
        raise ArgumentError(f"{op}: the number of parts must be positive, got {num}")
    if size != UNKNOWN and size % num:
        raise ShapeError(f"{op}: dimension of size {size} does not split into {num} equal parts")
    return (UNKNOWN if size == UNKNOWN else size // num,) * num


def _filled_sizes(op: str, size: int, sections: Sequence[Any]) -> tuple[int, ...]:
    """The sections with the one -1 replaced by what remains; -1 (unknown) for those known only at run time."""
    known = [s if isinstance(s, int) else UNKNOWN for s in sections]
    open_at = [i for i, s in enumerate(sections) if isinstance(s, int) and s < 0]
    if len(open_at) > 1:
        raise ArgumentError(f"{op}: only one section can be -1, got {list(sections)}")
    total = sum(s for i, s in enumerate(known) if i not in open_at)
    if size == UNKNOWN or any(not isinstance(s, int) for s in sections):
        return tuple(known)
    if open_at and total < size:
        known[open_at[0]] = size - total
    elif open_at or total != size:
        raise ShapeError(f"{op}: sections {list(sections)} add up to {total}, the dimension has size {size}")
    return tuple(known)


def _section_sizes(size: int, sections: Any) -> tuple[int, ...]:
    if isinstance(sections, (list, tuple)):
        return _filled_sizes("split", size, sections)
    return _equal_sizes("split", size, sections)


def _split_meta(x: Meta, *, sections: Any, axis: int) -> tuple[Meta, ...]:
    sizes = _section_sizes(x.shape[axis], sections)
    return tuple(x.with_shape((*x.shape[:axis], s, *x.shape[axis + 1 :])) for s in sizes)


def _split_native(n: Any, x: Any, *, sections: Any, axis: int) -> Any:
    return _part_views(n, x, _section_sizes(x.shape[axis], sections), axis)


def _part_views(n: Any, x: Any, sizes: Sequence[int], axis: int) -> Any:
    bounds = [0, *accumulate(sizes)]
    before = (slice(None),) * axis
    return tuple(n.view(lambda a, part=slice(*pair): a[(*before, part)], x) for pair in zip(bounds, bounds[1:]))


split_op = define_op(
    "split",
    kernel=lambda xp, x, *, sections, axis: _parts(x, _section_sizes(x.shape[axis], sections), axis),
    meta=_split_meta,
    vjp={"x": lambda cts, *, axis: get_op("concat")(*cts, axis=axis)},
    outputs=VARIADIC_OUTPUTS,
    dynamic=("sections",),
    maps={"onnx": "Split", "paddle": "split"},
    native=_split_native,
)
split_like_op = define_op(
    "split_like",
    kernel=lambda xp, x, *likes, axis: _parts(x, [y.shape[axis] for y in likes], axis),
    meta=lambda x, *likes, axis: tuple(x.with_shape(y.shape) for y in likes),
    vjp={"x": lambda cts, *, axis: get_op("concat")(*cts, axis=axis)},
    outputs=VARIADIC_OUTPUTS,
    shape_only=["likes"],
    native=lambda n, x, *likes, axis: _part_views(n, x, [y.shape[axis] for y in likes], axis),
)


def split(x: Any, num_or_sections: Any, axis: Any = 0, name: str | None = None) -> list[Any]:
    """x cut along `axis` into a number of equal parts, or into parts of the sizes given, of which one may be -1.

    x: any dtype, which the parts have, too. Raises ShapeError when the parts don't fill the dimension, or x has none,
    IndexRangeError for an axis that x has not. Source: paddle.split.

    Example:
        >>> import vitrify as paddle
        >>> [p.shape for p in paddle.split(paddle.ones([4, 6]), [1, -1], axis=1)]
        [paddle.Size([4, 1]), paddle.Size([4, 5])]
    """
    if not rank_of("split", x):
        raise ShapeError("split: x is 0-D and has no dimension to take apart")
    whole = isinstance(num_or_sections, int) or is_tensor(num_or_sections)
    sections = static_int("split", num_or_sections, "num") if whole else as_ints("split", num_or_sections, "sections")
    return list(at_axis("split", [x], axis, lambda xs, at: split_op(*xs, sections=sections, axis=at)))


@aliased(x="input", axis="dim")
def chunk(x: Any, chunks: int, axis: Any = 0, name: str | None = None) -> list[Any]:
    """x cut along `axis` into `chunks` equal parts. Source: paddle.chunk.

    Example:
        >>> import vitrify as paddle
        >>> [p.shape for p in paddle.chunk(paddle.ones([4, 6]), 3, axis=1)]
        [paddle.Size([4, 2]), paddle.Size([4, 2]), paddle.Size([4, 2])]
    """
    return split(x, static_int("chunk", chunks, "chunks"), axis)


def _known_size(op: str, x: Any, axis: int) -> int:
    size = int(x.shape[axis])
    if size == UNKNOWN:
        raise UnknownValueError(f"{op}: the size of dimension {axis} is not known while the program is built")
    return size


def _uneven_sizes(size: int, num: int) -> list[int]:
    return [size // num + (i < size % num) for i in range(num)]


def _unevenly(x: Any, size: Any, num: int, axis: int) -> list[Any]:
    """The slices of x whose sizes `_uneven_sizes` gives, for a size that only a run knows."""
    least, larger = size // num, size % num
    bounds = [least * i + get_op("minimum")(larger, i) for i in range(1, num)]
    index = (slice(None),) * axis
    return [x[(*index, slice(a, b))] for a, b in zip((None, *bounds), (*bounds, None))]


def _cut_sizes(size: int, cuts: Sequence[int]) -> list[int]:
    """Sizes of the slices between `cuts`, which may lie outside or run backwards as in NumPy."""
    bounds = [0, *[slice(None, c).indices(size)[1] for c in cuts], size]
    return [max(b - a, 0) for a, b in zip(bounds, bounds[1:])]


def _cuts(indices: Any) -> tuple[Any, ...]:
    """The indices of an argument, tensors where only a run knows them."""
    if isinstance(indices, (list, tuple)) and any(map(is_unknown, indices)):
        return tuple(as_ints("tensor_split", indices, "num_or_indices"))
    return static_ints("tensor_split", indices, "num_or_indices")


@aliased(x="input", num_or_indices="indices sections indices_or_sections", axis="dim")
def tensor_split(x: Any, num_or_indices: Any, axis: Any = 0, name: str | None = None) -> list[Any]:
    """x cut along `axis` into nearly equal parts, or at the indices given. Source: paddle.tensor_split.

    Example:
        >>> import vitrify as paddle
        >>> [p.tolist() for p in paddle.tensor_split(paddle.arange(5), 2)]
        [[0, 1, 2], [3, 4]]
    """
    at = normalize_axis("tensor_split", static_int("tensor_split", axis, "axis"), rank_of("tensor_split", x))
    if isinstance(num_or_indices, int) or (is_tensor(num_or_indices) and num_or_indices.ndim == 0):
        num = static_int("tensor_split", num_or_indices, "num_or_indices")
        if num <= 0:
            raise ArgumentError(f"tensor_split: the number of parts must be positive, got {num}")
        size = size_of(x, at)
        if is_tensor(size):
            return _unevenly(x, size, num, at)
        return list(split_op(x, sections=tuple(_uneven_sizes(size, num)), axis=at))
    cuts = _cuts(num_or_indices)
    size = x.shape[at]
    if size != UNKNOWN and not any(map(is_tensor, cuts)) and sum(_cut_sizes(size, cuts)) == size:
        return list(split_op(x, sections=tuple(_cut_sizes(size, cuts)), axis=at))
    index = (slice(None),) * at
    return [x[(*index, slice(a, b))] for a, b in zip((None, *cuts), (*cuts, None))]


def _split_along(op: str, x: Any, num_or_indices: Any, axis: int, least: int) -> list[Any]:
    if rank_of(op, x) < least:
        raise ShapeError(f"{op}: x has {x.ndim} dimensions, expected at least {least}")
    return tensor_split(x, num_or_indices, axis)


def hsplit(x: Any, num_or_indices: Any, name: str | None = None) -> list[Any]:
    """`tensor_split` along dimension 1, or 0 of a 1-D tensor. Source: paddle.hsplit.

    Example:
        >>> import vitrify as paddle
        >>> [p.shape for p in paddle.hsplit(paddle.ones([2, 4]), 2)]
        [paddle.Size([2, 2]), paddle.Size([2, 2])]
    """
    return _split_along("hsplit", x, num_or_indices, 1 if rank_of("hsplit", x) > 1 else 0, 1)


def vsplit(x: Any, num_or_indices: Any, name: str | None = None) -> list[Any]:
    """`tensor_split` along dimension 0 of a tensor with at least two. Source: paddle.vsplit.

    Example:
        >>> import vitrify as paddle
        >>> [p.shape for p in paddle.vsplit(paddle.ones([2, 4]), 2)]
        [paddle.Size([1, 4]), paddle.Size([1, 4])]
    """
    return _split_along("vsplit", x, num_or_indices, 0, 2)


def dsplit(x: Any, num_or_indices: Any, name: str | None = None) -> list[Any]:
    """`tensor_split` along dimension 2. Source: paddle.dsplit.

    Example:
        >>> import vitrify as paddle
        >>> [p.shape for p in paddle.dsplit(paddle.ones([1, 2, 4]), 2)]
        [paddle.Size([1, 2, 2]), paddle.Size([1, 2, 2])]
    """
    return _split_along("dsplit", x, num_or_indices, 2, 3)


# -- unstack ---------------------------------------------------------------------------------------------------------


def _unstack_meta(x: Meta, *, axis: int, num: int) -> tuple[Meta, ...]:
    if x.shape[axis] not in (UNKNOWN, num):
        raise ShapeError(f"unstack: x {x} has {x.shape[axis]} slices along dimension {axis}, expected {num}")
    return (x.with_shape(_without(x.shape, axis)),) * num


def _without(shape: Shape, axis: int) -> Shape:
    return (*shape[:axis], *shape[axis + 1 :])


unstack_op = define_op(
    "unstack",
    kernel=lambda xp, x, *, axis, num: tuple(part.copy() for part in xp.moveaxis(x, axis, 0)),
    meta=_unstack_meta,
    vjp={"x": lambda cts, *, axis: get_op("stack")(*cts, axis=axis)},
    outputs=VARIADIC_OUTPUTS,
    maps={"paddle": "unstack"},
    native=lambda n, x, *, axis, num: tuple(
        n.view(lambda a, i=i: a[(*(slice(None),) * axis, i)], x) for i in range(x.shape[axis])
    ),
)


def unstack(x: Any, axis: int = 0, num: int | None = None) -> list[Any]:
    """The slices of x along `axis`, without that dimension; `num` of them where the size is unknown.

    Source: paddle.unstack.

    Example:
        >>> import vitrify as paddle
        >>> [p.tolist() for p in paddle.unstack(paddle.to_tensor([[1, 2], [3, 4]]), axis=1)]
        [[1, 3], [2, 4]]
    """
    if rank_of("unstack", x) == 0:
        raise ShapeError("unstack: x is 0-D and has no dimension to take apart")
    at = normalize_axis("unstack", axis, x.ndim)
    return list(unstack_op(x, axis=at, num=_known_size("unstack", x, at) if num is None else num))


@aliased(axis="dim")
def unbind(input: Any, axis: int = 0) -> list[Any]:
    """The slices of input along `axis`, without that dimension. Source: paddle.unbind.

    Example:
        >>> import vitrify as paddle
        >>> [p.tolist() for p in paddle.unbind(paddle.to_tensor([[1, 2], [3, 4]]))]
        [[1, 2], [3, 4]]
    """
    return unstack(input, axis)


def split_with_sizes(x: Any, split_sizes: Any, dim: int = 0) -> Any:
    """`split` by the sizes of the parts, under PyTorch's name. Source: paddle.Tensor.split_with_sizes.

    Example:
        >>> import vitrify as paddle
        >>> [part.tolist() for part in paddle.arange(5).split_with_sizes([2, 3])]
        [[0, 1], [2, 3, 4]]
    """
    return split(x, split_sizes, dim)


METHODS = {
    "split_with_sizes": split_with_sizes,
    "split": split,
    "chunk": chunk,
    "tensor_split": tensor_split,
    "hsplit": hsplit,
    "vsplit": vsplit,
    "dsplit": dsplit,
    "unstack": unstack,
    "unbind": unbind,
}
__all__ = ["chunk", "dsplit", "hsplit", "split", "tensor_split", "unbind", "unstack", "vsplit"]
