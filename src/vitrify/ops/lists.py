"""Lists whose length is known only when a program runs: values of type `ListMeta`, at run time Python lists of arrays.

A list is a value like any other: kernels give new lists and never change one that they are given. In the cotangent of
a list an item is None where it is zero, so that reading one item of a long list costs no zeros for all others.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from ..core.dtype import DType, bool_, int64
from ..core.errors import RAISED_BY_PROGRAM, ArgumentError
from ..core.meta import UNKNOWN, ListMeta, Meta
from .control_flow import merge_metas
from .like import summed_to
from .missing import OneItem, kept_zeros
from .registry import NoGradient, OpDef, define_op
from .scalar import scalars_for


def _item(x: Any) -> Any:
    """What is known of the items of `x`."""
    if not isinstance(x, ListMeta):
        raise ArgumentError(f"a list is needed here, given is {x}")
    return x.item


def _list_like(x: Any, *_: Any, **__: Any) -> Any:
    """The meta of a list with the items of `x`."""
    return ListMeta(_item(x))


def _like_other(_: Any, other: Any, **__: Any) -> Any:
    """The meta of a value like the second input."""
    return other


# --- making and measuring --------------------------------------------------------------------------------------------


def _list_of_vjp(ct: Any, *, items_like: Any) -> dict[str, Any]:
    return {"items": tuple(list_pick_op(ct, like, index=i) for i, like in enumerate(items_like))}


list_of_op: OpDef = define_op(
    "list_of",
    amp="keep",
    kernel=lambda xp, *items, item: list(items),
    native=lambda n, *items, item: n.list_of(items),
    meta=lambda *items, item: ListMeta(functools.reduce(merge_metas, items, item)),
    vjp=_list_of_vjp,
)
list_len_op: OpDef = define_op(
    "list_len",
    amp="keep",
    kernel=lambda xp, x: xp.asarray(len(x), dtype="int64"),
    native=lambda n, x: n.list_length(x),
    meta=lambda x: Meta((), int64),
    vjp=NoGradient("the result is a length"),
    shape_only=["x"],
)


# --- one item --------------------------------------------------------------------------------------------------------


def _position_error(message: str) -> IndexError:
    """Python's own, as the user's code raises it."""
    err = IndexError(message)
    setattr(err, RAISED_BY_PROGRAM, True)
    return err


def _at(x: list[Any], index: int, what: str = "list index") -> int:
    """`index` counted from the start; raises IndexError, with Python's words, outside of the list."""
    n = len(x)
    if not -n <= index < n:
        raise _position_error(f"{what} out of range")
    return index + n if index < 0 else index


def _with_item(x: list[Any], index: int, item: Any) -> list[Any]:
    out = list(x)
    out[_at(x, index, "list assignment index")] = item
    return out


def _without_item(x: list[Any], index: int) -> list[Any]:
    if not x:
        raise _position_error("pop from empty list")
    at = _at(x, index, "pop index")
    return [*x[:at], *x[at + 1 :]]


def _with_gap(x: list[Any], index: int) -> list[Any]:
    """The list from which `_without_item` made `x`, with a zero in the place of what was taken out."""
    at = index + len(x) + 1 if index < 0 else index
    return [*x[:at], None, *x[at:]]


