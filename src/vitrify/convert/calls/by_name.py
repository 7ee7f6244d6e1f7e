"""`f(**d)` where a tensor decides which keys `d` has: a path for each parameter that may be given or not."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial
from types import CodeType, FunctionType
from typing import Any

from ...core.pytree import is_partial
from ..containers.dicts import GraphDict, unknown_keys, unordered
from ..control.loop_trace import may_be_peeled
from ..values.base import builder
from ..values.one_of import GraphOneOf, each_option, settled
from ..values.user_errors import note_user_error

Call = Callable[[dict[str, Any]], Any]
MAX_PATHS_OF = 3
"""How many keys have a path with them and one without: behind those a default takes the place of what is missing."""
MAX_KEYS = 6


class Named:
    """`**mapping` in a call, where a tensor decides which keys there are."""

    def __init__(self, mapping: Any) -> None:
        self.mapping = mapping


def named(mapping: Any) -> Any:
    """What stands behind `**` in a call: the mapping, or one that hands it on as a whole under a name of its own."""
    mapping = settled(mapping)
    waits = isinstance(mapping, GraphOneOf) or is_partial(mapping)
    return {f"**{id(mapping)}": Named(mapping)} if waits else mapping


def first_named(kwargs: Mapping[str, Any]) -> str | None:
    """The name under which the arguments of a call have the first such mapping."""
    return next((name for name, value in kwargs.items() if isinstance(value, Named)), None)


def by_key(call: Call, kwargs: dict[str, Any], name: str, function: Any, rest: str | None) -> Any:
    """`call(arguments)` for each set of keys that the mapping at `name` may have, on its path.

    rest: the parameter that takes the keys which no other parameter does, as one dict; None where there is none.
    """
    mapping = kwargs[name].mapping
    if isinstance(mapping, GraphOneOf):

        def use(option: Any) -> Any:
            return by_key(call, {**kwargs, name: Named(option)}, name, function, rest)

        return each_option(mapping, use)
    before, behind = _around(kwargs, name)
    if not is_partial(mapping):
        return call(_joined(function, before, mapping, behind))
    names = _names(function)
    keys = [key for key in dict.keys(mapping) if rest is None or key in names]
    given = {key: mapping.has(key) for key in keys}
    doubtful = [key for key in keys if given[key] is not True]
    if doubtful and may_be_peeled():
        raise unknown_keys("`**` with")
    if len(doubtful) > MAX_KEYS and not all(key in names for key in doubtful):
        raise unknown_keys("`**` with")
    if rest is None and not mapping.is_ordered and _takes_all(function):
        raise unordered()
    by_default = {key for key in doubtful[MAX_PATHS_OF:] if names.get(key, _NOTHING) is not _NOTHING}

    def finish(chosen: dict[Any, Any]) -> Any:
        made = _joined(function, before, chosen, behind)
        if rest is not None:
            made[rest] = _others(mapping, keys)
        return call(made)

    return _each(finish, mapping, [(key, key in by_default) for key in keys], names, {})


_NOTHING = inspect.Parameter.empty


def _around(kwargs: dict[str, Any], name: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """The arguments before and behind the one of that name."""
    place = list(kwargs).index(name)
    items = list(kwargs.items())
    return dict(items[:place]), dict(items[place + 1 :])


def _joined(function: Any, *parts: Any) -> dict[str, Any]:
    """The arguments of a call in one dict; Python says what is wrong where two have one name."""
    found: dict[str, Any] = {}
    for part in parts:
        twice = next((key for key in part if key in found), None)
        if twice is not None:
            text = f"{_shown(function)}() got multiple values for keyword argument '{twice}'"
            raise note_user_error(TypeError(text))
        found.update(part)
    return found


def _shown(function: Any) -> str:
    """A function as Python's messages about its call name it."""
    name = getattr(function, "__qualname__", None)
    module = getattr(function, "__module__", None)
    return str(function) if name is None else name if module in (None, "builtins") else f"{module}.{name}"


def _names(function: Any) -> dict[str, Any]:
    """The parameters that can be given by name, with their defaults; none where they are not known."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return {}
    return {p.name: p.default for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)}


def _takes_all(function: Any) -> bool:
    """Whether a function takes whatever names there are, in an order that it may show."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return True
    return any(p.kind is p.VAR_KEYWORD for p in parameters)


def _each(
    finish: Call,
    mapping: GraphDict,
    keys: Sequence[tuple[Any, bool]],
    defaults: Mapping[str, Any],
    chosen: dict[Any, Any],
) -> Any:
    if not keys:
        return finish(chosen)
    (key, by_default), *others = keys
    go_on = partial(_each, finish, mapping, others, defaults)
    if by_default:
        return go_on({**chosen, key: mapping.get(key, defaults[key])})
    held = mapping.has(key)
    if held is False:
        return go_on(chosen)
    if held is True:
        return go_on({**chosen, key: mapping.held(key)})
    return builder().choose(held, lambda: go_on({**chosen, key: mapping.held(key)}), lambda: go_on(chosen), f"**{key}")


def _others(mapping: GraphDict, keys: Sequence[Any]) -> GraphDict:
    """A dict with the keys of `mapping` but these."""
    made = GraphDict()
    made._take_in(mapping)
    for key in keys:
        made._forget(key)
        dict.pop(made, key)
    return made


# --- functions that are given their `*rest` and `**rest` by name -----------------------------------------------------


def with_rest_by_name(function: FunctionType, flags: int) -> FunctionType:
    """The function with those of its `*rest` and `**rest` that the flags name as arguments of these names."""
    code = _by_name(function.__code__, flags)
    form = FunctionType(code, function.__globals__, function.__name__, function.__defaults__, function.__closure__)
    form.__kwdefaults__ = function.__kwdefaults__
    form.__qualname__, form.__module__ = function.__qualname__, function.__module__
    form.__dict__.update(function.__dict__)
    return form


@lru_cache(maxsize=256)
def _by_name(code: CodeType, flags: int) -> CodeType:
    """The code with its rests as further arguments that are given by name: they lie behind those in any case."""
    count = (flags & code.co_flags).bit_count()
    return code.replace(co_flags=code.co_flags & ~flags, co_kwonlyargcount=code.co_kwonlyargcount + count)


def names_of_rest(code: CodeType) -> tuple[str | None, str | None]:
    """The names of the `*rest` and the `**rest` of a function; None for one that it has not."""
    place = code.co_argcount + code.co_kwonlyargcount
    has_values, has_names = code.co_flags & inspect.CO_VARARGS, code.co_flags & inspect.CO_VARKEYWORDS
    values = code.co_varnames[place] if has_values else None
    return values, code.co_varnames[place + bool(has_values)] if has_names else None
