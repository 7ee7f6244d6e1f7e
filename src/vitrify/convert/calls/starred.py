"""`f(*values, **named)` where only the program knows how many values there are, or which names."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from functools import partial
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any

from ...core.errors import UnsupportedError
from ...core.pytree import is_open
from ..containers.dicts import GraphDict
from ..containers.displays import Spread
from ..containers.flavors import DICT_CLASSES
from ..containers.tuples import GraphTuple
from ..control.recursion import entered
from ..values.one_of import GraphOneOf, each_option
from ..values.user_code import is_user_code
from ..values.user_errors import for_user
from .by_count import by_count, most_by_position, too_many
from .by_name import by_key, first_named, names_of_rest, with_rest_by_name
from .starred_builtins import STARRED_BUILTINS, together

_VALUES, _NAMES = inspect.CO_VARARGS, inspect.CO_VARKEYWORDS


class StarredCalls:
    """Calls with stars, written `vt.convert_starred(f)(a, vt.spread(values), **vt.named(others))`.

    convert: gives what a call calls. convert_plain: the converted form of a function of the user's. fail: raises an
    error, or gives what stands for it; `python` is what a call calls where it does raise.
    """

    def __init__(
        self,
        convert: Callable[[Any], Any],
        convert_plain: Callable[[FunctionType], FunctionType],
        fail: Callable[[BaseException], Any],
        python: Callable[[Any], Any] | None = None,
    ) -> None:
        self.convert = convert
        self.convert_plain = convert_plain
        self.fail = fail
        self.python = python or convert

    def __call__(self, function: Any) -> Callable[..., Any]:
        """What takes the arguments of a call of `function`, those behind stars as they are."""
        return partial(self._call, function)

    def _call(self, function: Any, /, *args: Any, **kwargs: Any) -> Any:
        if isinstance(function, GraphOneOf):
            return each_option(function, lambda option: self._call(option, *args, **kwargs))
        name = first_named(kwargs)
        if name is not None:
            return self._with_names(function, args, kwargs, name)
        opened = next((i for i, arg in enumerate(args) if isinstance(arg, Spread) and is_open(arg.values)), None)
        if opened is None:
            called = self.convert(function)
            for arg in args:
                if isinstance(arg, Spread) and not _has_items(arg.values):
                    return called(*arg.values)  # Python says what is wrong
            return _called(called, function, _together(args), kwargs)
        return self._with_open(function, _together(args[:opened]), args[opened:], kwargs)

    def _with_names(self, function: Any, args: Sequence[Any], kwargs: dict[str, Any], name: str) -> Any:
        mapping = kwargs[name].mapping
        if isinstance(function, type) and function in DICT_CLASSES and isinstance(mapping, GraphDict):
            made = self._call(function, *args, **{key: value for key, value in kwargs.items() if key != name})
            made.update(mapping)
            return made
        plain, known = _plain_of(function)
        is_open_call = any(isinstance(arg, Spread) and is_open(arg.values) for arg in args)
        values, names = (None, None) if plain is None or is_open_call else names_of_rest(plain.__code__)
        if plain is None or names is None:
            return by_key(lambda given: self._call(function, *args, **given), kwargs, name, function, None)
        form = entered(with_rest_by_name(self.convert_plain(plain), _NAMES | (_VALUES if values is not None else 0)))
        given_values = (*known, *_together(args))

        def call(given: dict[str, Any]) -> Any:
            rest = first_named(given)
            if rest is not None:
                return self._call(function, *args, **given)
            if names not in given:  # all names are known on this path
                return _called(self.convert(function), function, _together(args), given)
            count = len(given_values) if values is None else plain.__code__.co_argcount
            if values is not None:
                given = {values: given_values[count:], **given}
            return _called(form, function, given_values[:count], given)

        return by_key(call, kwargs, name, function, names)

    def _with_open(self, function: Any, known: tuple[Any, ...], rest: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        builtin = STARRED_BUILTINS.get(function) if isinstance(function, _IN_C) else None
        if builtin is not None:
            return builtin((*known, *rest), len(known) + sum(not isinstance(arg, Spread) for arg in rest), **kwargs)
        plain, owner = _plain_of(function)
        name = None if plain is None else names_of_rest(plain.__code__)[0]
        if plain is None or name is None:
            most = most_by_position(function)
            if most is None:
                raise _refused(function, "it is no function of yours")
            return self._counted(function, known, rest, kwargs, max(most - len(known), 0))
        form = entered(with_rest_by_name(self.convert_plain(plain), _VALUES))
        given = (*owner, *known)
        count = plain.__code__.co_argcount
        if len(given) >= count:
            values = GraphTuple(together((*given[count:], *rest)))
            return form(*given[:count], **{name: values}, **kwargs)
        return self._counted_with_rest(function, form, (given, known), rest, kwargs, (count, name))

    def _counted(
        self, function: Any, known: tuple[Any, ...], rest: Sequence[Any], kwargs: dict[str, Any], most: int
    ) -> Any:
        """The call of what takes no more than `most` further values."""
        called = self.convert(function)
        values = together(rest)

        def call(*items: Any) -> Any:
            return _called(called, function, (*known, *items), kwargs)

        def more(at: Any) -> Any:
            return self.fail(too_many(self.python(function), known, kwargs, most, values.length()))

        return by_count(call, values, most, more, function)

    def _counted_with_rest(
        self,
        function: Any,
        form: Callable[..., Any],
        known: tuple[tuple[Any, ...], tuple[Any, ...]],
        rest: Sequence[Any],
        kwargs: dict[str, Any],
        taker: tuple[int, str],
    ) -> Any:
        """The call of what has a `*rest`, before which some of the values are given to parameters of their own."""
        called = self.convert(function)
        values = together(rest)
        (given, known_), (count, name) = known, taker
        needed = count - len(given)

        def call(*items: Any) -> Any:
            return _called(called, function, (*known_, *items), kwargs)

        def more(at: Any) -> Any:
            first = [at(place) for place in range(needed)]
            return form(*given, *first, **{name: GraphTuple(values[needed:])}, **kwargs)

        return by_count(call, values, needed - 1, more, function)


@for_user
def _called(called: Callable[..., Any], function: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """What a call of `function` gives, in whose place `called` is called; whether its arguments fit can be told."""
    return called(*args, **kwargs)


_IN_C = (BuiltinFunctionType, type)


def _plain_of(function: Any) -> tuple[FunctionType | None, tuple[Any, ...]]:
    """The function of the user's that a call runs, and what it is bound to; None where it is no such function."""
    is_method = isinstance(function, MethodType)
    plain: Any = function.__func__ if is_method else function
    if not isinstance(plain, FunctionType) or not is_user_code(plain):
        return None, ()
    return plain, (function.__self__,) if is_method else ()


def _has_items(value: Any) -> bool:
    return hasattr(type(value), "__iter__") or hasattr(type(value), "__getitem__")


def _together(args: Sequence[Any]) -> tuple[Any, ...]:
    return tuple([item for arg in args for item in (arg.values if isinstance(arg, Spread) else (arg,))])


def _refused(function: Any, why: str) -> UnsupportedError:
    name = getattr(function, "__qualname__", type(function).__name__).rpartition("<locals>.")[2]
    return UnsupportedError(
        f"`{name}` called with *values, whose number is known only when the program runs: {why}",
        hint="pass the list itself, or let the function have a parameter such as `*values`",
    )
