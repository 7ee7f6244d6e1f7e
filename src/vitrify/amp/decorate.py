"""decorate: parameters in the low precision, with float32 copies in the optimizer."""

from __future__ import annotations

from typing import Any

from ..core.errors import ArgumentError, DTypeError
from ..core.sequences import as_list_if_given
from ..eager.layer import Layer
from ..eager.tensor import Tensor
from .auto_cast import DTYPES


def decorate(
    models: Any,
    optimizers: Any = None,
    level: str = "O1",
    dtype: str = "float16",
    master_weight: bool | None = None,
    save_dtype: str | None = None,
    master_grad: bool = False,
    excluded_layers: Any = None,
) -> Any:
    """The models (and optimizers, if given) prepared for auto_cast: at O2 with parameters of `dtype`, changed in place.

    Layers that keep statistics (batch, layer, instance norm) and excluded_layers (Layers, with all that is in them, or
    classes) stay float32, and so does each Layer whose `_cast_to_low_precision` is False.
    master_weight: whether optimizers keep float32 copies of the parameters; None means yes. master_grad: clip and
    update with float32 gradients. save_dtype: what `state_dict` of the models gives. At O1 nothing is changed.
    Raises DTypeError and ArgumentError for other arguments. Source: paddle.amp.decorate.

    Example:
        >>> import vitrify as paddle
        >>> model = paddle.amp.decorate(paddle.nn.Linear(2, 3), level="O2", dtype="bfloat16")
        >>> model.weight.dtype
        paddle.bfloat16
    """
    if level not in ("O1", "O2"):
        raise ArgumentError(f"decorate: level must be O1 or O2, got {level!r}")
    if dtype not in DTYPES:
        raise ArgumentError(f"decorate: dtype must be 'float16' or 'bfloat16', got {dtype!r}")
    if level == "O2":
        for model in as_list_if_given(models):
            _lower(model, dtype, as_list_if_given(excluded_layers), save_dtype)
        for optimizer in as_list_if_given(optimizers):
            _prepare(optimizer, master_weight is not False, master_grad)
    return models if optimizers is None else (models, optimizers)


def _lower(model: Any, dtype: str, excluded: list[Any], save_dtype: str | None) -> None:
    """Cast the floating parameters and buffers of `model` in place."""
    if not isinstance(model, Layer):
        raise DTypeError(f"decorate: models must be Layers, got {type(model).__name__}")
    if save_dtype is not None and save_dtype not in (*DTYPES, "float32", "float64"):
        raise ArgumentError(f"decorate: save_dtype must be float16, bfloat16, float32 or float64, got {save_dtype!r}")
    layers = model.sublayers(include_self=True)
    keep = [
        *(part for item in excluded for part in _parts(item)),
        *(layer for layer in layers if layer.keeps_float32 or layer.keeps_float32_in_amp),
        *(layer for layer in layers if not layer._cast_to_low_precision),
    ]
    (model.float16 if dtype == "float16" else model.bfloat16)(excluded_layers=keep)
    if save_dtype is not None:
        model.register_state_dict_hook(_SaveAs(save_dtype))


def _parts(excluded: Any) -> list[Any]:
    return excluded.sublayers(include_self=True) if isinstance(excluded, Layer) else [excluded]


class _SaveAs:
    """A hook that casts what a state dict holds."""

    def __init__(self, dtype: str) -> None:
        self.dtype = dtype

    def __call__(self, state: dict[str, Any]) -> None:
        for name, value in state.items():
            if isinstance(value, Tensor) and value.dtype.is_floating:
                cast = value.detach().astype(self.dtype)
                cast.name = value.name
                state[name] = cast


def _prepare(optimizer: Any, master_weight: bool, master_grad: bool) -> None:
    if not hasattr(optimizer, "use_master_weights"):
        raise DTypeError(f"decorate: optimizers must be Optimizers, got {type(optimizer).__name__}")
    optimizer.use_master_weights(master_weight, master_grad)
