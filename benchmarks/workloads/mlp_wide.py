"""A training step where matrix products and the optimizer's passes over memory count."""

from typing import Any

from benchmarks import jax_tools
from benchmarks.case import Case
from benchmarks.models import perceptron

TITLE = "MLP 784-512-256-10, batch 128, Adam step"
SIZES, BATCH, RATE = (784, 512, 256, 10), 128, 1e-4


def paddle(paddle: Any, compiled: bool) -> Case:
    return perceptron.in_paddle(paddle, compiled, SIZES, BATCH, "Adam", RATE)


def torch(compiled: bool) -> Case:
    return perceptron.in_torch(compiled, SIZES, BATCH, "Adam", RATE)


def jax() -> Case:
    return perceptron.in_jax(SIZES, BATCH, jax_tools.adam(RATE))
