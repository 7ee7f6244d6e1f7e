"""One node of an ONNX graph being read: its attributes, and values that are known already."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..core.dtype import DType, from_np
from ..core.errors import FileFormatError, UnsupportedError
from .graph import onnx_package

Array = np.ndarray[Any, Any]


# The attributes of a Constant that hold numbers.
_NUMBERS: tuple[tuple[str, str, Any], ...] = (
    ("value_int", "INT", np.int64),
    ("value_float", "FLOAT", np.float32),
    ("value_ints", "INTS", np.int64),
    ("value_floats", "FLOATS", np.float32),
)


def axis_in(axis: int, ndim: int) -> int:
    """The dimension that an axis means, counted from the end where it is negative; raises FileFormatError for none."""
    if not -ndim <= axis < ndim:
        raise FileFormatError(f"axis {axis} is none of {ndim} dimensions")
    return axis % ndim


@dataclass(frozen=True)
class EmptyList:
    """A list without items yet, of this dtype."""

    dtype: DType


class Node:
    """A node's type, operator set, attributes and number of outputs."""

    def __init__(self, proto: Any, array_of: Any, opset: int, outer: Mapping[str, Any]) -> None:
        self.type: str = proto.op_type
        self.opset = opset
        self.outputs = len(proto.output)
        self.attributes: dict[str, Any] = {}
        for attribute in proto.attribute:
            found = outer.get(attribute.ref_attr_name) if attribute.ref_attr_name else attribute
            if found is not None:  # nodes of functions name attributes of the call, which may leave them out
                self.attributes[attribute.name] = found
        self._array_of = array_of

    def has(self, name: str) -> bool:
        """Whether the attribute is given."""
        return name in self.attributes

    def _value(self, name: str, kind: str, default: Any) -> Any:
        found = self.attributes.get(name)
        if found is None:
            if default is None:
                raise FileFormatError(f"node {self.type} has no attribute {name!r}")
            return default
        if found.type != getattr(onnx_package().AttributeProto, kind):
            raise FileFormatError(f"attribute {name!r} of node {self.type} is of another type than {kind}")
        return onnx_package().helper.get_attribute_value(found)

    def number(self, name: str, default: int | None = None) -> int:
        """An integer attribute."""
        return int(self._value(name, "INT", default))

    def real(self, name: str, default: float) -> float:
        """A number."""
        return float(self._value(name, "FLOAT", default))

    def reals(self, name: str, default: list[float]) -> list[float]:
        """A list of numbers."""
        return [float(v) for v in self._value(name, "FLOATS", default)]

    def text(self, name: str, default: str | None = None) -> str:
        """A string attribute."""
        found = self._value(name, "STRING", default)
        return found.decode("utf-8", "replace") if isinstance(found, bytes) else str(found)

    def texts(self, name: str, default: list[str]) -> list[str]:
        """A list of strings."""
        found = self._value(name, "STRINGS", default)
        return [v.decode("utf-8", "replace") if isinstance(v, bytes) else str(v) for v in found]

    def ints(self, name: str, default: list[int] | None = None) -> list[Any]:
        """A list of integers."""
        return [int(v) for v in self._value(name, "INTS", default)]

    def array(self) -> Array:
        """The array of a Constant, or of the attribute `value`."""
        for name, kind, dtype in _NUMBERS:
            if self.has(name):
                return np.asarray(self._value(name, kind, None), dtype)
        found: Array = self._array_of(self._value("value", "TENSOR", None))
        return found

    def constant(self, name: str) -> Array:
        """The array of an attribute that later operator sets have as an input."""
        value = onnx_package().helper.get_attribute_value(self.attributes[name])
        if not isinstance(value, (int, float, list)):
            raise FileFormatError(f"attribute {name!r} of node {self.type} is no number and no list of numbers")
        found = np.asarray(value)
        return found.astype(np.float32 if found.dtype.kind == "f" else np.int64)

    def graph(self, name: str) -> Any:
        """An attribute that is a graph."""
        return self._value(name, "GRAPH", None)

    def refuse(self, name: str, *harmless: Any) -> None:
        """Raise UnsupportedError where the attribute is given and asks for something."""
        if not self.has(name):
            return
        value = onnx_package().helper.get_attribute_value(self.attributes[name])
        plain = value.decode() if isinstance(value, bytes) else list(value) if hasattr(value, "__len__") else value
        if plain not in harmless:
            raise UnsupportedError(f"{self.type} with {name}={plain} cannot be read")

    def dtype(self, array: Array) -> DType:
        """Our dtype of an array."""
        return from_np(array.dtype)
