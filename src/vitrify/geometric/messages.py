"""`paddle.geometric`: sums, means and extremes over the edges of a graph. Source: paddle.geometric.

Edges are pairs of node numbers, src_index and dst_index. Nodes that no edge reaches get zeros.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..core.errors import ArgumentError, ShapeError
from ..ops.arguments import as_int, is_tensor, rank_of
from ..ops.creation import full, zeros
from ..ops.elementwise import add, divide, multiply, subtract
from ..ops.expand import expand
from ..ops.gather import gather
from ..ops.join import concat
from ..ops.like import cast, ones_like
from ..ops.put_along_axis import put_along_axis
from ..ops.scatter import index_add
from ..ops.select import maximum, where
from ..ops.shape import reshape, unsqueeze
from ..ops.sizes import size_of, sizes_of

_MESSAGES: dict[str, Callable[..., Any]] = {"add": add, "sub": subtract, "mul": multiply, "div": divide}


def _sum(messages: Any, index: Any, count: Any) -> Any:
    return index_add(zeros([count, *sizes_of(messages)[1:]], messages.dtype), index, 0, messages)


def _mean(messages: Any, index: Any, count: Any) -> Any:
    hits = _sum(ones_like(index, messages.dtype), index, count)
    hits = maximum(hits, ones_like(hits))
    return cast(divide(_sum(messages, index, count), reshape(hits, _column(messages))), messages.dtype)


def _column(messages: Any) -> list[int]:
    """The shape of one number for each row."""
    return [-1] + [1] * (messages.ndim - 1)


def _extreme(reduce: str) -> Callable[[Any, Any, Any], Any]:
    def reduced(messages: Any, index: Any, count: Any) -> Any:
        sizes = sizes_of(messages)
        places = expand(reshape(index, _column(messages)), sizes)
        empty = zeros([count, *sizes[1:]], messages.dtype)
        return put_along_axis(empty, places, messages, 0, reduce, include_self=False, broadcast=False)

    return reduced


_REDUCTIONS = {"sum": _sum, "mean": _mean, "max": _extreme("amax"), "min": _extreme("amin")}


def segment_sum(data: Any, segment_ids: Any, name: str | None = None) -> Any:
    """The sums of the rows of `data` with the same number in segment_ids, [largest number + 1, *].

    Source: paddle.geometric.segment_sum.

    Example:
        >>> import vitrify as paddle
        >>> paddle.geometric.segment_sum(paddle.to_tensor([1.0, 2.0, 3.0]), paddle.to_tensor([0, 0, 1])).tolist()
        [3.0, 3.0]
    """
    return _segments("sum", data, segment_ids)


def segment_mean(data: Any, segment_ids: Any, name: str | None = None) -> Any:
    """The means of the rows of `data` with the same number; see segment_sum. Source: paddle.geometric.segment_mean.

    Example:
        >>> import vitrify as paddle
        >>> paddle.geometric.segment_mean(paddle.to_tensor([1.0, 2.0, 3.0]), paddle.to_tensor([0, 0, 1])).tolist()
        [1.5, 3.0]
    """
    return _segments("mean", data, segment_ids)


def segment_max(data: Any, segment_ids: Any, name: str | None = None) -> Any:
    """The largest of the rows of `data` with the same number; see segment_sum. Source: paddle.geometric.segment_max.

    Example:
        >>> import vitrify as paddle
        >>> paddle.geometric.segment_max(paddle.to_tensor([1.0, 2.0, 3.0]), paddle.to_tensor([0, 0, 2])).tolist()
        [2.0, 0.0, 3.0]
    """
    return _segments("max", data, segment_ids)


def segment_min(data: Any, segment_ids: Any, name: str | None = None) -> Any:
    """The smallest of the rows with the same number; see segment_sum. Source: paddle.geometric.segment_min.

    Example:
        >>> import vitrify as paddle
        >>> paddle.geometric.segment_min(paddle.to_tensor([[1.0, 5.0], [2.0, 4.0]]), paddle.to_tensor([0, 0])).tolist()
        [[1.0, 4.0]]
    """
    return _segments("min", data, segment_ids)


def _segments(how: str, data: Any, segment_ids: Any) -> Any:
    rank_of(f"segment_{how}", data, "data")
    rank_of(f"segment_{how}", segment_ids, "segment_ids")
    none = full([1], -1, segment_ids.dtype)  # so that nothing has a largest number, too
    count = concat([segment_ids, none]).max() + 1
    return _REDUCTIONS[how](data, segment_ids, count)


def send_u_recv(
    x: Any, src_index: Any, dst_index: Any, reduce_op: str = "sum", out_size: Any = None, name: str | None = None
) -> Any:
    """What each node gets along its edges: the rows of x at their sources, reduced by reduce_op.

    x: [nodes, *]; reduce_op: "sum", "mean", "max" or "min"; out_size: how many nodes get something, by default as many
    as x has. Raises ArgumentError for another reduce_op. Source: paddle.geometric.send_u_recv.

    Example:
        >>> import vitrify as paddle
        >>> x, edges = paddle.to_tensor([[1.0], [2.0], [4.0]]), paddle.to_tensor([[0, 1, 2], [1, 0, 1]])
        >>> paddle.geometric.send_u_recv(x, edges[0], edges[1]).tolist()
        [[2.0], [5.0], [0.0]]
    """
    return _received("send_u_recv", _sent("send_u_recv", x, src_index), x, dst_index, reduce_op, out_size)


def send_ue_recv(
    x: Any,
    y: Any,
    src_index: Any,
    dst_index: Any,
    message_op: str = "add",
    reduce_op: str = "sum",
    out_size: Any = None,
    name: str | None = None,
) -> Any:
    """As send_u_recv, for the rows of x combined with y of the edges by message_op: "add", "sub", "mul" or "div".

    y: [edges, *], of which each row broadcasts with x's; [edges] is one number for each, as x of [nodes] is.
    Source: paddle.geometric.send_ue_recv.

    Example:
        >>> import vitrify as paddle
        >>> x, weight = paddle.to_tensor([[1.0], [2.0]]), paddle.to_tensor([[10.0], [100.0]])
        >>> source, end = paddle.to_tensor([0, 1]), paddle.to_tensor([1, 1])
        >>> paddle.geometric.send_ue_recv(x, weight, source, end, message_op="mul").tolist()
        [[0.0], [210.0]]
    """
    messages = _message("send_ue_recv", message_op, _sent("send_ue_recv", x, src_index), y)
    return _received("send_ue_recv", messages, x, dst_index, reduce_op, out_size)


def send_uv(x: Any, y: Any, src_index: Any, dst_index: Any, message_op: str = "add", name: str | None = None) -> Any:
    """For each edge x of its source combined with y of its end by message_op: "add", "sub", "mul" or "div".

    Source: paddle.geometric.send_uv.

    Example:
        >>> import vitrify as paddle
        >>> x, y = paddle.to_tensor([[1.0], [2.0]]), paddle.to_tensor([[10.0], [20.0]])
        >>> paddle.geometric.send_uv(x, y, paddle.to_tensor([0, 1]), paddle.to_tensor([1, 1])).tolist()
        [[21.0], [22.0]]
    """
    return _message("send_uv", message_op, _sent("send_uv", x, src_index), _sent("send_uv", y, dst_index))


def _sent(op: str, nodes: Any, index: Any) -> Any:
    """The rows of these nodes at one end of each edge."""
    if not rank_of(op, nodes):
        raise ShapeError(f"{op}: nodes must lie along a first dimension, got shape []")
    return gather(nodes, index, 0)


def _message(op: str, message_op: str, x: Any, y: Any) -> Any:
    """What message_op makes of x and y, [edges, *] both: what lies after the edges broadcasts, one number at least."""
    if message_op not in _MESSAGES:
        raise ArgumentError(f"{op}: message_op must be one of {sorted(_MESSAGES)}, got {message_op!r}")
    rank = max(x.ndim, rank_of(op, y, "y"), 2)
    if not y.ndim:
        raise ShapeError(f"{op}: y must have one row for each edge, got shape []")
    return _MESSAGES[message_op](*(unsqueeze(t, list(range(1, 1 + rank - t.ndim))) for t in (x, y)))


def _received(op: str, messages: Any, x: Any, dst_index: Any, reduce_op: str, out_size: Any) -> Any:
    if reduce_op not in _REDUCTIONS:
        raise ArgumentError(f"{op}: reduce_op must be one of {sorted(_REDUCTIONS)}, got {reduce_op!r}")
    return _REDUCTIONS[reduce_op](messages, dst_index, _count(op, x, out_size))


def _count(op: str, x: Any, out_size: Any) -> Any:
    """How many nodes get something: out_size if it is positive, else as many as x has."""
    own = size_of(x, 0)
    if out_size is None:
        return own
    count = as_int(op, out_size, "out_size")
    return where(count > 0, count, own) if is_tensor(count) else count if count > 0 else own


__all__ = [
    "segment_max", "segment_mean", "segment_min", "segment_sum", "send_u_recv", "send_ue_recv", "send_uv",
]  # fmt: skip
