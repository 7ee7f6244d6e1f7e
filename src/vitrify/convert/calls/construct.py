"""Making instances of the user's classes: `Foo(x)` with converted `__new__`, `__init__` and `__post_init__`."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import inspect
import types
import typing
from collections.abc import Callable, Iterator
from types import FunctionType, MethodType
from typing import Any

from ...core.pytree import eager_class
from ...eager.layer import Layer
from ...ir.builder import current_builder
from ..guards.observe import get_attr
from ..state.journal import forget_writes_to
from ..values.user_code import class_attribute, converted, is_user_code

GenericAlias = (types.GenericAlias, type(typing.List[int]))  # noqa: UP006 - the class of aliases is wanted


def constructor(cls: type) -> Callable[..., Any]:
    """What to call in place of the class: itself unless making an instance runs code of the user's."""
    create = class_attribute(type(cls), "__call__")
    if isinstance(create, FunctionType):
        return MethodType(converted(create), cls) if is_user_code(create) else cls
    return instance_of(cls)


def instance_of(cls: type) -> Callable[..., Any]:
    """What `type.__call__(cls, ...)` does."""
    found = [class_attribute(cls, name) for name in ("__new__", "__init__", "__post_init__")]
    if found[0] is object.__new__ and found[1] is object.__init__:
        return functools.partial(_plain, cls)
    if not (any(_is_users(f) for f in found) or _makes_fields(cls)) or (
        Layer in cls.__mro__ and not _is_users(found[1])
    ):
        return cls

    def construct(*args: Any, **kwargs: Any) -> Any:
        make = class_attribute(cls, "__new__")
        made = converted(make.__func__)(cls, *args, **kwargs) if _is_users(make) else cls.__new__(cls, *args, **kwargs)
        if isinstance(made, cls):
            _initialise(made, args, kwargs)
            if not _is_users(make):  # which may give an object that was there before; `bare` has noted a new one
                _note_made(made)
        return made

    return construct


def exception_constructor(cls: type[BaseException]) -> Callable[..., BaseException] | None:
    """What makes an exception by a converted `__init__`; None where the class has none of the user's."""
    make, init = class_attribute(cls, "__new__"), class_attribute(cls, "__init__")
    if not _is_users(init) or _is_users(make) or _has_generated_init(cls):
        return None

    def construct(*args: Any, **kwargs: Any) -> BaseException:
        made: BaseException = cls.__new__(cls, *args, **kwargs)
        converted(MethodType(init, made))(*args, **kwargs)
        forget_writes_to(made)
        return made

    return construct


def bare(cls: type, *args: Any, **kwargs: Any) -> Any:
    """`object.__new__(cls)`, called by a `__new__` of the user's or in place of the class."""
    made: Any = object.__new__(cls, *args, **kwargs)
    _note_made(made)
    return made


def _plain(cls: type, *args: Any, **kwargs: Any) -> Any:
    """An instance of a class without constructors of its own."""
    made = cls(*args, **kwargs)
    _note_made(made)
    return made


def _note_made(made: Any) -> None:
    """Let the trace in progress take the object for plain data. Objects of classes built on ours have more to them."""
    build = current_builder()
    if build is not None and not any(base.__module__.partition(".")[0] == "vitrify" for base in type(made).__mro__):
        build.made.note(made, build.block)


def generic(alias: Any, convert: Callable[[Any], Any]) -> Callable[..., Any]:
    """What to call in place of `Box[int]`: the class, whose instances then know that they came from there."""
    origin = typing.get_origin(alias)
    if convert(origin) is origin:
        plain: Callable[..., Any] = alias
        return plain

    def construct(*args: Any, **kwargs: Any) -> Any:
        made = convert(origin)(*args, **kwargs)
        with contextlib.suppress(AttributeError):
            made.__orig_class__ = alias
        return made

    return construct


def replaced(obj: Any, /, **changes: Any) -> Any:
    """`dataclasses.replace(obj, **changes)`: the constructor runs converted."""
    cls = eager_class(obj)
    fields = dataclasses.fields(obj) if dataclasses.is_dataclass(cls) and current_builder() is not None else ()
    kept = {f.name: get_attr(obj, f.name) for f in fields if f.init and f.name not in changes}
    given = {**kept, **changes}
    needed = [p.name for p in inspect.signature(cls).parameters.values() if p.default is p.empty] if fields else []
    if not fields or any(f.name in changes for f in fields if not f.init) or any(name not in given for name in needed):
        return dataclasses.replace(obj, **changes)  # which also says what is wrong
    return converted(cls)(**given)


def _is_users(found: Any) -> bool:
    plain = found.__func__ if isinstance(found, staticmethod) else found
    return isinstance(plain, FunctionType) and is_user_code(plain)


def _initialise(made: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    cls = type(made)
    init = class_attribute(cls, "__init__")
    if _has_generated_init(cls) and (_is_users(class_attribute(cls, "__post_init__")) or _makes_fields(cls)):
        _initialise_dataclass(made, init, args, kwargs)
    elif isinstance(init, FunctionType):
        converted(MethodType(init, made))(*args, **kwargs)
    else:
        cls.__init__(made, *args, **kwargs)


def _has_generated_init(cls: type) -> bool:
    """Whether `dataclass` wrote the `__init__` of the class."""
    owner = next(base for base in cls.__mro__ if "__init__" in base.__dict__)
    params = owner.__dict__.get("__dataclass_params__")
    return params is not None and params.init


def _makes_fields(cls: type) -> bool:
    """Whether `dataclass` wrote an `__init__` that makes lists, say, for fields: such as can grow in a program."""
    params = class_attribute(cls, "__dataclass_params__")
    return (
        "__dataclass_fields__" in cls.__dict__
        and _has_generated_init(cls)
        and (class_attribute(cls, "__setattr__") is object.__setattr__ or params.frozen)
        and any(field.default_factory is not dataclasses.MISSING for field in dataclasses.fields(cls))
    )


def _initialise_dataclass(made: Any, init: FunctionType, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """What the `__init__` that `dataclass` generated does, which has no source, converted."""
    try:
        bound = inspect.signature(init).bind(made, *args, **kwargs)
    except TypeError:
        init(made, *args, **kwargs)  # says what is wrong in Python's own words
        raise
    bound.apply_defaults()
    own = {field.name for field in dataclasses.fields(made)}
    for name, value in _field_values(made, bound.arguments):
        object.__setattr__(made, name, value)
    if not hasattr(made, "__post_init__"):
        return
    init_vars = [name for name in type(made).__dataclass_fields__ if name in bound.arguments and name not in own]
    converted(made.__post_init__)(*[bound.arguments[name] for name in init_vars])


def _field_values(made: Any, given: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """The fields that the generated `__init__` sets, in order."""
    for field in dataclasses.fields(made):
        if field.default_factory is not dataclasses.MISSING:
            value = given.get(field.name, _NOT_GIVEN)
            # The generated parameter's default is a private marker that stands for a call of the factory.
            is_marker = type(value).__name__ == "_HAS_DEFAULT_FACTORY_CLASS"
            yield field.name, converted(field.default_factory)() if is_marker or value is _NOT_GIVEN else value
        elif field.init:
            yield field.name, given[field.name]
        elif field.default is not dataclasses.MISSING and not hasattr(made, field.name):
            yield field.name, field.default


_NOT_GIVEN = object()
