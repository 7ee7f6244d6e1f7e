"""Moving a Layer: to another device or dtype, into training or evaluation, with or without gradients."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from ..core.dtype import DType, DTypeLike, as_dtype
from ..core.outside import outside_programs
from ..core.place import CPUPlace, CUDAPlace, Place, PlaceLike, as_place
from ..device.api import put
from .gradients import stops_gradient
from .tensor import Tensor

if TYPE_CHECKING:
    pass

L = TypeVar("L", bound="LayerCast")


class LayerCast:
    """Changes to all tensors of a Layer and its sublayers, in place."""

    # Layers whose statistics need the range of float32: `half` and `bfloat16` pass over them unless told otherwise.
    keeps_float32: ClassVar[bool] = False
    # Layers that `amp.decorate` passes over as well.
    keeps_float32_in_amp: ClassVar[bool] = False
    # False where model code wants the parameters of one Layer, not of its sublayers, passed over.
    _cast_to_low_precision: bool = True

    _dtype: str
    training: bool

    if TYPE_CHECKING:
        sublayers: Callable[..., list[Any]]
        parameters: Callable[..., list[Any]]

    def _convert(self, place: Place | None, dtype: DType | None, floating_only: bool, excluded: Any = ()) -> None:
        for layer in self.sublayers(include_self=True):
            if _is_excluded(layer, excluded):
                continue
            for tensor in (*layer._parameters.values(), *layer._buffers.values()):
                if tensor is not None:
                    wanted = dtype if not floating_only or tensor.dtype.is_floating else None
                    _convert_tensor(tensor, place, wanted)
            if dtype is not None:
                layer._dtype = dtype.name

    def to(
        self: L,
        device: PlaceLike | None = None,
        dtype: DTypeLike | None = None,
        blocking: bool | None = None,
        non_blocking: bool | None = None,
    ) -> L:
        """This Layer with all parameters and buffers on `device` and of `dtype`; None leaves either as it is.

        Raises ArgumentError for an unknown device. Source: paddle.nn.Layer.to.

        Example:
            >>> import vitrify as paddle
            >>> paddle.nn.Linear(2, 3).to(dtype="float64").weight.dtype
            paddle.float64
        """
        place = None if device is None else as_place(device)
        self._convert(place, None if dtype is None else as_dtype(dtype), floating_only=False)
        return self

    def astype(self: L, dtype: DTypeLike | None = None) -> L:
        """This Layer with all parameters and buffers cast to `dtype`."""
        return self.to(dtype=dtype)

    def type(self: L, dst_type: DTypeLike) -> L:
        """This Layer with all parameters and buffers cast to `dst_type`."""
        return self.to(dtype=dst_type)

    def cpu(self: L) -> L:
        """This Layer in host memory."""
        return self.to(CPUPlace())

    def cuda(self: L, device: int | PlaceLike | None = None) -> L:
        """This Layer on a CUDA device."""
        return self.to(CUDAPlace(device or 0) if device is None or isinstance(device, int) else device)

    def float(self: L, excluded_layers: Any = None) -> L:
        """This Layer with floating parameters and buffers cast to float32, but for `excluded_layers`."""
        self._convert(None, as_dtype("float32"), True, _as_layers(excluded_layers))
        return self

    def double(self: L) -> L:
        """This Layer with floating parameters and buffers cast to float64."""
        self._convert(None, as_dtype("float64"), floating_only=True)
        return self

    def half(self: L) -> L:
        """This Layer with floating parameters and buffers cast to float16."""
        self._convert(None, as_dtype("float16"), floating_only=True)
        return self

    def float16(self: L, excluded_layers: Any = None) -> L:
        """This Layer in float16, but for `excluded_layers` (by default those that keep statistics in float32)."""
        self._convert(None, as_dtype("float16"), True, _as_layers(excluded_layers))
        return self

    def bfloat16(self: L, excluded_layers: Any = None) -> L:
        """This Layer in bfloat16, but for `excluded_layers` (by default those that keep statistics in float32)."""
        self._convert(None, as_dtype("bfloat16"), True, _as_layers(excluded_layers))
        return self

    def train(self: L, mode: bool = True) -> L:
        """This Layer with all sublayers in training mode (or in evaluation, for False)."""
        return self._set_mode(mode)

    def eval(self: L) -> L:
        """This Layer with all sublayers in evaluation mode."""
        return self._set_mode(False)  # not train(False): a class may have a `train` of its own, without arguments

    def _set_mode(self: L, training: bool) -> L:
        for layer in self.sublayers(include_self=True):
            layer.training = training
        return self

    def requires_grad_(self: L, requires_grad: bool = True) -> L:
        """This Layer, whose parameters want gradients from here on (or do not)."""
        outside_programs("Layer.requires_grad_", but_written=True)
        for param in self.parameters():
            param.stop_gradient = not requires_grad
        return self

    def clear_gradients(self, set_to_zero: bool = True) -> None:
        """Reset the gradients of all trainable parameters to zeros (or to None)."""
        for param in self.parameters():
            if not stops_gradient(param):
                param.clear_gradient(set_to_zero)

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Reset the gradients of all trainable parameters to None (or to zeros)."""
        self.clear_gradients(set_to_zero=not set_to_none)


def _as_layers(given: Any) -> Any:
    """What to pass over: layer classes or instances; None stands for the Layers that keep float32."""
    if given is None:
        return None
    return tuple(given) if isinstance(given, Sequence) else (given,)


def _is_excluded(layer: Any, excluded: Iterable[Any] | None) -> bool:
    if excluded is None:
        return bool(layer.keeps_float32)
    return any(isinstance(layer, e) if isinstance(e, type) else layer is e for e in excluded)


def _convert_tensor(tensor: Tensor, place: Place | None, dtype: DType | None) -> None:
    if place is not None and tensor.place != place:
        tensor._data = put(tensor._data, place)
    if dtype is not None:
        tensor._cast_data(dtype)
    if tensor._grad is not None:
        _convert_tensor(tensor._grad, place, dtype)


__all__ = ["LayerCast"]
