"""`paddle.distributed.stream`: collectives on the stream of the computation; of one process, the others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .. import collective
from ..collective import Done, ReduceOp
from ..environment import Group


def all_gather(
    tensor_or_tensor_list: Any, tensor: Any, group: Group | None = None, sync_op: bool = True,
    use_calc_stream: bool = False,
) -> Done:  # fmt: skip
    """A copy of tensor in the list, or in the one tensor. Source: paddle.distributed.stream.all_gather."""
    if isinstance(tensor_or_tensor_list, list):
        return collective.all_gather(tensor_or_tensor_list, tensor)
    return collective.alltoall_single(tensor_or_tensor_list, tensor)


def all_reduce(
    tensor: Any, op: int = ReduceOp.SUM, group: Group | None = None, sync_op: bool = True,
    use_calc_stream: bool = False,
) -> Done:  # fmt: skip
    """Leaves tensor as it is. Source: paddle.distributed.stream.all_reduce.

    Example:
        >>> import vitrify as paddle
        >>> x = paddle.to_tensor([1.0, 2.0])
        >>> paddle.distributed.stream.all_reduce(x).wait(), x.tolist()
        (True, [1.0, 2.0])
    """
    return collective.all_reduce(tensor, op)


def alltoall(
    out_tensor_or_tensor_list: Any, in_tensor_or_tensor_list: Any, group: Group | None = None, sync_op: bool = True,
    use_calc_stream: bool = False,
) -> Done:  # fmt: skip
    """What goes in, comes out. Source: paddle.distributed.stream.alltoall."""
    if isinstance(out_tensor_or_tensor_list, list):
        return collective.alltoall(out_tensor_or_tensor_list, in_tensor_or_tensor_list)
    return collective.alltoall_single(out_tensor_or_tensor_list, in_tensor_or_tensor_list)


def alltoall_single(
    out_tensor: Any, in_tensor: Any, out_split_sizes: Any = None, in_split_sizes: Any = None,
    group: Group | None = None, sync_op: bool = True, use_calc_stream: bool = False,
) -> Done:  # fmt: skip
    """Puts in_tensor into out_tensor. Source: paddle.distributed.stream.alltoall_single."""
    return collective.alltoall_single(out_tensor, in_tensor)


def broadcast(
    tensor: Any, src: int, group: Group | None = None, sync_op: bool = True, use_calc_stream: bool = False
) -> Done:
    """Leaves tensor as it is. Source: paddle.distributed.stream.broadcast."""
    return collective.broadcast(tensor, src)


def gather(
    tensor: Any, gather_list: list[Any] | None = None, dst: int = 0, group: Group | None = None, sync_op: bool = True,
    use_calc_stream: bool = False,
) -> Done:  # fmt: skip
    """Appends a copy of tensor to gather_list. Source: paddle.distributed.stream.gather."""
    return collective.gather(tensor, gather_list, dst)


def reduce(
    tensor: Any, dst: int, op: int = ReduceOp.SUM, group: Group | None = None, sync_op: bool = True,
    use_calc_stream: bool = False,
) -> Done:  # fmt: skip
    """Leaves tensor as it is. Source: paddle.distributed.stream.reduce."""
    return collective.reduce(tensor, dst, op)


def reduce_scatter(
    tensor: Any, tensor_or_tensor_list: Any, op: int = ReduceOp.SUM, group: Group | None = None, sync_op: bool = True,
    use_calc_stream: bool = False,
) -> Done:  # fmt: skip
    """Puts the one tensor into tensor. Source: paddle.distributed.stream.reduce_scatter."""
    is_list = isinstance(tensor_or_tensor_list, Sequence)
    return collective.reduce_scatter(tensor, tensor_or_tensor_list if is_list else [tensor_or_tensor_list], op)


def scatter(
    tensor: Any, tensor_or_tensor_list: Any = None, src: int = 0, group: Group | None = None, sync_op: bool = True,
    use_calc_stream: bool = False,
) -> Done:  # fmt: skip
    """Puts the one tensor into tensor. Source: paddle.distributed.stream.scatter."""
    is_list = tensor_or_tensor_list is None or isinstance(tensor_or_tensor_list, Sequence)
    return collective.scatter(tensor, tensor_or_tensor_list if is_list else [tensor_or_tensor_list], src)


def send(
    tensor: Any, dst: int = 0, group: Group | None = None, sync_op: bool = True, use_calc_stream: bool = False
) -> Done:
    """Refused: raises UnsupportedError. Source: paddle.distributed.stream.send."""
    return collective.send(tensor, dst)


def recv(
    tensor: Any, src: int = 0, group: Group | None = None, sync_op: bool = True, use_calc_stream: bool = False
) -> Done:
    """Refused: raises UnsupportedError. Source: paddle.distributed.stream.recv."""
    return collective.recv(tensor, src)


__all__ = [
    "all_gather", "all_reduce", "alltoall", "alltoall_single", "broadcast", "gather", "recv", "reduce",
    "reduce_scatter", "scatter", "send",
]  # fmt: skip