list_append_op: OpDef = define_op(
    "list_append",
    amp="keep",
    kernel=lambda xp, x, item: [*x, item],
    native=lambda n, x, item: n.list_appended(x, item),
    meta=lambda x, item: ListMeta(merge_metas(_item(x), item)),
    vjp={
        "x": lambda ct: list_slice_op(ct, start=None, stop=-1, step=None),
        "item": lambda ct, *, item_like: list_pick_op(ct, item_like, index=-1),
    },
)
list_get_op: OpDef = define_op(
    "list_get",
    amp="keep",
    kernel=lambda xp, x, *, index: x[_at(x, index)],
    native=lambda n, x, *, index: n.list_item(x, index),
    native_places=True,
    meta=lambda x, *, index: _item(x),
    vjp={"x": lambda ct, *, x_like, index: list_one_op(ct, x_like, index=index)},
    dynamic=["index"],
    raises=True,
)
list_pick_op: OpDef = define_op(  # list_get from the cotangent of a list: missing where it has None
    "list_pick",
    amp="keep",
    kernel=lambda xp, x, like, *, index: x[index],
    native=lambda n, x, like, *, index: n.list_item(x, index, like),
    native_places=True,
    meta=_like_other,
    vjp={"x": lambda ct, *, x_like, index: list_one_op(ct, x_like, index=index)},
    dynamic=["index"],
    shape_only=["like"],
)
list_one_op: OpDef = define_op(  # as long as `like`, all zero but for one item
    "list_one",
    amp="keep",
    kernel=lambda xp, item, like, *, index: OneItem(len(like), index, item),
    meta=_like_other,
    vjp={"item": lambda ct, *, item_like, index: list_pick_op(ct, item_like, index=index)},
    dynamic=["index"],
    shape_only=["like"],
)
list_set_op: OpDef = define_op(
    "list_set",
    amp="keep",
    kernel=lambda xp, x, item, *, index: _with_item(x, index, item),
    meta=lambda x, item, *, index: ListMeta(merge_metas(_item(x), item)),
    vjp={
        "x": lambda ct, *, index: list_zero_at_op(ct, index=index),
        "item": lambda ct, *, item_like, index: list_pick_op(ct, item_like, index=index),
    },
    dynamic=["index"],
    raises=True,
)
list_zero_at_op: OpDef = define_op(
    "list_zero_at",
    amp="keep",
    kernel=lambda xp, x, *, index: _with_item(x, index, None),
    meta=_list_like,
    vjp={"x": lambda ct, *, index: list_zero_at_op(ct, index=index)},
    dynamic=["index"],
)
list_remove_op: OpDef = define_op(
    "list_remove",
    amp="keep",
    kernel=lambda xp, x, *, index: _without_item(x, index),
    meta=_list_like,
    vjp={"x": lambda ct, *, index: list_gap_op(ct, index=index)},
    dynamic=["index"],
    raises=True,
)
list_gap_op: OpDef = define_op(
    "list_gap",
    amp="keep",
    kernel=lambda xp, x, *, index: _with_gap(x, index),
    meta=_list_like,
    vjp={"x": lambda ct, *, index: list_remove_op(ct, index=index)},
    dynamic=["index"],
)


def _with_put(x: list[Any], item: Any, index: int) -> list[Any]:
    if not 0 <= index <= len(x):
        raise _position_error(f"item {index} cannot be put into a list of {len(x)} items")
    return [*x[:index], item, *x[index + 1 :]]


def _without_put(ct: list[Any], like: list[Any], index: int) -> list[Any]:
    """As long as `like`, with nothing at `index`."""
    out: list[Any] = [*list(ct)[: len(like)], *[None] * (len(like) - len(ct))]
    if index < len(out):
        out[index] = None
    return out


list_put_op: OpDef = define_op(  # list_set, or list_append at the end
    "list_put",
    amp="keep",
    kernel=lambda xp, x, item, *, index: _with_put(x, item, index),
    meta=lambda x, item, *, index: ListMeta(merge_metas(_item(x), item)),
    vjp={
        "x": lambda ct, *, x_like, index: list_unput_op(ct, x_like, index=index),
        "item": lambda ct, *, item_like, index: list_pick_op(ct, item_like, index=index),
    },
    dynamic=["index"],
    raises=True,
)
list_unput_op: OpDef = define_op(
    "list_unput",
    amp="keep",
    kernel=lambda xp, x, like, *, index: _without_put(x, like, index),
    meta=_like_other,
    vjp={"x": lambda ct, *, x_like, index: list_unput_op(ct, x_like, index=index)},
    dynamic=["index"],
    shape_only=["like"],
)


# --- many items ------------------------------------------------------------------------------------------------------


def _unsliced(x: list[Any], like: list[Any], part: slice) -> list[Any]:
    """As long as `like`: the items of `x` where `part` takes them from, zero elsewhere."""
    out = [None] * len(like)
    out[part] = x
    return out


def _concat_vjp(ct: Any, *, x_like: Any) -> dict[str, Any]:
    n = list_len_op(x_like)
    return {
        "x": list_slice_op(ct, start=None, stop=n, step=None),
        "y": list_slice_op(ct, start=n, stop=None, step=None),
    }


def _put_in_order(x: list[Any], order: Any) -> list[Any]:
    return [x[i] for i in order.tolist()]


def _put_back(x: list[Any], order: Any) -> list[Any]:
    out = [None] * len(x)
    for i, item in zip(order.tolist(), x):
        out[i] = item
    return out


def _slice_native(n: Any, x: Any, *, start: Any, stop: Any, step: Any) -> Any:
    if (start, stop, step) != (None, -1, None):
        n.refuse("parts of lists have no native form, but all items without the last")
    return n.list_shortened(x)


