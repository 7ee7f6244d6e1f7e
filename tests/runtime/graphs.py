"""Random programs for the runtime: DAGs of elementwise, matrix, view and random operators."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import numpy as np

import vitrify as paddle
from vitrify import static
from vitrify.runtime.lowering import lower
from vitrify.runtime.options import ExecutionOptions

SIZE = 6


def _binary(rng: random.Random, pool: list[Any]) -> Any:
    a, b = rng.choice(pool), rng.choice(pool)
    return rng.choice([paddle.add, paddle.subtract, paddle.multiply, paddle.maximum, paddle.matmul])(a, b)


def _unary(rng: random.Random, pool: list[Any]) -> Any:
    return rng.choice([paddle.tanh, paddle.abs, paddle.sin, paddle.nn.functional.relu])(rng.choice(pool))


def _view(rng: random.Random, pool: list[Any]) -> Any:
    x = rng.choice(pool)
    return rng.choice([lambda v: v.T, lambda v: v.reshape([SIZE, SIZE]), lambda v: v.flip([0])])(x)


def _random(rng: random.Random, pool: list[Any]) -> Any:
    return rng.choice(pool) + paddle.rand([SIZE, SIZE])


def program(seed: int, count: int = 24, size: int = SIZE) -> tuple[static.Program, list[Any], list[Any]]:
    """A random program of so many operators, its inputs, and a few of its values as outputs."""
    rng = random.Random(seed)
    main = static.Program()
    with static.program_guard(main, static.Program()):
        inputs = [static.data(f"x{i}", [size, size]) for i in range(3)]
        pool = list(inputs)
        for _ in range(count):
            make = rng.choices([_binary, _unary, _view, _random], [6, 4, 2, 1])[0]
            pool.append(paddle.tanh(make(rng, pool)) if make is _binary else make(rng, pool))
        outputs = rng.sample(pool[3:], 3)
    return main, inputs, outputs


def core(made: tuple[static.Program, list[Any], list[Any]], **options: Any) -> Any:
    """A program lowered with these options, its operators as they were recorded unless `passes` says otherwise."""
    main, inputs, outputs = made
    return lower(main.global_block(), inputs, outputs, options=ExecutionOptions(**{"passes": False, **options}))


def operators(core: Any) -> Iterator[Any]:
    """The instructions of a core, with those of a group in the group's place."""
    for instruction in core.instructions:
        body = instruction.attrs.get("body") if instruction.operator.op.name == "fused" else None
        yield from [instruction] if body is None else operators(body)


def arrays(seed: int, size: int = SIZE) -> list[np.ndarray]:
    """Inputs for such a program."""
    made = np.random.default_rng(seed)
    return [made.standard_normal((size, size)).astype("float32") for _ in range(3)]
