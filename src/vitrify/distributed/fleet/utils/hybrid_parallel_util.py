"""`paddle.distributed.fleet.utils.hybrid_parallel_util`: gradients of one process are already those of all."""

from __future__ import annotations

from typing import Any


def fused_allreduce_gradients(parameter_list: Any, hcg: Any = None) -> None:
    """Add up gradients over processes: nothing to do for one. Source: paddle.distributed.fleet.utils."""


__all__ = ["fused_allreduce_gradients"]
