"""`paddle.nn.quant`: Layers of quantized models."""

from .format import LinearDequanter, LinearQuanter, LinearQuanterDequanter
from .qat import ConvertibleQuantedLayer, QuantedConv2D, QuantedLinear
from .stub import QuantStub, Stub

__all__ = [
    "ConvertibleQuantedLayer", "LinearDequanter", "LinearQuanter", "LinearQuanterDequanter", "QuantStub",
    "QuantedConv2D", "QuantedLinear", "Stub",
]  # fmt: skip
