"""What a Variable shares with an eager Tensor besides ops, and what it must refuse because it has no value yet."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NoReturn

import numpy as np

from ..core.dtype import as_dtype
from ..core.errors import DTypeError, UnknownValueError, UnsupportedError
from ..core.lazy import lazy_module
from ..core.meta import UNKNOWN, Meta, numel
from ..core.modes import PYTHON_NUMBER, grad_enabled, is_tracing, recorder, scoped
from ..core.place import Place, as_place, current_place
from ..core.single import assert_index, assert_single
from ..ops.failure import need_other, need_same
from ..ops.tensor_methods import TensorMethods

# What runs a program reads it as variables, whose methods it never calls: the ops come when one is called.
_creation, _like = lazy_module("vitrify.ops.creation"), lazy_module("vitrify.ops.like")
_shape, _sizes = lazy_module("vitrify.ops.shape"), lazy_module("vitrify.ops.sizes")
_same_sizes = lazy_module("vitrify.ops.same_sizes")
_pytree = lazy_module("vitrify.core.pytree")


class GraphTensor(TensorMethods):
    """A tensor known by its meta alone. Raises DTypeError when Python asks for its value."""

    __slots__ = ()

    name: str
    stop_gradient: bool
    shape: Any
    dtype: Any
    ndim: Any

    def _known(self) -> Meta:
        """Shape and dtype."""
        raise NotImplementedError

    # -- values that are not there yet ------------------------------------------------------------------------------

    def _no_value(self, what: str, hint: str | None = None) -> UnknownValueError:
        return UnknownValueError(
            f"{what} needs the value of a tensor ({self._known()}) that is known only when the program runs",
            hint=hint or _CONVERT,
        )

    def __mul__(self, other: Any) -> Any:
        if is_number(self) and isinstance(other, _pytree.OpenList):
            return NotImplemented  # the list knows how
        if is_number(self) and isinstance(other, (list, tuple, str, bytes)):
            raise self._no_value("repeating a sequence")
        return super().__mul__(other)

    __rmul__ = __mul__

    def _foreseen(self, what: str) -> Any:
        """The only element, where each run will find the same; else refused."""
        known = self._foreseen_array()
        if known is None or known.size != 1:
            raise self._no_value(what)
        return known.item()

    def _foreseen_array(self) -> Any:
        """The array that each run will find here; None where runs may differ."""
        building = recorder.get()
        return None if building is None else building.foreseen.value(building.value(self))

    def _is_foreseen(self) -> bool:
        """Whether each run will find the same here."""
        return self._foreseen_array() is not None

    def __bool__(self) -> bool:
        return bool(self._foreseen("bool()"))

    # NumPy leaves `array + x` to x.__radd__, as with eager tensors.
    __array_ufunc__ = None
    __array_priority__ = 100.0

    def __int__(self) -> int:
        return int(self._foreseen("int()"))

    def __float__(self) -> float:
        return float(self._foreseen("float()"))

    def __complex__(self) -> complex:
        raise self._no_value("complex()")

    def __index__(self) -> int:
        assert_index(self.dtype)
        assert_single("an index", tuple(self.shape))
        return int(self._foreseen("use as an index or a Python int"))

    def __array__(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise self._no_value("conversion to a NumPy array", _KEEP_TENSOR)

    def numpy(self) -> Any:
        """What stands for the array while Python is traced; elsewhere refused, since there is no value yet."""
        return self._on_host("numpy")

    def tolist(self) -> Any:
        """What stands for the list while Python is traced; elsewhere refused, since there is no value yet."""
        return self._on_host("tolist")

    def _on_host(self, method: str) -> Any:
        found = getattr(recorder.get(), "host", {}).get(method)
        if found is None:
            raise self._no_value(f"{method}()", _KEEP_TENSOR)
        return found(self)

    def item(self, *args: int) -> Any:
        """The only element (or the one at `args`), as a 0-D tensor through which no gradient flows."""
        picked = _shape.reshape(self, [-1])[args[0]] if len(args) == 1 else self[args] if args else self
        return number(picked, "item")

    def __len__(self) -> int:
        if is_number(self):
            _refuse(len, self)
        shape = self._known().shape
        if not shape:
            raise DTypeError("len() of a 0-D tensor")
        if shape[0] < 0:
            raise self._no_value("len()")
        return shape[0]

    def __iter__(self) -> Iterator[Any]:
        if is_number(self):
            _refuse(iter, self)
        if not self._known().shape:
            raise DTypeError("iteration over a 0-D tensor")
        return (self[i] for i in range(len(self)))

    def __contains__(self, value: Any) -> bool:
        if is_number(self):
            _refuse(lambda known: value in known, self)
        same = self == value
        return same if isinstance(same, bool) else bool(same.any())

    __hash__ = object.__hash__

    def _stand_for_number(self) -> None:
        """Be known from now on to stand for a Python number."""
        raise NotImplementedError

    # As eager: a copy is a new leaf, no gradient flows back through it; a shallow one shares the memory.

    def __copy__(self) -> Any:
        return _leaf_like(self, self.detach())

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        if is_number(self):
            return self  # as Python's numbers, which nobody changes
        copied = memo[id(self)] = _leaf_like(self, self.detach().clone())
        return copied

    # -- text -------------------------------------------------------------------------------------------------------

    def __str__(self) -> str:
        return repr(self)

    def __repr__(self) -> str:
        if is_tracing():
            raise UnsupportedError(
                f"the text of a tensor ({self._known()}) is needed here, but known only when the program runs",
                hint="print(), f-strings, str(), assert messages and exceptions in converted code wait for it; "
                "code that is not converted (libraries, generators) cannot",
            )
        return self.summary()

    def summary(self) -> str:
        """Name and meta as text."""
        raise NotImplementedError

    def __format__(self, spec: str) -> str:
        return format(repr(self), spec)

    def _keep_unknown_sizes(self) -> Any:
        """This tensor, of which what is recorded next takes no unknown size for 1; a run finds out where one is."""
        build = recorder.get()
        build.without_ones = True
        build.takes_sizes |= build.is_called
        return _same_sizes.without_ones_op(self, axes=tuple(i for i, d in enumerate(self.shape) if d == UNKNOWN))

    def _take_unknown_sizes_for_one(self, axes: Any) -> Any:
        """This tensor, of which what is recorded next takes the sizes of `axes` for 1; a run finds out if one is not.

        Also where nothing needs what it holds, but its shape.
        """
        recorder.get().takes_sizes = True
        return _same_sizes.with_ones_op(self, axes=axes)

    # -- in-place changes -------------------------------------------------------------------------------------------

    def _become(self, value: Any) -> Any:
        """From here on this variable means what `value` means now; returns self."""
        if value is self:
            return self
        recorder.get().check_leaf(self)
        return self._hold(value)

    def _hold(self, value: Any) -> Any:
        building = recorder.get()
        building.check_change(self)
        building.assign(self, building.value(value))
        return self

    def _take(self, other: Any) -> Any:
        building = recorder.get()
        if not building.copies_into(self):
            return self._hold(_like.assign_op(other))  # which may fill a leaf
        return self._become(building.value(other))  # what lives in a Scope is written by a copy of its own

    def set_value(self, value: Any) -> None:
        """Take `value` as the content; no gradient flows through it. Raises ShapeError or DTypeError as eager mode."""
        with scoped(grad_enabled, False):
            if not isinstance(value, TensorMethods):
                has_dtype = isinstance(value, (np.ndarray, np.generic))
                value = _creation.constant(np.asarray(value, None if has_dtype else self.dtype.np))
            need_same("set_value", self, value)
            self._take(value)

    def copy_(self, other: Any, blocking: bool = True) -> Any:
        """Take the content of `other`, through which no gradient flows; returns self."""
        need_other(other)
        with scoped(grad_enabled, False):
            return _creation.assign(other, self)

    # -- gradients --------------------------------------------------------------------------------------------------

    def detach(self) -> Any:
        """A tensor of the same values that stops gradients."""
        building = recorder.get()
        if building is not None:
            return building.detach(self)
        with scoped(grad_enabled, False):
            return _like.assign_op(self)

    def detach_(self) -> Any:
        """This tensor, which stops gradients from here on."""
        recorder.get().set_stop_gradient(self, True, is_leaf=True)
        return self

    @property
    def requires_grad(self) -> bool:
        """The opposite of stop_gradient."""
        return not self.stop_gradient

    @requires_grad.setter
    def requires_grad(self, value: bool) -> None:
        setattr(self, "stop_gradient", not value)  # noqa: B010 - a slot of the class below

    def requires_grad_(self, requires_grad: bool = True) -> Any:
        """This tensor, which wants a gradient from here on (or does not)."""
        recorder.get().set_stop_gradient(self, not requires_grad)
        return self

    def backward(
        self, grad_tensor: Any = None, retain_graph: bool = False, *, dump_backward_graph_path: str | None = None
    ) -> None:
        """Accumulate gradients into the `.grad` of every leaf, as of an eager Tensor, while Python is traced.

        Raises UnsupportedError in programs written by hand: those use `static.gradients`.
        """
        if dump_backward_graph_path is not None:
            raise UnsupportedError("backward: dump_backward_graph_path is not supported")
        self._training("backward()").backward([self], [grad_tensor], retain_graph)

    def _training(self, what: str) -> Any:
        found = getattr(recorder.get(), "training", None)
        if found is None:
            raise UnsupportedError(
                f"{what} of a variable of a program",
                hint="programs written by hand use paddle.static.gradients or append_backward",
            )
        return found

    @property
    def grad(self) -> Any:
        """The accumulated gradient, or None."""
        return self._training("grad").grad_of(self)

    @grad.setter
    def grad(self, value: Any) -> None:
        if value is not None and not isinstance(value, TensorMethods):
            raise DTypeError(f"grad: expects a Tensor or None, got {type(value).__name__}")
        self._training("grad").set_grad(self, value)

    def clear_gradient(self, set_to_zero: bool = True) -> None:
        """Reset `.grad` to zeros (or to None)."""
        self._training("clear_gradient()").clear(self, set_to_zero)

    def clear_grad(self) -> None:
        """Reset `.grad` to zeros."""
        self.clear_gradient()

    def retain_grads(self) -> None:
        """Keep `.grad` of this tensor in the next backward, though it is no leaf."""
        self._training("retain_grads()").retain(self)

    def register_hook(self, hook: Any) -> NoReturn:
        """Refused: converted code calls another, which makes the hook a part of the program."""
        raise UnsupportedError(
            "register_hook() on a tensor of a program, in code that is not converted",
            hint="call it in a converted function, or leave this function out with @not_to_static",
        )

    # -- layout -----------------------------------------------------------------------------------------------------

    @property
    def size(self) -> Any:
        """Number of elements: an int, or what stands for one while a dimension is unknown."""
        count = numel(self._known().shape)
        return count if count >= 0 else as_number(_sizes.numel_op(self))

    @property
    def place(self) -> Place:
        """The device that the program is built for."""
        return current_place()

    @property
    def strides(self) -> list[Any]:
        """For each dimension, how many elements apart its neighbours lie; unknown ones are 0-D tensors."""
        found: list[Any] = [1] * self.ndim
        for i in reversed(range(1, self.ndim)):
            found[i - 1] = found[i] * _sizes.size_of(self, i)
        return found

    @property
    def data(self) -> Any:
        """This tensor without gradient, on the same memory."""
        return self.detach()

    def is_contiguous(self) -> bool:
        """True: a program's values have no layout of their own."""
        return True

    def contiguous(self) -> Any:
        """This tensor."""
        return self

    def cpu(self) -> Any:
        """This tensor: a program runs at one place."""
        return self

    def cuda(self, device_id: int | None = None, blocking: bool = True) -> Any:
        """This tensor: a program runs at one place."""
        return self

    def to(self, *args: Any, device: Any = None, dtype: Any = None, **options: Any) -> Any:
        """This tensor as a dtype; devices are checked and left alone, since a program runs at one place."""
        wanted = dtype
        for value in args:
            if isinstance(value, TensorMethods):
                wanted = value.dtype
            elif value is not None and not isinstance(value, (bool, Place)) and not _is_device(value):
                wanted = value
        if device is not None:
            as_place(device)
        return self if wanted is None or as_dtype(wanted) is self.dtype else _like.cast(self, as_dtype(wanted))

    _to = to


