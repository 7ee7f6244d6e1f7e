"""Objects that no tensor can stand for, and whether what they hold can be seen where they were not made."""

from __future__ import annotations

from collections.abc import Iterable
from contextvars import ContextVar
from functools import partial
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from ...core.pytree import BY_CONTENT, OpenDeque, OpenDict, OpenList, OpenTable, OverList, is_open, is_plain_dataclass
from ...eager.layer import Layer
from ...eager.tensor import Tensor
from ...ir.program import Block, Variable
from ..values.base import builder, is_constant
from ..values.deferred import Deferred, Input, parts
from ..values.user_code import is_user_code
from .journal import is_inside, is_written

_PLAIN = (list, tuple, dict, set, frozenset)
_SEEN_THROUGH = (*_PLAIN, FunctionType, MethodType, BuiltinFunctionType, partial, Tensor, Variable, OverList)
_ALONE = (type, Variable, Layer, Tensor, ModuleType, ContextVar)
"""What is not looked into."""


def knows_nothing_of(value: Any, region: Block) -> bool:
    """Whether an object, function or Layer holds nothing that the block computes: it means the same behind it.

    What it is made of must be plain to see, which is not so of iterators and arrays.
    """
    seen: dict[int, Any] = {}
    waiting = [value]
    while waiting:
        part = waiting.pop()
        if isinstance(part, Variable) and is_inside(part.block, region):
            return False
        if is_open(part):
            if is_inside(part.block, region):
                return False
            continue  # what it holds then is told by its own place
        if isinstance(part, Deferred):
            raising = part.raises_in()
            if raising is not None and is_inside(raising, region):
                return False
            waiting += [node.var for node in parts(part.node) if isinstance(node, Input)]
            continue
        if not (is_constant(part) or _is_plain(part)):
            return False
        if id(part) not in seen and not isinstance(part, _ALONE):
            seen[id(part)] = part
            waiting += _held(part)
    return True


def is_told_apart(value: Any) -> bool:
    """Whether it is a list, dict or object of data, which stays itself in a trace that tells such objects apart."""
    return isinstance(value, BY_CONTENT) or is_plain_dataclass(type(value)) or value in builder().made


def is_from_before(container: Any, block: Block) -> bool:
    """Whether it is a list or dict that was there before the block, or an object made by this trace before it.

    So is a dataclass of the user's in a trace in which what a tensor decides stays the one or the other.
    """
    # A tuple is no container that anybody changes: which object it is does not matter.
    container = container.lists()[0] if isinstance(container, (OpenDeque, OpenTable)) else container
    if isinstance(container, (OpenList, OpenDict)):  # in no block: the call gave it
        return container.block is None or not is_inside(container.block, block)
    made_in = builder().made.block_of(container)
    if made_in is None:
        # The user's, whom the trace did not make; what a library has made just now holds what the block computes.
        is_data = builder().keeps_containers and is_plain_dataclass(type(container))
        return (is_data or isinstance(container, (list, dict))) and (
            knows_nothing_of(container, block) or _is_written_inside(container)
        )
    return not is_inside(made_in, block)


def _is_written_inside(container: Any) -> bool:
    """Whether converted code put into it, or into a list or dict in it, what the region computes."""
    seen: dict[int, Any] = {}
    waiting = [container]
    while waiting:
        part = waiting.pop()
        if not isinstance(part, (list, dict)) or id(part) in seen:
            continue
        if is_written(part):
            return True
        seen[id(part)] = part
        if not is_open(part):
            waiting += dict.values(part) if isinstance(part, dict) else list.__iter__(part)
    return False


def _is_plain(part: Any) -> bool:
    return isinstance(part, (*_SEEN_THROUGH, ContextVar)) or (
        (hasattr(part, "__dict__") or bool(_slots(part))) and not isinstance(part, np.ndarray)
    )


def _slots(part: Any) -> list[Any]:
    """What stands in the slots of an object, of a class that names them; arrays of numbers hold nothing else."""
    named = [name for cls in type(part).__mro__ for name in cls.__dict__.get("__slots__", ())]
    found = [getattr(part, name, None) for name in named]
    inside = [value if isinstance(value, list) else [value] for value in found]
    return [value for values in inside for value in values if not _is_numeric(value)]


def _is_numeric(value: Any) -> bool:
    return isinstance(value, np.ndarray) and value.dtype.kind != "O"


def _held(part: Any) -> Iterable[Any]:
    if isinstance(part, dict):
        return list(dict.values(part))
    if isinstance(part, OverList):
        return part.lists()
    if isinstance(part, _PLAIN):
        return list(part)
    if isinstance(part, FunctionType):
        if not is_user_code(part):
            return []  # what libraries keep is theirs
        return [*_contents(part), *(part.__defaults__ or ()), *(part.__kwdefaults__ or {}).values()]
    if isinstance(part, MethodType):
        return [part.__self__, part.__func__]
    if isinstance(part, partial):
        return [part.func, *part.args, *part.keywords.values()]
    held = [*getattr(part, "__dict__", {}).values(), *_slots(part)]
    return [*part.args, *held] if isinstance(part, BaseException) else held


def _contents(function: FunctionType) -> Iterable[Any]:
    for cell in function.__closure__ or ():
        try:
            yield cell.cell_contents
        except ValueError:  # not set yet
            continue
