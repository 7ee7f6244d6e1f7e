"""ResNet-18 (He et al. 2015) in each framework, from one list of arrays."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from benchmarks import jax_tools, paddle_tools, torch_tools
from benchmarks.case import Case
from benchmarks.data import Floats, floats, labels, weight, zeros

CLASSES, RATE, MOMENTUM = 10, 0.01, 0.9
STAGES = (64, 128, 256, 512)


class Block(NamedTuple):
    """One residual block: its channels, and the stride of its first convolution."""

    channels_in: int
    channels_out: int
    stride: int

    @property
    def has_projection(self) -> bool:
        """Whether a convolution brings what passes by to the block's shape."""
        return self.stride != 1 or self.channels_in != self.channels_out


def blocks() -> Iterator[Block]:
    """Yield the eight blocks, two a stage."""
    before = STAGES[0]
    for number, channels in enumerate(STAGES):
        yield Block(before, channels, 1 if number == 0 else 2)
        yield Block(channels, channels, 1)
        before = channels


def _convolution(channels_in: int, channels_out: int, size: int) -> list[Floats]:
    """The kernel of a convolution without bias, and scale and shift of its batch norm."""
    return [weight(channels_out, channels_in, size, size), np.ones(channels_out, np.float32), zeros(channels_out)]


def arrays() -> list[Floats]:
    """Return all parameters in the order in which the frameworks list them."""
    found = _convolution(3, STAGES[0], 7)
    for block in blocks():
        found += _convolution(block.channels_in, block.channels_out, 3)
        found += _convolution(block.channels_out, block.channels_out, 3)
        if block.has_projection:
            found += _convolution(block.channels_in, block.channels_out, 1)
    return [*found, weight(STAGES[-1], CLASSES), zeros(CLASSES)]


def images(batch: int, size: int) -> Floats:
    """Return a batch of images."""
    return floats(batch, 3, size, size)


class Parts(NamedTuple):
    """The names under which a framework of layers has what a ResNet is made of."""

    nn: Any
    layer: type[Any]
    convolution: Callable[..., Any]
    batch_norm: Callable[[int], Any]
    pool: Callable[[int, int, int], Any]


def network(parts: Parts) -> Any:
    """Return a ResNet-18 as one writes it in Paddle and PyTorch alike; called with labels it gives the loss."""
    nn, relu = parts.nn, parts.nn.functional.relu

    def convolution(channels_in: int, channels_out: int, size: int, stride: int) -> Any:
        plain = parts.convolution(channels_in, channels_out, size, stride=stride, padding=size // 2)
        return nn.Sequential(plain, parts.batch_norm(channels_out))

    class Residual(parts.layer):
        def __init__(self, block: Block) -> None:
            super().__init__()
            self.first = convolution(block.channels_in, block.channels_out, 3, block.stride)
            self.second = convolution(block.channels_out, block.channels_out, 3, 1)
            self.pass_by = None
            if block.has_projection:
                self.pass_by = convolution(block.channels_in, block.channels_out, 1, block.stride)

        def forward(self, x: Any) -> Any:
            passed = x if self.pass_by is None else self.pass_by(x)
            return relu(self.second(relu(self.first(x))) + passed)

    class ResNet(parts.layer):
        def __init__(self) -> None:
            super().__init__()
            self.stem = nn.Sequential(convolution(3, STAGES[0], 7, 2), nn.ReLU(), parts.pool(3, 2, 1))
            self.blocks = nn.Sequential(*[Residual(block) for block in blocks()])
            self.head = nn.Linear(STAGES[-1], CLASSES)

        def forward(self, x: Any, y: Any = None) -> Any:
            logits = self.head(self.blocks(self.stem(x)).mean([2, 3]))
            return logits if y is None else nn.functional.cross_entropy(logits, y)

    return ResNet()


def in_paddle(paddle: Any, compiled: bool, batch: int, size: int, training: bool) -> Case:
    """Return the case with Paddle's interface."""
    nn = paddle.nn
    convolution = partial(nn.Conv2D, bias_attr=False)
    model = network(Parts(nn, nn.Layer, convolution, nn.BatchNorm2D, nn.MaxPool2D))
    paddle_tools.load(model, arrays())
    x = paddle.to_tensor(images(batch, size))
    if training:
        momentum = paddle.optimizer.Momentum(RATE, MOMENTUM, parameters=model.parameters())
        y = paddle.to_tensor(labels(batch, classes=CLASSES))
        return paddle_tools.training(paddle, compiled, model, momentum, x, y)
    return paddle_tools.inference(paddle, compiled, model, x)


def in_torch(compiled: bool, batch: int, size: int, training: bool) -> Case:
    """Return the case in PyTorch."""
    import torch
    from torch import nn

    convolution = partial(nn.Conv2d, bias=False)
    model = network(Parts(nn, nn.Module, convolution, nn.BatchNorm2d, nn.MaxPool2d))
    torch_tools.load(model, arrays())
    x = torch.tensor(images(batch, size))
    if training:
        momentum = torch.optim.SGD(model.parameters(), lr=RATE, momentum=MOMENTUM)
        return torch_tools.training(compiled, model, momentum, x, torch.tensor(labels(batch, classes=CLASSES)))
    return torch_tools.inference(compiled, model, x)


def in_jax(batch: int, size: int, training: bool) -> Case:
    """Return the case in JAX."""
    import jax
    import jax.numpy as jnp
    from jax import lax

    def normed(x: Any, scale: Any, shift: Any) -> Any:
        # In evaluation the running statistics are those that a new layer starts with: mean 0 and variance 1.
        mean = x.mean((0, 2, 3), keepdims=True) if training else 0.0
        variance = x.var((0, 2, 3), keepdims=True) if training else 1.0
        return (x - mean) * lax.rsqrt(variance + 1e-5) * scale[:, None, None] + shift[:, None, None]

    def convolved(x: Any, parameters: Iterator[Any], stride: int) -> Any:
        kernel = next(parameters)
        pads = [(kernel.shape[-1] // 2,) * 2] * 2
        return normed(lax.conv_general_dilated(x, kernel, (stride, stride), pads), next(parameters), next(parameters))

    def logits_of(parameters: Any, x: Any) -> Any:
        given = iter(parameters)
        x = jax.nn.relu(convolved(x, given, 2))
        x = lax.reduce_window(x, -jnp.inf, lax.max, (1, 1, 3, 3), (1, 1, 2, 2), [(0, 0), (0, 0), (1, 1), (1, 1)])
        for block in blocks():
            inner = convolved(jax.nn.relu(convolved(x, given, block.stride)), given, 1)
            passed = convolved(x, given, block.stride) if block.has_projection else x
            x = jax.nn.relu(inner + passed)
        return x.mean((2, 3)) @ next(given) + next(given)

    def loss(parameters: Any, x: Any, y: Any) -> Any:
        return jax_tools.cross_entropy(logits_of(parameters, x), y)

    if training:
        optimizer = jax_tools.momentum(RATE, MOMENTUM)
        return jax_tools.training(loss, arrays(), optimizer, images(batch, size), labels(batch, classes=CLASSES))
    return jax_tools.inference(logits_of, arrays(), images(batch, size))
