"""Random tensors, by the path that model code imports from. Source: paddle.tensor.random."""

from ..ops.inplace import bernoulli_, exponential_, log_normal_, normal_, random_, uniform_
from ..ops.random import (
    bernoulli,
    gaussian,
    log_normal,
    multinomial,
    normal,
    rand,
    rand_like,
    randint,
    randint_like,
    randn,
    randn_like,
    randperm,
    standard_normal,
    uniform,
)
from ..ops.random_fill import binomial, poisson, standard_gamma

__all__ = [
    "bernoulli",
    "bernoulli_",
    "binomial",
    "exponential_",
    "gaussian",
    "log_normal",
    "log_normal_",
    "multinomial",
    "normal",
    "normal_",
    "poisson",
    "rand",
    "rand_like",
    "randint",
    "randint_like",
    "randn",
    "randn_like",
    "random_",
    "randperm",
    "standard_gamma",
    "standard_normal",
    "uniform",
    "uniform_",
]
