"""A chain of elementwise operations on more data than the caches hold: what fusion is worth."""

from typing import Any

from benchmarks import jax_tools, paddle_tools, torch_tools
from benchmarks.case import Case
from benchmarks.data import floats

TITLE = "gelu(x*a+b)*tanh(x)+exp(-x*x) on 4M floats"
SIZE, A, B = 1 << 22, 1.5, 0.5


def paddle(paddle: Any, compiled: bool) -> Case:
    gelu = paddle.nn.functional.gelu

    def chain(x: Any) -> Any:
        return gelu(x * A + B) * paddle.tanh(x) + paddle.exp(-x * x)

    return paddle_tools.plain(paddle, compiled, chain, paddle.to_tensor(floats(SIZE)))


def torch(compiled: bool) -> Case:
    import torch

    def chain(x: Any) -> Any:
        return torch.nn.functional.gelu(x * A + B) * torch.tanh(x) + torch.exp(-x * x)

    return torch_tools.plain(compiled, chain, torch.tensor(floats(SIZE)))


def jax() -> Case:
    import jax
    import jax.numpy as jnp

    def chain(x: Any) -> Any:
        return jax.nn.gelu(x * A + B, approximate=False) * jnp.tanh(x) + jnp.exp(-x * x)

    return jax_tools.plain(chain, floats(SIZE))
