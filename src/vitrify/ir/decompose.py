"""Composite operators written in simpler ones, as the registry's field `decompose` says."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterator
from dataclasses import replace
from typing import Any

from ..core.cache import BoundedCache
from ..core.errors import VitrifyError
from ..core.lazy import lazy_module
from ..core.meta import Meta
from ..core.modes import amp_state, grad_enabled, scoped
from ..ops.registry import OpDef
from .builder import Builder, building
from .model_file import SavedFunction
from .program import Block, Program
from .ssa import Graph, Op, Operand, Value
from .ssa_blocks import block_of, graph_of

_compositions = lazy_module("vitrify.ir.compositions")  # which programs that are read and run do without
_FORMS: BoundedCache[Hashable, Graph | None] = BoundedCache("decompositions", limit=1024)


def decomposed(op: Op) -> Graph | None:
    """What the operator computes as a graph of its values; None where it has no such form."""
    return None if op.op.decompose is None else _graph_by(op, op.op.decompose)


def _graph_by(op: Op, form: Callable[..., Any]) -> Graph | None:
    """What a composition makes of the operator's values; None where it has none for these."""
    if op.has_refs:
        return None
    if not all(v is None or (type(v) is Value and isinstance(v.meta, Meta)) for v in op.inputs):
        return None
    metas = tuple([None if v is None else v.meta for v in op.inputs])
    key = op.op.name, metas, repr(sorted(op.attrs.items()))
    return _FORMS.get_or_build(key, lambda: _traced(op, form))


def _traced(op: Op, form: Callable[..., Any]) -> Graph | None:
    program = Program()
    block = program.global_block()
    inputs = [None if v is None else block.add_input(v.meta) for v in op.inputs]
    builder = Builder(program)
    builder.locs = ()  # they are those of the operator
    with building(builder), scoped(amp_state, None), scoped(grad_enabled, False):
        try:
            found = form(*inputs, **op.attrs)
        except VitrifyError:  # it has no form for sizes of 0; the operator itself says what is wrong
            return None
    if found is None:
        return None
    outputs = found if isinstance(found, tuple) else (found,)
    given = [v for v in inputs if v is not None]
    is_same = [getattr(v, "meta", None) for v in outputs] == [v.meta for v in op.outputs]
    is_made = len({*map(id, outputs), *map(id, given)}) == len(outputs) + len(given)
    return graph_of(block, given, outputs) if is_same and is_made else None


def expanded(graph: Graph, only: Collection[OpDef] | None = None) -> Graph:
    """The graph with every operator that has a simpler form written in it; of some ops alone where they are given."""
    ops: list[Op] = []
    for op in graph.ops:
        form = decomposed(op) if only is None else _in_simpler(op) if op.op in only else None
        if form is None:
            ops.append(_with_inner(op, only))
            continue
        inner: dict[Value, Operand] = dict(zip(form.inputs, op.values))
        inner |= {v: out for v, out in zip(form.outputs, op.outputs) if v is not None}
        for part in form.ops:
            outputs = tuple([_fresh(v, inner) for v in part.outputs])
            inputs = tuple([inner.get(v, v) if type(v) is Value else v for v in part.inputs])
            ops.append(Op(part.op, inputs, outputs, part.attrs, op.locs, op.role, op.name_scope))
    return graph.with_(ops=ops)


def _in_simpler(op: Op) -> Graph | None:
    """As `decomposed`, and by the compositions for files of others."""
    form = _compositions.composition_of(op.op)
    return None if form is None else _graph_by(op, form)


def _with_inner(op: Op, only: Collection[OpDef] | None) -> Op:
    """The operator with those of its blocks expanded."""
    inner = {name: expanded(value, only) for name, value in op.attrs.items() if isinstance(value, Graph)}
    if not inner:
        return op
    return Op(op.op, op.inputs, op.outputs, {**op.attrs, **inner}, op.locs, op.role, op.name_scope)


def _ops_in(block: Block) -> Iterator[OpDef]:
    for operator in block.ops:
        yield operator.op
        for inner in operator.blocks.values():
            yield from _ops_in(inner)


def _fresh(value: Value, inner: dict[Value, Operand]) -> Value:
    found: Value = inner.setdefault(value, Value(value.meta, value.name))
    return found


def simpler(block: Block) -> Block | None:
    """The block with composite operators written in their simpler form; None where one has no other and lacks it."""
    graph = expanded(graph_of(block))
    needs = (op for op in graph.ops if op.op.decompose is not None and op.op.scalar is None and op.op.native is None)
    return None if any(needs) else block_of(graph)


def in_other_ops(function: SavedFunction, has_form: Callable[[OpDef], bool]) -> SavedFunction:
    """The function with those composite operators that have no form elsewhere written in simpler ones.

    The function itself where there are none.
    """
    block = function.program.global_block()
    found = block_in_other_ops(block, has_form)
    return function if found is block else replace(function, program=found.program)


def block_in_other_ops(block: Block, has_form: Callable[[OpDef], bool]) -> Block:
    """The block with those composite operators that have no form elsewhere written in simpler ones, or itself."""
    refused: set[OpDef] = set()  # those that have no composition for their values; the file's writer says so
    while True:
        found = {op for op in _ops_in(block) if _compositions.composition_of(op) is not None and not has_form(op)}
        if not found - refused:
            return block
        block = block_of(expanded(graph_of(block), found - refused))
        refused |= found
