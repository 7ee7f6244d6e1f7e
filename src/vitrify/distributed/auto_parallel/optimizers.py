"""Optimizers whose state would be split over a mesh: one process keeps all of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...core.errors import UnsupportedError
from ..environment import only_one
from .mesh import ProcessMesh


class ShardingStage1:
    """Which part of an optimizer's state a process would keep: all of it. Source: paddle.distributed.ShardingStage1.

    Example:
        >>> import vitrify as paddle
        >>> mesh = paddle.distributed.ProcessMesh([0], dim_names=["x"])
        >>> paddle.distributed.ShardingStage1("x", mesh) is not None
        True
    """

    def __init__(self, sharding_mesh_dim: int | str = 0, mesh: ProcessMesh | None = None) -> None:
        if mesh is not None:
            only_one(f"{type(self).__name__}: the mesh", mesh.size)

    def __call__(self, key: str, param: Any, tensor: Any) -> Any:
        """The accumulator as it is."""
        return tensor


class ShardingStage2(ShardingStage1):
    """With the gradients split, too. Source: paddle.distributed.ShardingStage2.

    Example:
        >>> import vitrify as paddle
        >>> mesh = paddle.distributed.ProcessMesh([0], dim_names=["x"])
        >>> isinstance(paddle.distributed.ShardingStage2("x", mesh), paddle.distributed.ShardingStage1)
        True
    """


class ShardingStage3(ShardingStage1):
    """With the parameters split, too. Source: paddle.distributed.ShardingStage3.

    Example:
        >>> import vitrify as paddle
        >>> mesh = paddle.distributed.ProcessMesh([0], dim_names=["x"])
        >>> isinstance(paddle.distributed.ShardingStage3("x", mesh), paddle.distributed.ShardingStage1)
        True
    """


def shard_optimizer(
    optimizer: Any, shard_fn: Callable[[str, Any, Any], Any] | None = None, gradient_accumulation_steps: int = 1
) -> Any:
    """The optimizer as it is. Source: paddle.distributed.shard_optimizer.

    Raises:
        UnsupportedError: If gradient_accumulation_steps is not 1.

    Example:
        >>> import vitrify as paddle
        >>> net = paddle.nn.Linear(2, 2)
        >>> optimizer = paddle.optimizer.SGD(0.5, parameters=net.parameters())
        >>> paddle.distributed.shard_optimizer(optimizer, paddle.distributed.ShardingStage1()) is optimizer
        True
    """
    if gradient_accumulation_steps != 1:
        raise UnsupportedError(
            f"shard_optimizer: gradient_accumulation_steps is {gradient_accumulation_steps}",
            hint="call step() and clear_grad() after so many calls of backward()",
        )
    return optimizer


def shard_scaler(scaler: Any) -> Any:
    """The GradScaler as it is. Source: paddle.distributed.shard_scaler.

    Example:
        >>> import vitrify as paddle
        >>> scaler = paddle.amp.GradScaler()
        >>> paddle.distributed.shard_scaler(scaler) is scaler
        True
    """
    return scaler


__all__ = ["ShardingStage1", "ShardingStage2", "ShardingStage3", "shard_optimizer", "shard_scaler"]
