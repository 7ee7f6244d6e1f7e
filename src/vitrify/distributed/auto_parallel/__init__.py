"""`paddle.distributed`'s tensors laid out over a mesh, for a mesh of one process: every tensor is whole."""

from .mesh import ProcessMesh, create_mesh, get_mesh, set_mesh
from .optimizers import ShardingStage1, ShardingStage2, ShardingStage3, shard_optimizer, shard_scaler
from .placements import Partial, Placement, ReduceType, Replicate, Shard
from .tensors import dtensor_from_fn, reshard, shard_dataloader, shard_layer, shard_op, shard_tensor, unshard_dtensor

__all__ = [
    "Partial", "Placement", "ProcessMesh", "ReduceType", "Replicate", "Shard", "ShardingStage1", "ShardingStage2",
    "ShardingStage3", "create_mesh", "dtensor_from_fn", "get_mesh", "reshard", "set_mesh", "shard_dataloader",
    "shard_layer", "shard_op", "shard_optimizer", "shard_scaler", "shard_tensor", "unshard_dtensor",
]  # fmt: skip
