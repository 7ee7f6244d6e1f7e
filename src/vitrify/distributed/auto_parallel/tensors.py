"""Tensors laid out over a mesh of one process: each is whole, whatever the placements say."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...core.errors import ArgumentError
from ...eager.layer import Layer
from ...eager.tensor import Tensor
from ...tensor.creation import to_tensor
from ..environment import only_one
from .mesh import ProcessMesh
from .placements import Placement


def of_one_process(what: str, mesh: ProcessMesh | None, placements: Sequence[Placement] | None = None) -> None:
    """Refuse a mesh of several processes, and placements that do not fit its dimensions."""
    if mesh is None:
        return
    if not isinstance(mesh, ProcessMesh):
        raise ArgumentError(f"{what}: expected a ProcessMesh, got {type(mesh).__name__}")
    only_one(f"{what}: the mesh", mesh.size)
    if placements is not None and len(placements) > mesh.ndim:
        raise ArgumentError(f"{what}: {len(placements)} placements for a mesh of {mesh.ndim} dimensions")


def shard_tensor(
    data: Any, mesh: ProcessMesh, placements: Sequence[Placement], dtype: Any = None, place: Any = None,
    stop_gradient: bool | None = None,
) -> Tensor:  # fmt: skip
    """The tensor itself, or a tensor of `data`: the one process has all of it.

    Args:
        data: A Tensor of any shape and dtype, or what `to_tensor` takes.
        mesh: The mesh of processes.
        placements: For each dimension of the mesh Shard, Replicate or Partial.
        dtype: The dtype of the result; None keeps that of `data`.
        place: As in `to_tensor`.
        stop_gradient: Whether no gradient goes through; None keeps that of `data`, True for what is no Tensor.

    Raises:
        UnsupportedError: If the mesh has more than one process.
        ArgumentError: If there are more placements than dimensions of the mesh.

    Source: paddle.distributed.shard_tensor.

    Example:
        >>> import vitrify as paddle
        >>> mesh = paddle.distributed.ProcessMesh([0], dim_names=["dp"])
        >>> paddle.distributed.shard_tensor([[1.0], [2.0]], mesh, [paddle.distributed.Shard(0)]).shape
        paddle.Size([2, 1])
    """
    of_one_process("shard_tensor", mesh, placements)
    whole = data if isinstance(data, Tensor) else to_tensor(data, dtype=dtype, place=place)
    if dtype is not None and isinstance(data, Tensor):
        whole = whole.astype(dtype)
    if stop_gradient is not None:
        whole.stop_gradient = stop_gradient
    return whole


def dtensor_from_fn(
    fn: Callable[..., Tensor], mesh: ProcessMesh, placements: Sequence[Placement], *args: Any, **kwargs: Any
) -> Tensor:
    """What `fn(*args, **kwargs)` gives. Source: paddle.distributed.dtensor_from_fn.

    Example:
        >>> import vitrify as paddle
        >>> mesh = paddle.distributed.ProcessMesh([0])
        >>> paddle.distributed.dtensor_from_fn(paddle.ones, mesh, [paddle.distributed.Replicate()], shape=[1]).tolist()
        [1.0]
    """
    of_one_process("dtensor_from_fn", mesh, placements)
    return fn(*args, **kwargs)


def reshard(dist_tensor: Tensor, mesh: ProcessMesh, placements: Sequence[Placement]) -> Tensor:
    """The tensor as it is. Source: paddle.distributed.reshard.

    Example:
        >>> import vitrify as paddle
        >>> mesh = paddle.distributed.ProcessMesh([0], dim_names=["x"])
        >>> x = paddle.distributed.shard_tensor(paddle.ones([2]), mesh, [paddle.distributed.Shard(0)])
        >>> paddle.distributed.reshard(x, mesh, [paddle.distributed.Replicate()]).tolist()
        [1.0, 1.0]
    """
    of_one_process("reshard", mesh, placements)
    return dist_tensor


def unshard_dtensor(dist_tensor: Tensor) -> Tensor:
    """The tensor as it is. Source: paddle.distributed.unshard_dtensor.

    Example:
        >>> import vitrify as paddle
        >>> x = paddle.ones([2])
        >>> paddle.distributed.unshard_dtensor(x).tolist()
        [1.0, 1.0]
    """
    return dist_tensor


def shard_layer(
    layer: Layer,
    process_mesh: ProcessMesh,
    shard_fn: Callable[[str, Layer, ProcessMesh], None] | None = None,
    input_fn: Callable[[Any, ProcessMesh], Any] | None = None,
    output_fn: Callable[[Any, ProcessMesh], Any] | None = None,
) -> Layer:
    """The Layer after `shard_fn(name, sublayer, process_mesh)` for it and all its sublayers.

    `input_fn(inputs, process_mesh)` becomes a forward pre-hook of the Layer, `output_fn(outputs, process_mesh)` a
    forward post-hook. Source: paddle.distributed.shard_layer.

    Example:
        >>> import vitrify as paddle
        >>> mesh, seen = paddle.distributed.ProcessMesh([0]), []
        >>> net = paddle.nn.Sequential(paddle.nn.Linear(2, 2))
        >>> net = paddle.distributed.shard_layer(net, mesh, lambda name, layer, mesh: seen.append(name))
        >>> seen
        ['', '0']
    """
    of_one_process("shard_layer", process_mesh)
    if shard_fn is not None:
        for name, sublayer in layer.named_sublayers(include_self=True):
            shard_fn(name, sublayer, process_mesh)
    if input_fn is not None:
        layer.register_forward_pre_hook(lambda _, inputs: input_fn(inputs, process_mesh))
    if output_fn is not None:
        layer.register_forward_post_hook(lambda _, inputs, outputs: output_fn(outputs, process_mesh))
    return layer


def shard_dataloader(dataloader: Any, meshes: Any, *args: Any, **kwargs: Any) -> Any:
    """The loader as it is. Source: paddle.distributed.shard_dataloader.

    Example:
        >>> import vitrify as paddle
        >>> mesh = paddle.distributed.ProcessMesh([0], dim_names=["x"])
        >>> loader = paddle.io.DataLoader([1.0, 2.0, 3.0], batch_size=2)
        >>> [batch.tolist() for batch in paddle.distributed.shard_dataloader(loader, mesh)]
        [[1.0, 2.0], [3.0]]
    """
    for mesh in [meshes] if isinstance(meshes, ProcessMesh) else meshes:
        of_one_process("shard_dataloader", mesh)
    return dataloader


def shard_op(op: Callable[..., Any], process_mesh: ProcessMesh | None = None, *args: Any, **kwargs: Any) -> Any:
    """The function as it is. Source: paddle.distributed.fleet.auto.shard_op."""
    of_one_process("shard_op", process_mesh)
    return op


__all__ = [
    "dtensor_from_fn", "reshard", "shard_dataloader", "shard_layer", "shard_op", "shard_tensor", "unshard_dtensor",
]  # fmt: skip
