"""Variables of Programs, and the numbers that stand beside them among the inputs of operators."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.dtype import DType
from ..core.errors import ArgumentError, ShapeError, UnsupportedError
from ..core.lazy import lazy_module
from ..core.meta import FrameMeta, ListMeta, Meta
from ..core.modes import PYTHON_NUMBER, recorder
from ..core.source import is_asked_by_others, is_known_ours
from ..ops.missing import MAY_BE_MISSING, MAY_HAVE_GAPS
from .graph_tensor import GraphTensor
from .program_desc import VarDesc

_size = lazy_module("vitrify.core.size")  # what runs a saved program asks no variable for its shape

if TYPE_CHECKING:
    from .program import Block

Value = Any  # Variable | Literal | None
AnyMeta = Meta | ListMeta | FrameMeta


@dataclass(frozen=True)
class Literal:
    """A Python scalar among an operator's inputs, with the dtype it takes there."""

    value: bool | int | float | complex
    dtype: DType

    @property
    def meta(self) -> Meta:
        """Shape [] and the dtype."""
        return Meta((), self.dtype)

    stop_gradient = True


class ScopeSlot:
    """Holds what reads and writes variables of scopes, filled in once when `vitrify.runtime` is imported.

    ir lies below runtime and may not import it; this is the seam between them.
    """

    __slots__ = ("read", "write")

    read: Callable[[str, Any], Any]
    write: Callable[[str, Any, Any], None]


SCOPES = ScopeSlot()


_set_class: Callable[[Any, type], None] = object.__dict__["__class__"].__set__


