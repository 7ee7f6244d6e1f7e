"""What converted code's values are: tensors of a program being built, unset variables, or plain Python."""

from __future__ import annotations

import math
import re
from enum import Enum
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

import numpy as np

from ...core.dtype import DType
from ...core.errors import ArgumentError, UnsettledError, VitrifyError
from ...core.library_settings import SETTINGS
from ...core.meta import numel
from ...core.source import user_frames
from ...eager.tensor import Tensor
from ...ir.builder import Builder, current_builder
from ...ir.graph_tensor import single
from ...ir.program import Variable
from ...ir.varying import kinds_of
from ...ops.like import cast
from ...ops.promote import SCALARS
from .unset_errors import unset_error


class Undefined:
    """The value of a variable that is not set; any use raises what Python does, with a note of its line.

    One without a name is a variable of ours, which nobody reads where it is unset.
    """

    __slots__ = ("line", "name")

    def __init__(self, name: str = "", line: int = 0) -> None:
        self.name = name
        self.line = line

    def fail(self, is_free: bool = False) -> Exception:
        """The error that a use of this value raises. is_free: an inner function reads the variable."""
        err = unset_error(self.name, self.line, is_free)
        build = current_builder()
        if build is not None:
            build.errors[id(err)] = (err, None, True)  # eager code raises it, too
        return err

    def returned(self) -> Exception:
        """The error of a function that returns this value."""
        return self.fail()

    def __getattr__(self, attribute: str) -> Any:
        if attribute.startswith("__") and attribute.endswith("__"):
            raise AttributeError(attribute)
        raise self.fail()

    def __bool__(self) -> bool:
        raise self.fail()

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise self.fail()

    def __iter__(self) -> Any:
        raise self.fail()

    def __repr__(self) -> str:
        return f"<unset {self.name}>"


class Absent(Undefined):
    """What a variable holds that was never set, or deleted: not even the mark of an unset variable is there."""

    __slots__ = ()


class MaybeUnset(Undefined):
    """What a variable holds that some path left unset, where no tensor in its value can tell.

    `flag`: a number of the program that says whether it holds `value`.
    """

    __slots__ = ("flag", "value")

    def __init__(self, name: str, line: int, value: Any, flag: Any) -> None:
        super().__init__(name, line)
        self.value = value
        self.flag = flag

    def fail(self, is_free: bool = False) -> VitrifyError:
        return UnsettledError(
            f"variable {self.name!r} is read, which one path of a tensor's decision leaves unset",
            hint=f"give {self.name!r} a value before the `if` or loop",
        )


class Unmergeable(Undefined):
    """The value of a variable whose branches gave things that no tensor can stand for; fails when used.

    `decided` is its truth where that is known all the same: of `tensor and items` as a condition.
    """

    __slots__ = ("decided", "loc", "reason")

    def __init__(self, name: str, reason: str, decided: Any = None) -> None:
        super().__init__(name, 0)
        self.reason = reason
        self.decided = decided
        frames = user_frames(2, limit=1)
        self.loc = frames[0] if frames else None

    def fail(self, is_free: bool = False) -> VitrifyError:
        return self._mixed(f"variable {self.name!r}")

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Undefined):
            return self is other
        raise self.fail()

    __hash__ = None  # type: ignore[assignment]  # no key either

    def returned(self) -> VitrifyError:
        return self._mixed("what the function returns")

    def _mixed(self, what: str) -> VitrifyError:
        return UnsettledError(
            f"{what} depends on a tensor condition, but {self.reason}",
            loc=self.loc,
            hint="give it values of one kind in both branches (tensors or numbers, the same nesting)",
        )


def is_unset(held: Any) -> bool:
    """Whether a place holds nothing, on whatever path."""
    return isinstance(held, Undefined) and not isinstance(held, (MaybeUnset, Unmergeable))


def _failing(self: Undefined, *args: Any) -> Any:
    raise self.fail()


_OPERATORS = [
    *["add", "radd", "sub", "rsub", "mul", "rmul", "truediv", "rtruediv", "floordiv", "rfloordiv", "mod", "rmod"],
    *["pow", "rpow", "matmul", "rmatmul", "neg", "pos", "abs", "invert", "lt", "le", "gt", "ge", "len", "getitem"],
    *["setitem", "contains", "index", "int", "float", "enter", "exit"],
]


def failing_operators(*more: str) -> list[str]:
    """The special methods that a value without a value for Python refuses."""
    return [f"__{name}__" for name in (*_OPERATORS, *more)]


for _name in failing_operators():
    setattr(Undefined, _name, _failing)


def is_graph(value: Any) -> bool:
    """Whether the value is a tensor of the program being built."""
    return isinstance(value, Variable)


def is_constant(value: Any) -> bool:
    """Whether the value can neither change nor hold something that does: it is the same on every path."""
    if isinstance(value, (FunctionType, BuiltinFunctionType)):
        return getattr(value, "__closure__", None) is None and not getattr(value, "__dict__", None)
    if isinstance(value, slice):
        return all(bound is None or type(bound) is int for bound in (value.start, value.stop, value.step))
    return isinstance(value, _CONSTANTS)


_CONSTANTS = (
    *SCALARS, np.generic, str, bytes, type, ModuleType, Enum, range, type(None), type(...), DType, np.dtype, re.Match,
    re.Pattern,
)  # fmt: skip


def is_equal(a: Any, b: Any) -> bool:
    """Whether Python finds two values equal, and zeros of one sign; arrays, which say it item by item, are not."""
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        return False  # of other shapes, NumPy raises
    found = a == b
    if found is True and a.__class__ is b.__class__ is float and not a:
        return math.copysign(1.0, a) == math.copysign(1.0, b)
    return bool(found) if isinstance(found, (bool, np.bool_)) else False


def as_graph(value: Any) -> Any:
    """`value`; while a program is built, an eager tensor from outside as the variable that stands for it.

    What such a tensor holds now is not what it will hold when the program runs.
    """
    build = current_builder() if isinstance(value, Tensor) else None
    return value if build is None else build.value(value)


def is_tensor(value: Any) -> bool:
    """Whether the value is a tensor of either kind."""
    return isinstance(value, (Variable, Tensor))


def builder() -> Builder:
    """The builder of the trace in progress."""
    found = current_builder()
    assert found is not None
    return found


def note_setting(name: str | None) -> None:
    """Note that settings of a library of this name are asked, as they are now (`core/library_settings.py`)."""
    build = current_builder()
    if build is not None and name is not None and name not in build.settings:
        build.settings[name] = SETTINGS[name]()


def scalar_condition(test: Variable, what: str) -> Variable:
    """A tensor condition as a 0-D bool; raises ArgumentError (a ValueError, as eager) when it has more elements."""
    if numel(tuple(test.shape)) not in (1, -1):
        err = ArgumentError(
            f"{what}: the condition has {numel(tuple(test.shape))} elements ({test.meta}); its truth is ambiguous",
            hint="use .any() or .all()",
        )
        if len(kinds_of(test)) == 1:  # eager code raises it, too, where this path is taken
            builder().errors[id(err)] = (err, None, True)
        raise err
    flag: Variable = single(cast(test, "bool"), "bool()")
    return flag
