"""Which functions are the user's own, to be converted, and which are left as they are."""

from __future__ import annotations

import functools
import os
import sys
import sysconfig
from collections import deque
from collections.abc import Callable
from types import BuiltinFunctionType, CodeType, FunctionType, MethodDescriptorType, MethodType, ModuleType
from typing import Any

from ...core.bound import bound_to, plain_attribute, unbound
from ...core.converted_too import is_converted_too
from ...core.errors import UnsupportedError
from ...core.setting import Setting
from ...core.source import is_user_file
from ...eager.tensor import Tensor
from ...ir.builder import current_builder
from ...ir.graph_tensor import is_number
from ...ir.program import Variable
from ...ops.tensor_methods import TensorMethods
from .model_packages import is_in_model_package

MARK = "__vitrify_not_to_static__"
_DYNAMIC = "__vitrify_force_dynamic__"
IGNORED: Setting[frozenset[str]] = Setting("ignored_modules", frozenset())

_LIBRARY_ROOTS = tuple(
    {sysconfig.get_paths()[k] + os.sep for k in ("stdlib", "platstdlib", "purelib", "platlib")}
    | {os.path.join(sys.prefix, "lib") + os.sep}
)


def not_to_static(func: Callable[..., Any] | None = None) -> Any:
    """Mark a function, or a class with all its methods, so that conversion leaves it as it is.

    Source: paddle.jit.not_to_static.

    Example:
        >>> import vitrify as paddle
        >>> @paddle.jit.not_to_static
        ... def by_hand(x):
        ...     return x + 1
        >>> by_hand(paddle.to_tensor([1.0])).tolist()
        [2.0]
    """
    if func is None:
        return not_to_static
    _mark(func, MARK)
    return func


def _mark(func: Callable[..., Any], name: str) -> None:
    plain = unbound(func)
    # By its code: functools.wraps copies what a function holds, and its copy is another function.
    setattr(plain, name, getattr(plain, "__code__", True))


def force_dynamic(fn: Callable[..., Any] | None = None) -> Any:
    """Mark a function, or a Layer's class, to run as Python in eager mode: programs end before it and go on behind it.

    With `full_graph=True` a call of it raises UnsupportedError. Source: paddle.jit.marker.force_dynamic.

    Example:
        >>> import vitrify as paddle
        >>> @paddle.jit.marker.force_dynamic
        ... def largest(x):
        ...     return max(x.tolist())
        >>> paddle.jit.to_static(lambda x: x * largest(x))(paddle.to_tensor([1.0, 3.0])).tolist()
        [3.0, 9.0]
    """
    if fn is None:
        return force_dynamic
    _mark(fn, _DYNAMIC)
    return not_to_static(fn)


def ignore_module(modules: list[ModuleType]) -> None:
    """Leave the functions of these modules (and of their submodules) unconverted. Source: paddle.jit.ignore_module.

    Example:
        >>> import vitrify as paddle
        >>> import json
        >>> paddle.jit.ignore_module([json])
    """
    IGNORED.set(IGNORED.get() | {m.__name__ for m in modules})


def _of_total_ordering() -> frozenset[CodeType]:
    """The code of what `functools.total_ordering` gives classes, which asks their own comparisons."""
    given: Any = ("__lt__", "__le__", "__gt__", "__ge__")
    made: list[tuple[str, Any]] = [
        (own, functools.total_ordering(type("Ordered", (), {own: lambda *sides: False}))) for own in given
    ]
    return frozenset([getattr(cls, name).__code__ for own, cls in made for name in given if name != own])


_ORDERED = _of_total_ordering()


def is_user_code(fn: FunctionType) -> bool:
    """Whether the function is the user's: not ours, not a library's, not marked or ignored."""
    if getattr(fn, MARK, None) is fn.__code__ or _is_ignored(fn.__module__ or ""):
        return False
    return is_own_file(fn.__code__.co_filename) or is_converted_too(fn) or fn.__code__ in _ORDERED


def is_own_file(filename: str) -> bool:
    """Whether the file is the user's: not ours, not a library's; an installed package of models is no library."""
    return is_user_file(filename) and (not filename.startswith(_LIBRARY_ROOTS) or is_in_model_package(filename))


