"""Numbers as whole steps of a scale, and back: what a converted model does with weights and activations."""

from __future__ import annotations

from typing import Any

from ...eager.layer import Layer
from ...eager.tensor import to_tensor
from ...ops.select import clip
from ...ops.shape import reshape, unsqueeze
from ...ops.unary import round


class _Scaled(Layer):
    """What knows scales: of all numbers, of each place of an axis, or of groups of rows."""

    def __init__(
        self, scales: Any, zero_point: Any = None, quant_axis: int | None = None, bit_length: int = 8,
        group_size: int = 128,
    ) -> None:  # fmt: skip
        super().__init__()
        scales = to_tensor(scales, dtype="float32")
        zero = 0.0 * scales if zero_point is None else to_tensor(zero_point, dtype="float32")
        self.register_buffer("_scales", scales)
        self.register_buffer("_zero_point", zero)
        self._quant_axis = -1 if quant_axis is None else quant_axis
        self._bit_length = bit_length
        self._group_size = group_size

    @classmethod
    def from_quanter(cls, quanter: Any) -> Any:
        """The Layer with the scales that a quanter or observer has found."""
        size = getattr(quanter, "group_size", 128)
        return cls(quanter.scales(), quanter.zero_points(), quanter.quant_axis(), quanter.bit_length(), size)

    def _step(self, x: Any) -> Any:
        """The size of a step for each element of x."""
        steps = self._scales / float(2 ** (self._bit_length - 1) - 1)
        if steps.ndim == 2:  # of groups of rows
            return unsqueeze(steps, 1).expand([-1, self._group_size, -1]).reshape(x.shape)
        if self._quant_axis < 0:
            return steps
        return reshape(steps, [-1 if i == self._quant_axis else 1 for i in range(x.ndim)])


class LinearQuanter(_Scaled):
    """x as whole steps of the scales. Source: paddle.nn.quant.format.LinearQuanter.

    Example:
        >>> import vitrify as paddle
        >>> paddle.nn.quant.LinearQuanter(2.0)(paddle.to_tensor([1.0, -2.0, 9.0])).tolist()
        [64.0, -127.0, 127.0]
    """

    def forward(self, input: Any) -> Any:
        """Whole numbers, as floats, of the shape of the input."""
        most = float(2 ** (self._bit_length - 1) - 1)
        return clip(round(input / self._step(input)), -most - 1, most)


class LinearDequanter(_Scaled):
    """Whole steps of the scales as numbers. Source: paddle.nn.quant.format.LinearDequanter.

    Example:
        >>> import vitrify as paddle
        >>> paddle.nn.quant.LinearDequanter(2.0)(paddle.to_tensor([127.0, -127.0])).tolist()
        [2.0, -2.0]
    """

    def forward(self, input: Any) -> Any:
        """Floats of the shape of the input."""
        return input * self._step(input)


class LinearQuanterDequanter(Layer):
    """The numbers that are left of the input after rounding to steps, or of steps. Source: paddle.nn.quant.format."""

    def __init__(self, quanter: Layer | None, dequanter: Layer | None) -> None:
        super().__init__()
        self._quanter = quanter
        self._dequanter = dequanter

    @classmethod
    def from_quanter(cls, quanter: Any) -> LinearQuanterDequanter:
        """The pair with the scales that a quanter or observer has found."""
        return cls(LinearQuanter.from_quanter(quanter), LinearDequanter.from_quanter(quanter))

    def in_steps(self, input: Any) -> Any:
        """The input as whole steps, which are what `forward` takes from then on."""
        quanter, self._quanter = self._quanter, None
        return input if quanter is None else quanter(input)

    def forward(self, input: Any) -> Any:
        """The input through both, where both are there."""
        for layer in (self._quanter, self._dequanter):
            input = input if layer is None else layer(input)
        return input
