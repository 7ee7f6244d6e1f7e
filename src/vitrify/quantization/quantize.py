"""Models with quanters in them: while they are trained, while they are observed, and when that is done."""

from __future__ import annotations

from copy import deepcopy

from ..core.errors import ArgumentError
from ..eager.layer import Layer
from ..nn.quant.format import LinearQuanterDequanter
from ..nn.quant.qat import ConvertibleQuantedLayer
from .base import BaseQuanter
from .config import QuantConfig


class Quantization:
    """What puts quanters into models and takes them out. Source: paddle.quantization.quantize.Quantization."""

    def __init__(self, config: QuantConfig) -> None:
        self._config = config

    def quantize(self, model: Layer, inplace: bool = False) -> Layer:
        """The model, or a copy of it, with quanters."""
        quantized: Layer = model if inplace else deepcopy(model)
        self._config._specify(quantized)
        self._replace(quantized)
        return quantized

    def _replace(self, model: Layer) -> None:
        config = self._config
        for name, layer in list(model.named_children()):
            if config._is_quantifiable(layer):
                model._sub_layers[name] = config._get_qat_layer(layer)
            elif config._need_observe(layer):
                model._sub_layers[name] = config._get_observe_wrapper(layer)
            else:
                self._replace(layer)

    def convert(self, model: Layer, inplace: bool = False, remain_weight: bool = False) -> Layer:
        """The model, or a copy of it, whose scales stay as they were found.

        Weights become whole steps of their scales, unless remain_weight: then they are rounded at each call.
        """
        model = model if inplace else deepcopy(model)
        _fix(model, remain_weight)
        return model

    def __str__(self) -> str:
        return f"{type(self).__name__}\n{self._config}"


def _fix(model: Layer, remain_weight: bool) -> None:
    for name, layer in list(model.named_children()):
        if isinstance(layer, ConvertibleQuantedLayer):
            layer._settle(remain_weight)
        elif isinstance(layer, BaseQuanter):
            model._sub_layers[name] = LinearQuanterDequanter.from_quanter(layer)
        else:
            _fix(layer, remain_weight)


class QAT(Quantization):
    """Quantization that training takes into account: models in training mode. Source: paddle.quantization.QAT.

    Example:
        >>> import vitrify as paddle
        >>> from vitrify.quantization import QAT, QuantConfig
        >>> from vitrify.quantization.quanters import FakeQuanterWithAbsMaxObserver
        >>> quanter = FakeQuanterWithAbsMaxObserver(moving_rate=0.9)
        >>> qat = QAT(QuantConfig(activation=quanter, weight=quanter))
        >>> net = qat.quantize(paddle.nn.Sequential(paddle.nn.Linear(4, 2)))
        >>> net(paddle.ones([3, 4])).shape, qat.convert(net)(paddle.ones([3, 4])).shape
        (paddle.Size([3, 2]), paddle.Size([3, 2]))
    """

    def quantize(self, model: Layer, inplace: bool = False) -> Layer:
        """The model, or a copy of it, with quanters. Raises ArgumentError for a model in evaluation mode."""
        if not model.training:
            raise ArgumentError("QAT.quantize: the model is in evaluation mode", hint="call model.train() first")
        return super().quantize(model, inplace)


class PTQ(Quantization):
    """Quantization of a trained model, by what its Layers get in a few calls. Source: paddle.quantization.PTQ.

    Example:
        >>> import vitrify as paddle
        >>> from vitrify.quantization import PTQ, QuantConfig
        >>> from vitrify.quantization.observers import AbsmaxObserver
        >>> ptq = PTQ(QuantConfig(activation=AbsmaxObserver(), weight=AbsmaxObserver()))
        >>> net = paddle.nn.Sequential(paddle.nn.Linear(4, 2)).eval()
        >>> observed = ptq.quantize(net)
        >>> _ = observed(paddle.ones([3, 4]))
        >>> ptq.convert(observed)(paddle.ones([3, 4])).shape
        paddle.Size([3, 2])
    """

    def quantize(self, model: Layer, inplace: bool = False) -> Layer:
        """The model, or a copy of it, with observers. Raises ArgumentError for a model in training mode."""
        if model.training:
            raise ArgumentError("PTQ.quantize: the model is in training mode", hint="call model.eval() first")
        return super().quantize(model, inplace)
