"""One image through a deep convolutional network."""

from typing import Any

from benchmarks.case import Case
from benchmarks.models import resnet

TITLE = "ResNet-18 inference, batch 1, 224 x 224"
BATCH, SIZE = 1, 224


def paddle(paddle: Any, compiled: bool) -> Case:
    return resnet.in_paddle(paddle, compiled, BATCH, SIZE, training=False)


def torch(compiled: bool) -> Case:
    return resnet.in_torch(compiled, BATCH, SIZE, training=False)


def jax() -> Case:
    return resnet.in_jax(BATCH, SIZE, training=False)
