"""What kernels take at which place: the table by (op, dtype, place, layout), written where an op is defined.

An op without a limit has a kernel for all its dtypes in every layout everywhere. Where it has one, lowering brings
values into the form that the kernel takes, and results back.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..core.dtype import DType, complex64, complex128, float32, float64

DEVICES = frozenset({"gpu", "simulated"})


@dataclass(frozen=True)
class Limit:
    """At `places` the kernel takes floating inputs of `dtypes` only, or values in one layout only.

    Fields:
        places: kinds of places.
        dtypes: the floating dtypes that it takes; None: all.
        through: the dtype in which it computes for the others.
        channel_first: names of the inputs and outputs that it takes, and gives, with channels in dimension 1; its
            attribute `channel_last` says where the program has them.
    """

    places: frozenset[str] = DEVICES
    dtypes: frozenset[DType] | None = None
    through: DType = float32
    channel_first: frozenset[str] = frozenset()


LAPACK = (Limit(dtypes=frozenset({float32, float64, complex64, complex128})),)


def channel_first(*names: str) -> tuple[Limit, ...]:
    """The limits of a kernel that takes and gives these values with channels in dimension 1."""
    return (Limit(channel_first=frozenset(names)),)


def dtype_limit(limits: tuple[Limit, ...], place: str, dtype: DType) -> DType | None:
    """The dtype through which a kernel computes for this one; None where it takes it as it is."""
    for limit in limits:
        if place in limit.places and limit.dtypes is not None and dtype.is_floating and dtype not in limit.dtypes:
            return limit.through
    return None


def layout_limit(limits: tuple[Limit, ...], place: str, attrs: Mapping[str, Any]) -> frozenset[str]:
    """The names of the values that must change their layout for the kernel."""
    if not attrs.get("channel_last"):
        return frozenset()
    return frozenset().union(*(limit.channel_first for limit in limits if place in limit.places))
