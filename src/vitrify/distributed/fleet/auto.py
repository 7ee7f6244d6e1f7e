"""`paddle.distributed.fleet.auto`: tensors laid out over a mesh, by the names of older code."""

from ..auto_parallel import ProcessMesh, create_mesh, get_mesh, set_mesh, shard_op, shard_tensor
from .utils import recompute

__all__ = ["ProcessMesh", "create_mesh", "get_mesh", "recompute", "set_mesh", "shard_op", "shard_tensor"]
