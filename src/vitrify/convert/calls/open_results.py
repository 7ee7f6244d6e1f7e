"""Tensors taken apart into as many as only a run says, and lists of such lengths made tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...core.alias import aliased
from ...core.meta import Meta, normalize_axis
from ...core.pytree import is_open
from ...eager.tensor import to_tensor
from ...ops.arguments import as_int, is_unknown, rank_of, static_int
from ...ops.lists import list_unstack_op
from ...ops.shape import reshape
from ...ops.sizes import size_of
from ...ops.split import chunk, split
from ..containers.columns import column_of
from ..containers.list_items import Items, TensorSpec, passed_on
from ..containers.lists import GraphList
from .list_builtins import of_tuples


@aliased(x="input", num_or_sections="split_size_or_sections", axis="dim")
def convert_split(x: Any, num_or_sections: Any, axis: Any = 0, name: str | None = None) -> Any:
    """`paddle.split(x, num_or_sections, axis)`."""
    if not _is_open_number(num_or_sections) or is_unknown(axis):
        return split(x, num_or_sections, axis, name)
    return _parts("split", x, num_or_sections, axis)


@aliased(x="input", axis="dim")
def convert_chunk(x: Any, chunks: Any, axis: Any = 0, name: str | None = None) -> Any:
    """`paddle.chunk(x, chunks, axis)`."""
    if not _is_open_number(chunks) or is_unknown(axis):
        return chunk(x, chunks, axis, name)
    return _parts("chunk", x, chunks, axis)


def _is_open_number(value: Any) -> bool:
    return is_unknown(value) and set(value.shape) <= {1}


def _parts(op: str, x: Any, number: Any, axis: Any) -> GraphList:
    """The list of the equal parts of x; the program raises ShapeError where there are none such."""
    at = normalize_axis(op, static_int(op, axis, "axis"), rank_of(op, x))
    number = reshape(as_int(op, number, "num"), [])
    sizes = [size_of(x, i) for i in range(x.ndim)]
    taken = reshape(x, [*sizes[:at], number, sizes[at] // number, *sizes[at + 1 :]])
    item = TensorSpec(Meta((*taken.shape[:at], *taken.shape[at + 1 :]), x.dtype))
    return GraphList.of(Items(item, (passed_on(list_unstack_op, taken, axis=at),)))


def convert_to_tensor(data: Any, dtype: Any = None, place: Any = None, stop_gradient: bool = True) -> Any:
    """`paddle.to_tensor(data, dtype, place, stop_gradient)`."""
    if is_open(data):
        data = column_of(data, may_be_empty=dtype is not None)
    return to_tensor(data, dtype, place, stop_gradient)


OPEN_RESULTS: dict[Any, Callable[..., Any]] = of_tuples(
    {split: convert_split, chunk: convert_chunk, to_tensor: convert_to_tensor}
)
