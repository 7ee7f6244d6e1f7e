"""Attribute reads and writes that run code of the user's: properties, cached properties, `__getattr__`, descriptors."""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import FunctionType, MethodDescriptorType, MethodType, ModuleType, WrapperDescriptorType
from typing import Any

from ...core.epoch import LAYER_ATTRIBUTES
from ...core.errors import UnsupportedError
from ...core.pytree import eager_class
from ...eager.layer import Layer
from ...eager.tensor import Tensor
from ...ir.builder import current_builder
from ...ir.numbers import is_number
from ...ir.program import Variable
from ..values.base import Undefined, Unmergeable, is_graph, is_tensor
from ..values.emit import is_asserted
from ..values.facts import check_attribute, class_of_tensor
from ..values.maybe import set_flag, set_or
from ..values.one_of import by_option
from ..values.tensor_class import put_in
from ..values.user_code import class_attribute, converted, is_user_code, user_method
from .gradient_flags import flag_reader, flag_writer
from .journal import note_write
from .places import AttrPlace

_OF_NUMBERS = frozenset(name for kind in (int, float) for name in dir(kind) if not name.startswith("_"))
_SIMPLE = (ModuleType, FunctionType, MethodType, type)
_IN_C = (WrapperDescriptorType, MethodDescriptorType)
_MISSING = object()
FIELDS = frozenset({"name", "persistable"})
"""Attributes of tensors that no operator looks at."""


@by_option(1)
def read_attribute(owner: Any, name: str) -> Any:
    """What `owner.name` is; getters of the user's run in converted form.

    Raises AttributeError as Python does. A tensor of the program is of class Tensor.
    """
    getter = computed(owner, name)
    return getattr(owner, name) if getter is None else getter()


def computed(owner: Any, name: str) -> Callable[[], Any] | None:
    """What computes `owner.name` where that takes code of the user's; None where Python just looks it up."""
    if isinstance(owner, _SIMPLE):
        return None
    if type(owner) is super:
        return _getter_of_super(owner, name)
    flag = flag_reader(owner, name)
    if flag is not None:
        return flag
    build = current_builder()
    if build is not None and is_tensor(owner):
        build.asked_of_tensors.add(name)
        note_lacking(owner, name)
    if is_graph(owner):
        check_attribute(owner, name)
        if name in _OF_NUMBERS and is_number(owner):
            raise UnsupportedError(
                f"{name} of a number that is known only when the program runs",
                hint="compute it with tensor operations, or convert with full_graph=False",
            )
        return (lambda: class_of_tensor(owner)) if name == "__class__" else put_in(owner, name)
    if isinstance(owner, Unmergeable):
        raise owner.fail()
    hook = user_method(owner, "__getattribute__")
    getter = _getter(owner, name) if hook is None else functools.partial(hook, name)
    fallback = user_method(owner, "__getattr__")
    if fallback is None or (getter is None and _is_found(owner, name)):
        return getter

    def read() -> Any:
        try:
            if getter is not None:
                return getter()
            return set_or(_found(owner, name), _label(owner, name), lambda: fallback(name), name)
        except AttributeError:
            return fallback(name)

    return read


def note_lacking(owner: Any, name: str) -> None:
    """Note that a tensor of the program has no such attribute; one of a call may have, set by the caller."""
    build = current_builder()
    if build is not None and isinstance(owner, Variable) and not hasattr(owner, name) and not hasattr(Tensor, name):
        build.lacking.add((owner, name))


def _label(owner: Any, name: str) -> str:
    return AttrPlace(owner, name).label


def has_unset(owner: Any, fields: Any) -> bool:
    """Whether only the program knows which attributes an object has of its own, among its `fields`."""
    if not isinstance(fields, dict) or current_builder() is None or isinstance(owner, (type, Layer)):
        return False
    flags = (set_flag(held, _label(owner, name)) for name, held in fields.items())
    return any(flag is not None and not is_asserted(flag) for flag in flags)


def _found(owner: Any, name: str) -> Any:
    """`owner.name` without `__getattr__`."""
    read: Any = type(owner).__getattribute__
    return read(owner, name)


def _is_found(owner: Any, name: str) -> bool:
    """Whether the attribute stands in the object, on every path, or in its class."""
    held = getattr(owner, "__dict__", {})
    is_own = name in held and set_flag(held[name], _label(owner, name)) is None
    return is_own or class_attribute(type(owner), name, _MISSING) is not _MISSING


