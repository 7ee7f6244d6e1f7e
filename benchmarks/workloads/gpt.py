"""A language model where matrix products count most."""

from typing import Any

from benchmarks.case import Case
from benchmarks.models import transformer

TITLE = "GPT 4 layers d 256 T 128 batch 8, AdamW step"
SIZE = transformer.Size(layers=4, width=256, heads=8, length=128, batch=8, vocabulary=256)


def paddle(paddle: Any, compiled: bool) -> Case:
    return transformer.in_paddle(paddle, compiled, SIZE)


def torch(compiled: bool) -> Case:
    return transformer.in_torch(compiled, SIZE)


def jax() -> Case:
    return transformer.in_jax(SIZE)
