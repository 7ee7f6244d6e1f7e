"""What a model file says about its model: how to build it, what to feed it, how to train it, what else to compile."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import vitrify as paddle

Rng = np.random.Generator
Arrays = tuple[np.ndarray, ...]


@dataclass(frozen=True)
class Call:
    """A method of the model that is compiled too: decoding, generation, post-processing."""

    method: str
    inputs: Callable[[Rng, int], tuple[Any, ...]]
    options: tuple[tuple[str, Any], ...] = ()
    random: bool = False  # draws random numbers, so that two frameworks differ


@dataclass(frozen=True)
class Case:
    """One model of the table.

    `inputs` makes the arrays that `forward` gets for a batch of n, `labels` those that `loss` gets behind the outputs.
    `trainer` replaces the usual step of one optimizer; see `supervised`.
    """

    name: str
    build: Callable[[], Any]
    inputs: Callable[[Rng, int], Arrays]
    loss: Callable[..., Any]
    labels: Callable[[Rng, int], Arrays] = lambda rng, n: ()
    sizes: tuple[int, ...] = (2, 3)
    specs: tuple[tuple[int | None, ...], ...] | None = None
    calls: tuple[Call, ...] = ()
    rate: float = 0.01
    steps: int = 6
    trainer: Callable[[Case, Any, Callable[[Any], Any]], Callable[..., Any]] | None = None
    slow: bool = False

    def shapes(self) -> list[tuple[int | None, ...]]:
        """Return the shapes that a program of the model is saved with: what is None there may vary."""
        made = self.inputs(np.random.default_rng(0), 2)
        return list(self.specs) if self.specs else [(None, *array.shape[1:]) for array in made]


def supervised(case: Case, model: Any, compiled: Callable[[Any], Any]) -> Callable[..., Any]:
    """Return a step of (inputs, labels) that returns the loss: forward and loss `compiled`, then AdamW."""

    def objective(inputs, labels):
        return case.loss(model(*inputs), *labels)

    objective = compiled(objective)
    optimizer = paddle.optimizer.AdamW(learning_rate=case.rate, parameters=model.parameters())

    def step(inputs, labels):
        loss = objective(inputs, labels)
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        return float(loss)

    return step


def tensors(arrays: Any) -> tuple[Any, ...]:
    """Return tensors of arrays; other values stay."""
    return tuple(paddle.to_tensor(a) if isinstance(a, np.ndarray) else a for a in arrays)


def normal(*shape: int) -> Callable[[Rng, int], Arrays]:
    """Return a maker of one float32 array (n, *shape)."""
    return lambda rng, n: (rng.normal(size=(n, *shape)).astype("float32"),)


def integers(high: int, *shape: int, low: int = 0) -> Callable[[Rng, int], Arrays]:
    """Return a maker of one int64 array (n, *shape) with low <= value < high."""
    return lambda rng, n: (rng.integers(low, high, (n, *shape)).astype("int64"),)


def together(*makers: Callable[[Rng, int], Arrays]) -> Callable[[Rng, int], Arrays]:
    """Return a maker of what several make, one behind the other."""
    return lambda rng, n: tuple(array for make in makers for array in make(rng, n))
