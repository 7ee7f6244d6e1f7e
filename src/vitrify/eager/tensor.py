"""Tensor: an array with a place on the tape. Ops and their operators come from `ops.methods`."""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from functools import reduce
from typing import Any

import numpy as np

from ..core import names
from ..core.dispatch import bind_pair
from ..core.dtype import as_dtype, complex64, default_dtype, promote
from ..core.errors import ArgumentError, DTypeError, NoGradientError, UnsupportedError
from ..core.modes import PYTHON_NUMBER, grad_enabled, recorder, scoped
from ..core.outside import outside_programs
from ..core.place import CPUPlace, current_place
from ..device.api import namespace_of, put
from ..ops.creation import constant
from ..ops.methods import TensorMethods
from ..ops.registry import get_op
from . import backward as _backward
from .arrays import has_tensors, has_variables, is_host_value, to_array
from .content import Content
from .exchange import Exchange
from .gradients import TAPE, end_cleared, gradients, training_of_trace
from .holder import fill
from .kinds import Kinds
from .layout import Layout
from .tape import TENSORS, Edge, Hook, Node

_new = object.__new__
_ndarray = np.ndarray
_recorder = recorder.get


class Tensor(Content, Exchange, Kinds, Layout):
    """A multi-dimensional array that records how it was computed.

    Source: paddle.Tensor. Made by `to_tensor`, by creation functions and by ops. `Tensor(2, 3)` has that shape,
    `Tensor([1, 2])` those elements, in the default dtype.

    Example:
        >>> import vitrify as paddle
        >>> x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
        >>> (x * x).sum().backward()
        >>> x.grad.tolist()
        [2.0, 4.0]
    """

    __slots__ = ()
    _is_leaf_of_structures = True

    _name_prefix = "generated_tensor"

    def __init__(
        self, *args: Any, data: Any = None, value: Any = None, dtype: Any = None, place: Any = None, device: Any = None,
        name: str | None = None, persistable: bool = False, stop_gradient: bool = True,
    ) -> None:  # fmt: skip
        if not args:
            args = (data if value is None else value,)
        fill(self, _constructed(args, dtype, device if place is None else place))
        self.stop_gradient = stop_gradient
        if name is not None:
            self.name = name
        if persistable:
            self.persistable = True

    # -- identity ---------------------------------------------------------------------------------------------------

    @property
    def name(self) -> str:
        """A text, unique in this process, made when first asked for; it may be set. Source: paddle.Tensor.name.

        Example:
            >>> import vitrify as paddle
            >>> x = paddle.to_tensor([1.0])
            >>> x.name = "weights"
            >>> x.name, (x * 2).name == (x * 2).name
            ('weights', False)
        """
        held = self.__dict__.get("_name")
        if held is None:
            held = self.__dict__["_name"] = names.generate(self._name_prefix)
        return str(held)

    @name.setter
    def name(self, value: str) -> None:
        self.__dict__["_name"] = value

    @property
    def persistable(self) -> bool:
        """Whether state_dict-like collections keep this tensor. Source: paddle.Tensor.persistable.

        Example:
            >>> import vitrify as paddle
            >>> paddle.nn.Linear(2, 2).weight.persistable, paddle.ones([2]).persistable
            (True, False)
        """
        held: bool = self.__dict__.get("_persistable", False)
        return held

    @persistable.setter
    def persistable(self, value: bool) -> None:
        self.__dict__["_persistable"] = value if isinstance(value, TensorMethods) else bool(value)

    # -- autograd ---------------------------------------------------------------------------------------------------

    @property
    def is_leaf(self) -> bool:
        """Whether no recorded op made this tensor: backward leaves gradients in leaves.

        Source: paddle.Tensor.is_leaf.

        Example:
            >>> import vitrify as paddle
            >>> x = paddle.to_tensor([1.0], stop_gradient=False)
            >>> x.is_leaf, (x * 2).is_leaf, (x.detach() * 2).is_leaf
            (True, False, True)
        """
        return self._node is None

    @property
    def grad_fn(self) -> Node | None:
        """The tape node that made this tensor, or None. Source: paddle.Tensor.grad_fn.

        Example:
            >>> import vitrify as paddle
            >>> x = paddle.to_tensor([1.0], stop_gradient=False)
            >>> x.grad_fn, (x * 2).grad_fn.name
            (None, 'multiply')
        """
        return self._node

    @property
    def requires_grad(self) -> bool:
        """The opposite of `stop_gradient`, a bool that may be set. Source: paddle.Tensor.requires_grad.

        Example:
            >>> import vitrify as paddle
            >>> x = paddle.ones([2])
            >>> x.requires_grad = True
            >>> x.requires_grad, x.stop_gradient
            (True, False)
        """
        return not self.stop_gradient

    @requires_grad.setter
    def requires_grad(self, value: bool) -> None:
        self.stop_gradient = not value

    def requires_grad_(self, requires_grad: bool = True) -> Tensor:
        """This tensor, which wants a gradient from here on (or does not).

        Raises UnsupportedError in a function that is compiled with full_graph=True.
        Source: paddle.Tensor.requires_grad_.

        Example:
            >>> import vitrify as paddle
            >>> x = paddle.ones([2]).requires_grad_()
            >>> (x * 3).sum().backward()
            >>> x.grad.tolist()
            [3.0, 3.0]
        """
        outside_programs("Tensor.requires_grad_", but_written=True)
        self.stop_gradient = not requires_grad
        return self

    @property
    def grad(self) -> Tensor | None:
        """The accumulated gradient, a Tensor of this shape and dtype, or None; it may be set.

        Setting it to what is neither a Tensor nor None raises DTypeError. Source: paddle.Tensor.grad.

        Example:
            >>> import vitrify as paddle
            >>> x = paddle.to_tensor([3.0], stop_gradient=False)
            >>> x.grad is None
            True
            >>> (x**2).backward()
            >>> (x**2).backward()
            >>> x.grad.tolist()
            [12.0]
        """
        held: Tensor | None = gradients().grad_of(self)
        return held

    @grad.setter
    def grad(self, value: Tensor | None) -> None:
        keeper = gradients()
        if value is not None and not isinstance(value, keeper.kind):
            raise DTypeError(f"grad: expects a Tensor or None, got {type(value).__name__}")
        keeper.set_grad(self, value)

    def gradient(self) -> np.ndarray[Any, Any] | None:
        """The accumulated gradient as a NumPy array, or None. Source: paddle.Tensor.gradient.

        Example:
            >>> import vitrify as paddle
            >>> x = paddle.to_tensor([3.0], stop_gradient=False)
            >>> (x**2).backward()
            >>> x.gradient()
            array([6.], dtype=float32)
        """
        held = self.grad
        return None if held is None else held.numpy()

    def backward(
        self,
        grad_tensor: Tensor | None = None,
        retain_graph: bool = False,
        *,
        dump_backward_graph_path: str | None = None,
    ) -> None:
        """Accumulate gradients of this tensor into the `.grad` of every leaf it depends on.

        grad_tensor: the cotangent, same shape; ones by default. dump_backward_graph_path: must be None.
        Raises StaleBackwardError on a freed graph. Source: paddle.Tensor.backward.

        Example:
            >>> import vitrify as paddle
            >>> x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
            >>> y = x * x
            >>> y.backward(paddle.to_tensor([1.0, 10.0]))
            >>> x.grad.tolist()
            [2.0, 40.0]
        """
        _backward.refuse_dump("backward", dump_backward_graph_path)
        keeper = gradients()
        if grad_tensor is not None and not isinstance(grad_tensor, keeper.kind):
            raise DTypeError(f"backward: grad_tensor must be a Tensor, got {type(grad_tensor).__name__}")
        keeper.backward([self], [grad_tensor], retain_graph)

    def _accumulate(self, ct: Tensor) -> None:
        """Add `ct` to `.grad`, in memory of its own. Who has read `.grad`, or detached it, has the sum, too."""
        held = self._grad
        if held is not None:
            with scoped(grad_enabled, False):
                total = bind_pair(get_op("add"), held, ct)._data
            if held._cell is None:  # nobody has read it
                held._hold_array(total)
            else:
                held._refill(total)
            end_cleared(held)
            return
        array = ct._data
        ours = array.dtype == self._data.dtype and array.base is None and ct._cell is None
        ct.version_cell()  # marks the memory as taken: another leaf may be handed the same cotangent
        self._grad = wrap(array if ours else array.astype(self._data.dtype))
        self._grad.stop_gradient = False  # a leaf, as in PaddlePaddle: what is computed from it can be differentiated

    def clear_gradient(self, set_to_zero: bool = True) -> None:
        """Reset `.grad` to zeros (or to None). Source: paddle.Tensor.clear_gradient.

        Example:
            >>> import vitrify as paddle
            >>> x = paddle.to_tensor([3.0], stop_gradient=False)
            >>> (x**2).backward()
            >>> x.clear_gradient()
            >>> x.grad.tolist()
            [0.0]
            >>> x.clear_gradient(set_to_zero=False)
            >>> x.grad is None
            True
        """
        gradients().clear(self, set_to_zero)

    def clear_grad(self) -> None:
        """Reset `.grad` to zeros. Source: paddle.Tensor.clear_grad.

        Example:
            >>> import vitrify as paddle
            >>> x = paddle.to_tensor([3.0], stop_gradient=False)
            >>> (x**2).backward()
            >>> x.clear_grad()
            >>> x.grad.tolist()
            [0.0]
        """
        self.clear_gradient()

    def register_hook(self, hook: Hook) -> HookHandle:
        """Call `hook(grad)` whenever this tensor's gradient is computed; a returned tensor replaces it.

        Raises NoGradientError for a tensor that gets no gradient. Source: paddle.Tensor.register_hook.

        Example:
            >>> import vitrify as paddle
            >>> x = paddle.to_tensor([1.0], stop_gradient=False)
            >>> handle = x.register_hook(lambda grad: grad * 10)
            >>> (x * 3).backward()
            >>> x.grad.tolist(), handle.remove()
            ([30.0], True)
        """
        training = training_of_trace()
        if training is not None and self._node is None:
            registered: HookHandle = training.register_hook(self, hook)
            return registered
        outside_programs("Tensor.register_hook", but_written=True)
        if self.stop_gradient:
            raise NoGradientError("register_hook: tensor has stop_gradient=True, so it gets no gradient")
        if self._node is None:
            if self._hooks is None:
                self._hooks = []
            return HookHandle(self._hooks, hook)
        if self._node.hooks is None:
            self._node.hooks = {}
        return HookHandle(self._node.hooks.setdefault(self._index, []), hook)

    def retain_grads(self) -> None:
        """Keep `.grad` of this non-leaf tensor in the next backward. Source: paddle.Tensor.retain_grads.

        Example:
            >>> import vitrify as paddle
            >>> x = paddle.to_tensor([2.0], stop_gradient=False)
            >>> y = x * 3
            >>> y.retain_grads()
            >>> (y**2).backward()
            >>> y.grad.tolist()
            [12.0]
        """
        if self._node is not None:
            if self._node.retained is None:
                self._node.retained = {}
            self._node.retained[self._index] = weakref.ref(self)


