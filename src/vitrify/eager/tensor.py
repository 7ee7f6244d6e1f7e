"""Tensor: an array with a place on the tape. Ops and their operators come from `ops.methods`."""

from __future__ import annotations

import weakref
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ..core import names
from ..core.dtype import DType, as_dtype, default_dtype, from_np
from ..core.errors import ArgumentError, DTypeError
from ..core.modes import grad_enabled, scoped
from ..core.place import CPUPlace, Place, as_place
from ..device.api import namespace_of, place_of, put
from ..ops.methods import TensorMethods
from ..ops.registry import get_op
from . import backward as _backward
from .repr_ import tensor_repr
from .tape import TENSORS, Hook, Node

_new = object.__new__


class Tensor(TensorMethods):
    """A multi-dimensional array that records how it was computed.

    Source: paddle.Tensor. Created by `to_tensor`, creation ops and ops, not by this constructor's users.

    Example:
        >>> import vitrify as paddle
        >>> x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
        >>> (x * x).sum().backward()
        >>> x.grad.tolist()
        [2.0, 4.0]
    """

    __slots__ = (
        "__dict__", "__weakref__", "_cell", "_data", "_grad", "_hooks", "_index", "_node", "stop_gradient",
    )  # fmt: skip
    __array_priority__ = 100.0

    _data: Any
    _cell: list[int] | None
    _grad: Tensor | None
    _hooks: list[Hook] | None
    _index: int
    _node: Node | None
    stop_gradient: bool

    def __init__(self, data: Any = None, dtype: Any = None, place: Any = None, *, stop_gradient: bool = True) -> None:
        _fill(self, _to_array(() if data is None else data, dtype, place))
        self.stop_gradient = stop_gradient

    # -- identity ---------------------------------------------------------------------------------------------------

    @property
    def name(self) -> str:
        """A name unique in this process, made when first asked for."""
        held = self.__dict__.get("_name")
        if held is None:
            held = self.__dict__["_name"] = names.generate(self._name_prefix)
        return str(held)

    @name.setter
    def name(self, value: str) -> None:
        self.__dict__["_name"] = value

    _name_prefix = "generated_tensor"

    @property
    def persistable(self) -> bool:
        """Whether state_dict-like collections keep this tensor."""
        return bool(self.__dict__.get("_persistable", False))

    @persistable.setter
    def persistable(self, value: bool) -> None:
        self.__dict__["_persistable"] = value

    # -- meta -------------------------------------------------------------------------------------------------------

    @property
    def shape(self) -> list[int]:
        """The sizes of all dimensions, as a list."""
        return list(self._data.shape)

    @property
    def dtype(self) -> DType:
        """The element type."""
        return from_np(self._data.dtype)

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        return int(self._data.ndim)

    @property
    def size(self) -> int:
        """Number of elements."""
        return int(self._data.size)

    @property
    def place(self) -> Place:
        """The device that holds the data."""
        return place_of(self._data)

    # -- autograd ---------------------------------------------------------------------------------------------------

    @property
    def is_leaf(self) -> bool:
        """Whether no recorded op made this tensor."""
        return self._node is None

    @property
    def grad(self) -> Tensor | None:
        """The accumulated gradient, or None."""
        return self._grad

    @grad.setter
    def grad(self, value: Tensor | None) -> None:
        if value is not None and not isinstance(value, Tensor):
            raise DTypeError(f"grad: expects a Tensor or None, got {type(value).__name__}")
        self._grad = value

    def backward(self, grad_tensor: Tensor | None = None, retain_graph: bool = False) -> None:
        """Accumulate gradients of this tensor into the `.grad` of every leaf it depends on.

        grad_tensor: the cotangent, same shape; ones by default. Raises StaleBackwardError on a freed graph.
        Source: paddle.Tensor.backward.
        """
        _backward.run_backward([self], [grad_tensor], retain_graph)

    def _accumulate(self, ct: Tensor) -> None:
        """Add `ct` to `.grad`, in a buffer that nobody else holds."""
        with scoped(grad_enabled, False):
            if self._grad is None:
                array = ct._data
                fresh = array if array.dtype == self._data.dtype and array.base is None else array.astype(self._data.dtype)
                self._grad = wrap(fresh if fresh is not array or ct._cell is None else array.copy())
            else:
                self._grad = get_op("add")(self._grad, ct)

    def clear_gradient(self, set_to_zero: bool = True) -> None:
        """Reset `.grad` to zeros (or to None)."""
        if self._grad is not None:
            self._grad = TENSORS.zeros(self._data.shape, self._data.dtype) if set_to_zero else None

    clear_grad = clear_gradient

    def register_hook(self, hook: Hook) -> HookHandle:
        """Call `hook(grad)` whenever this tensor's gradient is computed; a returned tensor replaces it."""
        if self.stop_gradient:
            raise ArgumentError("register_hook: tensor has stop_gradient=True, so it gets no gradient")
        if self._node is None:
            if self._hooks is None:
                self._hooks = []
            return HookHandle(self._hooks, hook)
        if self._node.hooks is None:
            self._node.hooks = {}
        return HookHandle(self._node.hooks.setdefault(self._index, []), hook)

    def retain_grads(self) -> None:
        """Keep `.grad` of this non-leaf tensor in the next backward."""
        if self._node is not None:
            if self._node.retained is None:
                self._node.retained = {}
            self._node.retained[self._index] = weakref.ref(self)

    def detach(self) -> Tensor:
        """A tensor on the same memory that stops gradients."""
        out = wrap(self._data)
        out._cell = self.version_cell()
        return out

    def version_cell(self) -> list[int]:
        """The counter of in-place changes shared by all tensors on this memory."""
        if self._cell is None:
            self._cell = [0]
        return self._cell

    @property
    def inplace_version(self) -> int:
        """How often this memory was changed in place."""
        return self._cell[0] if self._cell is not None else 0

    def _bump(self) -> None:
        self.version_cell()[0] += 1

    # -- data out ---------------------------------------------------------------------------------------------------

    def numpy(self) -> np.ndarray[Any, Any]:
        """A copy of the data as a NumPy array."""
        return np.array(put(self._data, CPUPlace()))

    def item(self, *args: int) -> Any:
        """The Python value of the only element, or of the element at `args`."""
        return put(self._data, CPUPlace()).item(*args)

    def tolist(self) -> Any:
        """The data as nested lists of Python values."""
        return put(self._data, CPUPlace()).tolist()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        array = put(self._data, CPUPlace())
        if dtype is not None and array.dtype != dtype:
            return np.asarray(array, dtype=dtype)
        return np.asarray(array) if copy is False else np.array(array)

    def __bool__(self) -> bool:
        return bool(self._data)

    def __int__(self) -> int:
        return int(self._data.item())

    def __float__(self) -> float:
        return float(self._data.item())

    def __index__(self) -> int:
        if self._data.dtype.kind not in "iub":
            raise DTypeError(f"only integer tensors can be used as an index, got {self.dtype.name}")
        return int(self._data.item())

    def __len__(self) -> int:
        if self._data.ndim == 0:
            raise DTypeError("len() of a 0-D tensor")
        return int(self._data.shape[0])

    def __iter__(self) -> Iterator[Tensor]:
        if self._data.ndim == 0:
            raise DTypeError("iteration over a 0-D tensor")
        return (self[i] for i in range(self._data.shape[0]))

    def __hash__(self) -> int:
        return id(self)

    def __repr__(self) -> str:
        return tensor_repr(self)

    __str__ = __repr__


