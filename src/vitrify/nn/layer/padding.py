"""Layers that pad: by a constant, zeros, reflection, replication or wrapping around."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral
from typing import Any, ClassVar

from ...eager.layer import Layer
from ...ops.methods import TensorMethods
from .. import functional as F
from .examples import example_of

Padding = Any  # an int for all sides, [left, right, top, bottom, ...] or a tensor of these


class _Pad(Layer):
    """Pads the last `_dims` spatial dimensions."""

    _dims: ClassVar[int] = 0

    def _set(self, padding: Padding, mode: str, value: float, data_format: str, name: str | None) -> None:
        self.padding = [padding] * (2 * self._dims) if isinstance(padding, Integral) else _as_list(padding)
        self._mode = mode
        self.value = value
        self._data_format = data_format
        self._name = name

    def forward(self, x: Any) -> Any:
        """x: [N, C, *] or [N, *, C] -> the same with larger spatial sizes."""
        return F.pad(x, self.padding, mode=self._mode, value=self.value, data_format=self._data_format, name=self._name)

    def extra_repr(self) -> str:
        """The settings."""
        name = f", name={self._name}" if self._name else ""
        return f"padding={self.padding}, mode={self._mode}, value={self.value}, data_format={self._data_format}{name}"


def _as_list(padding: Padding) -> Any:
    return padding if isinstance(padding, TensorMethods) else list(padding)


def _pad_class(name: str, dims: int, init: Any, what: str) -> Any:
    doc = f"Pads the {('last dimension', 'last two dimensions', 'last three dimensions')[dims - 1]} {what}."
    init.__qualname__ = f"{name}.__init__"  # which errors of missing arguments name
    members = {
        "_dims": dims,
        "__init__": init,
        "__module__": __name__,
        "__doc__": f"{doc}\n\nSource: paddle.nn.{name}." + example_of(name),
    }
    return type(name, (_Pad,), members)


def _general(data_format: str) -> Any:
    layout = data_format

    def __init__(
        self: Any,
        padding: Padding,
        mode: str = "constant",
        value: float = 0.0,
        data_format: str = layout,
        name: str | None = None,
    ) -> None:
        Layer.__init__(self)
        self._set(padding, mode, value, data_format, name)

    return __init__


def _constant(data_format: str) -> Any:
    layout = data_format

    def __init__(self: Any, padding: Padding, value: float, data_format: str = layout, name: str | None = None) -> None:
        Layer.__init__(self)
        self._set(padding, "constant", value, data_format, name)

    return __init__


def _fixed(mode: str, data_format: str) -> Any:
    layout = data_format

    def __init__(self: Any, padding: Padding, data_format: str = layout, name: str | None = None) -> None:
        Layer.__init__(self)
        self._set(padding, mode, 0.0, data_format, name)

    return __init__


_LAYOUTS: Sequence[str] = ("NCL", "NCHW", "NCDHW")


def _family(prefix: str, init_for: Any, what: str) -> list[Any]:
    return [_pad_class(f"{prefix}{d}D", d, init_for(layout), what) for d, layout in enumerate(_LAYOUTS, start=1)]


Pad1D, Pad2D, Pad3D = _family("Pad", _general, "as `mode` says")
ConstantPad1D, ConstantPad2D, ConstantPad3D = _family("ConstantPad", _constant, "with `value`")
ZeroPad1D, ZeroPad2D, ZeroPad3D = _family("ZeroPad", lambda f: _fixed("constant", f), "with zeros")
CircularPad1D, CircularPad2D, CircularPad3D = _family(
    "CircularPad", lambda f: _fixed("circular", f), "with what lies at the other end"
)
ReflectionPad1D, ReflectionPad2D, ReflectionPad3D = _family(
    "ReflectionPad", lambda f: _fixed("reflect", f), "with a mirror image"
)
ReplicationPad1D, ReplicationPad2D, ReplicationPad3D = _family(
    "ReplicationPad", lambda f: _fixed("replicate", f), "with the value at the edge"
)

CircularPad1d, CircularPad2d, CircularPad3d = CircularPad1D, CircularPad2D, CircularPad3D
ConstantPad1d, ConstantPad2d, ConstantPad3d = ConstantPad1D, ConstantPad2D, ConstantPad3D
ReflectionPad1d, ReflectionPad2d, ReflectionPad3d = ReflectionPad1D, ReflectionPad2D, ReflectionPad3D
ReplicationPad1d, ReplicationPad2d, ReplicationPad3d = ReplicationPad1D, ReplicationPad2D, ReplicationPad3D
ZeroPad1d, ZeroPad2d, ZeroPad3d = ZeroPad1D, ZeroPad2D, ZeroPad3D

__all__ = [
    "CircularPad1D", "CircularPad1d", "CircularPad2D", "CircularPad2d", "CircularPad3D", "CircularPad3d",
    "ConstantPad1D", "ConstantPad1d", "ConstantPad2D", "ConstantPad2d", "ConstantPad3D", "ConstantPad3d", "Pad1D",
    "Pad2D", "Pad3D", "ReflectionPad1D", "ReflectionPad1d", "ReflectionPad2D", "ReflectionPad2d", "ReflectionPad3D",
    "ReflectionPad3d", "ReplicationPad1D", "ReplicationPad1d", "ReplicationPad2D", "ReplicationPad2d",
    "ReplicationPad3D", "ReplicationPad3d", "ZeroPad1D", "ZeroPad1d", "ZeroPad2D", "ZeroPad2d", "ZeroPad3D",
    "ZeroPad3d",
]  # fmt: skip
