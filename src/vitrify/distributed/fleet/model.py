"""`paddle.distributed.fleet.model`: wrappers of models that would be split over processes."""

from __future__ import annotations

from typing import Any

from ..parallel import DataParallel


class PipelineParallel(DataParallel):
    """A PipelineLayer as it is. Source: paddle.distributed.fleet.meta_parallel.PipelineParallel.

    Example:
        >>> import vitrify as paddle
        >>> from vitrify.distributed.fleet.model import PipelineParallel
        >>> PipelineParallel(paddle.nn.Linear(2, 3), None, None)(paddle.ones([1, 2])).shape
        paddle.Size([1, 3])
    """

    def __init__(self, layers: Any, hcg: Any = None, strategy: Any = None) -> None:
        super().__init__(layers)
        self._hcg = hcg


__all__ = ["PipelineParallel"]