_CONVERT = (
    "`if`, `while`, `for`, `and`, `int()` and `len()` on tensors work in functions with @to_static and in what they "
    "call by name, where Python source is available (a branch or loop around a `yield` stays Python in a `try` or "
    "`with`, and where no loop or builtin uses the generator up; so do special methods that library functions call, "
    "such as `__lt__` in a heap: give those a name and call it)"
)
_KEEP_TENSOR = "stay with tensor operations, or leave this function out with @paddle.jit.not_to_static"


def _is_device(value: Any) -> bool:
    return isinstance(value, str) and value.split(":")[0] in ("cpu", "gpu", "gpu_pinned")


def single(value: Any, what: str) -> Any:
    """The one element of a tensor of a program, as a 0-D tensor.

    Raises ArgumentError, now or when the program runs, where it has not one; `what` asks for it.
    """
    assert_single(what, tuple(value.shape))
    if value.ndim == 0:
        return value
    if numel(value.shape) >= 0:
        return _shape.reshape(value, [])
    recorder.get().on_single(what)
    return _same_sizes.one_element_op(value, what=what)


def number(value: Any, what: str, dtype: str | None = None) -> Any:
    """What `float(x)`, `int(x)` or `x.item()` give for a tensor of a program: 0-D, and no gradient flows through it.

    what: what asks for the number, for the ArgumentError of a tensor that is known to have not one element.
    """
    wanted = dtype or ("float64" if value.dtype.is_floating else value.dtype.name)  # Python's floats have 64 bits
    with scoped(grad_enabled, False):
        flat = _like.assign_op(value) if value.ndim == 0 else single(value, what)
        return as_number(flat if flat.dtype.name == wanted else _like.cast(flat, wanted))


