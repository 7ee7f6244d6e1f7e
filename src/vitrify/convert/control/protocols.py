"""What Python asks of objects without a visible call: truth, length, iteration, membership, by converted methods."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterator
from typing import Any

from ...core.errors import DTypeError
from ...core.pytree import OpenTable, OverList, is_open, list_in
from ...ir.graph_tensor import is_number
from ..containers.dicts import VIEWS, GraphDict, dict_of_view
from ..containers.ranges import GraphRange
from ..guards.nondeterministic import refuse_items
from ..guards.observe import seen_inside
from ..state.journal import note_spent, refuse_given
from ..values.base import Unmergeable, as_graph, builder, is_graph, is_tensor, scalar_condition
from ..values.decided import decided_truth
from ..values.deferred import Deferred
from ..values.handlers import catching
from ..values.one_of import GraphOneOf, asked, by_option, each_option, options_of, settled
from ..values.optional import is_none, optional_kind
from ..values.user_code import class_attribute, user_method
from ..values.user_errors import for_user, note_user_error
from .endless import Listed


def truth(value: Any) -> Any:
    """`value` as a condition: for objects of the user's classes what `__bool__` or `__len__` says, converted."""
    if value is True or value is False or value is None:
        return value
    if is_tensor(value):
        return decided_truth(as_graph(value)) if optional_kind(value) is None else _truth_unless_none(value)
    if is_open(value) or isinstance(value, (GraphDict, GraphRange, OverList)):
        return (value if isinstance(value, (GraphRange, OpenTable)) else list_in(value)).truth()
    if isinstance(value, GraphOneOf):
        is_users = any(map(asks_for_truth, options_of(value).values()))  # code that runs on its own path, once
        return each_option(value, _truth_of_option) if is_users else asked(value, _truth_of_option)
    if isinstance(value, VIEWS):
        return dict_of_view(value).truth()
    if isinstance(value, Deferred):
        return value.truth()
    if isinstance(value, Unmergeable) and value.decided is not None:
        return value.decided
    for name in ("__bool__", "__len__"):
        method = user_method(value, name)
        if method is not None:
            return _checked(method()) if name == "__bool__" else method()
        if class_attribute(type(value), name) is not None:
            break
    return value


def asks_for_truth(value: Any) -> bool:
    """Whether it is an object whose truth a method of the user's tells."""
    return not is_tensor(value) and any(user_method(value, name) is not None for name in ("__bool__", "__len__"))


def _checked(found: Any) -> Any:
    """What `__bool__` gave, which may be no tensor in eager code."""
    if is_tensor(found) and not is_number(found):
        raise note_user_error(TypeError("__bool__ should return bool, returned Tensor"))
    return found


def _truth_of_option(option: Any) -> Any:
    found = truth(option)
    return scalar_condition(found, "bool()") if is_graph(found) else bool(found)


def _truth_unless_none(value: Any) -> Any:
    """The truth of what may be None, which is false."""
    absent = is_none(value)
    return builder().choose(absent, lambda: False, lambda: scalar_condition(value, "bool()"), "truth")


@for_user
def iterate(iterable: Any) -> Iterator[Any]:
    """`iter(iterable)`, by the converted `__iter__`, `__next__` or `__getitem__` of a user's class."""
    iterable = settled(iterable)
    refuse_items(iterable)
    make = user_method(iterable, "__iter__")
    if make is None and class_attribute(type(iterable), "__iter__") is None:
        item = user_method(iterable, "__getitem__")
        if item is not None:
            return _by_index(item)
    if is_graph(iterable) and not is_number(iterable) and not iterable.shape:
        raise note_user_error(DTypeError("iteration over a 0-D tensor"))
    items: Iterator[Any] = builtins.iter(iterable) if make is None else make()
    stepping = Stepping.of(items)
    if stepping is not None:
        return stepping
    if items is iterable:
        if isinstance(items, Stepping):
            items.is_passed = True
        note_spent(items)
    return items


class Stepping:
    """An iterator that calls a converted `__next__`."""

    def __init__(self, step: Callable[[], Any], owner: Any) -> None:
        self.step = step
        self.owner = owner
        self.is_passed = False
        """Whether who goes through it was given it, in place of its owner."""
        code = class_attribute(type(owner), "__next__").__code__
        self.place = code.co_filename, code.co_firstlineno

    @staticmethod
    def of(owner: Any) -> Stepping | None:
        """What goes through the items of an iterator of the user's; None for others."""
        step = owner.step if isinstance(owner, Listed) else user_method(owner, "__next__")
        return None if step is None else Stepping(step, owner)

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        if isinstance(self.owner, Listed) and self.owner.is_known():
            return self.step()  # and nothing keeps its frames
        with catching(StopIteration, "what goes through the items", self.place):
            return self.step()


def listed_in(items: Any) -> Any:
    """The `iter(...)` of converted code that an iterator asks for items, which tells where it stands; else itself."""
    return items.owner if isinstance(items, Stepping) and isinstance(items.owner, Listed) else items


def _by_index(item: Callable[[int], Any]) -> Iterator[Any]:
    """Items 0, 1, ... until IndexError: how Python iterates over classes that have `__getitem__` alone."""
    index = 0
    while True:
        try:
            with catching(IndexError, "what goes through the items"):
                found = item(index)
        except IndexError:
            return
        yield found
        index += 1


@by_option(2)
@for_user
def contains(container: Any, value: Any) -> Any:
    """`value in container`, by a converted `__contains__` where the user wrote one."""
    container = seen_inside(container)
    refuse_items(container)
    method = user_method(container, "__contains__")
    if method is None and isinstance(container, Iterator):
        refuse_given([container])
    return value in container if method is None else method(value)


def is_searched(container: Any) -> bool:
    """Whether `in` goes through the items that code of the user's gives, up to the one asked for."""
    is_users = any(user_method(container, name) is not None for name in ("__iter__", "__getitem__"))
    return is_users and class_attribute(type(container), "__contains__") is None
