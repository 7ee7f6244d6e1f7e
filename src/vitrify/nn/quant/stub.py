"""Places of a model where a quanter is put, though no Layer is there."""

from __future__ import annotations

from typing import Any

from ...eager.layer import Layer


class Stub(Layer):
    """Gives its input, until quantization puts a quanter there. Source: paddle.nn.quant.Stub.

    observer: the factory of that quanter; None: that of the configuration for activations.

    Example:
        >>> import vitrify as paddle
        >>> paddle.nn.quant.Stub()(paddle.ones([2])).tolist()
        [1.0, 1.0]
    """

    def __init__(self, observer: Any = None) -> None:
        super().__init__()
        self._observer = observer

    def forward(self, input: Any) -> Any:
        """The input."""
        return input


class QuantStub(Layer):
    """A Stub with its quanter. Source: paddle.nn.quant.stub.QuantStub."""

    def __init__(self, layer: Stub, q_config: Any) -> None:
        super().__init__()
        factory = q_config.activation if layer._observer is None else layer._observer
        self._observer = None if factory is None else factory._instance(layer)

    def forward(self, input: Any) -> Any:
        """The input as the quanter leaves it."""
        return input if self._observer is None else self._observer(input)
