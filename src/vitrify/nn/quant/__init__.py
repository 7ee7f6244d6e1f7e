"""`paddle.nn.quant`: Layers of quantized models, and linear functions of weights in few bits."""

from .format import LinearDequanter, LinearQuanter, LinearQuanterDequanter
from .qat import ConvertibleQuantedLayer, QuantedConv2D, QuantedLinear
from .stub import QuantStub, Stub
from .weights import llm_int8_linear, weight_dequantize, weight_only_linear, weight_quantize

__all__ = [
    "ConvertibleQuantedLayer", "LinearDequanter", "LinearQuanter", "LinearQuanterDequanter", "QuantStub",
    "QuantedConv2D", "QuantedLinear", "Stub", "llm_int8_linear", "weight_dequantize", "weight_only_linear",
    "weight_quantize",
]  # fmt: skip
