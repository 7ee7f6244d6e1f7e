"""A multi-layer perceptron with relu and cross entropy, in each framework."""

from typing import Any

from benchmarks import jax_tools, paddle_tools, torch_tools
from benchmarks.case import Case
from benchmarks.data import floats, labels, mlp


def perceptron(paddle: Any, sizes: tuple[int, ...]) -> Any:
    """Return the model, whose forward gives the loss."""
    nn, functional = paddle.nn, paddle.nn.functional

    class Perceptron(nn.Layer):
        def __init__(self) -> None:
            super().__init__()
            self.layers = nn.LayerList([nn.Linear(n, m) for n, m in zip(sizes[:-1], sizes[1:], strict=True)])

        def forward(self, x: Any, y: Any) -> Any:
            for layer in self.layers[:-1]:
                x = functional.relu(layer(x))
            return functional.cross_entropy(self.layers[-1](x), y)

    model = Perceptron()
    paddle_tools.load(model, mlp(*sizes))
    return model


def in_paddle(paddle: Any, compiled: bool, sizes: tuple[int, ...], batch: int, optimizer: str, rate: float) -> Case:
    """Return the case of a training step with the optimizer of this name."""
    model = perceptron(paddle, sizes)
    chosen = getattr(paddle.optimizer, optimizer)(learning_rate=rate, parameters=model.parameters())
    x, y = floats(batch, sizes[0]), labels(batch, classes=sizes[-1])
    return paddle_tools.training(paddle, compiled, model, chosen, paddle.to_tensor(x), paddle.to_tensor(y))


def in_torch(compiled: bool, sizes: tuple[int, ...], batch: int, optimizer: str, rate: float) -> Case:
    """Return the case of a training step with the optimizer of this name."""
    import torch
    from torch import nn

    class Perceptron(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layers = nn.ModuleList([nn.Linear(n, m) for n, m in zip(sizes[:-1], sizes[1:], strict=True)])

        def forward(self, x: Any, y: Any) -> Any:
            for layer in self.layers[:-1]:
                x = nn.functional.relu(layer(x))
            return nn.functional.cross_entropy(self.layers[-1](x), y)

    model = Perceptron()
    torch_tools.load(model, mlp(*sizes))
    chosen = getattr(torch.optim, optimizer)(model.parameters(), lr=rate)
    x, y = floats(batch, sizes[0]), labels(batch, classes=sizes[-1])
    return torch_tools.training(compiled, model, chosen, torch.tensor(x), torch.tensor(y))


def in_jax(sizes: tuple[int, ...], batch: int, optimizer: jax_tools.Optimizer) -> Case:
    """Return the case of a training step."""
    import jax

    def loss(parameters: Any, x: Any, y: Any) -> Any:
        *hidden, last = zip(parameters[0::2], parameters[1::2], strict=True)
        for weight, bias in hidden:
            x = jax.nn.relu(x @ weight + bias)
        return jax_tools.cross_entropy(x @ last[0] + last[1], y)

    x, y = floats(batch, sizes[0]), labels(batch, classes=sizes[-1])
    return jax_tools.training(loss, mlp(*sizes), optimizer, x, y)