class Variable(GraphTensor):
    """A named value of a Program, known by its meta only. Source: paddle.static.Variable.

    Raises DTypeError when Python asks for its value (`bool(v)`, `int(v)`, iteration): there is none yet.
    """

    __slots__ = ("__dict__", "__weakref__", "block", "meta", "name", "persistable", "stop_gradient")
    block: Block
    name: str
    meta: AnyMeta
    stop_gradient: bool
    persistable: bool

    def __init__(
        self, block: Block, name: str, meta: AnyMeta, *, stop_gradient: bool = True, persistable: bool = False
    ) -> None:
        put = object.__setattr__  # a new variable changes the program when a block takes it in
        put(self, "block", block)
        put(self, "name", name)
        put(self, "meta", meta)
        put(self, "stop_gradient", stop_gradient)
        put(self, "persistable", persistable)

    def __setattr__(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)
        self.block.program.epoch.bump()

    @property
    def __class__(self) -> type:
        """What isinstance goes by where the type itself does not fit.

        Code that nobody converts, a library's or what `not_to_static` marks, asks while a function is traced, too:
        it means the tensor of eager code.
        """
        building = recorder.get()
        of_eager_code = None if building is None else building.eager_class
        if of_eager_code is None:
            return type(self)
        asking = sys._getframe(1)
        if is_known_ours(asking.f_code.co_filename) or not is_asked_by_others(asking):
            return type(self)
        found: type = of_eager_code(self)
        return found

    @__class__.setter
    def __class__(self, value: type) -> None:
        _set_class(self, value)

    @property
    def shape(self) -> Any:
        """Sizes of all dimensions; -1 where unknown."""
        return _size.size_of_items(self._known().shape)

    @property
    def dtype(self) -> DType:
        """The element type."""
        return self._known().dtype

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        return len(self._known().shape)

    def _known(self) -> Meta:
        """Shape and dtype of what the variable means now: an in-place change may have given it others."""
        building = recorder.get()
        now: Variable | None = None if building is None else building.meaning(self)
        meta: AnyMeta = self.meta if now is None else now.meta
        while isinstance(meta, ListMeta):
            meta = meta.item
        assert isinstance(meta, Meta)
        return meta

    @property
    def op(self) -> Any:
        """The operator that writes it; None of inputs and of what scopes keep alone."""
        return next((op for op in reversed(self.block.ops) if any(v is self for v in op.outputs)), None)

    @property
    def is_parameter(self) -> bool:
        """Whether it is a trainable parameter."""
        return bool(self.__dict__.get("is_parameter_", False))

    @property
    def trainable(self) -> bool:
        """Of a parameter: whether optimizers change it and it has a gradient."""
        return not self.stop_gradient

    @trainable.setter
    def trainable(self, value: bool) -> None:
        self.stop_gradient = not value

    def get_value(self, scope: Any = None) -> Any:
        """A copy of what a scope (the global one by default) holds of it, as an array.

        Raises ArgumentError for what no scope keeps, and where it has no value.
        Source: paddle.static.Variable.get_value.
        """
        return SCOPES.read(self._kept("get_value"), scope)

    def set_value(self, value: Any, scope: Any = None) -> None:
        """Of a variable that scopes keep: let a scope (the global one by default) hold `value`, an array or Tensor.

        Of others, and with a value of the program: from here on it means `value`. Raises ArgumentError where the scope
        has no value of it yet, ShapeError for another shape. Source: paddle.static.Variable.set_value.
        """
        if not self.persistable or isinstance(value, Variable):
            super().set_value(value)
            return
        found = np.asarray(value.numpy() if hasattr(value, "numpy") else value)
        if found.shape != self._known().shape:
            raise ShapeError(f"set_value: {self.name!r} is {self.meta}, the value has shape {list(found.shape)}")
        SCOPES.write(self.name, found.astype(self.dtype.np), scope)

    def _kept(self, what: str) -> str:
        if not self.persistable:
            raise ArgumentError(
                f"{what}: no scope keeps {self.name!r}", hint="fetch it: exe.run(program, fetch_list=[variable])"
            )
        return self.name

    __hash__ = object.__hash__  # by identity, and not by a function of Python's: analyses ask for it all the time

    def _stand_for_number(self) -> None:
        self.__dict__[PYTHON_NUMBER] = True
        _set_class(self, NumberVariable)

    @property
    def is_data(self) -> bool:
        """Whether runs feed it, as `static.data` makes it."""
        return any(var is self for var in self.block.inputs) and self.block.parent is None

    need_check_feed = is_data  # what runs feed is checked

    @property
    def grad_name(self) -> str:
        """What `append_backward` calls its gradient. Source: paddle.static.Variable.grad_name."""
        return f"{self.name}@GRAD"

    lod_level = 0  # tensors here are dense, with no levels of lengths

    @property
    def type(self) -> str:
        """What kind of value it is: "tensor", or "list" of tensors."""
        return "list" if isinstance(self.meta, ListMeta) else "tensor"

    @property
    def desc(self) -> VarDesc:
        """What Paddle keeps of variables in C++."""
        return VarDesc(self)

    def to_string(self, throw_on_error: bool = False, with_details: bool = False) -> str:
        """Name, meta and flags as text. Source: paddle.static.Variable.to_string."""
        return self.summary()

    def summary(self) -> str:
        """Name, meta and flags as text."""
        flags = "".join(f", {n}" for n in ("persistable", "stop_gradient") if getattr(self, n))
        return f"var {self.name} : {self.meta}{flags}"


class NumberVariable(Variable):
    """A variable that stands for a Python number."""

    __slots__ = ()

    def __hash__(self) -> int:
        if _acts_for_user(sys._getframe(1).f_globals["__name__"]):
            raise UnsupportedError(
                "a number that is known only when the program runs is put where Python finds things by their value: in "
                "a set, or as the key of a dict",
                hint="keep the numbers in a list or tensor, or convert with full_graph=False",
            )
        return object.__hash__(self)


# Modules of ours that hash what the user puts into sets and dicts.
_FOR_USER = frozenset(
    f"vitrify.convert.{name}"
    for name in ("control.comprehension", "operators.objects", "operators.operate", "control.protocols", "calls.table")
)


def _acts_for_user(module: str) -> bool:
    """Whether code of this module looks values up for the user, not variables for itself."""
    return module in _FOR_USER or not module.startswith("vitrify.")


def pass_mark(outer: Variable, inner: Variable) -> None:
    """Let `inner`, which stands for `outer` in a block, be known as missing at times if `outer` is, or its items."""
    for mark in (MAY_BE_MISSING, MAY_HAVE_GAPS):
        if mark in outer.__dict__:
            inner.__dict__[mark] = True


def position(values: Sequence[Any], var: Any) -> int:
    """Index of `var` itself in `values`, or -1. (`in` and `index` would compare with ==, which is an op here.)"""
    for index, value in enumerate(values):
        if value is var:
            return index
    return -1