def _getter(owner: Any, name: str) -> Callable[[], Any] | None:
    """The user's descriptor in the class that gives the attribute, converted; None where there is none."""
    found = class_attribute(type(owner), name)
    if isinstance(found, property):
        return functools.partial(converted(found.fget), owner) if _is_users(found.fget) else None
    if isinstance(found, functools.cached_property):
        return _cached(owner, name, found) if _is_users(found.func) else None
    if isinstance(found, functools.singledispatchmethod):
        return lambda: _dispatcher(owner, found)
    get = None if found is None else user_method(found, "__get__")
    if get is None:
        return None
    is_data = any(class_attribute(type(found), special) is not None for special in ("__set__", "__delete__"))
    is_shadowed = not is_data and name in getattr(owner, "__dict__", {})
    return None if is_shadowed else functools.partial(get, owner, type(owner))


def _getter_of_super(owner: Any, name: str) -> Callable[[], Any] | None:
    """The user's property that `super().name` is, converted; None where it is something else."""
    instance, start, cls = owner.__self__, owner.__thisclass__, owner.__self_class__
    if instance is None or instance is cls:
        return None
    bases = cls.__mro__[cls.__mro__.index(start) + 1 :]
    found = next((base.__dict__[name] for base in bases if name in base.__dict__), None)
    if not isinstance(found, property) or not _is_users(found.fget):
        return None
    return functools.partial(converted(found.fget), instance)


def _is_users(function: Any) -> bool:
    return isinstance(function, FunctionType) and is_user_code(function)


def _cached(owner: Any, name: str, found: functools.cached_property[Any]) -> Callable[[], Any] | None:
    """What computes a cached property, which a path may have done; None where every path has."""
    held, compute = getattr(owner, "__dict__", {}), functools.partial(_cache, owner, name, found)
    if name not in held:
        return compute
    label = _label(owner, name)
    return None if set_flag(held[name], label) is None else lambda: set_or(held[name], label, compute, name)


def _cache(owner: Any, name: str, found: functools.cached_property[Any]) -> Any:
    """Compute a cached property and keep it where Python does."""
    value = converted(found.func)(owner)
    place = InstancePlace(owner, name)
    note_write(place)
    place.set(value)
    return value


def _dispatcher(owner: Any, found: functools.singledispatchmethod[Any]) -> Callable[..., Any]:
    def call(*args: Any, **kwargs: Any) -> Any:
        method = found.dispatcher.dispatch(class_of(args[0])).__get__(owner, type(owner))
        return converted(method)(*args, **kwargs)

    return call


def class_of(value: Any) -> type:
    """`type(value)`; a tensor of the program is a Tensor, or the Python number that it stands for."""
    if isinstance(value, Unmergeable):
        raise value.fail()
    return class_of_tensor(value) if is_graph(value) else eager_class(value)


class InstancePlace(AttrPlace):
    """An attribute in the instance's own dictionary, read and written past properties."""

    def get(self) -> Any:
        return self.owner.__dict__.get(self.attribute, Undefined(self.label, 0))

    def at(self, owner: Any) -> InstancePlace:
        return InstancePlace(owner, self.attribute)

    def set(self, value: Any) -> None:
        self.owner.__dict__[self.attribute] = value
        self._tell()

    def unset(self) -> None:
        self.owner.__dict__.pop(self.attribute, None)
        self._tell()

    def _tell(self) -> None:
        """Let guards of the attributes of Layers look again: no `__setattr__` has told them."""
        if isinstance(self.owner, Layer):
            LAYER_ATTRIBUTES.bump()


def is_plain_field(tensor: Any, name: str) -> bool:
    """Whether an attribute of a tensor is just kept: one of the user's, or one that no operator looks at."""
    return name in FIELDS or not hasattr(type(class_attribute(type(tensor), name)), "__set__")


def writer(owner: Any, name: str) -> Callable[[Any], Any] | None:
    """The user's code, converted, that `owner.name = value` runs; None where Python just stores."""
    flag = flag_writer(owner, name)
    if flag is not None:
        return flag
    hook = _hook(owner, "__setattr__")
    if hook is not None:
        return functools.partial(hook, name)
    found = class_attribute(type(owner), name)
    if isinstance(found, property):
        return functools.partial(converted(found.fset), owner) if _is_users(found.fset) else None
    put = None if found is None else user_method(found, "__set__")
    return None if put is None else functools.partial(put, owner)


def _hook(owner: Any, special: str) -> Any:
    """What the class has for stores or deletions of attributes: a method of the user's, or one of another name in C.

    So it is in `class AttrDict(dict): __setattr__ = dict.__setitem__`.
    """
    found = class_attribute(type(owner), special)
    if isinstance(found, _IN_C) and found.__name__ != special:
        return converted(found.__get__(owner, type(owner)))
    return user_method(owner, special)


def deleter(owner: Any, name: str) -> Callable[[], Any] | None:
    """The user's code, converted, that `del owner.name` runs; None where Python just removes."""
    hook = _hook(owner, "__delattr__")
    if hook is not None:
        return functools.partial(hook, name)
    found = class_attribute(type(owner), name)
    if isinstance(found, property) and _is_users(found.fdel):
        return functools.partial(converted(found.fdel), owner)
    return None
