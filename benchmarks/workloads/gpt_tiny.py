"""The same language model, so small that overhead counts most."""

from typing import Any

from benchmarks.case import Case
from benchmarks.models import transformer

TITLE = "GPT 2 layers d 32 T 16 batch 4, AdamW step"
SIZE = transformer.Size(layers=2, width=32, heads=4, length=16, batch=4, vocabulary=64)


def paddle(paddle: Any, compiled: bool) -> Case:
    return transformer.in_paddle(paddle, compiled, SIZE)


def torch(compiled: bool) -> Case:
    return transformer.in_torch(compiled, SIZE)


def jax() -> Case:
    return transformer.in_jax(SIZE)
