"""`paddle.quantization`: models whose weights and activations are rounded to few bits."""

from . import observers, quanters
from .base import BaseObserver, BaseQuanter
from .config import QuantConfig, SingleLayerConfig
from .factory import ObserverFactory, QuanterFactory, quanter
from .quantize import PTQ, QAT, Quantization
from .wrapper import ObserveWrapper

__all__ = [
    "PTQ", "QAT", "BaseObserver", "BaseQuanter", "ObserveWrapper", "ObserverFactory", "QuantConfig", "QuanterFactory",
    "Quantization", "SingleLayerConfig", "observers", "quanter", "quanters",
]  # fmt: skip
