"""A training step too small for anything but overhead."""

from typing import Any

from benchmarks import jax_tools
from benchmarks.case import Case
from benchmarks.models import perceptron

TITLE = "MLP 32-64-64-10, batch 32, SGD step"
SIZES, BATCH, RATE = (32, 64, 64, 10), 32, 0.1


def paddle(paddle: Any, compiled: bool) -> Case:
    return perceptron.in_paddle(paddle, compiled, SIZES, BATCH, "SGD", RATE)


def torch(compiled: bool) -> Case:
    return perceptron.in_torch(compiled, SIZES, BATCH, "SGD", RATE)


def jax() -> Case:
    return perceptron.in_jax(SIZES, BATCH, jax_tools.sgd(RATE))