def is_ours(function: Any) -> bool:
    """Whether it is a function, class or Layer of this package."""
    module = plain_attribute(function, "__module__") or type(function).__module__
    return module.partition(".")[0] == "vitrify"


_PUT = frozenset({"append", "appendleft", "extend", "insert"})


def passes_on(function: Any) -> bool:
    """Whether a call hands its arguments on as they are: to code of the user's, or into a container."""
    function = getattr(function, "func", function) if isinstance(function, functools.partial) else function
    owner = bound_to(function)
    if isinstance(owner, (list, deque)):
        return function.__name__ in _PUT
    called = unbound(function)
    if isinstance(called, FunctionType):
        return is_user_code(called)
    is_in_c = isinstance(called, (BuiltinFunctionType, MethodDescriptorType))
    if (is_in_c and not isinstance(owner, (dict, set, frozenset))) or is_ours(function):
        return False
    forward = plain_attribute(called, "forward")
    return isinstance(called, type) or not callable(forward) or passes_on(forward)


def is_left_alone(owner: Any) -> bool:
    """Whether an object, or its class, is marked with not_to_static."""
    cls = owner if isinstance(owner, type) else type(owner)
    return getattr(cls, MARK, None) is True or getattr(owner, "__dict__", {}).get(MARK) is True


def refuse_dynamic(called: Any) -> None:
    """Raise UnsupportedError for what `force_dynamic` marks, while a program is built."""
    marked = plain_attribute(called, _DYNAMIC)
    if marked is not None and marked is plain_attribute(called, "__code__", True) and current_builder() is not None:
        name = plain_attribute(called, "__qualname__") or type(called).__name__
        raise UnsupportedError(
            f"`{name}` is marked with force_dynamic: it runs as Python, which one program cannot",
            hint="leave the mark out, or convert without full_graph=True: it then runs between compiled segments",
        )


def _is_ignored(module: str) -> bool:
    return any(module == name or module.startswith(name + ".") for name in IGNORED.get())


def converted(function: Any) -> Any:
    """What to call in place of `function` while a program is built; itself otherwise."""
    build = current_builder()
    return function if build is None else build.convert(function)


def class_attribute(cls: type, name: str, default: Any = None) -> Any:
    """What the class or its bases hold under `name`, as it is in the class body; `default` if nothing."""
    return next((base.__dict__[name] for base in cls.__mro__ if name in base.__dict__), default)


def library_method(cls: type, name: str) -> Any:
    """The special method that the user's classes build on: the first in the order of bases that is not theirs."""
    found = (base.__dict__[name] for base in cls.__mro__ if name in base.__dict__)
    return next((f for f in found if not (isinstance(f, FunctionType) and is_user_code(f))), None)


_MADE_BY_CODE = 1 << 9
"""Of the flags of a class: a statement or call has made it, and it may get other attributes (Py_TPFLAGS_HEAPTYPE)."""


def note_special(cls: type, name: str) -> None:
    """Note that what the program does depends on what a class has under the name of a special method."""
    build = current_builder()
    if build is not None and cls.__flags__ & _MADE_BY_CODE:
        build.asked_of_classes.add((cls, name))


def user_method(obj: Any, name: str) -> Any:
    """The converted method that Python would call for a special name such as `__len__`; None when not the user's."""
    build = current_builder()
    if build is None:
        return None
    cls = type(obj)
    if isinstance(obj, TensorMethods):
        build.asked_of_tensors.add(name)
        cls = Tensor if isinstance(obj, Variable) and not is_number(obj) else cls
    note_special(cls, name)
    found = class_attribute(cls, name)
    if not isinstance(found, FunctionType):
        return None
    if is_user_code(found) and not is_left_alone(obj):
        return converted(MethodType(found, obj))
    if not is_ours(found):
        build.on_library(obj)
    return None


def is_library(owner: Any) -> bool:
    """Whether an attribute of `owner` is taken for constant: library modules and classes."""
    if isinstance(owner, ModuleType):
        file = getattr(owner, "__file__", None)
        if file is None:  # part of the interpreter, unless it was typed in or made by hand
            return getattr(owner, "__spec__", None) is not None
        return not is_user_file(file)
    if isinstance(owner, type):
        module = sys.modules.get(owner.__module__)
        return module is None or is_library(module)
    return False
