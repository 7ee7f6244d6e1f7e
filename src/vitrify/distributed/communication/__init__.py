"""`paddle.distributed.communication`: the module path of the collectives."""

from ..collective import ReduceOp
from ..environment import Group
from . import stream

__all__ = ["Group", "ReduceOp", "stream"]
