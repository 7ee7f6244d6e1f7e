"""The categorical distribution."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from ..ops.expand import broadcast_to
from ..ops.gather import gather, take_along_axis
from ..ops.like import cast
from ..ops.random import multinomial
from ..ops.reduce import sum as sum_
from ..ops.shape import flatten, reshape
from ..ops.sizes import size_of
from ..ops.softmax import log_softmax, softmax
from ..ops.transpose import moveaxis
from ..ops.unary import log
from .distribution import Distribution, as_floats


class Categorical(Distribution):
    """A number of a class: [*batch, classes] -> [*batch] of int64.

    `sample` and `entropy` take the softmax of logits as probabilities, `probs` and `log_prob` logits divided by their
    sum. Source: paddle.distribution.Categorical.

    Example:
        >>> import vitrify as paddle
        >>> paddle.distribution.Categorical(paddle.to_tensor([1.0, 3.0])).probs(paddle.to_tensor([0, 1])).tolist()
        [0.25, 0.75]
    """

    def __init__(self, logits: Any, name: str | None = None) -> None:
        (self.logits,) = as_floats(logits)
        super().__init__(self.logits.shape[:-1])

    def _entropy(self) -> Any:
        return -sum_(softmax(self.logits) * log_softmax(self.logits), axis=-1)

    def probs(self, value: Any) -> Any:
        """The probabilities of the classes `value`: [*batch, n], or [n] for every element of the batch."""
        chosen = cast(self._value(value), "int64")
        shares = self.logits / sum_(self.logits, axis=-1, keepdim=True)
        if self.logits.ndim == 1:
            return reshape(gather(shares, reshape(chosen, [-1])), [size_of(chosen, i) for i in range(chosen.ndim)])
        if chosen.ndim == 1:
            batch = [size_of(self.logits, i) for i in range(self.logits.ndim - 1)]
            chosen = broadcast_to(chosen, [*batch, size_of(chosen, 0)])
        return take_along_axis(shares, chosen, -1)

    prob = probs

    def log_prob(self, value: Any) -> Any:
        """The logarithms of the probabilities of the classes `value`."""
        return log(self.probs(value))

    def sample(self, shape: Iterable[int] | int = ()) -> Any:
        """Draws: [*shape, *batch]; a number is a shape of one dimension."""
        return super().sample([shape] if isinstance(shape, (int, np.integer)) else shape)

    def _draw(self, shape: list[Any]) -> Any:
        count = math.prod(shape)
        weights = softmax(self.logits)
        rows = flatten(weights, 0, -2) if weights.ndim > 1 else weights
        drawn = multinomial(rows, max(count, 1), replacement=True)
        return reshape(moveaxis(drawn, -1, 0), [*shape, *self.batch_shape])
