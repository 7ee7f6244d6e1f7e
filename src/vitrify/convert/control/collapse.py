"""Values of several kinds whose options are alike, made one value: what a loop carries stands for objects by value."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...core.pytree import node_of
from ..containers.structure import is_alike, made_of
from ..state.inside import is_from_before, is_told_apart
from ..values.base import builder, scalar_condition
from ..values.one_of import GraphOneOf, is_option, left_of, settled
from .branches import trace_branches
from .paired import Recoded, fits


def collapsed(value: Any) -> Any:
    """`value`; where several of its options are objects or tuples of one kind, one stands for all of them.

    Lists, dicts and objects are told apart as long as the trace keeps them, but those that the body has made.
    """
    value = settled(value)
    if isinstance(value, tuple):
        return _collapsed_items(value)
    if not isinstance(value, GraphOneOf):
        return value
    groups: list[list[int]] = []
    for index in left_of(value):
        group = next((g for g in groups if _are_alike(value.options[g[0]], value.options[index])), None)
        if group is None:
            groups.append([index])
        else:
            group.append(index)
    if all(len(group) == 1 for group in groups):
        return value
    options = [_joined(value, group) for group in groups]
    places = {index: place for place, group in enumerate(groups) for index in group}
    return GraphOneOf([Recoded(value.code, places).make(), *options], value.name) if len(options) > 1 else options[0]


def _collapsed_items(value: tuple[Any, ...]) -> Any:
    """The tuple, or one like it whose items are of fewer kinds."""
    node = node_of(value)
    items = [collapsed(item) for item in node[1]] if node is not None else []
    if node is None or all(item is before for item, before in zip(items, node[1])):
        return value
    return made_of(node[0], items, node[2])


def _are_alike(a: Any, b: Any) -> bool:
    first, second = node_of(a), node_of(b)
    is_list = isinstance(a, (list, dict)) or isinstance(b, (list, dict))
    if builder().keeps_containers and (is_list or is_told_apart(a) or is_told_apart(b)):
        made_here = not any(is_from_before(part, builder().block) for part in (a, b))
        return made_here and fits(a, b)
    return first is not None and second is not None and not is_list and is_alike(first, second)


def _joined(value: GraphOneOf, group: Sequence[int]) -> Any:
    """What the value is where it is one of these options."""
    first, *others = group
    if not others:
        return value.options[first]
    pred = scalar_condition(is_option(value.code, [first], others), value.name)
    then, orelse = value.options[first], _joined(value, others)
    body = builder().block
    (found,) = trace_branches(pred, lambda: (then,), lambda: (orelse,), (value.name,), by_value=body)
    return found
