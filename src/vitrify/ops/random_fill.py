"""Distributions by inversion (poisson, gamma, binomial), and methods that fill a tensor with random numbers."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..core import philox
from ..core.alias import aliased
from ..core.dtype import float64, int64
from ..core.errors import ArgumentError, DTypeError
from ..core.lazy import lazy_module
from ..core.meta import Meta, broadcast_shapes
from .arguments import is_python_number, is_tensor, rank_of
from .fill import refilled
from .host_linalg import on_host
from .like import cast
from .random import DRAWN, bernoulli, draw, float_input, gaussian, uniform
from .registry import define_op, get_op
from .sizes import sizes_of

_special = lazy_module("scipy.special")
# SciPy's inverse distributions run on the CPU; each number costs one uniform float64, so all devices draw the same.


def _uniform64(key: Any, shape: tuple[int, ...]) -> Any:
    return philox.uniform(np, draw(key, philox.word_count(shape, float64)), shape, float64)


def _smallest(guess: Any, cdf: Any, aim: Any) -> Any:
    """The smallest integer whose cdf reaches `aim`, given a real solution of cdf(guess) = aim."""
    upper = np.maximum(np.ceil(guess), 0)
    lower = np.maximum(upper - 1, 0)
    return np.where(cdf(lower) >= aim, lower, upper)


def _poisson_kernel(xp: Any, x: Any, *, key: Any) -> Any:
    rates = np.maximum(on_host(x).astype(np.float64), 0)
    aim = _uniform64(key, x.shape)
    safe = np.where(rates > 0, rates, 1)
    drawn = _smallest(_special.pdtrik(aim, safe), lambda k: _special.pdtr(k, safe), aim)
    return xp.asarray(np.where(rates > 0, drawn, 0).astype(x.dtype))


poisson_op = define_op(
    "poisson",
    kernel=_poisson_kernel,
    meta=lambda x: float_input("poisson", x),
    vjp=DRAWN,
    random=True,
    maps={"paddle": "poisson"},
    on_host=True,
)


def poisson(x: Any, name: str | None = None) -> Any:
    """Poisson distributed numbers with the rates x, in x's dtype. Source: paddle.poisson.

    Example:
        >>> import vitrify as paddle
        >>> paddle.poisson(paddle.zeros([2])).tolist()
        [0.0, 0.0]
    """
    return poisson_op(x)


def _gamma_kernel(xp: Any, x: Any, *, key: Any) -> Any:
    drawn = _special.gammaincinv(on_host(x).astype(np.float64), _uniform64(key, x.shape))
    return xp.asarray(np.asarray(drawn).astype(x.dtype))


standard_gamma_op = define_op(
    "standard_gamma",
    kernel=_gamma_kernel,
    meta=lambda x: float_input("standard_gamma", x),
    vjp=DRAWN,
    random=True,
    on_host=True,
)


def standard_gamma(x: Any, name: str | None = None) -> Any:
    """Gamma distributed numbers with the shapes x and rate 1. Source: paddle.standard_gamma.

    Example:
        >>> import vitrify as paddle
        >>> paddle.standard_gamma(paddle.ones([3])).shape
        paddle.Size([3])
    """
    return standard_gamma_op(x)


def _binomial_kernel(xp: Any, count: Any, prob: Any, *, key: Any) -> Any:
    counts, probs = np.broadcast_arrays(on_host(count).astype(np.float64), on_host(prob).astype(np.float64))
    if probs.size and not (probs.min() >= 0 and probs.max() <= 1):
        raise ArgumentError(f"binomial: probabilities must be in [0, 1], got {probs.min()} to {probs.max()}")
    aim = _uniform64(key, counts.shape)
    inside = (probs > 0) & (probs < 1) & (counts > 0)
    n, p = np.where(inside, counts, 1).astype(np.int64), np.where(inside, probs, 0.5)
    drawn = _smallest(_special.bdtrik(aim, n, p), lambda k: _special.bdtr(k, n, p), aim)
    return xp.asarray(np.where(inside, drawn, np.where(probs > 0, counts, 0)).astype(np.int64))


binomial_op = define_op(
    "binomial",
    kernel=_binomial_kernel,
    meta=lambda count, prob: Meta(broadcast_shapes("binomial", (count.shape, prob.shape), ("count", "prob")), int64),
    vjp=DRAWN,
    random=True,
    on_host=True,
)


def binomial(count: Any, prob: Any, name: str | None = None) -> Any:
    """How many of `count` trials succeed, each with probability `prob`; int64. Raises DTypeError for numbers.

    Source: paddle.binomial.

    Example:
        >>> import vitrify as paddle
        >>> paddle.binomial(paddle.to_tensor([5, 5]), paddle.to_tensor([0.0, 1.0])).tolist()
        [0, 5]
    """
    for name, value in (("count", count), ("prob", prob)):
        if not is_tensor(value) or is_python_number(value):
            raise DTypeError(f"binomial: {name} must be a tensor, got {type(value).__name__}")
    return binomial_op(count, prob)


# -- filling in place ------------------------------------------------------------------------------------------------


@aliased(min="from", max="to")
def uniform_(x: Any, min: float = 0, max: float = 1.0, seed: int = 0, name: str | None = None) -> Any:
    """x filled with numbers uniformly distributed in [min, max). Source: paddle.Tensor.uniform_.

    Example:
        >>> import vitrify as paddle
        >>> x = paddle.zeros([100]).uniform_(2.0, 3.0)
        >>> bool((x >= 2).all() and (x < 3).all())
        True
    """
    return refilled(x, uniform(sizes_of(x), x.dtype, min, max, seed))


def normal_(x: Any, mean: Any = 0.0, std: float = 1.0, name: str | None = None) -> Any:
    """x filled with normally distributed numbers. Source: paddle.normal_.

    Example:
        >>> import vitrify as paddle
        >>> paddle.normal_(paddle.zeros([2])).shape
        paddle.Size([2])
    """
    return refilled(x, gaussian(sizes_of(x), mean, std, dtype=x.dtype))


def log_normal_(x: Any, mean: float = 1.0, std: float = 2.0, name: str | None = None) -> Any:
    """x filled with exp of normally distributed numbers. Source: paddle.log_normal_.

    Example:
        >>> import vitrify as paddle
        >>> paddle.log_normal_(paddle.zeros([2])).shape
        paddle.Size([2])
    """
    return refilled(x, get_op("exp")(gaussian(sizes_of(x), mean, std, dtype=x.dtype)))


def bernoulli_(x: Any, p: Any = 0.5, name: str | None = None) -> Any:
    """x filled with 1 with probability p (a number or tensor), else 0. Source: paddle.bernoulli_.

    Example:
        >>> import vitrify as paddle
        >>> paddle.bernoulli_(paddle.zeros([2]), 1.0).tolist()
        [1.0, 1.0]
    """
    rank_of("bernoulli_", x)
    chances = get_op("expand_like")(p, x) if is_tensor(p) else get_op("full_like")(x, fill_value=p, dtype=x.dtype)
    return refilled(x, cast(bernoulli(chances), x.dtype))


def _open_unit(x: Any) -> Any:
    """Numbers in (0, 1] of x's shape and dtype: safe for log."""
    return 1 - uniform(sizes_of(x), x.dtype, 0.0, 1.0)


