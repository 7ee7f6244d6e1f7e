"""Methods of Python's and NumPy's generators of random numbers in traced code.

Of what a list holds, positions are drawn: with the same random bits as its items, which need be no numbers.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ...core.bound import bound_to
from ...core.converted_too import converted_too
from ...core.pytree import is_open
from ...eager.host_ops import effect_op
from ...ir.builder import current_builder
from ..containers.by_position import item_inside
from ..containers.keys import MAX_KEYS
from ..guards.array_sites import ask_for_program
from ..guards.environment import reading
from ..guards.nondeterministic import refused
from ..guards.observe import current_observer
from ..host.draws import GENERATORS, drawn
from ..host.generators import MAKERS, made_generator, of_run
from ..host.value import HostValue
from ..operators.objects import convert_setitem
from ..operators.operate import get_item
from ..values.deferred import Call, captured, record
from ..values.user_code import converted
from .table import convert_len


def of_the_moment(function: Any) -> Callable[..., Any] | None:
    """What draws when the program runs, or refuses what belongs to the moment of the call; None for all others."""
    if current_builder() is None:
        return None
    if function in MAKERS:
        return partial(_made, function)
    owner = bound_to(function)
    if type(owner) in GENERATORS and not function.__name__.startswith("_"):
        return _seed(function) or partial(_draw, function, owner)
    return _seed(function) or of_process(function) or refused(function)


def _made(make: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """A generator of a seed; without one it belongs to the moment."""
    seeds = [*args, *kwargs.values()]
    if not seeds or None in seeds:
        _refuse(make)
    return made_generator(make, *args, **kwargs)


def of_process(function: Any) -> Callable[..., Any] | None:
    """What reads something of the process, such as its environment; None for functions that do not."""
    observer = current_observer()
    return None if observer is None else reading(function, observer.cached_call, observer.entry)


def _seed(function: Any) -> Callable[..., Any] | None:
    is_seed = function is np.random.seed or (type(bound_to(function)) in GENERATORS and function.__name__ == "seed")
    return partial(_later, function) if is_seed else None


def _later(function: Callable[..., Any], *args: Any, **kwargs: Any) -> None:
    owner = bound_to(function)
    own = of_run(owner, getattr(type(owner), function.__name__, function))
    function = function if own is None else own.function
    record(effect_op, call=Call(function, tuple(map(captured, args)), {k: captured(v) for k, v in kwargs.items()}))


def _draw(function: Callable[..., Any], owner: Any, *args: Any, **kwargs: Any) -> Any:
    name = function.__name__
    if name == "shuffle" and args and isinstance(args[0], list):
        _shuffle(owner, args[0])
        return None
    if name == "shuffle" and args and isinstance(args[0], HostValue) and args[0].form() == "array":
        _shuffle_array(owner, args[0])
        return None
    if name == "shuffle" and args:
        ask_for_program(args[0])
    if name in _POSITIONS and args and isinstance(owner, random.Random):
        positions = drawn(_POSITIONS[name], owner, (convert_len(args[0]), *args[1:]), kwargs)
        if positions is not None:
            return _items(args[0], positions)
    elif name != "shuffle":
        found = drawn(getattr(type(owner), name), owner, args, kwargs)
        if found is not None:
            return found
    return _refuse(function)


def _refuse(function: Callable[..., Any]) -> None:
    refusal = refused(function)
    if refusal is not None:  # the tables know all methods of generators
        refusal()


def _items(items: Any, drawn_at: Any) -> Any:
    """What stands at positions that are drawn: one item, or a list of as many as there are positions."""
    if not isinstance(drawn_at, HostValue):
        return _item(items, drawn_at)
    if isinstance(drawn_at.length(), int):
        return [_item(items, position) for position in drawn_at]
    return converted(_at_places)(partial(_item, items), drawn_at.tensor())


@converted_too
def _at_places(item: Any, places: Any) -> Any:
    return [item(int(place)) for place in places]


def _item(items: Any, position: Any) -> Any:
    is_short = isinstance(items, (list, tuple)) and not is_open(items) and len(items) <= MAX_KEYS
    return item_inside(items, position) if is_short else get_item(items, position)


def _shuffle(owner: Any, items: list[Any]) -> None:
    order = drawn(_order, owner, (convert_len(items),), {})
    before = list(items)
    convert_setitem(items, slice(None), [_item(before, position) for position in order])


def _shuffle_array(owner: Any, items: HostValue) -> None:
    order = drawn(_order_of_rows, owner, (convert_len(items), len(items.meta().shape)), {})
    convert_setitem(items, slice(None), get_item(items, order))


def _order_of_rows(owner: Any, size: int, ndim: int) -> Any:
    """As NumPy shuffles an array of so many dimensions, whose random numbers may be others than for a list."""
    order = np.arange(size).reshape(size, *[1] * (ndim - 1))
    owner.shuffle(order)
    return order.reshape(size)


def _position(owner: Any, size: int) -> Any:
    return owner.choice(range(size) if size else [])  # of nothing, lists say what eager code says


def _positions(owner: Any, size: int, *args: Any, **kwargs: Any) -> Any:
    return np.asarray(owner.choices(range(size), *args, **kwargs), dtype="int64")


def _sample(owner: Any, size: int, *args: Any, **kwargs: Any) -> Any:
    return np.asarray(owner.sample(range(size), *args, **kwargs), dtype="int64")


def _order(owner: Any, size: int) -> list[int]:
    order = list(range(size))
    owner.shuffle(order)
    return order


_POSITIONS = {"choice": _position, "choices": _positions, "sample": _sample}
