"""`paddle.distributed.fleet.layers.mpu.mp_ops`: see `paddle.distributed.model_parallel`."""

from ....model_parallel import _c_concat, _c_identity, _c_lookup_table, _c_split, _mp_allreduce

__all__ = ["_c_concat", "_c_identity", "_c_lookup_table", "_c_split", "_mp_allreduce"]
