"""A GPT-style language model, in each framework: learned positions, pre-norm blocks, causal attention, exact gelu."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks import jax_tools, paddle_tools, torch_tools
from benchmarks.case import Case
from benchmarks.data import Floats, Ints, floats, labels, weight, zeros

RATE, DECAY = 3e-4, 0.01
BLOCK_ARRAYS = 12


@dataclass(frozen=True)
class Size:
    """The sizes of a model and its batch."""

    layers: int
    width: int
    heads: int
    length: int
    batch: int
    vocabulary: int

    @property
    def head(self) -> int:
        """Numbers in one attention head."""
        return self.width // self.heads


def norm(width: int) -> list[Floats]:
    return [np.ones(width, np.float32), zeros(width)]


def linear(n: int, m: int, seed: int) -> list[Floats]:
    return [weight(n, m, seed=seed), zeros(m)]


def arrays(size: Size) -> list[Floats]:
    """Return the parameters in the order in which every model below defines them."""
    d = size.width
    found = [floats(size.vocabulary, d, seed=5) * 0.02, floats(size.length, d, seed=6) * 0.02]
    for i in range(size.layers):
        found += norm(d) + linear(d, 3 * d, 10 * i) + linear(d, d, 10 * i + 1)
        found += norm(d) + linear(d, 4 * d, 10 * i + 2) + linear(4 * d, d, 10 * i + 3)
    return [np.asarray(a, np.float32) for a in found + norm(d) + linear(d, size.vocabulary, 7)]


def batch(size: Size) -> tuple[Ints, Ints]:
    tokens = labels(size.batch, size.length + 1, classes=size.vocabulary)
    return tokens[:, :-1].copy(), tokens[:, 1:].copy()


def causal(size: Size) -> Floats:
    """Return what is added to attention scores: 0 for the past, -1e9 for the future."""
    return np.triu(np.full((size.length, size.length), -1e9, np.float32), 1)


def gpt(paddle: Any, size: Size) -> Any:
    """Return the model, whose forward gives the loss; long: its two classes belong together."""
    nn, functional = paddle.nn, paddle.nn.functional
    d = size.width

    class Block(nn.Layer):
        def __init__(self) -> None:
            super().__init__()
            self.norm1, self.qkv, self.project = nn.LayerNorm(d), nn.Linear(d, 3 * d), nn.Linear(d, d)
            self.norm2, self.widen, self.narrow = nn.LayerNorm(d), nn.Linear(d, 4 * d), nn.Linear(4 * d, d)

        def attend(self, x: Any, mask: Any) -> Any:
            b, t = x.shape[0], x.shape[1]
            qkv = self.qkv(x).reshape([b, t, 3, size.heads, size.head]).transpose([2, 0, 3, 1, 4])
            scores = paddle.matmul(qkv[0], qkv[1], transpose_y=True) * (1 / math.sqrt(size.head)) + mask
            mixed = paddle.matmul(functional.softmax(scores), qkv[2])
            return self.project(mixed.transpose([0, 2, 1, 3]).reshape([b, t, d]))

        def forward(self, x: Any, mask: Any) -> Any:
            x = x + self.attend(self.norm1(x), mask)
            return x + self.narrow(functional.gelu(self.widen(self.norm2(x))))

    class GPT(nn.Layer):
        def __init__(self) -> None:
            super().__init__()
            self.tokens, self.places = nn.Embedding(size.vocabulary, d), nn.Embedding(size.length, d)
            self.blocks = nn.LayerList([Block() for _ in range(size.layers)])
            self.norm, self.head = nn.LayerNorm(d), nn.Linear(d, size.vocabulary)
            self.mask, self.order = paddle.to_tensor(causal(size)), paddle.arange(size.length)

        def forward(self, x: Any, y: Any) -> Any:
            x = self.tokens(x) + self.places(self.order)
            for block in self.blocks:
                x = block(x, self.mask)
            logits = self.head(self.norm(x))
            return functional.cross_entropy(logits.reshape([-1, size.vocabulary]), y.reshape([-1]))

    model = GPT()
    paddle_tools.load(model, arrays(size))
    return model


def in_paddle(paddle: Any, compiled: bool, size: Size, products: str | None = None) -> Case:
    """Return the case of an AdamW step; `products`: a dtype for matrix products, other than the parameters'."""
    model = gpt(paddle, size)
    if products is not None:
        model.forward = paddle.amp.auto_cast(level="O1", dtype=products)(model.forward)
    adamw = paddle.optimizer.AdamW(learning_rate=RATE, parameters=model.parameters(), weight_decay=DECAY)
    return paddle_tools.training(paddle, compiled, model, adamw, *map(paddle.to_tensor, batch(size)))


