"""A predictor's input or output: what `get_input_handle` and `get_output_handle` give."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from ..core.dtype import from_np
from ..core.errors import ArgumentError, DTypeError, ShapeError
from ..core.lazy import lazy_module
from ..core.meta import Meta
from .kinds import DataType, data_type_of

if TYPE_CHECKING:
    from ..eager.tensor import Tensor as EagerTensor

Array = np.ndarray[Any, Any]
_eager = lazy_module("vitrify.eager.tensor")


class Tensor:
    """One input or output of a predictor. Source: paddle.inference.Tensor.

    Example:
        >>> import vitrify as paddle
        >>> import tempfile
        >>> path = tempfile.mkdtemp() + "/net"
        >>> spec = [paddle.static.InputSpec([None, 2], name="x")]
        >>> paddle.jit.save(paddle.nn.ReLU(), path, input_spec=spec, format="paddle3")
        >>> predictor = paddle.inference.create_predictor(paddle.inference.Config(path + ".json", path + ".pdiparams"))
        >>> handle = predictor.get_input_handle("x")
        >>> handle.reshape([1, 2])
        >>> handle.copy_from_cpu(paddle.to_tensor([[-1.0, 2.0]]).numpy())
        >>> handle.name(), handle.shape()
        ('x', [1, 2])
    """

    def __init__(self, name: str, meta: Meta, is_input: bool) -> None:
        self._name = name
        self._meta = meta
        self._is_input = is_input
        self._wanted: tuple[int, ...] | None = None
        self._lod: list[list[int]] = []
        self._held: EagerTensor | Array | None = None  # an array until someone wants a Tensor

    # --- of inputs ---------------------------------------------------------------------------------------------------

    def reshape(self, shape: Sequence[int] | int) -> None:
        """Say which shape comes next; the data that is copied in decides. Raises ShapeError for one that cannot be."""
        self._check_input("reshape")
        sizes = (shape,) if isinstance(shape, int) else tuple(int(s) for s in shape)
        self._check_shape(sizes)
        self._wanted = sizes

    def copy_from_cpu(self, data: Any) -> None:
        """Take a copy of an array as the input's next value.

        Raises DTypeError for what is no array or of another dtype than the model takes, ShapeError for a shape that it
        does not take. Source: paddle.inference.Tensor.copy_from_cpu.
        """
        self._check_input("copy_from_cpu")
        if not isinstance(data, np.ndarray):
            raise DTypeError(f"copy_from_cpu: expects a numpy.ndarray, but received {type(data).__name__}")
        self._hold(self._checked(data).copy())

    def share_external_data(self, data: Any) -> None:
        """Take a Tensor as the input's next value, without a copy. Source: share_external_data of Paddle's Tensor."""
        self._check_input("share_external_data")
        if not isinstance(data, _eager.Tensor):
            raise DTypeError(f"share_external_data: expects a Tensor, but received {type(data).__name__}")
        self.take(data)

    def set_lod(self, lod: list[list[int]]) -> None:
        """Note the levels of detail, which nothing here reads: an empty list is the only one taken."""
        if any(lod):
            raise ArgumentError("set_lod: there are no tensors with levels of detail; pad them and pass lengths")
        self._lod = []

    def take(self, data: EagerTensor) -> None:
        """Let `data` be the next value; raises like copy_from_cpu."""
        self._check_fits(data.dtype, tuple(data.shape))
        self._hold(data)

    def _hold(self, data: EagerTensor | Array) -> None:
        self._held = data
        self._wanted = None

    def _checked(self, data: Array) -> Array:
        try:
            dtype = from_np(data.dtype)
        except TypeError:
            raise DTypeError(f"input {self._name!r}: an array of {data.dtype} is no tensor") from None
        shape = data.shape
        if self._wanted is not None and math.prod(self._wanted) == data.size:
            shape = self._wanted
        self._check_fits(dtype, shape)
        return np.ascontiguousarray(data).reshape(shape)

    def _check_fits(self, dtype: Any, shape: tuple[int, ...]) -> None:
        if dtype is not self._meta.dtype:
            raise DTypeError(
                f"input {self._name!r} is {self._meta.dtype.name}, but received {dtype.name}",
                hint=f"convert it: array.astype({self._meta.dtype.name!r})",
            )
        self._check_shape(shape)

    def _check_shape(self, shape: tuple[int, ...]) -> None:
        wanted = self._meta.shape
        if len(shape) != len(wanted) or any(w not in (-1, s) or s < 0 for s, w in zip(shape, wanted)):
            raise ShapeError(f"input {self._name!r} has shape {list(wanted)}, but received {list(shape)}")

    def _check_input(self, what: str) -> None:
        if not self._is_input:
            raise ArgumentError(f"{what}: {self._name!r} is an output")

    # --- of outputs, and both ----------------------------------------------------------------------------------------

    def copy_to_cpu(self) -> Array:
        """The value as an array; raises ArgumentError before the first run. Source: copy_to_cpu of Paddle's Tensor."""
        return np.array(self.array())

    def shape(self) -> list[int]:
        """The shape of what it holds; before that the one asked for by `reshape`, else the model's."""
        if self._held is not None and self._wanted is None:
            return list(self._held.shape)
        return list(self._meta.shape if self._wanted is None else self._wanted)

    def type(self) -> DataType:
        """What the elements are."""
        return data_type_of(self._meta.dtype)

    def lod(self) -> list[list[int]]:
        """The levels of detail: none."""
        return self._lod

    def name(self) -> str:
        """Its name in the model."""
        return self._name

    def value(self) -> EagerTensor:
        """The Tensor that it holds; raises ArgumentError when there is none."""
        held = self._there()
        if isinstance(held, np.ndarray):
            held = self._held = cast("EagerTensor", _eager.wrap(held))
        return held

    def array(self) -> Array:
        """The array that it holds; raises ArgumentError when there is none."""
        held = self._there()
        return held if isinstance(held, np.ndarray) else held.numpy()

    def content(self) -> Any:
        """The array, wherever it lies, that it holds; raises ArgumentError when there is none."""
        held = self._there()
        return held if isinstance(held, np.ndarray) else held._data

    def overwrite(self, array: Any) -> None:
        """Let what it holds have another content: a Tensor given by share_external_data is the caller's own."""
        held = self._there()
        if isinstance(held, np.ndarray):
            self._held = array
        else:
            held._become(_eager.wrap(array))

    def _there(self) -> EagerTensor | Array:
        if self._held is None:
            what = "copy_from_cpu was not called for input" if self._is_input else "run() was not called: no value of"
            raise ArgumentError(f"{what} {self._name!r}")
        return self._held

    def give(self, value: Any) -> None:
        """Hold what a run has computed: a Tensor, or an array, which becomes one where it lies on a device."""
        if isinstance(value, (np.ndarray, np.generic)):
            self._held = np.asarray(value)
        else:
            self._held = value if isinstance(value, _eager.Tensor) else _eager.wrap(value)

    def drop(self) -> None:
        """Hold nothing any more."""
        self._held = None
