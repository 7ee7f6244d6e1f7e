"""Paddle's operators of random numbers: they draw from vitrify's generators, not from numbers in the program."""

from __future__ import annotations

from typing import Any

from .. import tensor as T
from ..core.dtype import float32, int64
from ..ir.known_values import as_tensor, sizes_argument
from .operator_table import known_number, number, reads


@reads("uniform")
def uniform(shape: Any, min: Any, max: Any, *, dtype: Any = float32, seed: int = 0) -> Any:
    """Numbers between two others."""
    return T.uniform(_sizes(shape), dtype or float32, known_number(min), known_number(max), seed)


@reads("gaussian")
def gaussian(shape: Any, *, mean: float = 0.0, std: float = 1.0, seed: int = 0, dtype: Any = float32) -> Any:
    """Numbers of a normal distribution."""
    return T.cast(T.normal(mean, std, _sizes(shape)), dtype or float32)


@reads("randint")
def randint(shape: Any, *, low: int, high: int, dtype: Any = int64) -> Any:
    """Whole numbers from `low` on, below `high`."""
    return T.randint(low, high, _sizes(shape), dtype or int64)


@reads("randperm")
def randperm(*, n: int, dtype: Any = int64) -> Any:
    """The whole numbers below n in any order."""
    return T.randperm(n, dtype or int64)


@reads("multinomial")
def multinomial(x: Any, num_samples: Any, *, replacement: bool = False) -> Any:
    """Categories drawn with weights."""
    return T.multinomial(as_tensor(x), number(num_samples), replacement)


@reads("poisson")
def poisson(x: Any) -> Any:
    """Counts with these rates."""
    return T.poisson(as_tensor(x))


@reads("standard_gamma")
def standard_gamma(x: Any) -> Any:
    """Numbers of gamma distributions with these shapes."""
    return T.standard_gamma(as_tensor(x))


@reads("binomial")
def binomial(count: Any, prob: Any) -> Any:
    """How many of `count` trials succeed."""
    return T.binomial(as_tensor(count), as_tensor(prob))


@reads("dirichlet")
def dirichlet(alpha: Any) -> Any:
    """Numbers that add up to 1 along the last axis, of which more go where alpha is larger."""
    drawn = T.standard_gamma(as_tensor(alpha))
    return drawn / T.sum(drawn, -1, keepdim=True)


@reads("exponential_")
def exponential(x: Any, *, lam: float = 1.0) -> Any:
    """Numbers of an exponential distribution in place of x's."""
    return T.exponential_(T.assign(as_tensor(x)), lam)


def _sizes(shape: Any) -> list[Any]:
    return list(sizes_argument(shape))
