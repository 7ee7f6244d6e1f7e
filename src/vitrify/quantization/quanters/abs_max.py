"""Rounding by a moving average of the largest magnitude."""

from __future__ import annotations

from typing import Any

from ...eager.grad_mode import no_grad
from ...eager.layer import Layer
from ...nn.initializer import Constant
from ...ops.complex_ import abs
from ...ops.creation import assign
from ...ops.reduce import max
from ...ops.select import maximum, minimum
from ...ops.shape import reshape
from ...ops.softmax import straight_through_op
from ...ops.unary import round
from ..base import BaseQuanter
from ..factory import QuanterFactory


class FakeQuanterWithAbsMaxObserver(QuanterFactory):
    """Makes quanters that round by a moving average of the largest magnitude.

    In training state = rate * state + 1, accum = rate * accum + max(abs(x)), scale = accum / state; then
    x becomes round(x / scale * most) * scale / most with most = 2**(bit_length - 1) - 1, and gradients go through as if
    it had not. Source: paddle.quantization.quanters.FakeQuanterWithAbsMaxObserver.

    Example:
        >>> import vitrify as paddle
        >>> from vitrify.quantization.quanters import FakeQuanterWithAbsMaxObserver
        >>> quanter = FakeQuanterWithAbsMaxObserver(moving_rate=0.9)
        >>> paddle.quantization.QuantConfig(activation=quanter, weight=quanter).global_config.weight is quanter
        True
    """

    def __init__(
        self, moving_rate: float = 0.9, bit_length: int = 8, dtype: Any = "float32", name: str | None = None
    ) -> None:
        super().__init__(name=name, moving_rate=moving_rate, bit_length=bit_length, dtype=dtype)

    def _get_class(self) -> Any:
        return FakeQuanterWithAbsMaxObserverLayer


class FakeQuanterWithAbsMaxObserverLayer(BaseQuanter):
    """The quanter of one place. Its three numbers are in the state dict."""

    def __init__(
        self, layer: Layer | None, name: str | None = None, moving_rate: float = 0.9, bit_length: int = 8,
        dtype: Any = "float32",
    ) -> None:  # fmt: skip
        super().__init__()
        self._moving_rate = moving_rate
        self._bit_length = bit_length
        for own, value in (("_scale", 0.001), ("_state", 1.0), ("_accum", 1.0)):
            held = self.create_parameter([1], dtype=dtype, default_initializer=Constant(value))
            held.stop_gradient = True
            setattr(self, own, held)

    def forward(self, input: Any) -> Any:
        """The input, rounded."""
        if self.training:
            with no_grad():
                self._note(reshape(max(abs(input)), [1]))
        most = float(2 ** (self._bit_length - 1) - 1)
        with no_grad():
            inside = minimum(maximum(input, -self._scale), self._scale)
            rounded = round(inside * (most / self._scale)) * self._scale / most
        return straight_through_op(rounded, input)

    def _note(self, largest: Any) -> None:
        state = self._moving_rate * self._state + 1
        accum = self._moving_rate * self._accum + largest
        for own, value in ((self._state, state), (self._accum, accum), (self._scale, accum / state)):
            assign(value, own)

    def scales(self) -> Any:
        """The moving average, [1]."""
        return self._scale

    def bit_length(self) -> int:
        """How many bits the numbers have."""
        return self._bit_length
