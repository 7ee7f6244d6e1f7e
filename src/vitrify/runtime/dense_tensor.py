"""DenseTensor: what a variable of a Scope holds, as Paddle's users see it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.dtype import DType, as_dtype
from ..core.errors import ArgumentError, DTypeError
from ..core.meta import Meta
from ..core.place import CPUPlace, Place, as_place
from ..device.api import place_of, put


class DenseTensor:
    """An array in a Scope, or none yet. Reading copies, so nothing but `set` and runs of programs change it.

    Source: what `paddle.static.global_scope().find_var(name).get_tensor()` returns.

    Example:
        >>> import numpy as np, vitrify as paddle
        >>> tensor = paddle.static.Scope().var("w").get_tensor()
        >>> tensor.set(np.ones([2, 3], "float32"), paddle.CPUPlace())
        >>> tensor.shape(), np.array(tensor).sum()
        ([2, 3], np.float32(6.0))
    """

    __slots__ = ("__weakref__", "_lod", "array", "fits")

    def __init__(self) -> None:
        self.array: Any = None
        self.fits: Any = None  # the meta of the variable that the array is known to fit: runs check it once
        self._lod: list[list[int]] = []

    def hold(self, array: Any, fits: Any = None) -> None:
        """Let `array` itself be the value; a scalar of NumPy, which kernels give for 0-D arrays, as an array."""
        self.array = np.asarray(array) if isinstance(array, np.generic) else array
        self.fits = fits

    def set(self, array: Any, place: Any = None, zero_copy: bool = False) -> None:
        """Store a copy of `array` (numbers in any form) at `place`, by default in the memory of the host.

        Raises DTypeError for what no tensor can hold.
        """
        source = array.array if isinstance(array, DenseTensor) else array
        made = _as_array(source)
        place = CPUPlace() if place is None else as_place(place)
        self.hold(put(made, place, copy=made is source and not zero_copy))

    def shape(self) -> list[int]:
        """The sizes; [0] while there is no value."""
        return [0] if self.array is None else list(self.array.shape)

    def _is_initialized(self) -> bool:
        """Whether there is a value."""
        return self.array is not None

    def _dtype(self) -> DType:
        """The element type; float32 while there is no value."""
        return as_dtype("float32" if self.array is None else self.array.dtype)

    def _place(self) -> Place:
        """Where the value lies."""
        return CPUPlace() if self.array is None else place_of(self.array)

    def _numel(self) -> int:
        """How many elements there are."""
        return 0 if self.array is None else int(self.array.size)

    def _clear(self) -> None:
        """Forget the value."""
        self.hold(None)

    def _share_data_with(self, other: DenseTensor) -> None:
        """Hold the array that `other` holds."""
        self.hold(other.array, other.fits)

    def _copy(self, place: Any = None) -> DenseTensor:
        """A DenseTensor with a copy of the value."""
        made = DenseTensor()
        if self.array is not None:
            made.set(self, place)
        return made

    def lod(self) -> list[list[int]]:
        """The offsets of sequences that were stored with `set_lod`; programs neither read nor keep them."""
        return self._lod

    def set_lod(self, lod: Sequence[Sequence[int]]) -> None:
        """Store offsets of sequences."""
        self._lod = [list(level) for level in lod]

    def numpy(self) -> Any:
        """A copy of the value as a NumPy array; empty while there is none."""
        return np.zeros(0) if self.array is None else put(self.array, CPUPlace(), copy=True)

    def tolist(self) -> Any:
        """The value as nested lists."""
        return self.numpy().tolist()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        value = self.numpy()
        return value if dtype is None else value.astype(dtype, copy=False)

    def __getitem__(self, item: Any) -> DenseTensor:
        made = DenseTensor()
        made.set(self.numpy()[item])
        return made

    def __len__(self) -> int:
        return self.shape()[0]

    def __repr__(self) -> str:
        if self.array is None:
            return "<DenseTensor without a value>"
        return f"<DenseTensor {Meta(tuple(self.array.shape), self._dtype())} at {self._place()}>"

    def __str__(self) -> str:
        if self.array is None:
            return repr(self)
        data = " ".join(map(str, self.numpy().ravel().tolist()))
        lines = (f"shape: {self.shape()}", f"place: {self._place()}", f"dtype: {self._dtype().name}", f"data: [{data}]")
        return "\n".join(f"  - {line}" for line in lines)


def _as_array(value: Any) -> Any:
    """`value` as an array of numbers; raises DTypeError."""
    array = value if isinstance(value, np.ndarray) or hasattr(value, "get") else np.asarray(value)
    try:
        as_dtype(array.dtype)
    except (DTypeError, ArgumentError):
        raise DTypeError(
            f"a tensor of a scope holds numbers, but received {type(value).__name__} of {array.dtype}"
        ) from None
    return array
