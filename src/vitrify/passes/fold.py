"""Constant folding: values whose elements are all one number that is known.

Arrays of different elements stay operators: what a program computes costs no memory while it does not run.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..core.meta import Meta
from ..ir.ssa import Graph, Literal, Op, Value
from ..ops.creation import full_op

SAMPLE = 64
"""On so many elements a constant is computed: kernels may work on several at once."""
Constants = dict[Value, Literal]


def folded(graph: Graph) -> Graph:
    """The graph with constants computed, and numbers in place of constant operands of elementwise operators."""
    known: Constants = {}
    ops: list[Op] = []
    changed = False
    for op in graph.ops:
        constant = constant_of(op, known)
        found = op
        if constant is not None:
            known[op.outputs[0]] = constant
            found = _filled(op, constant)
        elif known and op.op.scalar is not None:
            found = _with_numbers(op, known)
        changed = changed or found is not op
        ops.append(found)
    return graph.with_(ops=ops) if changed else graph


def constant_of(op: Op, known: Constants) -> Literal | None:
    """The number that all elements of the result are, where that is known."""
    kind, meta = op.op, op.outputs[0].meta if len(op.outputs) == 1 else None
    if not isinstance(meta, Meta) or not meta.is_static or meta.dtype.is_complex or op.has_refs:
        return None
    if kind is full_op:
        return _computed(op, [], meta, {**op.attrs, "shape": (SAMPLE,)})
    if not op.inputs or not all(type(v) is Literal or v in known for v in op.inputs):
        return None
    values = [v if type(v) is Literal else known[v] for v in op.inputs]
    if kind.view:
        return values[0] if values[0].dtype is meta.dtype else None
    if kind.scalar is None or kind.raises or kind.random or kind.effect:
        return None
    return _computed(op, values, meta, op.attrs)


def _computed(op: Op, values: list[Literal], meta: Meta, attrs: Mapping[str, Any]) -> Literal | None:
    if any(v.dtype.is_complex for v in values):
        return None
    try:
        found = op.op.on_numpy(*[np.full(SAMPLE, v.value, v.dtype.np) for v in values], **attrs)
    except (ArithmeticError, ValueError):  # it will say so when the program runs
        return None
    first = found[:1]
    same = found.dtype == meta.dtype.np and found.tobytes() == first.tobytes() * SAMPLE
    return Literal(first.item(), meta.dtype) if same else None


def _filled(op: Op, constant: Literal) -> Op:
    """The operator that makes the constant; views of constants are none already."""
    if op.op is full_op or op.op.view:
        return op
    attrs = {"shape": op.outputs[0].meta.shape, "fill_value": constant.value, "dtype": constant.dtype}  # type: ignore[union-attr]
    return Op(full_op, (), op.outputs, attrs, op.locs, op.role, op.name_scope)


def _with_numbers(op: Op, known: Constants) -> Op:
    """The operator with numbers for its constant operands, if another operand has the shape of the result."""
    if op.has_refs or not any(v in known for v in op.values):
        return op
    shape = op.outputs[0].meta.shape  # type: ignore[union-attr]
    others = [v for v in op.values if v not in known]
    if not any(isinstance(v.meta, Meta) and v.meta.shape == shape and v.meta.is_static for v in others):
        return op
    return op.with_(inputs=tuple([known.get(v, v) if type(v) is Value else v for v in op.inputs]))
