"""Functions of tensors, under a second path of Paddle's. Source: paddle.functional."""

from .ops.arrange import meshgrid
from .ops.einsum import einsum
from .ops.expand import broadcast_shapes
from .ops.norms import norm
from .ops.shape import atleast_1d, atleast_2d, atleast_3d
from .ops.unique import unique_consecutive

__all__ = [
    "atleast_1d", "atleast_2d", "atleast_3d", "broadcast_shapes", "einsum", "meshgrid", "norm", "unique_consecutive",
]  # fmt: skip