class HookHandle:
    """Removes its hook: `handle.remove()`."""

    def __init__(self, held: list[Any], hook: Any) -> None:
        held.append(hook)
        self._held = held
        self._hook = hook

    def remove(self) -> bool:
        """Whether the hook was still registered; it is not any more."""
        for i, hook in enumerate(self._held):
            if hook is self._hook:
                del self._held[i]
                return True
        return False


def wrap(data: Any) -> Tensor:
    """A Tensor around an array it may own; NumPy scalars become 0-D arrays."""
    t: Tensor = _new(Tensor)
    t._data = data if data.__class__ is _ndarray else _as_array(data)
    t.stop_gradient = True
    t._node = None
    t._index = 0
    t._grad = None
    t._cell = None
    t._hooks = None
    return t


def _as_array(data: Any) -> Any:
    return np.asarray(data) if isinstance(data, (np.generic, bool, int, float, complex)) else data


def _constructed(args: tuple[Any, ...], dtype: Any, place: Any) -> Any:
    """The array that `Tensor(*args)` holds: of that shape for ints, else of the one argument's elements."""
    if all(isinstance(a, int) for a in args):
        return to_array(np.zeros(args), dtype or "float32", place)
    if len(args) > 1:
        raise ArgumentError(f"Tensor: expects sizes or one list, array or Tensor, got {len(args)} arguments")
    data = args[0]
    if has_variables(data):
        raise UnsupportedError(
            "Tensor(...) made of a tensor whose value is known only when the program runs", hint="call paddle.to_tensor"
        )
    if data is None:
        return to_array(np.zeros((0,)), dtype or "float32", place)
    listed = isinstance(data, (list, tuple))
    return to_array(data, "float32" if listed and dtype is None else dtype, place)


