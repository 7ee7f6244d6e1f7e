"""Softmax, then layer norm, of the rows of a matrix: reductions whose passes over memory can be shared."""

from typing import Any

from benchmarks import jax_tools, paddle_tools, torch_tools
from benchmarks.case import Case
from benchmarks.data import floats

TITLE = "softmax + layer_norm of rows, 4096 x 1024"
ROWS, COLUMNS = 4096, 1024


def paddle(paddle: Any, compiled: bool) -> Case:
    functional = paddle.nn.functional

    def rows(x: Any) -> Any:
        return functional.layer_norm(functional.softmax(x), [COLUMNS])

    return paddle_tools.plain(paddle, compiled, rows, paddle.to_tensor(floats(ROWS, COLUMNS)), value=largest)


def torch(compiled: bool) -> Case:
    import torch

    functional = torch.nn.functional

    def rows(x: Any) -> Any:
        return functional.layer_norm(functional.softmax(x, -1), [COLUMNS])

    return torch_tools.plain(compiled, rows, torch.tensor(floats(ROWS, COLUMNS)), value=largest)


def jax() -> Case:
    import jax
    from jax import lax

    def rows(x: Any) -> Any:
        x = jax.nn.softmax(x)
        centred = x - x.mean(-1, keepdims=True)
        return centred * lax.rsqrt((centred * centred).mean(-1, keepdims=True) + 1e-5)

    return jax_tools.plain(rows, floats(ROWS, COLUMNS), value=largest)


def largest(result: Any) -> float:
    """Return the largest number: the mean of normed rows is zero and would tell nothing."""
    return float(result.max())
