"""A loop whose end depends on data: Newton's square root of 64 numbers, 25 iterations from a far start."""

from typing import Any

import numpy as np

from benchmarks import jax_tools, paddle_tools, torch_tools
from benchmarks.case import Case
from benchmarks.data import Floats

TITLE = "Newton while until tolerance, 64 floats, 25 iterations"
TOLERANCE = 1e-5


def squares() -> Floats:
    return np.linspace(1.0, 2.0, 64, dtype=np.float32)


def start() -> Floats:
    return np.full(64, 2.0**21, np.float32)


def paddle(paddle: Any, compiled: bool) -> Case:
    def newton(a: Any, x: Any) -> Any:
        while paddle.max(paddle.abs(x * x - a) / a) > TOLERANCE:
            x = (x + a / x) * 0.5
        return x

    return paddle_tools.plain(paddle, compiled, newton, paddle.to_tensor(squares()), paddle.to_tensor(start()))


def torch(compiled: bool) -> Case:
    import torch

    def newton(a: Any, x: Any) -> Any:
        while torch.max(torch.abs(x * x - a) / a) > TOLERANCE:
            x = (x + a / x) * 0.5
        return x

    return torch_tools.plain(compiled, newton, torch.tensor(squares()), torch.tensor(start()))


def jax() -> Case:
    import jax.numpy as jnp
    from jax import lax

    def newton(a: Any, x: Any) -> Any:
        return lax.while_loop(lambda x: jnp.max(jnp.abs(x * x - a) / a) > TOLERANCE, lambda x: (x + a / x) * 0.5, x)

    return jax_tools.plain(newton, squares(), start())