class HookHandle:
    """Removes its hook: `handle.remove()`."""

    def __init__(self, held: list[Any], hook: Any) -> None:
        held.append(hook)
        self._held = held
        self._hook = hook

    def remove(self) -> bool:
        """Whether the hook was still registered; it is not any more."""
        if self._hook in self._held:
            self._held.remove(self._hook)
            return True
        return False


def _fill(t: Tensor, data: Any) -> None:
    t._data = data
    t.stop_gradient = True
    t._node = None
    t._index = 0
    t._grad = None
    t._cell = None
    t._hooks = None


def wrap(data: Any) -> Tensor:
    """A Tensor around an array it may own; NumPy scalars become 0-D arrays."""
    t: Tensor = _new(Tensor)
    t._data = data if data.__class__ is np.ndarray else _as_array(data)
    t.stop_gradient = True
    t._node = None
    t._index = 0
    t._grad = None
    t._cell = None
    t._hooks = None
    return t


def _as_array(data: Any) -> Any:
    return np.asarray(data) if isinstance(data, (np.generic, bool, int, float, complex)) else data


def _nested_tensors(data: Any) -> bool:
    return isinstance(data, (list, tuple)) and any(isinstance(d, Tensor) or _nested_tensors(d) for d in data)


def _unwrapped(data: Any) -> Any:
    if isinstance(data, Tensor):
        return put(data._data, CPUPlace())
    return [_unwrapped(d) for d in data] if isinstance(data, (list, tuple)) else data


