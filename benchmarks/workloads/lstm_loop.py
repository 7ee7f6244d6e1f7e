"""A recurrent network whose loop over time is plain Python (a scan in JAX, which unrolls Python loops)."""

from typing import Any

from benchmarks import jax_tools, paddle_tools, torch_tools
from benchmarks.case import Case
from benchmarks.data import Floats, floats, weight, zeros

TITLE = "LSTM cell in a Python for over 32 steps, batch 32, H 128, SGD step"
STEPS, BATCH, HIDDEN, RATE = 32, 32, 128, 0.1


def arrays() -> list[Floats]:
    return [
        weight(HIDDEN, 4 * HIDDEN, seed=3),
        zeros(4 * HIDDEN),
        weight(HIDDEN, 4 * HIDDEN, seed=4),
        zeros(4 * HIDDEN),
    ]


def paddle(paddle: Any, compiled: bool) -> Case:
    nn, functional = paddle.nn, paddle.nn.functional

    class Recurrent(nn.Layer):
        def __init__(self) -> None:
            super().__init__()
            self.from_input = nn.Linear(HIDDEN, 4 * HIDDEN)
            self.from_state = nn.Linear(HIDDEN, 4 * HIDDEN)

        def forward(self, x: Any) -> Any:
            h = c = paddle.zeros([BATCH, HIDDEN])
            for t in range(STEPS):
                i, f, g, o = paddle.split(self.from_input(x[t]) + self.from_state(h), 4, axis=1)
                c = functional.sigmoid(f) * c + functional.sigmoid(i) * paddle.tanh(g)
                h = functional.sigmoid(o) * paddle.tanh(c)
            return (h * h).mean()

    model = Recurrent()
    paddle_tools.load(model, arrays())
    sgd = paddle.optimizer.SGD(learning_rate=RATE, parameters=model.parameters())
    return paddle_tools.training(paddle, compiled, model, sgd, paddle.to_tensor(floats(STEPS, BATCH, HIDDEN)))


def torch(compiled: bool) -> Case:
    import torch
    from torch import nn

    class Recurrent(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.from_input = nn.Linear(HIDDEN, 4 * HIDDEN)
            self.from_state = nn.Linear(HIDDEN, 4 * HIDDEN)

        def forward(self, x: Any) -> Any:
            h = c = torch.zeros([BATCH, HIDDEN])
            for t in range(STEPS):
                i, f, g, o = torch.chunk(self.from_input(x[t]) + self.from_state(h), 4, 1)
                c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
                h = torch.sigmoid(o) * torch.tanh(c)
            return (h * h).mean()

    model = Recurrent()
    torch_tools.load(model, arrays())
    sgd = torch.optim.SGD(model.parameters(), lr=RATE)
    return torch_tools.training(compiled, model, sgd, torch.tensor(floats(STEPS, BATCH, HIDDEN)))


def jax() -> Case:
    import jax
    import jax.numpy as jnp

    def loss(parameters: Any, x: Any) -> Any:
        from_input, input_bias, from_state, state_bias = parameters

        def advance(state: Any, now: Any) -> Any:
            h, c = state
            i, f, g, o = jnp.split(now @ from_input + input_bias + h @ from_state + state_bias, 4, axis=1)
            c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
            return (jax.nn.sigmoid(o) * jnp.tanh(c), c), None

        start = jnp.zeros((BATCH, HIDDEN))
        (h, _), _ = jax.lax.scan(advance, (start, start), x)
        return (h * h).mean()

    return jax_tools.training(loss, arrays(), jax_tools.sgd(RATE), floats(STEPS, BATCH, HIDDEN))
