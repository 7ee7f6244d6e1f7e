"""A Layer whose input is observed."""

from __future__ import annotations

from typing import Any

from ..eager.layer import Layer


class ObserveWrapper(Layer):
    """A Layer with a quanter before it, or behind it. Source: paddle.quantization.wrapper.ObserveWrapper."""

    def __init__(self, observer: Layer, observed: Layer, observe_input: bool = True) -> None:
        super().__init__()
        self._observer = observer
        self._observed = observed
        self._observe_input = observe_input

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        """What the Layer gives."""
        if self._observe_input:
            return self._observed(self._observer(inputs[0]), *inputs[1:], **kwargs)
        return self._observer(self._observed(*inputs, **kwargs))
