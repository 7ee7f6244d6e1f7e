"""The cost of one eager operation: `x + y` on small tensors, with the gradient recorded."""

from typing import Any

from benchmarks import paddle_tools, torch_tools
from benchmarks.case import Case
from benchmarks.data import floats

TITLE = "eager x + y on 4 floats, gradient recorded"
MODES = ("eager",)


def paddle(paddle: Any, compiled: bool) -> Case:
    x = paddle.to_tensor(floats(4), stop_gradient=False)
    y = paddle.to_tensor(floats(4, seed=1), stop_gradient=False)
    return paddle_tools.plain(paddle, compiled, lambda x, y: x + y, x, y)


def torch(compiled: bool) -> Case:
    import torch

    x = torch.tensor(floats(4), requires_grad=True)
    y = torch.tensor(floats(4, seed=1), requires_grad=True)
    return torch_tools.plain(compiled, lambda x, y: x + y, x, y)
