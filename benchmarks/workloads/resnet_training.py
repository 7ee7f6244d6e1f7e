"""A training step of a deep convolutional network with batch norm."""

from typing import Any

from benchmarks.case import Case
from benchmarks.models import resnet

TITLE = "ResNet-18, batch 8, 64 x 64, momentum step"
BATCH, SIZE = 8, 64


def paddle(paddle: Any, compiled: bool) -> Case:
    return resnet.in_paddle(paddle, compiled, BATCH, SIZE, training=True)


def torch(compiled: bool) -> Case:
    return resnet.in_torch(compiled, BATCH, SIZE, training=True)


def jax() -> Case:
    return resnet.in_jax(BATCH, SIZE, training=True)
