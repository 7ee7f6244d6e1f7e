"""Layers whose weights and inputs go through quanters first."""

from __future__ import annotations

from typing import Any

from ...eager.layer import Layer
from ...ops.conv import conv2d
from ...ops.linear import linear
from .format import LinearQuanterDequanter


class ConvertibleQuantedLayer(Layer):
    """A Layer that keeps weight and bias of another one. Source: paddle.nn.quant.format.ConvertibleQuantedLayer."""

    def __init__(self, layer: Any, q_config: Any) -> None:
        super().__init__()
        self.weight = layer.weight
        self.bias = layer.bias
        for name in ("weight", "activation"):
            factory = getattr(q_config, name)
            setattr(self, f"{name}_quanter", None if factory is None else factory._instance(layer))
        self.converted = False

    def weights_to_quanters(self) -> list[tuple[str, str]]:
        """Which quanter each weight goes through."""
        return [("weight", "weight_quanter")]

    def activation_quanters(self) -> list[str]:
        """The quanters of the inputs."""
        return ["activation_quanter"]

    def _settle(self, remain_weight: bool = False) -> None:
        """Let the scales that were found stay as they are; weights become whole steps unless they shall remain."""
        for name in self.activation_quanters():
            self._fixed(name)
        for weight, name in self.weights_to_quanters():
            pair = self._fixed(name)
            if pair is not None and not remain_weight:
                held = getattr(self, weight)
                held.set_value(pair.in_steps(held.detach()))
        self.converted = True

    def _fixed(self, name: str) -> LinearQuanterDequanter | None:
        quanter = getattr(self, name)
        pair = None if quanter is None else LinearQuanterDequanter.from_quanter(quanter)
        setattr(self, name, pair)
        return pair

    def _operands(self, input: Any) -> tuple[Any, Any]:
        """The input and the weight as they are left by their quanters."""
        quanted, weight = input, self.weight
        if self.activation_quanter is not None:
            quanted = self.activation_quanter(input)
        if self.weight_quanter is not None:
            weight = self.weight_quanter(weight)
        return quanted, weight


class QuantedLinear(ConvertibleQuantedLayer):
    """A Linear with quanters. Source: paddle.nn.quant.qat.linear.QuantedLinear."""

    def forward(self, input: Any) -> Any:
        """[..., in] -> [..., out]."""
        return linear(*self._operands(input), self.bias)


class QuantedConv2D(ConvertibleQuantedLayer):
    """A Conv2D with quanters. Source: paddle.nn.quant.qat.conv.QuantedConv2D."""

    def __init__(self, layer: Any, q_config: Any) -> None:
        super().__init__(layer, q_config)
        self._window = layer._stride, layer._padding, layer._dilation, layer._groups, layer._data_format

    def forward(self, input: Any) -> Any:
        """The convolution of the input."""
        x, weight = self._operands(input)
        stride, padding, dilation, groups, data_format = self._window
        return conv2d(x, weight, self.bias, stride, padding, dilation, groups, data_format)