def edge_to(tensor: Tensor) -> Edge | None:
    """Where the cotangent of an op's input goes; None when it wants none."""
    if tensor.stop_gradient:
        return None
    node = tensor._node
    return (None, -1, tensor) if node is None else (node, tensor._index, None)


def as_tensor(data: Any, dtype: Any = None) -> Any:
    """`data` itself when it is a Tensor (or graph variable) of that dtype, else a new Tensor."""
    if not isinstance(data, TensorMethods):
        return to_tensor(data, dtype)
    wanted = data.dtype if dtype is None else as_dtype(dtype)
    return data if data.dtype is wanted else get_op("cast")(data, dtype=wanted)


def to_tensor(data: Any, dtype: Any = None, place: Any = None, stop_gradient: bool = True) -> Any:
    """A new Tensor holding a copy of `data` (nested sequence, scalar, NumPy array or Tensor).

    Python floats become the default dtype, ints int64; NumPy arrays keep theirs. Raises ArgumentError for ragged lists.
    Source: paddle.to_tensor.

    Example:
        >>> import vitrify as paddle
        >>> paddle.to_tensor([[1, 2], [3, 4]]).shape
        paddle.Size([2, 2])
    """
    if has_variables(data):
        with scoped(grad_enabled, False):
            variable = _variable_from(data, dtype)
            variable = variable if stop_gradient else variable.detach()
        variable.stop_gradient = stop_gradient
        return variable if stop_gradient else _leaf_of_trace(variable)
    if getattr(_recorder(), "persistables", None) is not None:
        return _constant_of_program(data, dtype, place, stop_gradient)
    if not stop_gradient and training_of_trace() is not None:  # another leaf in each run
        return _leaf_of_trace(_constant_of_program(data, dtype, place, stop_gradient))
    out = wrap(to_array(data, dtype, place))
    out.stop_gradient = stop_gradient
    building = _recorder()
    if building is not None and not isinstance(data, Tensor):
        building.foreseen.note_made(out)
    return out


