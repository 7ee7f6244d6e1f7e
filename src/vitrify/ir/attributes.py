"""What attributes of operators hold: plain values, Blocks, and tuples and lists of these."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, TypeGuard

import numpy as np

from ..core.dtype import DType
from ..core.errors import DTypeError
from ..core.meta import FrameMeta, ListMeta, Meta, Ref

if TYPE_CHECKING:  # Programs print and clone themselves with this module
    from .program import Block, Operator, Program

# The values that stand alone; slices, tuples and lists hold others.
SIMPLE: frozenset[type] = frozenset(
    {type(None), bool, int, float, complex, str, DType, Ref, Meta, ListMeta, FrameMeta, type(...)}
)


def is_block(value: Any) -> TypeGuard[Block]:
    """Whether an attribute value is a Block."""
    return hasattr(value, "captures")


def leaves(value: Any) -> Iterator[Any]:
    """The values inside tuples, lists and slices; anything else itself."""
    if isinstance(value, slice):
        value = (value.start, value.stop, value.step)
    if isinstance(value, (list, tuple)):
        for item in value:
            yield from leaves(item)
    else:
        yield value


def may_hold(value: Any, kind: type | None = None) -> bool:
    """Whether an attribute value is anything else than a simple value, or tuples and lists of these.

    So it can be, or hold, a Block or Graph, or, where that is the `kind`, a Ref. Analyses ask that of every operator,
    and hardly any holds one.
    """
    found = type(value)
    if found in SIMPLE:
        return found is kind
    if issubclass(found, (tuple, list)):
        kinds = set(map(type, value))
        return kind in kinds or (not kinds <= SIMPLE and any(may_hold(v, kind) for v in value))
    return True


def blocks_in(value: Any) -> Iterator[Block]:
    """The Blocks inside an attribute value."""
    return (leaf for leaf in leaves(value) if is_block(leaf))


def blocks_of(attrs: Mapping[str, Any]) -> list[Block]:
    """The Blocks among an operator's attributes."""
    return [block for value in attrs.values() if may_hold(value) for block in blocks_in(value)] if attrs else []


def reachable_blocks(start: Block, ops: Callable[[Block], Iterable[Operator]]) -> set[Block]:
    """`start` and the blocks run, directly or not, by the operators that `ops` gives for each block."""
    found: set[Block] = set()
    waiting = [start]
    while waiting:
        block = waiting.pop()
        if block not in found:
            found.add(block)
            for operator in ops(block):
                waiting += blocks_of(operator.attrs)
    return found


def strangers_in(value: Any) -> Iterator[Any]:
    """What no file and no text can hold: functions, arrays and other objects."""
    known = (np.generic,)  # NumPy's scalars count as the Python numbers in them
    return (v for v in leaves(value) if type(v) not in SIMPLE and not is_block(v) and not isinstance(v, known))


def check_storable(program: Program) -> None:
    """Raise DTypeError where an operator holds an object that no file and no text can hold."""
    for block in program.blocks:
        for operator in block.ops:
            for name, value in operator.attrs.items():
                for stranger in strangers_in(value):
                    raise DTypeError(
                        f"{operator.op.name}: attribute {name} holds a {type(stranger).__name__}, "
                        "which cannot be stored",
                        loc=operator.locs[0] if operator.locs else None,
                    )


def mapped(fn: Callable[[Any], Any], value: Any) -> Any:
    """`value` with `fn(item)` in place of each item that is no tuple or list."""
    if type(value) in (list, tuple):
        return type(value)([mapped(fn, item) for item in value])
    return fn(value)


def map_blocks(fn: Callable[[Block], Any], value: Any) -> Any:
    """`value` with `fn(block)` in place of each Block."""
    return mapped(lambda item: fn(item) if is_block(item) else item, value)
