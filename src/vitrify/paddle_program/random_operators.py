"""Paddle's operators of random numbers: they draw from vitrify's generators, not from numbers in the program."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .. import tensor as T
from ..core.dtype import float32, int64
from ..ir.known_values import known_ints
from .operator_table import reads


@reads("uniform")
def uniform(shape: Any, *, dtype: Any = float32, min: float = -1.0, max: float = 1.0, seed: int = 0) -> Any:
    """Numbers between two others."""
    return T.uniform(known_ints(shape), dtype or float32, min, max, seed)


@reads("gaussian")
def gaussian(
    *, shape: Sequence[int] = (), mean: float = 0.0, std: float = 1.0, seed: int = 0, dtype: Any = float32
) -> Any:
    """Numbers of a normal distribution."""
    return T.cast(T.normal(mean, std, list(shape)), dtype or float32)


@reads("randint")
def randint(*, low: int, high: int, shape: Sequence[int] = (), seed: int = 0, dtype: Any = int64) -> Any:
    """Whole numbers from `low` on, below `high`."""
    return T.randint(low, high, list(shape), dtype or int64)
