"""Which Layers of a model are quantized, and by what."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..eager.layer import Layer
from ..nn.layer.common import Linear
from ..nn.layer.conv import Conv2D
from ..nn.quant.qat import QuantedConv2D, QuantedLinear
from ..nn.quant.stub import QuantStub, Stub
from .wrapper import ObserveWrapper

_MAPPING: dict[type, type] = {Stub: QuantStub, Linear: QuantedLinear, Conv2D: QuantedConv2D}


class SingleLayerConfig:
    """The factories of a Layer's quanters. Source: paddle.quantization.config.SingleLayerConfig."""

    def __init__(self, activation: Any, weight: Any) -> None:
        self.activation = activation
        self.weight = weight

    def __repr__(self) -> str:
        return f"activation: {self.activation}\nweight: {self.weight}"


def _all(value: Any) -> list[Any]:
    return list(value) if isinstance(value, Iterable) and not isinstance(value, (str, Layer)) else [value]


class QuantConfig:
    """Which Layers are quantized, and by what. Source: paddle.quantization.QuantConfig.

    activation, weight: the factories for whatever nothing else is said of; None for none. What is said of a name goes
    before what is said of a type, and that before what is said of the Layer around it.

    Example:
        >>> import vitrify as paddle
        >>> from vitrify.quantization.quanters import FakeQuanterWithAbsMaxObserver
        >>> config = paddle.quantization.QuantConfig(activation=None, weight=None)
        >>> config.add_type_config([paddle.nn.Linear], weight=FakeQuanterWithAbsMaxObserver())
        >>> net = paddle.nn.Sequential(paddle.nn.Linear(2, 2), paddle.nn.ReLU())
        >>> [type(layer).__name__ for layer in paddle.quantization.QAT(config).quantize(net).children()]
        ['QuantedLinear', 'ReLU']
    """

    def __init__(self, activation: Any, weight: Any) -> None:
        used = activation is not None or weight is not None
        self._global_config = SingleLayerConfig(activation, weight) if used else None
        self._of_type: dict[type, SingleLayerConfig] = {}
        self._of_name: dict[str, SingleLayerConfig] = {}
        self._of_layer: dict[Layer, SingleLayerConfig] = {}
        self._qat_layer_mapping = dict(_MAPPING)
        self._customized_leaves: list[type] = []

    @property
    def global_config(self) -> SingleLayerConfig | None:
        """What counts where nothing else is said."""
        return self._global_config

    @property
    def qat_layer_mappings(self) -> dict[type, type]:
        """The classes of Layers that are replaced -> those that they are replaced by."""
        return self._qat_layer_mapping

    @property
    def default_qat_layer_mapping(self) -> dict[type, type]:
        """The mapping of the library's own Layers."""
        return _MAPPING

    @property
    def customized_leaves(self) -> list[type]:
        """The classes that are observed as a whole though they have Layers in them."""
        return self._customized_leaves

    def add_layer_config(self, layer: Any, activation: Any = None, weight: Any = None) -> None:
        """Say by what a Layer, or several, and all in them are quantized."""
        self.add_name_config([one.full_name() for one in _all(layer)], activation, weight)

    def add_name_config(self, layer_name: Any, activation: Any = None, weight: Any = None) -> None:
        """Say it of Layers by their `full_name()`, one or several."""
        self._of_name.update(dict.fromkeys(_all(layer_name), SingleLayerConfig(activation, weight)))

    def add_type_config(self, layer_type: Any, activation: Any = None, weight: Any = None) -> None:
        """Say it of a class of Layers, or several."""
        self._of_type.update(dict.fromkeys(_all(layer_type), SingleLayerConfig(activation, weight)))

    def add_qat_layer_mapping(self, source: type, target: type) -> None:
        """Let Layers of class `source` be replaced by `target(layer, config)`."""
        self._qat_layer_mapping[source] = target

    def add_customized_leaf(self, layer_type: type) -> None:
        """Let Layers of a class be observed as a whole though they have Layers in them."""
        self._customized_leaves.append(layer_type)

    def _specify(self, model: Layer) -> None:
        """Find what counts for each Layer of a model."""
        self._of_layer.clear()
        self._specify_inside(model, self._said_of(model) or self._global_config)

    def _specify_inside(self, model: Layer, around: SingleLayerConfig | None) -> None:
        for layer in model.children():
            found = self._said_of(layer) or around
            if found is not None:
                self._of_layer[layer] = found
            self._specify_inside(layer, found)

    def _said_of(self, layer: Layer) -> SingleLayerConfig | None:
        return self._of_name.get(layer.full_name()) or self._of_type.get(type(layer))

    def _get_config_by_layer(self, layer: Layer) -> SingleLayerConfig | None:
        return self._of_layer.get(layer)

    def _is_quantifiable(self, layer: Layer) -> bool:
        config = self._of_layer.get(layer)
        return config is not None and type(layer) in self._qat_layer_mapping

    def _get_qat_layer(self, layer: Layer) -> Any:
        return self._qat_layer_mapping[type(layer)](layer, self._of_layer[layer])

    def _need_observe(self, layer: Layer) -> bool:
        config = self._of_layer.get(layer)
        leaf = not list(layer.children()) or type(layer) in self._customized_leaves
        return leaf and config is not None and config.activation is not None

    def _get_observe_wrapper(self, layer: Layer) -> ObserveWrapper:
        return ObserveWrapper(self._of_layer[layer].activation._instance(layer), layer)

    def details(self) -> str:
        """All of it, as text."""
        parts = [f"Global config:\n{self._global_config}"]
        if self._of_type:
            parts.append(f"Layer type config:\n{self._of_type}")
        if self._of_name:
            parts.append(f"Layer prefix config: \n{self._of_name}")
        return "\n".join(parts) + "\n"

    __str__ = details
