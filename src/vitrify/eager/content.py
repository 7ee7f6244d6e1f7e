"""Changing what a Tensor holds: in-place ops, `set_value`, `copy_`, `data`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from sys import getrefcount
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.dtype import as_dtype
from ..core.epoch import CAPTURED_KINDS
from ..core.errors import ArgumentError, DTypeError
from ..core.modes import grad_enabled, is_tracing, recorder, scoped
from ..core.outside import outside_programs
from ..device.api import place_of, put
from ..ops.failure import changed_leaf, need_other, need_same
from ..ops.like import assign_op
from ..ops.methods import TensorMethods
from .arrays import to_array
from .holder import Holder, copied
from .tape import TENSORS, GradNode
from .views import as_it_is, follow

_UNSHARED = 3  # who refers to the count of a memory that one tensor has: the tensor, and two of a method's frames

if TYPE_CHECKING:
    from .tensor import Tensor


class Content(Holder):
    """In-place changes. Each is counted, so that a backward that needs the old content says so."""

    __slots__ = ()

    def _become(self, value: Any) -> Any:
        """Take `value`, the result of an op on this tensor, as the new content, place on the tape included.

        A result of the same shape and dtype is written into the existing memory, so that whoever shares it (views,
        `detach()`, optimizers) sees it. Raises ArgumentError for a leaf that wants a gradient.
        """
        if value is self:
            return self
        if self._is_wanted_leaf():
            raise changed_leaf(self.name)
        return self._hold(value) if isinstance(value, Holder) else self._assign_variable(value)

    def _take(self, other: Any) -> Any:
        """Take a copy of the tensor `other` as the new content; returns self.

        Unlike ops in place, `assign` may fill a leaf that wants a gradient, as in Paddle: it stays that leaf, unless
        the gradient goes on to `other`.
        """
        if not self._is_wanted_leaf() or is_tracing():
            return super()._take(other)
        value = assign_op(other)
        with scoped(grad_enabled, not value.stop_gradient):
            return self._hold(value)

    def _is_wanted_leaf(self) -> bool:
        return grad_enabled.get() and self._node is None and not self.stop_gradient

    def _hold(self, value: Any) -> Any:
        recording = grad_enabled.get()
        node = value._node
        if isinstance(node, GradNode):
            node.keep_own(self._data, self._cell)
        cell = self._cell
        before = as_it_is(self) if cell is not None and len(cell) > 1 else None  # others show this memory
        self._overwrite(value._data, same_memory=value._cell is not None and value._cell is cell)
        if recording:
            self._node = node
            self._index = value._index
            self.stop_gradient = value.stop_gradient
        if before is not None and cell is not None:
            follow(self, before, value, cell)
        return self

    def _assign_variable(self, value: Any) -> Any:
        """While a program is being built: this tensor means the graph variable `value` from here on."""
        building = recorder.get()
        building.assign(self, building.value(value))
        return self

    def _hold_array(self, array: Any) -> None:
        """Hold another array; programs that captured this tensor look whether they know its shape and dtype."""
        mine, self._data = self._data, array
        if array.shape != mine.shape or array.dtype != mine.dtype:
            CAPTURED_KINDS.note(self)

    def _overwrite(self, array: Any, same_memory: bool = False) -> None:
        """Write `array` into the memory held if it fits, else hold it instead.

        same_memory: `array` is a view of what is held (reshape_), so that no content changes.
        """
        mine = self._data
        cell = self.version_cell()
        if array.shape == mine.shape and array.dtype == mine.dtype and _is_own_memory(mine):
            mine[...] = array
            cell[0] += 1
            return
        if same_memory:
            self._hold_array(array)
        else:
            self._renew(array)

    def _renew(self, array: Any) -> None:
        """Hold `array`, another content: the old memory did not change, so whoever kept it may still use it."""
        cell = self.version_cell()
        self._hold_array(array)
        self._cell = [cell[0] + 1]

    def _refill(self, array: Any) -> None:
        """Hold `array`, another content of the same kind, which tensors on the memory held show from here on, too."""
        cell = self._cell
        if cell is not None and getrefcount(cell) > _UNSHARED:
            self._overwrite(array)
        else:
            self._renew(array)

    def set_value(self, value: Any) -> None:
        """Copy `value` (Tensor, NumPy array or nested list) into this tensor, whatever the tape says.

        Raises ShapeError or DTypeError when it has another shape or dtype. Source: paddle.Tensor.set_value.

        Example:
            >>> import vitrify as paddle
            >>> x = paddle.to_tensor([1.0, 2.0])
            >>> x.set_value(paddle.to_tensor([3.0, 4.0]))
            >>> x.tolist()
            [3.0, 4.0]
        """
        if not isinstance(value, TensorMethods):
            has_dtype = isinstance(value, (np.ndarray, np.generic))
            value = TENSORS.wrap(to_array(value, None if has_dtype else self.dtype))
        need_same("set_value", self, value)
        if is_tracing() or not isinstance(value, Holder):
            self._assign_variable(copied(value))
        else:
            self._overwrite(put(value._data, place_of(self._data)))

    def copy_(self, other: Any, blocking: bool = True) -> Any:
        """Copy the Tensor `other` into this one and return it; takes the shape of `other`.

        Raises DTypeError when dtypes differ. Source: paddle.Tensor.copy_.

        Example:
            >>> import vitrify as paddle
            >>> x = paddle.zeros([2])
            >>> x.copy_(paddle.to_tensor([3.0, 4.0])).tolist(), x.tolist()
            ([3.0, 4.0], [3.0, 4.0])
        """
        need_other(other)
        source = TENSORS.as_tensor(other)
        if source.dtype is not self.dtype:
            raise DTypeError(f"copy_: the tensor is {self.dtype.name}, the source is {source.dtype.name}")
        if is_tracing() or not isinstance(source, Holder):
            return self._assign_variable(copied(source))
        same = source._data.shape == self._data.shape
        self._overwrite(put(source._data, place_of(self._data), copy=not same))
        return self

    @property
    def data(self) -> Tensor:
        """A tensor on the same memory that stops gradients; assigning makes this tensor hold another's memory.

        Assigning raises DTypeError for what is no Tensor. Source: paddle.Tensor.data.

        Example:
            >>> import vitrify as paddle
            >>> x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
            >>> x.data[0] = 7.0
            >>> x.data = x.data * 2
            >>> x.tolist(), x.stop_gradient
            ([14.0, 4.0], False)
        """
        return self.detach()

    @data.setter
    def data(self, value: Tensor) -> None:
        outside_programs("assigning `data`")
        if not isinstance(value, Holder):
            raise DTypeError(f"data: expects a Tensor, got {type(value).__name__}")
        self._hold_array(value._data)
        self._cell = value.version_cell()

    def set_(
        self, source: Tensor | None = None, shape: Sequence[int] | None = None, stride: Sequence[int] | None = None,
        offset: int = 0, name: str | None = None,
    ) -> Any:  # fmt: skip
        """Hold the memory of `source` (none: no elements), off the tape; returns self.

        shape, stride: how it is read, by default as source is, or without gaps where a shape is given. offset: bytes
        from its first element on. Raises DTypeError when dtypes differ, ArgumentError for a leaf that wants a gradient
        and an offset between elements, ShapeError beyond the memory. Source: paddle.Tensor.set_.

        Example:
            >>> import vitrify as paddle
            >>> x = paddle.to_tensor([1.0, 2.0])
            >>> x.set_(paddle.to_tensor([1.0, 2.0, 3.0, 4.0]), [2], [2], 4).tolist()
            [2.0, 4.0]
        """
        outside_programs("set_")
        if self._is_wanted_leaf():
            raise changed_leaf(self.name)
        held: Any = TENSORS.wrap(self._data.reshape(-1)[:0]) if source is None else source
        if not isinstance(held, Holder):
            raise DTypeError(f"set_: source must be a Tensor, got {type(source).__name__}")
        if held.dtype is not self.dtype:
            raise DTypeError(f"set_: the tensor is {self.dtype.name}, the source is {held.dtype.name}")
        places, between = divmod(offset, self._data.dtype.itemsize)
        if between:
            raise ArgumentError(f"set_: offset must be a multiple of {self._data.dtype.itemsize} bytes, got {offset}")
        if source is not None and (shape is not None or stride is not None or offset):
            sizes = list(held.shape if shape is None else shape)
            steps = held.strides if shape is None else [math.prod(sizes[i + 1 :]) for i in range(len(sizes))]
            held = held.detach().as_strided(sizes, list(steps if stride is None else stride), places)
        self.data = held
        return self if self._node is None else self.detach_()

    def detach(self) -> Tensor:
        """A tensor on the same memory, of the same shape and dtype, that stops gradients. Source: paddle.Tensor.detach.

        Example:
            >>> import vitrify as paddle
            >>> x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
            >>> y = x.detach()
            >>> y[0] = 9.0
            >>> y.stop_gradient, x.tolist()
            (True, [9.0, 2.0])
        """
        if is_tracing():
            variable: Tensor = recorder.get().detach(self)
            return variable
        out = TENSORS.wrap(self._data)
        out._cell = self.version_cell()
        return out

    def detach_(self) -> Any:
        """This tensor, cut off from the tape: it stops gradients from here on. Source: paddle.Tensor.detach_.

        Example:
            >>> import vitrify as paddle
            >>> x = paddle.to_tensor([1.0], stop_gradient=False)
            >>> y = x * 2
            >>> y.detach_() is y, y.stop_gradient, y.is_leaf
            (True, True, True)
        """
        if is_tracing():
            recorder.get().set_stop_gradient(self, True, is_leaf=True)
            return self
        self._node = None
        self.stop_gradient = True
        return self

    def _cast_data(self, dtype: Any) -> None:
        """Hold the same values as another dtype (how a Layer changes its parameters' dtype)."""
        target = as_dtype(dtype).np
        if self._data.dtype != target:
            self._hold_array(self._data.astype(target))
            self._cell = [self.inplace_version + 1]


def _is_own_memory(array: Any) -> bool:
    """Whether each element has its own writable memory (not so for a broadcast view)."""
    flags = array.flags
    writable = getattr(flags, "writeable", True)
    return bool(writable) and (bool(flags.c_contiguous) or 0 not in array.strides)


__all__ = ["Content"]
