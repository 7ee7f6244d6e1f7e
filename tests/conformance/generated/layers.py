"""A Layer as a call: made with the keyword arguments, given parameters that both frameworks share, called."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tests.conformance.tables.layers import filled

EVALUATED = ("Drop", "RReLU", "Transformer")  # random in training


@dataclass(frozen=True)
class LayerCall:
    """Calls the Layer of a name. A value, so that cases can travel."""

    name: str

    def __call__(self, paddle: Any, *inputs: Any, **settings: Any) -> Any:
        """Return outputs, text, and names and shapes of the state; a Layer whose outputs are random is evaluated."""
        layer = filled(getattr(paddle.nn, self.name)(**settings))
        if any(word in self.name for word in EVALUATED):
            layer.eval()
        text = repr(layer)
        state = {key: list(value.shape) for key, value in layer.state_dict().items()}
        found = paddle.called(layer, *inputs) if hasattr(paddle, "called") else layer(*inputs)
        return found[0] if self.name.endswith("Cell") else found, text, sorted(state.items())