@aliased(lam="lambd")
def exponential_(x: Any, lam: float = 1.0, name: str | None = None) -> Any:
    """x filled with exponentially distributed numbers of rate lam. Source: paddle.Tensor.exponential_.

    Example:
        >>> import vitrify as paddle
        >>> _ = paddle.seed(0)
        >>> x = paddle.zeros([1000]).exponential_(lam=2.0)
        >>> bool((x >= 0).all()), abs(x.mean().item() - 0.5) < 0.1
        (True, True)
    """
    return refilled(x, get_op("log")(_open_unit(x)) * (-1.0 / lam))


def cauchy_(x: Any, loc: float = 0, scale: float = 1, name: str | None = None) -> Any:
    """x filled with Cauchy distributed numbers. Source: paddle.cauchy_.

    Example:
        >>> import vitrify as paddle
        >>> paddle.cauchy_(paddle.zeros([2])).shape
        paddle.Size([2])
    """
    return refilled(x, get_op("tan")((_open_unit(x) - 0.5) * math.pi) * scale + loc)


def geometric_(x: Any, probs: Any, name: str | None = None) -> Any:
    """x filled with log(u) / log(1 - probs): Paddle's continuous geometric distribution. Source: paddle.geometric_.

    Example:
        >>> import vitrify as paddle
        >>> paddle.geometric_(paddle.zeros([2]), 0.5).shape
        paddle.Size([2])
    """
    failure = get_op("log")(1 - probs) if is_tensor(probs) else math.log1p(-probs)
    return refilled(x, get_op("log")(_open_unit(x)) / failure)


def random_(x: Any, from_: int = 0, to: int | None = None, *, generator: Any = None) -> Any:
    """x filled with integers from [from_, to), by default all that its dtype holds exactly.

    Source: paddle.Tensor.random_.

    Example:
        >>> import vitrify as paddle
        >>> x = paddle.zeros([100], "int64").random_(3, 6)
        >>> sorted(set(x.tolist()))
        [3, 4, 5]
    """
    rank_of("random_", x)
    if to is None:
        from_, to = (0, _last_exact(x.dtype)) if from_ == 0 else (0, from_)
    drawn = get_op("randint")(shape=sizes_of(x), low=int(from_), high=int(to), dtype=int64)
    return refilled(x, cast(drawn, x.dtype))


def _last_exact(dtype: Any) -> int:
    significant = {"float16": 11, "bfloat16": 8, "float32": 24, "float64": 53}
    return 2 ** significant[dtype.name] if dtype.name in significant else int(np.iinfo(dtype.np).max)


METHODS = {
    "uniform_": uniform_,
    "normal_": normal_,
    "log_normal_": log_normal_,
    "bernoulli_": bernoulli_,
    "exponential_": exponential_,
    "cauchy_": cauchy_,
    "geometric_": geometric_,
    "random_": random_,
}
__all__ = [
    "bernoulli_",
    "binomial",
    "cauchy_",
    "geometric_",
    "log_normal_",
    "normal_",
    "poisson",
    "standard_gamma",
]
