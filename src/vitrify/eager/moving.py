"""Moving a Tensor to another device or dtype."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..core.dtype import DType, as_dtype
from ..core.errors import ArgumentError, DTypeError
from ..core.place import CPUPlace, CUDAPinnedPlace, CUDAPlace, Place, PlaceLike, as_place
from ..device.api import put
from ..ops.registry import get_op
from .pylayer import PyLayer
from .tensor import Tensor, wrap


class _Transfer(PyLayer):
    """The same values on another device; their gradient travels back."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, place: Place) -> Tensor:
        ctx.place = x.place
        moved = put(x._data, place)
        return wrap(moved.copy() if moved is x._data else moved)

    @staticmethod
    def backward(ctx: Any, ct: Tensor) -> Tensor:
        return move(ct, ctx.place)


def move(x: Tensor, place: PlaceLike) -> Tensor:
    """`x` itself when it is at `place`, else a copy there that passes gradients back."""
    target = as_place(place)
    if x.place == target:
        return x
    out: Tensor = _Transfer.apply(x, target)
    return out


def cpu(self: Tensor) -> Tensor:
    """This tensor in host memory: itself if it is there. Source: paddle.Tensor.cpu.

    Example:
        >>> import vitrify as paddle
        >>> x = paddle.ones([2])
        >>> x.cpu() is x, x.cpu().place
        (True, Place(cpu))
    """
    return move(self, CPUPlace())


def cuda(self: Tensor, device_id: int | None = None, blocking: bool = True) -> Tensor:
    """This tensor on a CUDA device: itself if it is there. Source: paddle.Tensor.cuda.

    Raises ArgumentError without CuPy.

    Example:
        >>> import vitrify as paddle
        >>> x = paddle.ones([2])
        >>> paddle.is_compiled_with_cuda() or x.cpu().place.is_cpu_place()
        True
    """
    here = self.place
    number = device_id if device_id is not None else here.gpu_device_id() if here.is_gpu_place() else 0
    return move(self, CUDAPlace(number))


def pin_memory(self: Tensor, blocking: bool = True) -> Tensor:
    """This tensor in page-locked host memory. Source: paddle.Tensor.pin_memory.

    Raises ArgumentError without CuPy.

    Example:
        >>> import vitrify as paddle
        >>> x = paddle.ones([2])
        >>> x.pin_memory().place if paddle.is_compiled_with_cuda() else paddle.CUDAPinnedPlace()
        Place(gpu_pinned)
    """
    return move(self, CUDAPinnedPlace())


def _is_place(value: Any) -> bool:
    return isinstance(value, Place) or (isinstance(value, str) and value.split(":")[0] in ("cpu", "gpu", "gpu_pinned"))


def _as_target(value: Any) -> tuple[Place | None, DType | None]:
    """What one positional argument of `to` asks for."""
    if isinstance(value, Tensor):
        return value.place, value.dtype
    if _is_place(value):
        return as_place(value), None
    try:
        return None, as_dtype(value)
    except DTypeError:
        raise ArgumentError(
            f"to: expects a device such as 'cpu' or 'gpu:0', a dtype or a Tensor, got {value!r}"
        ) from None


def to(
    self: Tensor,
    *args: Any,
    device: PlaceLike | None = None,
    dtype: Any = None,
    other: Tensor | None = None,
    blocking: bool | None = None,
    copy_tensor: bool | None = None,
    **aliases: Any,
) -> Tensor:
    """This tensor on a device, as a dtype, or both: `to(device)`, `to(dtype)`, `to(device, dtype)`, `to(other)`.

    Returns itself when nothing changes and `copy_tensor` is not set. Source: paddle.Tensor.to.

    Example:
        >>> import vitrify as paddle
        >>> paddle.to_tensor([1.5]).to("int32").tolist()
        [1]
    """
    place, target = (None, None) if other is None else (other.place, other.dtype)
    for value in args:
        if isinstance(value, bool) or value is None:  # blocking, copy_tensor, or a device left out
            continue
        found, wanted = _as_target(value)
        place, target = found or place, wanted or target
    place = as_place(device) if device is not None else place
    target = as_dtype(dtype) if dtype is not None else target
    out = self if target is None or target is self.dtype else get_op("cast")(self, dtype=target)
    out = out if place is None else move(out, place)
    return out.clone() if copy_tensor and out is self else out


METHODS: dict[str, Callable[..., Tensor]] = {"to": to, "cpu": cpu, "cuda": cuda, "pin_memory": pin_memory}
for _name, _method in METHODS.items():
    setattr(Tensor, _name, _method)
Tensor._to = to  # type: ignore[attr-defined]  # what libraries call that make a `to` of their own of it

__all__ = ["METHODS", "move"]
