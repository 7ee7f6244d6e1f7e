"""Arrays of tensors and operators that write into a value, as programs of Paddle's have them: lists, and new values.

What a block writes into a value from around it is one more value that an `if` gives, or that a loop carries.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..core.errors import FileFormatError, UnsupportedError
from ..core.meta import ListMeta
from ..ir.builder import Builder
from ..ir.known_values import as_tensor
from ..ops import lists
from ..ops.elementwise import scale
from ..ops.registry import get_op
from .graph import Graph, Id, Node
from .operator_table import number, reads

Env = dict[Any, Any]
WRITTEN: dict[str, int] = {"array_write_": 0, "increment_": 0, "assign_out_": 1}
"""Operators that write into one of their inputs, and which."""


@dataclass(frozen=True)
class Empty:
    """An array that nothing was written to: nobody can say yet what its items are like."""


def written_by(graph: Graph) -> Iterator[Id]:
    """The values that the operators of a block, and of blocks inside, write into."""
    for node in graph.nodes:
        at = WRITTEN.get(node.name)
        if at is not None and at < len(node.inputs):
            yield node.inputs[at]
        for inner in node.blocks:
            yield from written_by(inner)


def written_outside(graphs: list[Graph], env: Env) -> list[Id]:
    """Which values from around the blocks they write into."""
    return [name for name in dict.fromkeys(n for g in graphs for n in written_by(g)) if name in env]


def start_lists(builder: Builder, names: list[Id], env: Env, run: Callable[[Env], Any]) -> list[Id]:
    """Make lists of those arrays of `names` to which `run` writes first; gives the names without arrays left empty."""
    empty = [name for name in names if isinstance(env[name], Empty)]
    if empty:
        inner = dict(env)
        with builder.trial():  # its operators are forgotten: what counts is what the items are like
            run(inner)
            items = {name: inner[name].meta.item for name in empty if not isinstance(inner[name], Empty)}
        env.update({name: lists.list_of_op(item=item) for name, item in items.items()})
    return [name for name in names if not isinstance(env[name], Empty)]


def _list(value: Any) -> Any:
    if isinstance(value, Empty):
        raise UnsupportedError("an array that nothing was written to cannot be read")
    if not isinstance(getattr(value, "meta", None), ListMeta):
        raise FileFormatError("a tensor stands where an array is expected")
    return value


def _index(value: Any) -> Any:
    found = number(value)
    if isinstance(found, (int, float)):
        return int(found)
    return found if found.ndim == 0 else get_op("reshape")(found, shape=())


def create_array(env: Env, node: Node) -> list[Any]:
    """An array of nothing."""
    return [Empty()]


def array_write(env: Env, node: Node) -> list[Any]:
    """The array with an item written at a place, which may be the one behind its last."""
    array, item, place = (env[name] for name in node.inputs)
    item = as_tensor(item)
    if isinstance(array, Empty):
        found = lists.list_of_op(item, item=item.meta)
    else:
        at = _index(place)
        before = lists.list_slice_op(_list(array), start=None, stop=at, step=None)
        after = lists.list_slice_op(array, start=at + 1, stop=None, step=None)
        found = lists.list_extend_op(lists.list_append_op(before, item), after)
    env[node.inputs[0]] = found
    return [found]


def array_read(env: Env, node: Node) -> list[Any]:
    """The item at a place."""
    return [lists.list_get_op(_list(env[node.inputs[0]]), index=_index(env[node.inputs[1]]))]


def array_length(env: Env, node: Node) -> list[Any]:
    """How many items there are, as [1] integers."""
    array = env[node.inputs[0]]
    if isinstance(array, Empty):
        return [np.zeros(1, np.int64)]
    return [get_op("reshape")(lists.list_len_op(_list(array)), shape=(1,))]


def array_to_tensor(env: Env, node: Node) -> list[Any]:
    """The items stacked or joined along an axis; how long each is, is not said."""
    axis = int(node.attrs.get("axis", 0))
    join = lists.list_stack_op if node.attrs.get("use_stack", False) else lists.list_join_op
    return [join(_list(env[node.inputs[0]]), axis=axis), None]


@reads("increment")
def increased(x: Any, *, value: float = 1.0) -> Any:
    """x plus a number; what is known stays known."""
    is_known = isinstance(x, np.ndarray) and x.dtype != object
    return (x + value).astype(x.dtype) if is_known else scale(as_tensor(x), 1.0, value)


def increment(env: Env, node: Node) -> list[Any]:
    """The value plus a number, which it then is."""
    env[node.inputs[0]] = increased(env[node.inputs[0]], value=float(node.attrs.get("value", 1.0)))
    return [env[node.inputs[0]]]


def assign_out(env: Env, node: Node) -> list[Any]:
    """The first value, which the second then is."""
    env[node.inputs[1]] = env[node.inputs[0]]
    return [env[node.inputs[0]]]


WRITERS: dict[str, Callable[[Env, Node], list[Any]]] = {
    "create_array": create_array,
    "array_write_": array_write,
    "array_read": array_read,
    "array_length": array_length,
    "array_to_tensor": array_to_tensor,
    "increment_": increment,
    "assign_out_": assign_out,
}
__all__ = ["WRITERS", "Empty", "start_lists", "written_outside"]
