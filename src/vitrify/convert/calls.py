"""What a call in converted code calls: converted user functions, tensor forms of builtins, library code as it is."""

from __future__ import annotations

import functools
import inspect
import sys
import sysconfig
from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any

from ..core.errors import UnsupportedError
from ..core.setting import Setting
from ..core.source import is_user_file
from ..eager.layer import Layer
from ..transformers import BLIND_METHODS
from .journal import ContentPlace, is_nested, note_write
from .observe import current_observer
from .raise_ import exception_maker
from .recursion import entered
from .table import BUILTINS
from .text import method_of_text

MARK = "__vitrify_not_to_static__"
IGNORED: Setting[frozenset[str]] = Setting("ignored_modules", frozenset())

_LIBRARY_ROOTS = tuple(
    {sysconfig.get_paths()[k] for k in ("stdlib", "platstdlib", "purelib", "platlib")} | {sys.prefix + "/lib"}
)


def not_to_static(func: Callable[..., Any] | None = None) -> Any:
    """Mark a function so that conversion leaves it as it is. Source: paddle.jit.not_to_static."""
    if func is None:
        return not_to_static
    setattr(getattr(func, "__func__", func), MARK, True)
    return func


def ignore_module(modules: list[ModuleType]) -> None:
    """Leave the functions of these modules (and of their submodules) unconverted. Source: paddle.jit.ignore_module."""
    IGNORED.set(IGNORED.get() | {m.__name__ for m in modules})


def is_user_code(fn: FunctionType) -> bool:
    """Whether the function is the user's: not ours, not a library's, not marked or ignored."""
    if getattr(fn, MARK, False):
        return False
    module = fn.__module__ or ""
    if any(module == name or module.startswith(name + ".") for name in IGNORED.get()):
        return False
    filename = fn.__code__.co_filename
    return is_user_file(filename) and not filename.startswith(_LIBRARY_ROOTS)


# Methods that change what a container holds, so that a traced region can undo and merge the change.
MUTATORS: dict[Any, frozenset[str]] = {
    list: frozenset({"append", "extend", "insert", "pop", "remove", "clear", "sort", "reverse"}),
    dict: frozenset({"update", "pop", "popitem", "setdefault", "clear"}),
    set: frozenset({"add", "update", "discard", "remove", "pop", "clear", "difference_update", "intersection_update"}),
}
MUTATORS[OrderedDict] = MUTATORS[defaultdict] = MUTATORS[dict]
MUTATORS[deque] = MUTATORS[list] | {"appendleft", "extendleft", "popleft", "rotate"}



def mutator(method: BuiltinFunctionType) -> Callable[..., Any]:
    """`list.append` and its like: the change is noted, so that it can be undone, merged and done again."""
    owner = method.__self__
    observer = current_observer()
    blind = method.__name__ in BLIND_METHODS and not is_nested()
    if observer is not None and not blind:
        observer.content_matters(owner)
    note_write(ContentPlace(owner))
    if observer is None or not blind:
        return method

    def call(*args: Any, **kwargs: Any) -> Any:
        observer.call(owner, method.__name__, args, kwargs)
        return method(*args, **kwargs)

    return call


Converter = Callable[[FunctionType], Callable[..., Any]]


class CallConverter:
    """Gives the converted form of whatever is called; `convert_plain` converts one Python function."""

    def __init__(self, convert_plain: Converter) -> None:
        self.convert_plain = convert_plain

    def __call__(self, function: Any) -> Any:
        """`function`, or what should be called in its place."""
        try:
            replacement = BUILTINS.get(function)
        except TypeError:  # no hash
            replacement = None
        if replacement is not None:
            return replacement
        if isinstance(function, FunctionType):
            return self._plain(function)
        if isinstance(function, MethodType):
            return self._method(function)
        if isinstance(function, functools.partial):
            return functools.partial(self(function.func), *function.args, **function.keywords)
        if isinstance(function, BuiltinFunctionType):
            if isinstance(function.__self__, str):
                return method_of_text(function) or function
            if function.__name__ in MUTATORS.get(type(function.__self__), ()):
                return mutator(function)
            return function
        if isinstance(function, type) and issubclass(function, BaseException):
            return exception_maker(function)
        if isinstance(function, (type, Layer)):
            return function
        return self._callable_object(function)

    def _plain(self, fn: FunctionType) -> Any:
        if not is_user_code(fn) or inspect.isgeneratorfunction(fn) or inspect.iscoroutinefunction(fn):
            return fn
        try:
            return entered(self.convert_plain(fn))
        except UnsupportedError:
            return fn

    def _method(self, method: MethodType) -> Any:
        if not isinstance(method.__func__, FunctionType):
            return method
        converted = self._plain(method.__func__)
        return method if converted is method.__func__ else MethodType(converted, method.__self__)

    def _callable_object(self, obj: Any) -> Any:
        """An instance with a Python `__call__` of the user's is called through its converted form."""
        call = getattr(type(obj), "__call__", None)  # noqa: B004 - its code is wanted, not whether it is there
        if not isinstance(call, FunctionType) or not is_user_code(call):
            return obj
        return MethodType(self._plain(call), obj)
