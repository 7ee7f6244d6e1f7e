"""The cost of calling a compiled function: `x + 1` on 4 floats."""

from typing import Any

from benchmarks import jax_tools, paddle_tools, torch_tools
from benchmarks.case import Case
from benchmarks.data import floats

TITLE = "compiled x + 1 on 4 floats: the call's overhead"


def plus_one(x: Any) -> Any:
    """Return the input plus one, in any framework."""
    return x + 1


def paddle(paddle: Any, compiled: bool) -> Case:
    return paddle_tools.plain(paddle, compiled, plus_one, paddle.to_tensor(floats(4)))


def torch(compiled: bool) -> Case:
    import torch

    return torch_tools.plain(compiled, plus_one, torch.tensor(floats(4)))


def jax() -> Case:
    return jax_tools.plain(plus_one, floats(4))
