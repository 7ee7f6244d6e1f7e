"""What a call in converted code calls: converted user functions, tensor forms of builtins, library code as it is."""

from __future__ import annotations

import dataclasses
import functools
import inspect
import operator
from collections.abc import Callable
from types import (
    BuiltinFunctionType,
    FunctionType,
    MethodDescriptorType,
    MethodType,
    MethodWrapperType,
    WrapperDescriptorType,
)
from typing import Any

from ...core.bound import bound_to
from ...core.errors import UnsupportedError
from ...core.pytree import OpenDict, OpenList, OverList
from ...eager.layer import Layer
from ...ir.builder import current_builder
from ...ir.graph_tensor import GraphTensor
from ..containers.flavors import DICT_CLASSES
from ..containers.heaps import sorted_lists
from ..containers.keys import by_key
from ..containers.sets import method_of_set
from ..control.comprehension import GeneratorExpression
from ..control.endless import ENDLESS
from ..control.raise_ import exception_maker
from ..control.recursion import entered
from ..guards.observe import current_observer
from ..guards.unmerged import maker
from ..host.calls import host_form
from ..operators.module import OPERATORS, attrgetter, methodcaller
from ..operators.mutators import mutator, writing
from ..operators.objects import LAYER_WRITERS
from ..operators.ordering import sort_list
from ..state.attributes import class_of
from ..values.sequences import GraphSequence
from ..values.text import method_of_text
from ..values.user_code import class_attribute, is_left_alone, is_user_code, refuse_dynamic
from ..values.user_errors import note_user_error
from .construct import GenericAlias, bare, constructor, exception_constructor, generic, instance_of, replaced
from .draws import of_process, of_the_moment
from .generators import called_generator, stepping
from .higher_order import HIGHER_ORDER
from .hooks import registering
from .lazily import LAZY
from .lazy_library import LAZY_LIBRARY
from .list_builtins import LIST_FUNCTIONS, convert_list, method_of_tuple
from .managers import STACKS
from .open_lists import OPEN_LISTS
from .open_results import OPEN_RESULTS
from .pylayer import applied, is_apply
from .random_state import RANDOM_STATE
from .table import BUILTINS
from .taking_all import collecting, takes_all, taking_all
from .unbound import unbound
from .wrappers import CachedFunction, around, cached, dispatched, is_dispatcher

Converter = Callable[[FunctionType], Callable[..., Any]]
REPLACEMENTS: dict[Any, Callable[..., Any]] = {
    **BUILTINS, **HIGHER_ORDER, **OPERATORS, **LIST_FUNCTIONS, **OPEN_LISTS, **OPEN_RESULTS, **ENDLESS, **STACKS,
    **LAYER_WRITERS, **{kind: collecting(make) for kind, make in DICT_CLASSES.items()}, **LAZY, **LAZY_LIBRARY,
    **RANDOM_STATE,
    **sorted_lists(lambda function: writing(function) or function), object.__new__: bare,
    dataclasses.replace: replaced,
}  # fmt: skip
_IN_C = (BuiltinFunctionType, MethodWrapperType, MethodDescriptorType, WrapperDescriptorType)


def _hosted(function: Any) -> Callable[..., Any] | None:
    """The form of a library function that works on host values too; what refuses it where its result is not lasting."""
    found = host_form(function)
    return None if found is None else of_the_moment(function) or found