def in_torch(compiled: bool, size: Size, products: str | None = None) -> Case:
    """Return the case of an AdamW step as `in_paddle`'s; attention is the fused function that PyTorch offers for it."""
    import torch
    from torch import nn
    from torch.nn import functional

    d = size.width

    class Block(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.norm1, self.qkv, self.project = nn.LayerNorm(d), nn.Linear(d, 3 * d), nn.Linear(d, d)
            self.norm2, self.widen, self.narrow = nn.LayerNorm(d), nn.Linear(d, 4 * d), nn.Linear(4 * d, d)

        def attend(self, x: Any) -> Any:
            b, t = x.shape[0], x.shape[1]
            q, k, v = self.qkv(x).reshape(b, t, 3, size.heads, size.head).permute(2, 0, 3, 1, 4)
            mixed = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
            return self.project(mixed.transpose(1, 2).reshape(b, t, d))

        def forward(self, x: Any) -> Any:
            x = x + self.attend(self.norm1(x))
            return x + self.narrow(functional.gelu(self.widen(self.norm2(x))))

    class GPT(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.tokens, self.places = nn.Embedding(size.vocabulary, d), nn.Embedding(size.length, d)
            self.blocks = nn.ModuleList([Block() for _ in range(size.layers)])
            self.norm, self.head = nn.LayerNorm(d), nn.Linear(d, size.vocabulary)
            self.order = torch.arange(size.length)

        def forward(self, x: Any, y: Any) -> Any:
            x = self.tokens(x) + self.places(self.order)
            for block in self.blocks:
                x = block(x)
            return functional.cross_entropy(self.head(self.norm(x)).flatten(0, 1), y.flatten())

    model = GPT()
    torch_tools.load(model, arrays(size))
    if products is not None:
        model.forward = torch.autocast("cpu", getattr(torch, products))(model.forward)
    adamw = torch.optim.AdamW(model.parameters(), lr=RATE, weight_decay=DECAY)
    return torch_tools.training(compiled, model, adamw, *map(torch.tensor, batch(size)))


def in_jax(size: Size) -> Case:
    """Return the case of an AdamW step."""
    import jax
    import jax.numpy as jnp

    d, mask = size.width, causal(size)

    def normalise(x: Any, scale: Any, shift: Any) -> Any:
        centred = x - x.mean(-1, keepdims=True)
        return centred * jax.lax.rsqrt((centred**2).mean(-1, keepdims=True) + 1e-5) * scale + shift

    def block(x: Any, p: Any) -> Any:
        b, t, _ = x.shape
        qkv = (normalise(x, p[0], p[1]) @ p[2] + p[3]).reshape(b, t, 3, size.heads, size.head)
        q, k, v = qkv.transpose(2, 0, 3, 1, 4)
        scores = jax.nn.softmax(q @ k.swapaxes(-1, -2) / math.sqrt(size.head) + mask)
        x = x + (scores @ v).transpose(0, 2, 1, 3).reshape(b, t, d) @ p[4] + p[5]
        return x + jax.nn.gelu(normalise(x, p[6], p[7]) @ p[8] + p[9], approximate=False) @ p[10] + p[11]

    def loss(parameters: Any, x: Any, y: Any) -> Any:
        tokens, places, *others, scale, shift, head, bias = parameters
        x = tokens[x] + places
        for i in range(0, len(others), BLOCK_ARRAYS):
            x = block(x, others[i : i + BLOCK_ARRAYS])
        logits = normalise(x, scale, shift) @ head + bias
        return jax_tools.cross_entropy(logits.reshape(-1, size.vocabulary), jnp.ravel(y))

    return jax_tools.training(loss, arrays(size), jax_tools.adam(RATE, DECAY), *batch(size))
