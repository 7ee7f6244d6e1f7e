"""Methods of containers that go through all that they are given: a generator expression is a list to them.

A tensor may decide which items it gives, as in `xs.extend(v for v in values if v > 0)`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

from ...core.meta import Meta
from ...core.pytree import OpenDeque, OpenDict, OverList, is_open, list_in
from ...ops.lists import list_unstack_op
from ..containers.list_items import Items
from ..containers.lists import GraphList
from ..containers.sets import GraphSet
from ..containers.specs import TensorSpec
from ..control.comprehension import as_set, dict_of_pairs, gathered, listed
from ..control.pushed import pushing
from ..host.value import HostValue
from ..values.emit import passed_on

_CONTAINERS = (list, dict, set, frozenset, deque, OverList)
_METHODS = frozenset(
    {"extend", "extendleft", "update", "union", "intersection", "difference", "symmetric_difference"}
    | {"intersection_update", "difference_update", "symmetric_difference_update", "issubset", "issuperset"}
)


def numbers_listed(value: Any) -> Any:
    """What `tolist()` gives for a tensor of one dimension, as a list of numbers; anything else as it is."""
    if not isinstance(value, HostValue) or value.form() != "list" or len(value.meta().shape) != 1:
        return value
    tensor = value.tensor(in_full=True)
    item = TensorSpec(Meta((), tensor.dtype), is_number=True)
    return GraphList.of(Items(item, (passed_on(list_unstack_op, tensor, axis=0),)))


def takes_all(owner: Any, name: str) -> bool:
    """Whether the method of that name goes through what it is given."""
    return name in _METHODS and isinstance(owner, _CONTAINERS)


def taking_all(owner: Any, form: Callable[..., Any]) -> Callable[..., Any]:
    """`form`, which stands for such a method of `owner`, given lists in place of generators."""
    if isinstance(owner, (list, deque, OpenDeque)):
        return collecting(form, numbers=_as_it_is)
    if isinstance(owner, (dict, OpenDict)):
        return collecting(form, lambda pairs: _table(listed(pairs)), _table)
    return collecting(form, as_set if isinstance(owner, (set, frozenset, GraphSet)) else listed)


def _table(pairs: Any) -> Any:
    """Pairs of which only a run knows the number, as a dict."""
    return dict_of_pairs(pairs) if is_open(list_in(pairs)) else pairs


def _as_it_is(value: Any) -> Any:
    return value


def collecting(
    form: Callable[..., Any],
    collected: Callable[[Any], Any] = listed,
    numbers: Callable[[Any], Any] = numbers_listed,
) -> Callable[..., Any]:
    """`form`, given what `collected` makes of generators, and `numbers` of lists that a tensor gave."""

    def call(*args: Any, **kwargs: Any) -> Any:
        return form(*[collected(arg) if pushing(arg) else numbers(gathered(arg)) for arg in args], **kwargs)

    return call
