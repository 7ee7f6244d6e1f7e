"""`paddle.distributed.fleet.layers`."""

from . import mpu

__all__ = ["mpu"]