list_slice_op: OpDef = define_op(
    "list_slice",
    amp="keep",
    kernel=lambda xp, x, *, start, stop, step: x[slice(start, stop, step)],
    native=_slice_native,
    meta=_list_like,
    vjp={"x": lambda ct, *, x_like, start, stop, step: list_unslice_op(ct, x_like, start=start, stop=stop, step=step)},
    dynamic=["start", "stop", "step"],
)
list_unslice_op: OpDef = define_op(
    "list_unslice",
    amp="keep",
    kernel=lambda xp, x, like, *, start, stop, step: _unsliced(x, like, slice(start, stop, step)),
    meta=_list_like,
    vjp={"x": lambda ct, *, start, stop, step: list_slice_op(ct, start=start, stop=stop, step=step)},
    dynamic=["start", "stop", "step"],
    shape_only=["like"],
)
list_extend_op: OpDef = define_op(
    "list_extend",
    amp="keep",
    kernel=lambda xp, x, y: [*x, *y],
    meta=lambda x, y: ListMeta(merge_metas(_item(x), _item(y))),
    vjp=_concat_vjp,
)
list_order_op: OpDef = define_op(  # the items at the places that a 1-D tensor lists
    "list_order",
    amp="keep",
    kernel=lambda xp, x, order: _put_in_order(x, order),
    meta=_list_like,
    vjp={"x": lambda ct, *, order: list_unorder_op(ct, order)},
)
list_unorder_op: OpDef = define_op(
    "list_unorder",
    amp="keep",
    kernel=lambda xp, x, order: _put_back(x, order),
    meta=_list_like,
    vjp={"x": lambda ct, *, order: list_order_op(ct, order)},
)
list_zip_op: OpDef = define_op(  # several lists of one length: item i is the list of their items i
    "list_zip",
    amp="keep",
    kernel=lambda xp, *xs: [list(items) for items in zip(*xs)],
    meta=lambda *xs: ListMeta(ListMeta(functools.reduce(merge_metas, [_item(x) for x in xs]))),
    vjp=lambda ct, *, xs_like: {"xs": tuple(list_pluck_op(ct, index=i) for i, _ in enumerate(xs_like))},
)
list_pluck_op: OpDef = define_op(  # of each item, which is a list, the item at `index`
    "list_pluck",
    amp="keep",
    kernel=lambda xp, x, *, index: [None if items is None else items[index] for items in x],
    meta=lambda x, *, index: _item(x),
    vjp={"x": lambda ct, *, x_like, index: list_unpluck_op(ct, x_like, index=index)},
)
list_unpluck_op: OpDef = define_op(
    "list_unpluck",
    amp="keep",
    kernel=lambda xp, x, like, *, index: [
        None if items is None else OneItem(len(items), index, item) for item, items in zip(x, like)
    ],
    meta=_like_other,
    vjp={"x": lambda ct, *, index: list_pluck_op(ct, index=index)},
    shape_only=["like"],
)


# --- every item ------------------------------------------------------------------------------------------------------


def _each(fn: Callable[[Any], Any], x: Any) -> Any:
    if isinstance(x, list):
        return [_each(fn, item) for item in x]
    return None if x is None else fn(x)


def _each_meta(fn: Callable[[Meta], Meta], x: Any) -> Any:
    return ListMeta(_each_meta(fn, x.item)) if isinstance(x, ListMeta) else fn(x)


def _filled(xp: Any, x: Any, like: Any) -> Any:
    if x is None:
        return kept_zeros(xp, like)
    return [_filled(xp, a, b) for a, b in zip(x, like)] if isinstance(x, list) else x


def _cast_vjp(ct: Any, *, x_like: Any) -> Any:
    return list_cast_op(ct, dtype=x_like.dtype)


list_cast_op: OpDef = define_op(
    "list_cast",
    amp="keep",
    kernel=lambda xp, x, *, dtype: _each(lambda item: scalars_for(xp).cast(item, dtype), x),
    meta=lambda x, *, dtype: _each_meta(lambda item: item.with_dtype(dtype), x),
    vjp={"x": _cast_vjp},
)
list_fill_op: OpDef = define_op(  # a cotangent without None: zeros like the items of `like` instead
    "list_fill",
    amp="keep",
    kernel=lambda xp, x, like: _filled(xp, x, like),
    meta=_like_other,
    vjp={"x": lambda ct: ct},
    shape_only=["like"],
)


