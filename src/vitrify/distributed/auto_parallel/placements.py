"""How a tensor lies along one dimension of a mesh: split, whole, or as parts of a sum."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class ReduceType(Enum):
    """How the parts of a `Partial` tensor become one. Source: paddle.distributed.ReduceType.

    Example:
        >>> import vitrify as paddle
        >>> paddle.distributed.Partial(paddle.distributed.ReduceType.kRedMax)
        Partial(reduce_type=MAX)
    """

    kRedSum = 0
    kRedMax = 1
    kRedMin = 2
    kRedProd = 3
    kRedAvg = 4
    kRedAny = 5
    kRedAll = 6


class Placement:
    """What the three kinds of placement have in common. Source: paddle.distributed.Placement.

    Example:
        >>> import vitrify as paddle
        >>> isinstance(paddle.distributed.Shard(0), paddle.distributed.Placement)
        True
    """

    def is_shard(self, dim: int | None = None) -> bool:
        """Whether the tensor is split, along dimension `dim` if that is given."""
        return False

    def is_replicated(self) -> bool:
        """Whether every process has the whole tensor."""
        return False

    def is_partial(self) -> bool:
        """Whether each process has a part of a reduction."""
        return False


@dataclass(frozen=True, repr=False)
class Shard(Placement):
    """Split along dimension `dim` of the tensor. Source: paddle.distributed.Shard.

    Example:
        >>> import vitrify as paddle
        >>> paddle.distributed.Shard(1), paddle.distributed.Shard(1).is_shard(0)
        (Shard(dim=1), False)
    """

    dim: int

    def get_dim(self) -> int:
        """The dimension of the tensor that is split."""
        return self.dim

    def is_shard(self, dim: int | None = None) -> bool:
        """Whether it is dimension `dim` that is split; True without one."""
        return dim is None or dim == self.dim

    def __repr__(self) -> str:
        return f"Shard(dim={self.dim})"


@dataclass(frozen=True)
class Replicate(Placement):
    """Whole on every process. Source: paddle.distributed.Replicate.

    Example:
        >>> import vitrify as paddle
        >>> paddle.distributed.Replicate().is_replicated(), paddle.distributed.Replicate().is_shard()
        (True, False)
    """

    def is_replicated(self) -> bool:
        """True."""
        return True


@dataclass(frozen=True, repr=False)
class Partial(Placement):
    """A part of a reduction on each process. Source: paddle.distributed.Partial.

    Example:
        >>> import vitrify as paddle
        >>> paddle.distributed.Partial(), paddle.distributed.Partial().is_partial()
        (Partial(reduce_type=SUM), True)
    """

    kind: ReduceType = ReduceType.kRedSum

    def is_partial(self) -> bool:
        """True."""
        return True

    def reduce_type(self) -> ReduceType:
        """How the parts become one."""
        return self.kind

    def __repr__(self) -> str:
        return f"Partial(reduce_type={self.kind.name.removeprefix('kRed').upper()})"


__all__ = ["Partial", "Placement", "ReduceType", "Replicate", "Shard"]
