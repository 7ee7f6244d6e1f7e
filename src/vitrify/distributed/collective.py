"""Collective communication of one process with itself: everybody's values are one's own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..core.errors import ArgumentError, UnsupportedError
from .environment import Group, _get_global_group, own_rank
from .model_parallel import (  # noqa: F401 (model code imports them from here)
    _c_concat,
    _c_identity,
    _c_lookup_table,
    _c_split,
    _mp_allreduce,
)

_get_default_group = _get_global_group


class ReduceOp:
    """How values of several processes become one. Source: paddle.distributed.ReduceOp.

    Example:
        >>> import vitrify as paddle
        >>> x = paddle.to_tensor([1.0, 2.0])
        >>> task = paddle.distributed.all_reduce(x, op=paddle.distributed.ReduceOp.MAX)
        >>> x.tolist()
        [1.0, 2.0]
    """

    SUM, MAX, MIN, PROD, AVG = range(5)


class Done:
    """A communication that is over: what Paddle's functions return to wait on."""

    def wait(self, timeout: Any = None) -> bool:
        """True, at once."""
        return True

    synchronize = wait

    def is_completed(self) -> bool:
        """True."""
        return True

    is_sync = is_completed


_DONE = Done()


def _get_reduce_op(reduce_op: Any, func_name: str) -> Any:
    """The reduction itself; `func_name` names who asks."""
    return reduce_op


def _own(what: str, values: Sequence[Any] | None) -> Any:
    """The one entry of a list with an entry for each process."""
    if values is None or len(values) != 1:
        found = "none" if values is None else len(values)
        raise ArgumentError(f"{what}: expected one entry for the one process, got {found}")
    return values[0]


def all_reduce(tensor: Any, op: int = ReduceOp.SUM, group: Group | None = None, sync_op: bool = True) -> Done:
    """Leaves tensor as it is: the sum, mean, ... over one process. Source: paddle.distributed.all_reduce.

    Example:
        >>> import vitrify as paddle
        >>> x = paddle.to_tensor([1.0, 2.0])
        >>> _ = paddle.distributed.all_reduce(x)
        >>> x.tolist()
        [1.0, 2.0]
    """
    return _DONE


def reduce(tensor: Any, dst: int = 0, op: int = ReduceOp.SUM, group: Group | None = None, sync_op: bool = True) -> Done:
    """Leaves tensor as it is. Source: paddle.distributed.reduce.

    Example:
        >>> import vitrify as paddle
        >>> x = paddle.to_tensor([1.0, 2.0])
        >>> task = paddle.distributed.reduce(x, dst=0)
        >>> x.tolist(), task.is_completed()
        ([1.0, 2.0], True)
    """
    own_rank("reduce", dst)
    return _DONE


def broadcast(tensor: Any, src: int = 0, group: Group | None = None, sync_op: bool = True) -> Done:
    """Leaves tensor as it is. Source: paddle.distributed.broadcast.

    Example:
        >>> import vitrify as paddle
        >>> x = paddle.to_tensor([1.0, 2.0])
        >>> paddle.distributed.broadcast(x, src=0).is_completed(), x.tolist()
        (True, [1.0, 2.0])
    """
    own_rank("broadcast", src)
    return _DONE


def broadcast_object_list(object_list: list[Any], src: int = 0, group: Group | None = None) -> None:
    """Leaves the list as it is. Source: paddle.distributed.broadcast_object_list.

    Example:
        >>> import vitrify as paddle
        >>> found = [{"step": 3}]
        >>> paddle.distributed.broadcast_object_list(found, src=0)
        >>> found
        [{'step': 3}]
    """
    own_rank("broadcast_object_list", src)


def all_gather(tensor_list: list[Any], tensor: Any, group: Group | None = None, sync_op: bool = True) -> Done:
    """Appends a copy of tensor to tensor_list. Source: paddle.distributed.all_gather.

    Example:
        >>> import vitrify as paddle
        >>> found = []
        >>> _ = paddle.distributed.all_gather(found, paddle.to_tensor([1.0]))
        >>> [t.tolist() for t in found]
        [[1.0]]
    """
    if tensor_list:  # given with room for every process
        tensor_list.clear()
    tensor_list.append(tensor.clone())
    return _DONE


def all_gather_object(object_list: list[Any], obj: Any, group: Group | None = None) -> None:
    """Appends obj to object_list. Source: paddle.distributed.all_gather_object.

    Example:
        >>> import vitrify as paddle
        >>> found = []
        >>> paddle.distributed.all_gather_object(found, {"loss": 0.5})
        >>> found
        [{'loss': 0.5}]
    """
    object_list.append(obj)


def gather(
    tensor: Any, gather_list: list[Any] | None = None, dst: int = 0, group: Group | None = None, sync_op: bool = True
) -> Done:
    """Appends a copy of tensor to gather_list. Source: paddle.distributed.gather.

    Example:
        >>> import vitrify as paddle
        >>> found = []
        >>> task = paddle.distributed.gather(paddle.to_tensor([1, 2]), found, dst=0)
        >>> [x.tolist() for x in found]
        [[1, 2]]
    """
    own_rank("gather", dst)
    if gather_list is None:
        raise ArgumentError("gather: gather_list is None on the process that gathers")
    return all_gather(gather_list, tensor)


def scatter(
    tensor: Any, tensor_list: Sequence[Any] | None = None, src: int = 0, group: Group | None = None,
    sync_op: bool = True,
) -> Done:  # fmt: skip
    """Puts the one tensor of tensor_list into tensor. Source: paddle.distributed.scatter.

    Example:
        >>> import vitrify as paddle
        >>> x = paddle.zeros([2])
        >>> task = paddle.distributed.scatter(x, [paddle.ones([2])], src=0)
        >>> x.tolist()
        [1.0, 1.0]
    """
    own_rank("scatter", src)
    tensor.set_value(_own("scatter", tensor_list))
    return _DONE