# --- lists and tensors -----------------------------------------------------------------------------------------------


def _need_items(op: str, x: list[Any]) -> list[Any]:
    if not x:
        raise ArgumentError(f"{op}: expects a non-empty list of tensors, got one that is empty when the program runs")
    return x


def _stacked_meta(x: Any, *, axis: int) -> Meta:
    item: Meta = _item(x)
    shape = list(item.shape)
    shape.insert(axis, UNKNOWN)
    return item.with_shape(shape)


def _joined_meta(x: Any, *, axis: int) -> Meta:
    item: Meta = _item(x)
    return item.with_shape([UNKNOWN if i == axis else size for i, size in enumerate(item.shape)])


def _unstacked_meta(x: Meta, *, axis: int) -> ListMeta:
    return ListMeta(x.with_shape([size for i, size in enumerate(x.shape) if i != axis]))


def _split_like(xp: Any, x: Any, like: list[Any], axis: int) -> list[Any]:
    ends: list[int] = []
    for item in like:
        ends.append((ends[-1] if ends else 0) + item.shape[axis])
    return list(xp.split(x, ends[:-1], axis=axis))


def _total(xp: Any, x: list[Any], dtype: DType) -> Any:
    return functools.reduce(lambda a, b: a + b, x, xp.zeros((), dtype.np))


def _sum_meta(x: Any, *, dtype: DType) -> Meta:
    item: Meta = _item(x)
    return item.with_dtype(dtype)


def sum_dtype(dtype: DType) -> DType:
    """The dtype of Python's sum over tensors of `dtype`."""
    return int64 if dtype is bool_ else dtype


def _unstacked(x: Any) -> list[Any]:
    """The items along the first dimension, also numbers as arrays."""
    return list(x) if x.ndim > 1 else [x[i, ...] for i in range(len(x))]


list_stack_op: OpDef = define_op(
    "list_stack",
    amp="keep",
    kernel=lambda xp, x, *, axis: xp.stack(_need_items("stack", x), axis=axis),
    meta=_stacked_meta,
    vjp={"x": lambda ct, *, axis: list_unstack_op(ct, axis=axis)},
)
list_unstack_op: OpDef = define_op(
    "list_unstack",
    amp="keep",
    kernel=lambda xp, x, *, axis: _unstacked(xp.moveaxis(x, axis, 0)),
    meta=_unstacked_meta,
    vjp={"x": lambda ct, *, out_like, axis: list_stack_op(list_fill_op(ct, out_like), axis=axis)},
)
list_join_op: OpDef = define_op(
    "list_join",
    amp="keep",
    kernel=lambda xp, x, *, axis: xp.concatenate(_need_items("concat", x), axis=axis),
    meta=_joined_meta,
    vjp={"x": lambda ct, *, x_like, axis: list_split_op(ct, x_like, axis=axis)},
)
list_split_op: OpDef = define_op(
    "list_split",
    amp="keep",
    kernel=lambda xp, x, like, *, axis: _split_like(xp, x, like, axis),
    meta=_like_other,
    vjp={"x": lambda ct, *, out_like, axis: list_join_op(list_fill_op(ct, out_like), axis=axis)},
    shape_only=["like"],
)
list_sum_op: OpDef = define_op(  # Python's sum: 0 + item + item ...
    "list_sum",
    amp="keep",
    kernel=lambda xp, x, *, dtype: _total(xp, x, dtype),
    meta=_sum_meta,
    vjp={"x": lambda ct, *, x_like: list_spread_op(ct, x_like)},
)
list_spread_op: OpDef = define_op(
    "list_spread",
    amp="keep",
    kernel=lambda xp, x, like: [summed_to(xp, x, item.shape) for item in like],
    meta=_like_other,
    vjp={"x": lambda ct, *, like, x_like: list_sum_op(list_fill_op(ct, like), dtype=x_like.dtype)},
    shape_only=["like"],
)


PASSING = frozenset(
    {list_of_op, list_append_op, list_extend_op, list_get_op, list_set_op, list_put_op, list_remove_op, list_slice_op}
    | {list_order_op, list_zip_op, list_pluck_op}
)
"""Operators whose results hold what they are given, or are it."""
# What gives the cotangent of a list of which not all items come from a cotangent.
LEAVES_GAPS = frozenset(
    {list_one_op, list_unslice_op, list_zero_at_op, list_unput_op, list_gap_op, list_unorder_op, list_unpluck_op}
)
