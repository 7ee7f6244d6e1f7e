"""Observers of the largest magnitude: of all that was seen, or of groups of a weight's rows."""

from __future__ import annotations

from typing import Any

from ...core.errors import ShapeError
from ...eager.grad_mode import no_grad
from ...eager.layer import Layer
from ...ops.complex_ import abs
from ...ops.creation import zeros
from ...ops.like import zeros_like
from ...ops.reduce import max
from ...ops.select import maximum
from ...ops.shape import reshape
from ..base import BaseObserver
from ..factory import ObserverFactory

_TINY = 1e-7


class AbsmaxObserver(ObserverFactory):
    """Makes observers of the largest magnitude. Source: paddle.quantization.observers.AbsmaxObserver.

    Example:
        >>> import vitrify as paddle
        >>> from vitrify.quantization.observers import AbsmaxObserver
        >>> observer = AbsmaxObserver(quant_bits=8)._instance(None)
        >>> observer(paddle.to_tensor([1.0, -4.0])).tolist(), round(observer.scales().item(), 4)
        ([1.0, -4.0], 4.0)
    """

    def __init__(self, quant_bits: int = 8) -> None:
        super().__init__(quant_bits=quant_bits)

    def _get_class(self) -> Any:
        return AbsmaxObserverLayer


class AbsmaxObserverLayer(BaseObserver):
    """Gives its input, and knows the largest magnitude that it has seen."""

    def __init__(self, layer: Layer | None, quant_bits: int = 8) -> None:
        super().__init__()
        self._quant_bits = quant_bits
        self._max = zeros([])

    def forward(self, input: Any) -> Any:
        """The input."""
        with no_grad():
            self._max = maximum(self._max, max(abs(input)) + _TINY)
        return input

    def scales(self) -> Any:
        """The largest magnitude, []."""
        return self._max

    def zero_points(self) -> Any:
        """Zero."""
        return zeros_like(self._max)

    def bit_length(self) -> int:
        """How many bits the numbers have."""
        return self._quant_bits


class GroupWiseWeightObserver(ObserverFactory):
    """Makes observers of a weight's rows in groups. Source: paddle.quantization.observers.GroupWiseWeightObserver."""

    def __init__(self, quant_bits: int = 8, group_size: int = 128) -> None:
        super().__init__(quant_bits=quant_bits, group_size=group_size)

    def _get_class(self) -> Any:
        return GroupWiseWeightObserverLayer


class GroupWiseWeightObserverLayer(AbsmaxObserverLayer):
    """Gives its input [in, out], and knows the largest magnitude of each column in each group of rows.

    Raises ShapeError for other inputs and for groups that do not divide the rows.
    """

    def __init__(self, layer: Layer | None, quant_bits: int = 8, group_size: int = 128) -> None:
        super().__init__(layer, quant_bits)
        self.group_size = group_size

    def forward(self, input: Any) -> Any:
        """The input."""
        if input.ndim != 2 or input.shape[0] % self.group_size:
            raise ShapeError(f"groups of {self.group_size} rows do not divide a weight of shape {list(input.shape)}")
        with no_grad():
            groups = reshape(abs(input), [-1, self.group_size, input.shape[1]])
            self._max = max(groups, axis=1)
        return input
