"""A Tensor and the world outside: Python values, NumPy, DLPack, copying, pickling, formatting."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core import names
from ..core.errors import DTypeError, IndexRangeError
from ..core.modes import is_tracing, recorder
from ..core.place import CPUPlace, Place
from ..core.single import assert_index, not_single
from ..device.api import place_of, put
from .holder import Holder, fill
from .repr_ import array_text, tensor_repr

if TYPE_CHECKING:
    from .tensor import Tensor

_CPU = CPUPlace()


class Exchange(Holder):
    """Conversions to and from everything that is no Tensor."""

    __slots__ = ()

    # NumPy leaves `array + tensor` to the tensor's own operators, which give Tensors.
    __array_ufunc__ = None
    __array_priority__ = 100.0

    def numpy(self) -> np.ndarray[Any, Any]:
        """A copy of the data as a NumPy array in host memory, of the same shape and dtype.

        bfloat16 is a dtype of the package `ml_dtypes`. The array knows nothing of gradients that the
        tensor may want. Source: paddle.Tensor.numpy.

        Example:
            >>> import vitrify as paddle
            >>> x = paddle.to_tensor([[1.0, 2.0]])
            >>> array = x.numpy()
            >>> array[0, 0] = 7.0
            >>> array.tolist(), x.tolist()
            ([[7.0, 2.0]], [[1.0, 2.0]])
        """
        data = self._data
        return np.array(data if data.__class__ is np.ndarray else put(data, _CPU))

    def item(self, *args: int) -> Any:
        """The Python value of the only element, or of the element at `args`.

        Raises ArgumentError without `args` when there is not exactly one element, IndexRangeError outside of it.
        args: one place in the flattened tensor, or one for each dimension. Source: paddle.Tensor.item.

        Example:
            >>> import vitrify as paddle
            >>> paddle.to_tensor([2.5]).item()
            2.5
            >>> x = paddle.to_tensor([[1, 2], [3, 4]])
            >>> x.item(2), x.item(0, 1)
            (3, 2)
        """
        if not args and self._data.size != 1:
            raise not_single("item", self.shape)
        try:
            return put(self._data, _CPU).item(*args)
        except IndexError as err:
            raise IndexRangeError(f"item: {err}") from None

    def tolist(self) -> Any:
        """The data as nested lists of Python values; of a 0-D tensor the value itself. Source: paddle.Tensor.tolist.

        Example:
            >>> import vitrify as paddle
            >>> paddle.to_tensor([[1, 2], [3, 4]]).tolist(), paddle.to_tensor(0.5).tolist()
            ([[1, 2], [3, 4]], 0.5)
        """
        return put(self._data, _CPU).tolist()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        array = put(self._data, _CPU)
        if dtype is not None and array.dtype != dtype:
            return np.asarray(array, dtype=dtype)
        return np.asarray(array) if copy is False else np.array(array)

    # -- Python values ----------------------------------------------------------------------------------------------

    def _only(self, what: str) -> Any:
        if self._data.size != 1:
            raise not_single(what, self.shape)
        return self._data.item()

    def __bool__(self) -> bool:
        return bool(self._only("bool()"))

    def __int__(self) -> int:
        return int(self._only("int()"))

    def __float__(self) -> float:
        return float(self._only("float()"))

    def __complex__(self) -> complex:
        return complex(self._only("complex()"))

    def __index__(self) -> int:
        assert_index(self.dtype)
        return int(self._only("an index"))

    def __len__(self) -> int:
        now = self._meaning()
        if now is not None:
            return len(now)
        if self._data.ndim == 0:
            raise DTypeError("len() of a 0-D tensor")
        return int(self._data.shape[0])

    def __iter__(self) -> Iterator[Any]:
        if not self.shape:
            raise DTypeError("iteration over a 0-D tensor")
        return (self[i] for i in range(len(self)))

    def __contains__(self, value: Any) -> bool:
        if is_tracing():
            return bool((self == value).any())
        return bool((self._data == (value._data if isinstance(value, Holder) else value)).any())

    def __hash__(self) -> int:
        return id(self)

    def _elements_text(self, indent: int) -> str:
        """The elements as `repr` shows them, behind so many characters of a line."""
        return array_text(put(self._data, _CPU), indent)

    def __repr__(self) -> str:
        return tensor_repr(self)  # type: ignore[arg-type]  # a part of Tensor, never alone

    def __str__(self) -> str:
        return self.__repr__()

    def __format__(self, spec: str) -> str:
        return format(self._data.item(), spec) if self._data.ndim == 0 else object.__format__(self, spec)

    # -- DLPack -----------------------------------------------------------------------------------------------------

    def __dlpack__(self, **options: Any) -> Any:
        return self._data.__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        kind, index = self._data.__dlpack_device__()
        return int(kind), int(index)

    # -- copies and pickles -----------------------------------------------------------------------------------------

    def __copy__(self) -> Any:
        if is_tracing():
            return copy.copy(self._of_program())
        make, made_of = self.__reduce__()
        return make(*made_of)

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        """A new leaf with a copy of the data and the attributes, under a name of its own, without a gradient.

        Source: paddle.Tensor.__deepcopy__.

        Example:
            >>> import vitrify as paddle
            >>> import copy
            >>> x = paddle.to_tensor([1.0], stop_gradient=False)
            >>> y = copy.deepcopy(x)
            >>> y.set_value([5.0])
            >>> x.tolist(), y.tolist(), y.stop_gradient
            ([1.0], [5.0], False)
        """
        if is_tracing():
            return memo.setdefault(id(self), copy.deepcopy(self._of_program(), memo))
        fresh = _restored(type(self), self._data.copy(), self.stop_gradient, {})
        memo[id(self)] = fresh
        attributes = {k: v for k, v in self.__dict__.items() if k != "_name"}
        fresh.__dict__.update(copy.deepcopy(attributes, memo))
        fresh.__dict__["_name"] = names.generate(f"{self.name}_deepcopy")
        return fresh

    def _of_program(self) -> Any:
        """The variable that stands for this tensor in the program being built: copies of both are leaves alike."""
        return recorder.get().held(self)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickles hold the data and the attributes, never the tape."""
        array = put(self._data, _CPU)
        return _unpickled, (type(self), array, place_of(self._data), self.stop_gradient, dict(self.__dict__))

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        return self.__reduce__()

    if TYPE_CHECKING:

        @property
        def name(self) -> str: ...


def _restored(cls: type[Any], array: Any, stop_gradient: bool, attributes: dict[str, Any]) -> Any:
    out = object.__new__(cls)
    fill(out, array)
    out.stop_gradient = stop_gradient
    out.__dict__.update(attributes)
    return out


def _unpickled(cls: type[Tensor], array: Any, place: Place, stop_gradient: bool, attributes: dict[str, Any]) -> Tensor:
    tensor: Tensor = _restored(cls, put(array, place), stop_gradient, attributes)
    return tensor


__all__ = ["Exchange"]