def scatter_object_list(
    out_object_list: list[Any], in_object_list: list[Any] | None = None, src: int = 0, group: Group | None = None
) -> None:
    """Appends the one object of in_object_list. Source: paddle.distributed.scatter_object_list.

    Example:
        >>> import vitrify as paddle
        >>> found = []
        >>> paddle.distributed.scatter_object_list(found, [{"part": 0}], src=0)
        >>> found
        [{'part': 0}]
    """
    own_rank("scatter_object_list", src)
    out_object_list[:] = [_own("scatter_object_list", in_object_list)]


def reduce_scatter(
    tensor: Any, tensor_list: Sequence[Any], op: int = ReduceOp.SUM, group: Group | None = None, sync_op: bool = True
) -> Done:
    """Puts the one tensor of tensor_list into tensor. Source: paddle.distributed.reduce_scatter.

    Example:
        >>> import vitrify as paddle
        >>> x = paddle.zeros([2])
        >>> task = paddle.distributed.reduce_scatter(x, [paddle.ones([2])])
        >>> x.tolist()
        [1.0, 1.0]
    """
    tensor.set_value(_own("reduce_scatter", tensor_list))
    return _DONE


def alltoall(
    out_tensor_list: list[Any], in_tensor_list: Sequence[Any], group: Group | None = None, sync_op: bool = True
) -> Done:
    """Puts a copy of the one tensor of in_tensor_list into out_tensor_list. Source: paddle.distributed.alltoall.

    Example:
        >>> import vitrify as paddle
        >>> found = []
        >>> task = paddle.distributed.alltoall(found, [paddle.ones([2])])
        >>> [x.tolist() for x in found]
        [[1.0, 1.0]]
    """
    return all_gather(out_tensor_list, _own("alltoall", in_tensor_list))


def alltoall_single(
    out_tensor: Any, in_tensor: Any, in_split_sizes: Any = None, out_split_sizes: Any = None,
    group: Group | None = None, sync_op: bool = True,
) -> Done:  # fmt: skip
    """Puts in_tensor into out_tensor. Source: paddle.distributed.alltoall_single.

    Example:
        >>> import vitrify as paddle
        >>> x = paddle.zeros([2])
        >>> task = paddle.distributed.alltoall_single(x, paddle.ones([2]))
        >>> x.tolist()
        [1.0, 1.0]
    """
    out_tensor.set_value(in_tensor)
    return _DONE


def barrier(group: Group | None = None) -> None:
    """Nothing to wait for. Source: paddle.distributed.barrier.

    Example:
        >>> import vitrify as paddle
        >>> paddle.distributed.barrier()
    """


def wait(tensor: Any, group: Group | None = None, use_calc_stream: bool = True) -> None:
    """Nothing to wait for. Source: paddle.distributed.wait.

    Example:
        >>> import vitrify as paddle
        >>> paddle.distributed.wait(paddle.ones([2]))
    """


def _nobody(what: str, rank: Any) -> UnsupportedError:
    return UnsupportedError(f"{what}: there is no process {rank} to talk to, vitrify runs in one process")


def send(tensor: Any, dst: int = 0, group: Group | None = None, sync_op: bool = True) -> Done:
    """Refused: raises UnsupportedError. Source: paddle.distributed.send.

    Example:
        >>> import vitrify as paddle
        >>> paddle.distributed.send(paddle.ones([2]), dst=1)
        Traceback (most recent call last):
        vitrify.core.errors.UnsupportedError: send: there is no process 1 to talk to, ...
    """
    raise _nobody("send", dst)


def recv(tensor: Any, src: int = 0, group: Group | None = None, sync_op: bool = True) -> Done:
    """Refused: raises UnsupportedError. Source: paddle.distributed.recv.

    Example:
        >>> import vitrify as paddle
        >>> paddle.distributed.recv(paddle.ones([2]), src=1)
        Traceback (most recent call last):
        vitrify.core.errors.UnsupportedError: recv: there is no process 1 to talk to, ...
    """
    raise _nobody("recv", src)


isend, irecv = send, recv


def send_object_list(
    object_list: list[Any], dst: int | None = None, group: Group | None = None, dst_in_group: int | None = None
) -> None:
    """Refused: raises UnsupportedError. Source: paddle.distributed.send_object_list.

    Example:
        >>> import vitrify as paddle
        >>> paddle.distributed.send_object_list(["x"], dst=1)
        Traceback (most recent call last):
        vitrify.core.errors.UnsupportedError: send_object_list: there is no process 1 to talk to, ...
    """
    raise _nobody("send_object_list", dst_in_group if dst is None else dst)


def recv_object_list(
    object_list: list[Any], src: int | None = None, group: Group | None = None, src_in_group: int | None = None
) -> None:
    """Refused: raises UnsupportedError. Source: paddle.distributed.recv_object_list.

    Example:
        >>> import vitrify as paddle
        >>> paddle.distributed.recv_object_list([], src=1)
        Traceback (most recent call last):
        vitrify.core.errors.UnsupportedError: recv_object_list: there is no process 1 to talk to, ...
    """
    raise _nobody("recv_object_list", src_in_group if src is None else src)


__all__ = [
    "ReduceOp", "all_gather", "all_gather_object", "all_reduce", "alltoall", "alltoall_single", "barrier", "broadcast",
    "broadcast_object_list", "gather", "irecv", "isend", "recv", "recv_object_list", "reduce", "reduce_scatter",
    "scatter", "scatter_object_list", "send", "send_object_list", "wait",
]  # fmt: skip