def _to_array(data: Any, dtype: Any, place: Any) -> Any:
    if isinstance(data, Tensor):
        array = data._data if dtype is None else data._data.astype(as_dtype(dtype).np)
        return put(array, as_place(place) if place is not None else place_of(data._data), copy=True)
    source = _unwrapped(data) if _nested_tensors(data) else data
    array = np.array(source)
    if array.dtype.kind in "OUS" and dtype is None:
        raise ArgumentError(f"to_tensor: cannot make a tensor of {type(data).__name__} with elements of type {array.dtype}")
    if dtype is not None:
        array = array.astype(as_dtype(dtype).np)
    elif not isinstance(data, (np.ndarray, np.generic)) and array.dtype == np.float64 and not _nested_tensors(data):
        array = array.astype(default_dtype().np)
    elif not isinstance(data, (np.ndarray, np.generic)) and array.dtype == np.complex128:
        array = array.astype(np.complex64)
    return put(array, as_place(place))


def as_tensor(data: Any, dtype: Any = None) -> Tensor:
    """`data` itself when it is a Tensor of that dtype, else a new Tensor."""
    if isinstance(data, Tensor) and (dtype is None or data.dtype is as_dtype(dtype)):
        return data
    return wrap(_to_array(data, dtype, None))


def to_tensor(data: Any, dtype: Any = None, place: Any = None, stop_gradient: bool = True) -> Tensor:
    """A new Tensor holding a copy of `data` (nested sequence, scalar, NumPy array or Tensor).

    Python floats become the default dtype, ints int64; NumPy arrays keep theirs. Source: paddle.to_tensor.

    Example:
        >>> import vitrify as paddle
        >>> paddle.to_tensor([[1, 2], [3, 4]]).shape
        [2, 2]
    """
    out = wrap(_to_array(data, dtype, place))
    out.stop_gradient = stop_gradient
    return out


def _of_output(array: Any, node: Node, index: int) -> Tensor:
    out = wrap(array)
    out._node = node
    out._index = index
    out.stop_gradient = False
    return out


def _zeros(shape: Sequence[int], dtype: np.dtype[Any]) -> Tensor:
    return wrap(np.zeros(tuple(shape), dtype))


def _ones(shape: Sequence[int], dtype: np.dtype[Any]) -> Tensor:
    return wrap(np.ones(tuple(shape), dtype))


def _reduce_to(ct: Tensor, shape: tuple[int, ...]) -> Tensor:
    out: Tensor = get_op("sum_to")(ct, shape=shape)
    return out


TENSORS.of_output = _of_output
TENSORS.zeros = _zeros
TENSORS.ones = _ones
TENSORS.reduce_to = _reduce_to

__all__ = ["HookHandle", "Tensor", "as_tensor", "namespace_of", "to_tensor", "wrap"]
