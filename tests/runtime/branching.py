"""Random programs with branches and loops that tensors decide, nested, with gradients."""

from __future__ import annotations

import random
from typing import Any

import numpy as np

import vitrify as paddle
from tests.runtime.graphs import SIZE
from vitrify.core.place import SimulatedPlace, as_place
from vitrify.runtime.lowering import lower
from vitrify.runtime.options import ExecutionOptions


def _either(x, y, left, right):
    if x.sum() > y.sum():
        out = left(x, y)
        kept = out * 2
    else:
        out = right(y, x)
        kept = x
    return out + kept


def _repeated(x, y, body, stop):
    steps = paddle.zeros([], "int32")
    while steps < stop:
        x = paddle.tanh(body(x, y))
        steps = steps + 1
    return x


def _collected(x, y, body, stop):
    found = []
    for i in range(stop):
        x = paddle.tanh(body(x, y))
        found.append(x + i)
    return paddle.stack(found).sum(0)


def _plain(rng):
    op, other = rng.choice([paddle.add, paddle.multiply, paddle.matmul]), rng.choice([paddle.sin, paddle.abs])
    turned, drawn = rng.random() < 0.3, rng.random() < 0.2

    def piece(x, y):
        z = other(op(x, y.T if turned else y))
        return z + paddle.rand([SIZE, SIZE]) if drawn else z

    return piece


def _piece(rng, depth):
    if not depth or rng.random() < 0.3:
        return _plain(rng)
    left, right, kind = _piece(rng, depth - 1), _piece(rng, depth - 1), rng.randrange(4)

    def piece(x, y):
        if kind == 0:
            return _either(x, y, left, right)
        if kind == 3:
            return paddle.tanh(left(x, y)) + right(x, y)
        stop = paddle.cast(paddle.abs(x).sum(), "int32") % 3 + 1
        repeat = _repeated if kind == 1 else _collected
        return repeat(x, right(x, y), left, stop)

    return piece


def function(seed: int) -> Any:
    """A compiled function of three matrices."""
    rng = random.Random(seed)
    first, second, last = (_piece(rng, 2) for _ in range(3))

    def program(a, b, c):
        x, y = paddle.tanh(first(a, b)), paddle.tanh(second(b, c))
        return last(x, y), x

    return paddle.jit.to_static(program, full_graph=True)


def run(fn: Any, seed: int) -> tuple[list[Any], list[Any]]:
    """Outputs and gradients of a function on the random matrices of a seed."""
    made = np.random.default_rng(seed)
    given = [paddle.to_tensor(made.standard_normal((SIZE, SIZE)).astype("float32")) for _ in range(3)]
    for tensor in given:
        tensor.stop_gradient = False
    paddle.seed(seed)
    outputs = fn(*given)
    sum(out.sum() for out in outputs).backward()
    return [out.numpy() for out in outputs], [None if t.grad is None else t.grad.numpy() for t in given]


def move_forward(fn: Any, place: Any, **options: Any) -> Any:
    """Let the forward program of a function run at a place from now on; returns it lowered."""
    segment = fn.program_cache.last().segment
    residuals = segment.backward.residuals if segment.backward else ()
    outputs = [*segment.outputs, *residuals]
    segment.forward_core = lower(
        segment.block, outputs=outputs, place=as_place(place), options=ExecutionOptions(**options)
    )
    return segment.forward_core


def move(fn: Any, place: Any, **options: Any) -> None:
    """Let the programs of a function run at a place from now on."""
    move_forward(fn, place, **options)
    segment = fn.program_cache.last().segment
    segment.__dict__["backward_core"] = lower(
        segment.backward.program.global_block(), place=as_place(place), options=ExecutionOptions(**options)
    )


def simulated(seed: int) -> Any:
    """The simulated device of which a seed draws the delays."""
    return SimulatedPlace(seed)