class CallConverter:
    """Gives the converted form of whatever is called; `convert_plain` converts one Python function.

    convert_pushing: gives the form of a generator function that gives its items to a sink; None if it has none.
    """

    def __init__(self, convert_plain: Converter, convert_pushing: Callable[[FunctionType], Any]) -> None:
        self.convert_plain = convert_plain
        self.convert_pushing = convert_pushing

    def __call__(self, function: Any) -> Any:
        """`function`, or what should be called in its place."""
        if not isinstance(function, FunctionType) or not is_user_code(function):
            found = _replacement(function) or _hosted(function)
            if found is not None:
                return found
        if isinstance(function, FunctionType):
            return self._plain(function)
        if isinstance(function, MethodType):
            return self._method(function)
        if isinstance(function, type):
            return self._class(function)
        if isinstance(function, _IN_C):
            return self._in_c(function)
        if isinstance(function, functools.partial):
            return functools.partial(self(function.func), *function.args, **function.keywords)
        if isinstance(function, CachedFunction):
            return cached(function, self)
        if isinstance(function, GenericAlias):
            return generic(function, self)
        if isinstance(function, operator.methodcaller):
            return methodcaller(function)
        if isinstance(function, operator.attrgetter):
            return attrgetter(function)
        return self._callable_object(function)

    def _plain(self, fn: FunctionType) -> Any:
        if not is_user_code(fn):
            return self._of_library(fn)
        if inspect.iscoroutinefunction(fn):
            return fn
        try:
            found = entered(self.convert_plain(fn))
        except UnsupportedError:
            return fn
        if current_builder() is None or not inspect.isgeneratorfunction(fn):
            return found
        return called_generator(found, functools.partial(self.convert_pushing, fn))

    def _of_library(self, fn: FunctionType) -> Any:
        refuse_dynamic(fn)
        found = REPLACEMENTS.get(fn)
        if found is not None:
            return found
        if is_dispatcher(fn):
            return dispatched(fn, self)
        return of_the_moment(fn) or unbound(fn) or around(fn, self)

    def _method(self, method: MethodType) -> Any:
        plain = method.__func__
        if not isinstance(plain, FunctionType):
            return of_the_moment(method) or self._of_object(method)
        if isinstance(method.__self__, (OpenDict, OpenList, OverList)):
            return _of_container(method)
        if is_apply(method):
            return applied(method, self)
        if plain is GraphTensor.register_hook:
            return registering(method.__self__, self)
        if is_left_alone(method.__self__):
            return method
        if not is_user_code(plain):
            replaced = of_the_moment(method) or mutator(method)
            if replaced is not None:
                return replaced
        observer = current_observer()
        if observer is not None and is_user_code(plain):
            observer.method(method.__self__, plain, plain.__name__)
        converted = self._plain(plain)
        return method if converted is plain else MethodType(converted, method.__self__)

    def _of_object(self, method: MethodType) -> Any:
        """A method that a callable object is, such as a decorator that is a class gives."""
        converted = self(method.__func__)
        return method if converted is method.__func__ else MethodType(converted, method.__self__)

    def _class(self, cls: type) -> Any:
        if issubclass(cls, BaseException):
            return exception_maker(cls, exception_constructor(cls))
        found = REPLACEMENTS.get(cls) if type(cls) is type else None
        found = found or maker(cls)
        return found or of_the_moment(cls) or (cls if is_left_alone(cls) else constructor(cls))

    def _in_c(self, function: Any) -> Any:
        """Builtin functions, and methods of classes that are not written in Python."""
        owner = bound_to(function)
        if isinstance(function, MethodWrapperType) and isinstance(owner, type) and function.__name__ == "__call__":
            return instance_of(owner)  # `super().__call__(...)` in a metaclass
        if isinstance(owner, str):
            return method_of_text(function, _listed) or function
        if type(owner) is tuple and function.__name__ in ("index", "count"):
            return method_of_tuple(owner, function)
        if isinstance(owner, list) and function.__name__ == "sort":
            return sort_list(owner)
        found = _replacement(function) or of_process(function) or writing(function) or unbound(function)
        found = found or stepping(function) or _told_by_owner(function, owner)
        return found or of_the_moment(function) or function

    def _callable_object(self, obj: Any) -> Any:
        """An instance with a Python `__call__` of the user's is called through its converted form."""
        refuse_dynamic(obj)
        if isinstance(obj, GraphTensor):
            raise note_user_error(TypeError(f"{class_of(obj).__name__!r} object is not callable"))
        call = class_attribute(type(obj), "__call__")
        if isinstance(call, FunctionType) and is_user_code(inspect.unwrap(call)) and not is_left_alone(obj):
            return self._method(MethodType(call, obj))
        return obj if isinstance(obj, Layer) else of_the_moment(obj) or obj


def _told_by_owner(function: Any, owner: Any) -> Callable[..., Any] | None:
    """What stands for a method in C that changes its owner, takes a key, or takes all of what it is given."""
    if not isinstance(function, (BuiltinFunctionType, MethodWrapperType)):
        return None
    found = mutator(function)
    if isinstance(function, BuiltinFunctionType):
        found = by_key(function, found or function) or found
        if isinstance(owner, (set, frozenset)):
            found = method_of_set(function, found or function)
        if takes_all(owner, function.__name__):
            found = taking_all(owner, found or function)
    return found


def _of_container(method: MethodType) -> Callable[..., Any]:
    """A method of a list, dict, set or deque of converted code."""
    replaced = REPLACEMENTS.get(method.__func__)
    if replaced is not None:
        return MethodType(replaced, method.__self__)
    found = by_key(method, method) or method
    return taking_all(method.__self__, found) if takes_all(method.__self__, method.__func__.__name__) else found


def _listed(items: Any) -> Any:
    """What is joined: the items of what is gone through lazily, as a list."""
    return convert_list(items) if isinstance(items, (GeneratorExpression, GraphSequence)) else items


def _replacement(function: Any) -> Callable[..., Any] | None:
    try:
        return REPLACEMENTS.get(function)
    except TypeError:  # a method of something without a hash
        return None
