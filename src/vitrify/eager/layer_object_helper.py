"""`Layer._helper`: what a Layer of model code asks about itself while it makes its parameters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..core.dtype import DTypeLike, get_default_dtype, set_default_dtype

if TYPE_CHECKING:
    from .layer import Layer


class LayerObjectHelper:
    """The default dtype and the maker of parameters of one Layer. Source: paddle.nn.layer.layers.LayerObjectHelper.

    `name` and `layer_type` are both the Layer's full name, such as `linear_0`.
    """

    def __init__(self, layer: Layer) -> None:
        self._layer = layer
        self.name = self.layer_type = layer.full_name()

    def get_default_dtype(self) -> str:
        """The name of the default floating dtype."""
        return get_default_dtype()

    def set_default_dtype(self, dtype: DTypeLike) -> None:
        """Choose the default floating dtype."""
        set_default_dtype(dtype)

    def create_parameter(
        self, attr: Any, shape: Any, dtype: DTypeLike | None = None, is_bias: bool = False,
        default_initializer: Any = None,
    ) -> Any:  # fmt: skip
        """What the Layer's own `create_parameter` gives."""
        return self._layer.create_parameter(shape, attr, dtype, is_bias, default_initializer)