def _leaf_of_trace(variable: Any) -> Any:
    """A variable that wants a gradient, known as a leaf where the user's Python is being traced."""
    gradients().note_leaf(variable, variable)
    return variable


def _constant_of_program(data: Any, dtype: Any, place: Any, stop_gradient: bool) -> Any:
    """The value as a constant of the program that is written by hand."""
    out = constant(put(to_array(data, dtype, place), CPUPlace()))
    out.stop_gradient = stop_gradient
    return out


def _variable_from(data: Any, dtype: Any) -> Any:
    """A graph variable: a copy of one, or the items of a list stacked up."""
    if isinstance(data, (list, tuple)):
        items = [to_tensor(item, dtype) for item in data]
        held = reduce(lambda a, b: promote(a, b, a_0d=True, b_0d=True), (item.dtype for item in items))
        out = get_op("stack")(*[item if item.dtype is held else as_tensor(item, held) for item in items], axis=0)
    elif is_host_value(data):
        out = data.tensor()
    else:
        out = get_op("assign")(data)
        if dtype is None and PYTHON_NUMBER in data.__dict__ and out.dtype.is_inexact:
            dtype = default_dtype() if out.dtype.is_floating else promote(default_dtype(), complex64)
    return out if dtype is None else as_tensor(out, dtype)


def _of_output(array: Any, node: Node, index: int) -> Tensor:
    out = wrap(array)
    out._node = node
    out._index = index
    out.stop_gradient = False
    return out


def _zeros(shape: Sequence[int], dtype: np.dtype[Any]) -> Tensor:
    return wrap(put(np.zeros(tuple(shape), dtype), current_place()))


def _ones_like(tensor: Tensor) -> Tensor:
    return wrap(namespace_of((tensor._data,)).ones_like(tensor._data, order="C"))


def _reduce_to(ct: Tensor, shape: tuple[int, ...]) -> Tensor:
    out: Tensor = get_op("sum_to")(ct, shape=shape)
    return out


def _cast(ct: Tensor, dtype: np.dtype[Any]) -> Tensor:
    out: Tensor = get_op("cast")(ct, dtype=as_dtype(dtype))
    return out


TAPE.kind = Tensor
TENSORS.as_tensor = as_tensor
TENSORS.cast = _cast
TENSORS.wrap = wrap
TENSORS.of_output = _of_output
TENSORS.zeros = _zeros
TENSORS.ones_like = _ones_like
TENSORS.reduce_to = _reduce_to

__all__ = ["HookHandle", "Tensor", "as_tensor", "edge_to", "fill", "has_tensors", "namespace_of", "to_tensor", "wrap"]