def as_number(value: Any) -> Any:
    """`value`, a 0-D tensor of a program, from now on known to stand for a Python number."""
    value._stand_for_number()
    return value


def is_number(value: Any) -> bool:
    """Whether a tensor of a program stands for what is a Python number in eager code."""
    return isinstance(value, GraphTensor) and PYTHON_NUMBER in value.__dict__


def sample(number: Any) -> Any:
    """A Python number of the kind that a number of the program is."""
    dtype = number.dtype
    return False if dtype.is_bool else 1 if dtype.is_integer else 1j if dtype.is_complex else 1.0


def _refuse(ask: Callable[[Any], object], number: Any) -> None:
    """Raise what Python says of a number of that kind, which `ask` wants to be something else."""
    try:
        ask(sample(number))
    except TypeError as err:
        said = TypeError(str(err))
    errors: dict[int, Any] = getattr(recorder.get(), "errors", {})
    errors[id(said)] = (said, None, True)  # eager code raises it, too
    raise said


__all__ = ["GraphTensor", "as_number", "is_number", "number", "sample", "single"]


def _leaf_like(tensor: Any, copied: Any) -> Any:
    """`copied`, which wants a gradient of its own where the tensor wants one."""
    if not tensor.stop_gradient:
        copied.stop_gradient = False
        training = getattr(recorder.get(), "training", None)
        if training is not None:
            training.copies.add(copied)
    return copied
