"""`paddle.distributed.fleet.layers.mpu`: operations of model parallelism, in one process."""

from . import mp_ops

__all__ = ["mp_ops"]
