"""Replacing operands, and telling equal ones."""

from __future__ import annotations

import struct
from collections.abc import Hashable, Mapping
from typing import Any

from ..core.dtype import DType
from ..core.meta import FrameMeta, ListMeta, Meta, Ref
from ..ir.ssa import Graph, Literal, Op, Operand, Value, shares_memory, visible

_PLAIN = frozenset({type(None), bool, int, str, DType, Ref, Meta, ListMeta, FrameMeta, type(...)})


class NoKey(Exception):
    """An attribute that cannot be compared: a graph, or an object of the user's."""


def key_of(value: Any) -> Hashable:
    """Something equal for attributes or literals that mean the same: 1, 1.0, True, 0.0 and -0.0 are five values.

    Raises NoKey for what cannot be compared.
    """
    kind = type(value)
    if kind in _PLAIN:
        return kind, value
    if kind is float:
        return kind, struct.pack("d", value)
    if kind is complex:
        return kind, struct.pack("dd", value.real, value.imag)
    if kind is Literal:
        return kind, key_of(value.value), value.dtype
    if kind is tuple or kind is list:
        return kind, tuple([key_of(item) for item in value])
    if kind is slice:
        return kind, key_of((value.start, value.stop, value.step))
    raise NoKey


def replaced(op: Op, by: Mapping[Value, Operand]) -> Op:
    """The operator with these operands in place of those values."""
    if not by or not any(v in by for v in op.inputs if type(v) is Value):
        return op
    return op.with_(inputs=tuple([by.get(v, v) if type(v) is Value else v for v in op.inputs]))


class Outputs:
    """Which values of a graph may take the place of one that outputs may lie in.

    Outputs are arrays of their own: a caller may change one without changing another, or what it gave.
    """

    def __init__(self, graph: Graph) -> None:
        self.taken = visible(graph)
        self.shared = {*graph.inputs, *[v for op in graph.ops if shares_memory(op) for v in op.outputs]}

    def may_be(self, old: Value, new: Operand) -> bool:
        """Whether `new` may stand where `old` stood."""
        if old not in self.taken:
            return True
        if type(new) is not Value or new in self.taken or new in self.shared:
            return False
        self.taken.add(new)
        return True
