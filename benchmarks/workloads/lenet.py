"""A small convolutional network (LeCun et al. 1998, with relu and max pooling)."""

from typing import Any

from benchmarks import jax_tools, paddle_tools, torch_tools
from benchmarks.case import Case
from benchmarks.data import Floats, floats, labels, mlp, weight, zeros

TITLE = "LeNet, batch 64, Adam step"
BATCH, RATE = 64, 1e-3


def arrays() -> list[Floats]:
    return [weight(6, 1, 5, 5), zeros(6), weight(16, 6, 5, 5), zeros(16), *mlp(400, 120, 84, 10)]


def paddle(paddle: Any, compiled: bool) -> Case:
    nn, functional = paddle.nn, paddle.nn.functional

    class LeNet(nn.Layer):
        def __init__(self) -> None:
            super().__init__()
            self.features = nn.Sequential(
                nn.Conv2D(1, 6, 5, padding=2),
                nn.ReLU(),
                nn.MaxPool2D(2),
                nn.Conv2D(6, 16, 5),
                nn.ReLU(),
                nn.MaxPool2D(2),
            )
            self.head = nn.Sequential(nn.Linear(400, 120), nn.ReLU(), nn.Linear(120, 84), nn.ReLU(), nn.Linear(84, 10))

        def forward(self, x: Any, y: Any) -> Any:
            return functional.cross_entropy(self.head(paddle.flatten(self.features(x), 1)), y)

    model = LeNet()
    paddle_tools.load(model, arrays())
    adam = paddle.optimizer.Adam(learning_rate=RATE, parameters=model.parameters())
    x, y = paddle.to_tensor(floats(BATCH, 1, 28, 28)), paddle.to_tensor(labels(BATCH, classes=10))
    return paddle_tools.training(paddle, compiled, model, adam, x, y)


def torch(compiled: bool) -> Case:
    import torch
    from torch import nn

    class LeNet(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.features = nn.Sequential(
                nn.Conv2d(1, 6, 5, padding=2),
                nn.ReLU(),
                nn.MaxPool2d(2),
                nn.Conv2d(6, 16, 5),
                nn.ReLU(),
                nn.MaxPool2d(2),
            )
            self.head = nn.Sequential(nn.Linear(400, 120), nn.ReLU(), nn.Linear(120, 84), nn.ReLU(), nn.Linear(84, 10))

        def forward(self, x: Any, y: Any) -> Any:
            return nn.functional.cross_entropy(self.head(torch.flatten(self.features(x), 1)), y)

    model = LeNet()
    torch_tools.load(model, arrays())
    adam = torch.optim.Adam(model.parameters(), lr=RATE)
    x, y = torch.tensor(floats(BATCH, 1, 28, 28)), torch.tensor(labels(BATCH, classes=10))
    return torch_tools.training(compiled, model, adam, x, y)


def jax() -> Case:
    import jax
    import jax.numpy as jnp
    from jax import lax

    def convolve(x: Any, kernel: Any, bias: Any, padding: int) -> Any:
        pads = [(padding, padding)] * 2
        return lax.conv_general_dilated(x, kernel, (1, 1), pads) + bias[:, None, None]

    def pool(x: Any) -> Any:
        return lax.reduce_window(x, -jnp.inf, lax.max, (1, 1, 2, 2), (1, 1, 2, 2), "VALID")

    def loss(parameters: Any, x: Any, y: Any) -> Any:
        k1, b1, k2, b2, w3, b3, w4, b4, w5, b5 = parameters
        x = pool(jax.nn.relu(convolve(x, k1, b1, 2)))
        x = pool(jax.nn.relu(convolve(x, k2, b2, 0)))
        x = jax.nn.relu(x.reshape(x.shape[0], -1) @ w3 + b3)
        return jax_tools.cross_entropy(jax.nn.relu(x @ w4 + b4) @ w5 + b5, y)

    return jax_tools.training(loss, arrays(), jax_tools.adam(RATE), floats(BATCH, 1, 28, 28), labels(BATCH, classes=10))
