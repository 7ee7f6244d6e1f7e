"""Operators whose results have a size that depends on values, written in the few that have instructions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...core.cache import BoundedCache
from ...core.dtype import bool_, int64
from ...core.errors import VitrifyError
from ...core.meta import Meta
from ...core.modes import amp_state, grad_enabled, scoped
from ...ir.builder import Builder, building
from ...ir.program import Block, Operator, Program, Variable
from ...ops.registry import get_op

_BLOCKS: BoundedCache[Any, Block | None] = BoundedCache("operators in simpler ones", limit=256)


def expanded_operator(operator: Operator) -> Block | None:
    """A block that takes the operator's variables and gives its results by simpler ones; None for a simple one."""
    op = operator.op
    if op.name in _FORMS and _NEEDED[op.name](operator):
        return _BLOCKS.get_or_build(operator, lambda: _recorded(_FORMS[op.name], operator))
    if op.decompose is None or operator.ref_count or op.scalar or op.native or op.ahead:
        return None
    block = _BLOCKS.get_or_build(operator, lambda: _simpler(operator))
    return block if block is not None and any(_is_dynamic(own) for own in block.ops) else None


def is_primitive(operator: Operator) -> bool:
    """Whether the instruction of the operator takes these arguments."""
    return operator.op.name != "bincount" or operator.inputs[1] is None


def _is_dynamic(operator: Operator) -> bool:
    """Whether it is one of those that have instructions, or becomes some of them."""
    return operator.op.name in _FORMS and (operator.op.name != "index_get" or _is_mask(operator))


def _simpler(operator: Operator) -> Block | None:
    """The operator as its composition of others; None where it has none for these arguments."""
    assert operator.op.decompose is not None
    try:
        block = _recorded(operator.op.decompose, operator)
    except VitrifyError:  # the operator itself says what is wrong
        return None
    return None if None in block.outputs else block


def _is_mask(operator: Operator) -> bool:
    return [_meta(v).dtype for v in operator.inputs[1:]] == [bool_]


def _meta(v: Any) -> Meta:
    assert isinstance(v.meta, Meta)
    return v.meta


def _recorded(form: Callable[..., Any], operator: Operator) -> Block:
    program = Program()
    block = program.global_block()
    inner = {v: block.add_input(v.meta) for v in dict.fromkeys(x for x in operator.inputs if isinstance(x, Variable))}
    builder = Builder(program)
    builder.locs = operator.locs
    given = [inner[v] if isinstance(v, Variable) else v for v in operator.inputs]
    with building(builder), scoped(amp_state, None), scoped(grad_enabled, False):
        found = form(*given, **operator.attrs)
        block.outputs = [*found] if isinstance(found, tuple) else [found]
    return block


def _index_by_mask(x: Any, mask: Any, *, axes: tuple[int, ...]) -> Any:
    """The rows of x where the mask, over the dimensions from the first of `axes` on, is true."""
    n, first = _meta(mask).ndim, axes[0]
    if n > 1:
        x = get_op("flatten")(x, start_axis=first, stop_axis=first + n - 1)
        mask = get_op("flatten")(mask, start_axis=0, stop_axis=n - 1)
    places = get_op("getitem")(get_op("nonzero")(mask), index=(slice(None, None, None), 0))
    return get_op("gather")(x, places, axis=first)


def _nonzero(x: Any, **_: Any) -> Any:
    return get_op("nonzero")(get_op("cast")(x, dtype=bool_))


def _bincount(x: Any, weights: Any, *, minlength: int) -> Any:
    return get_op("bincount")(get_op("cast")(x, dtype=int64), weights, minlength=minlength)


def _nms(
    boxes: Any, scores: Any, groups: Any, *, threshold: float, allowed: tuple[int, ...] | None, top_k: int | None
) -> Any:
    """By instructions that take boxes with the best first."""
    order = None
    if groups is not None and _meta(groups).dtype is not int64:
        groups = get_op("cast")(groups, dtype=int64)
    if scores is not None:
        order = get_op("sort")(get_op("neg")(scores), axis=0, descending=False)[1]
    if allowed is not None:
        own = groups if order is None else get_op("gather")(groups, order, axis=0)
        mask = get_op("equal")(own, allowed[0])
        for number in allowed[1:]:
            mask = get_op("logical_or")(mask, get_op("equal")(own, number))
        places = get_op("getitem")(get_op("nonzero")(mask), index=(slice(None, None, None), 0))
        order = places if order is None else get_op("gather")(order, places, axis=0)
    if order is None:
        return get_op("nms")(boxes, None, groups, threshold=threshold, allowed=None, top_k=top_k)
    taken = [None if v is None else get_op("gather")(v, order, axis=0) for v in (boxes, groups)]
    kept = get_op("nms")(taken[0], None, taken[1], threshold=threshold, allowed=None, top_k=top_k)
    return get_op("gather")(order, kept, axis=0)


_FORMS: dict[str, Callable[..., Any]] = {
    "index_get": _index_by_mask, "nonzero": _nonzero, "bincount": _bincount, "nms": _nms
}  # fmt: skip
_NEEDED: dict[str, Callable[[Operator], bool]] = {
    "index_get": _is_mask,
    "nonzero": lambda o: _meta(o.inputs[0]).dtype is not bool_,
    "bincount": lambda o: _meta(o.inputs[0]).dtype is not int64,
    "nms": lambda o: o.inputs[1] is not None or o.attrs["allowed"] is not None
    or (o.inputs[2] is not None and _meta(o.inputs[2]).dtype is not int64),
}  # fmt: skip

__all__ = ["expanded_operator", "is_primitive"]
