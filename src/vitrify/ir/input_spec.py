"""InputSpec: what is fixed about one tensor argument."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.dtype import DType, as_dtype, from_np
from ..core.errors import ArgumentError, DTypeError
from ..core.meta import UNKNOWN, Meta


class InputSpec:
    """Shape, dtype and name of one tensor argument; None or -1 marks a dimension that may vary.

    Source: paddle.static.InputSpec.

    Example:
        >>> from vitrify.static import InputSpec
        >>> InputSpec([None, 784], "float32", name="image")
        InputSpec(shape=(-1, 784), dtype=paddle.float32, name=image, stop_gradient=False)
    """

    def __init__(
        self, shape: Sequence[int | None], dtype: Any = "float32", name: str | None = None, stop_gradient: bool = False
    ) -> None:
        if not isinstance(shape, (list, tuple)):
            raise DTypeError(f"InputSpec: shape must be a list or tuple, got {type(shape).__name__}")
        self.shape = tuple(_dim(d) for d in shape)
        self.dtype: DType = as_dtype(dtype)
        self.name = name
        self.stop_gradient = stop_gradient

    @classmethod
    def from_tensor(cls, tensor: Any, name: str | None = None) -> InputSpec:
        """The spec of a Tensor or Variable."""
        return cls(tensor.shape, tensor.dtype, name or getattr(tensor, "name", None))

    @classmethod
    def from_numpy(cls, ndarray: np.ndarray[Any, Any], name: str | None = None) -> InputSpec:
        """The spec of a NumPy array."""
        return cls(ndarray.shape, from_np(ndarray.dtype), name)

    def batch(self, batch_size: int | Any) -> InputSpec:
        """This spec with a batch dimension put in front, in place; returns self."""
        if isinstance(batch_size, (list, tuple)):
            if len(batch_size) != 1:
                raise ArgumentError(f"InputSpec.batch: expects one size, got {list(batch_size)}")
            batch_size = batch_size[0]
        if not isinstance(batch_size, (int, np.integer)):
            raise TypeError(f"InputSpec.batch: batch_size must be an int, got {type(batch_size).__name__}")
        self.shape = (int(batch_size), *self.shape)
        return self

    def unbatch(self) -> InputSpec:
        """This spec without its first dimension, in place; returns self."""
        if not self.shape:
            raise ArgumentError("InputSpec.unbatch: the shape has no dimension to remove")
        self.shape = self.shape[1:]
        return self

    @property
    def meta(self) -> Meta:
        """Shape and dtype."""
        return Meta(self.shape, self.dtype)

    def accepts(self, shape: Sequence[int], dtype: DType) -> bool:
        """Whether a tensor of this shape and dtype fits."""
        return (
            dtype is self.dtype
            and len(shape) == len(self.shape)
            and all(want in (UNKNOWN, got) for want, got in zip(self.shape, shape))
        )

    def _key(self) -> tuple[Any, ...]:
        return self.shape, self.dtype, self.name, self.stop_gradient

    def __eq__(self, other: object) -> bool:
        return isinstance(other, InputSpec) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def __repr__(self) -> str:
        return (
            f"InputSpec(shape={self.shape}, dtype={self.dtype}, name={self.name}, stop_gradient={self.stop_gradient})"
        )


class NumberSpec(InputSpec):
    """An argument that is a Python number, given to the program as a 0-D tensor."""

    def __init__(self, dtype: Any) -> None:
        super().__init__((), dtype)


class ArraySpec(InputSpec):
    """An argument that is an array of NumPy's, which the program holds a copy of."""


class WithoutOnes(InputSpec):
    """An argument whose unknown sizes are not 1: a program that squeezes whatever has size 1 keeps these dimensions."""

    def accepts(self, shape: Sequence[int], dtype: DType) -> bool:
        """Whether a tensor of this shape and dtype fits."""
        return super().accepts(shape, dtype) and not any(
            want == UNKNOWN and got == 1 for want, got in zip(self.shape, shape)
        )


def _dim(value: Any) -> int:
    if value is None:
        return UNKNOWN
    if not isinstance(value, (int, np.integer)) or value < -1:
        raise ArgumentError(f"InputSpec: a dimension must be a non-negative int, -1 or None, got {value!r}")
    return int(value)
