"""Blocks of one elementwise operator, for steps that native forms of other ops take."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..core.cache import BoundedCache
from ..core.dtype import as_dtype
from ..core.meta import UNKNOWN, Meta
from ..core.modes import amp_state, grad_enabled, scoped
from ..ir.builder import Builder, building
from ..ir.program import Block, Operator, Program, Variable
from ..ops.registry import OpDef
from .emit import Dtype

_BLOCKS: BoundedCache[Any, Block] = BoundedCache("blocks of one operator", limit=1024)


def single(op: OpDef, dtypes: Sequence[Dtype], attrs: Mapping[str, Any], fixed: Sequence[bool] = ()) -> Block:
    """A closed block of one elementwise op, for arrays of these dtypes; fixed: which repeat one where others go on."""
    key = (op, tuple(dtypes), tuple(attrs.items()), tuple(fixed))
    return _BLOCKS.get_or_build(key, lambda: _built(op, dtypes, attrs, fixed or [True] * len(dtypes)))


def _built(op: OpDef, dtypes: Sequence[Dtype], attrs: Mapping[str, Any], fixed: Sequence[bool]) -> Block:
    block = Program().global_block()
    inputs = [block.add_input(Meta(() if f else (UNKNOWN,), as_dtype(d))) for d, f in zip(dtypes, fixed)]
    meta = op.meta(*[v.meta for v in inputs], **attrs)
    return _closed(block, Operator(op, tuple(inputs), (block.create_var(meta),), attrs))


def of_rows(op: OpDef, dtype: Dtype) -> Block:
    """A closed block of a reduction over the last of two dimensions, for an array of this dtype."""
    return _BLOCKS.get_or_build((op, dtype), lambda: _reduction(op, dtype))


def _reduction(op: OpDef, dtype: Dtype) -> Block:
    block = Program().global_block()
    given, attrs = block.add_input(Meta((UNKNOWN, UNKNOWN), as_dtype(dtype))), {"axis": (1,), "keepdim": False}
    made = block.create_var(op.meta(given.meta, **attrs))
    return _closed(block, Operator(op, (given,), (made,), attrs))


def of_matrix(fn: Callable[..., Any], dtype: Dtype) -> Block:
    """A closed block of what a function, written in ops, does with the rows of an array of two dimensions."""
    return _BLOCKS.get_or_build((fn, dtype), lambda: _recorded(fn, [Meta((UNKNOWN, UNKNOWN), as_dtype(dtype))]))


def together(fn: Callable[..., Any], dtypes: Sequence[Dtype], fixed: Sequence[bool] = ()) -> Block:
    """A closed block of what a function, written in elementwise ops, does with arrays of these dtypes and one shape;
    fixed: which repeat one where others go on.
    """
    metas = [Meta(() if f else (UNKNOWN,), as_dtype(d)) for d, f in zip(dtypes, fixed or [False] * len(dtypes))]
    return _BLOCKS.get_or_build((fn, tuple(dtypes), tuple(fixed)), lambda: _recorded(fn, metas))


def _recorded(fn: Callable[..., Any], metas: Sequence[Meta]) -> Block:
    program = Program()
    block = program.global_block()
    inputs = [block.add_input(meta) for meta in metas]
    builder = Builder(program)
    builder.locs = ()
    with building(builder), scoped(amp_state, None), scoped(grad_enabled, False):
        block.outputs = [*fn(*inputs)]
    return block


def alone(operator: Operator) -> Block:
    """A closed block of this operator: it takes the operator's variables, in their order."""
    block = Program().global_block()
    variables = dict.fromkeys(v for v in operator.inputs if isinstance(v, Variable))
    inner = {v: block.add_input(v.meta) for v in variables}
    inputs = tuple(inner[v] if isinstance(v, Variable) else v for v in operator.inputs)
    outputs = tuple(block.create_var(v.meta) for v in operator.outputs)
    return _closed(block, Operator(operator.op, inputs, outputs, operator.attrs, operator.locs))


def _closed(block: Block, operator: Operator) -> Block:
    block.ops.append(operator)
    block.outputs = list(operator.outputs)
    return block
