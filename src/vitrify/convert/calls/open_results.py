"""Tensors taken apart into as many as only a run says, and lists of such lengths made tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...core.alias import aliased
from ...core.converted_too import converted_too
from ...core.errors import ArgumentError, ShapeError, VitrifyError
from ...core.meta import Meta, normalize_axis
from ...core.pytree import is_open
from ...eager.host_ops import assert_op
from ...eager.tensor import to_tensor
from ...ir.graph_tensor import as_number
from ...ops.arguments import as_int, is_open_axis, is_unknown, rank_of, static_int
from ...ops.cumulative import cumsum
from ...ops.like import cast, zeros_like
from ...ops.lists import list_unstack_op
from ...ops.select import where
from ...ops.shape import reshape
from ...ops.sizes import size_of
from ...ops.split import chunk, dsplit, hsplit, split, tensor_split, vsplit
from ..containers.columns import column_of
from ..containers.list_items import Items
from ..containers.lists import GraphList
from ..containers.specs import TensorSpec
from ..values.base import builder, is_graph
from ..values.deferred import Call, captured, record
from ..values.emit import passed_on
from ..values.handlers import refuse_if_caught
from ..values.sequences import GraphSequence
from ..values.text import GraphText, concatenated, shown
from ..values.user_code import converted
from .list_builtins import mapped, of_tuples


@aliased(x="input", num_or_sections="split_size_or_sections", axis="dim")
def convert_split(x: Any, num_or_sections: Any, axis: Any = 0, name: str | None = None) -> Any:
    """`paddle.split(x, num_or_sections, axis)`."""
    if is_open(num_or_sections):
        return _sections(x, num_or_sections, axis)
    if not _is_open_number(num_or_sections) or is_open_axis(axis):
        return split(x, num_or_sections, axis, name)
    return _parts("split", x, num_or_sections, axis)


@aliased(x="input", axis="dim")
def convert_chunk(x: Any, chunks: Any, axis: Any = 0, name: str | None = None) -> Any:
    """`paddle.chunk(x, chunks, axis)`."""
    if not _is_open_number(chunks) or is_open_axis(axis):
        return chunk(x, chunks, axis, name)
    return _parts("chunk", x, chunks, axis)


@aliased(x="input", num_or_indices="indices sections indices_or_sections", axis="dim")
def convert_tensor_split(x: Any, num_or_indices: Any, axis: Any = 0, name: str | None = None) -> Any:
    """`paddle.tensor_split(x, num_or_indices, axis)`."""
    if not _is_open_number(num_or_indices) or num_or_indices.ndim or is_open_axis(axis):
        return tensor_split(x, num_or_indices, axis, name)
    return _in_uneven_parts("tensor_split", x, num_or_indices, static_int("tensor_split", axis, "axis"))


def _along(own: Callable[..., Any], axis: Callable[[Any], int], least: int) -> Callable[..., Any]:
    """What to call in place of `own`, which is `tensor_split` along one axis of a tensor of `least` dimensions."""

    def convert(x: Any, num_or_indices: Any, name: str | None = None) -> Any:
        if not _is_open_number(num_or_indices) or num_or_indices.ndim or rank_of(own.__name__, x) < least:
            return own(x, num_or_indices, name)
        return _in_uneven_parts(own.__name__, x, num_or_indices, axis(x))

    return convert


def _in_uneven_parts(op: str, x: Any, number: Any, axis: int) -> Any:
    at = normalize_axis(op, axis, rank_of(op, x))
    before = (slice(None),) * at
    return converted(_uneven_parts)(x, as_int(op, number, "num_or_indices"), size_of(x, at), before)


@converted_too
def _uneven_parts(x: Any, number: Any, size: Any, before: tuple[Any, ...]) -> list[Any]:
    if number <= 0:
        raise ValueError("tensor_split: the number of parts must be positive")
    least, larger = size // number, size % number
    starts = [least * i + min(larger, i) for i in range(number + 1)]
    return [x[(*before, slice(starts[i], starts[i + 1]))] for i in range(number)]


def _is_open_number(value: Any) -> bool:
    return is_unknown(value) and set(value.shape) <= {1}


def _parts(op: str, x: Any, number: Any, axis: Any) -> GraphList:
    """The list of the equal parts of x; the program raises ShapeError where there are none such."""
    at = normalize_axis(op, static_int(op, axis, "axis"), rank_of(op, x))
    number = reshape(as_int(op, number, "num"), [])
    sizes = [size_of(x, i) for i in range(x.ndim)]
    _assert(number > 0, ArgumentError, "split: the number of parts must be positive, got ", number)
    uneven = ("split: dimension of size ", sizes[at], " does not split into ", number, " equal parts")
    _assert(sizes[at] % number == 0, ShapeError, *uneven)
    taken = reshape(x, [*sizes[:at], number, sizes[at] // number, *sizes[at + 1 :]])
    item = TensorSpec(Meta((*taken.shape[:at], *taken.shape[at + 1 :]), x.dtype))
    return GraphList.of(Items(item, (passed_on(list_unstack_op, taken, axis=at),)))


def _sections(x: Any, given: GraphList, axis: Any) -> GraphList:
    """The list of the parts of x that have these sizes, of which one may be -1."""
    at = normalize_axis("split", static_int("split", axis, "axis"), rank_of("split", x))
    sizes, whole = reshape(cast(column_of(given, may_be_empty=True), "int64"), [-1]), size_of(x, at)
    is_rest = sizes < 0
    total = where(is_rest, zeros_like(sizes), sizes).sum()
    told = GraphText(Call("str", (Call("tolist", (captured(sizes),)),)))
    _assert(is_rest.sum() <= 1, ArgumentError, "split: only one section can be -1, got ", told)
    filled = where(is_rest, whole - total, sizes)
    # What remains for a -1 is at least 1, as in eager code.
    fits = (filled.sum() == whole).logical_and((is_rest.logical_not().logical_or(filled > 0)).all())
    sums = ("split: sections ", told, " add up to ", total, ", the dimension has size ", whole)
    _assert(fits, ShapeError, *sums)
    ends, before = cumsum(filled), (slice(None),) * at
    return mapped(
        lambda part: part,
        GraphSequence(given.sequence().length, lambda i: x[(*before, slice(ends[i] - filled[i], ends[i]))]),
    )


def _assert(holds: Any, error: type[VitrifyError], *text: Any) -> None:
    """Let the program raise what eager code raises where this does not hold; numbers in the text may be tensors."""
    refuse_if_caught(error(""))
    parts = [shown(as_number(part) if is_graph(part) else part) for part in text]
    record(assert_op, holds, error=Call(error, (captured(concatenated(*parts)),)))


def convert_to_tensor(data: Any, dtype: Any = None, place: Any = None, stop_gradient: bool = True) -> Any:
    """`paddle.to_tensor(data, dtype, place, stop_gradient)`."""
    if is_open(data):
        builder().leaves_undone = True  # of an empty list it is float32: that run is done again, eagerly
        data = column_of(data, may_be_empty=dtype is not None)
    return to_tensor(data, dtype, place, stop_gradient)


OPEN_RESULTS: dict[Any, Callable[..., Any]] = of_tuples(
    {
        split: convert_split,
        chunk: convert_chunk,
        tensor_split: convert_tensor_split,
        hsplit: _along(hsplit, lambda x: 1 if x.ndim > 1 else 0, 1),
        vsplit: _along(vsplit, lambda x: 0, 2),
        dsplit: _along(dsplit, lambda x: 2, 3),
        to_tensor: convert_to_tensor,
    }
)
