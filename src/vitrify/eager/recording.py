"""Putting an op call on the tape: which inputs want cotangents, and what their vjp rules keep for backward."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..ops.registry import VARIADIC_OUTPUTS, OpDef, Vjp
from .packing import save_input, save_output
from .tape import Edge, GradNode, Like, Plan
from .tensor import Tensor

Keep = Callable[[Sequence[Any], Sequence[Tensor]], Any]

SCALAR_TYPES = frozenset({bool, int, float, complex})
NOT_TENSORS = SCALAR_TYPES | {type(None)}
NO_ATTRS: Mapping[str, Any] = {}
"""The attributes of all calls that have none."""
_new = object.__new__


def record(op: OpDef, inputs: Sequence[Any], attrs: Mapping[str, Any], out: Tensor) -> None:
    """Give `out` a node that leads to the inputs; nothing when no cotangent can reach one."""
    array = out._data
    plan, edges = _flow(op, inputs)
    if plan is None:
        return
    saved = tuple([keep(inputs, (out,)) for keep in plan.keeps]) if plan.keeps else ()
    out._node = GradNode(op, attrs, edges, plan, saved, ((array.shape, array.dtype),))
    out.stop_gradient = False


def record_pair(op: OpDef, x: Tensor, y: Tensor, out: Tensor) -> None:
    """`record` for an op of two tensors without attributes."""
    array, rules = out._data, op.vjp
    dtype = array.dtype
    if rules.__class__ is not Vjp:
        return
    first, second = rules.bits
    mask = 0
    edges: list[Edge | None] = [None, None]
    if first and not x.stop_gradient:
        mask = first
        node = x._node
        edges[0] = (node, x._index, None) if node is not None else (None, -1, x)
    if second and not y.stop_gradient:
        mask |= second
        node = y._node
        edges[1] = (node, y._index, None) if node is not None else (None, -1, y)
    if mask:
        plan = rules.plans.get(mask) or plan_of(op, rules, mask)
        saved = tuple([keep((x, y), (out,)) for keep in plan.keeps]) if plan.keeps else ()
        node = out._node = _new(GradNode)  # what `__init__` does, in half the time
        node.op = op
        node.attrs = NO_ATTRS
        node.edges = edges
        node.plan = plan
        node.saved = saved
        node.outputs = ((array.shape, dtype),)
        node.hooks = node.retained = None
        out.stop_gradient = False


def record_many(op: OpDef, inputs: Sequence[Any], attrs: Mapping[str, Any], outs: Sequence[Tensor]) -> None:
    """`record` for the outputs of an op that has several."""
    plan, edges = _flow(op, inputs)
    if plan is None:
        return
    saved = tuple([keep(inputs, outs) for keep in plan.keeps])
    node = GradNode(op, attrs, edges, plan, saved, tuple([(out._data.shape, out._data.dtype) for out in outs]))
    for index, out in enumerate(outs):
        out._node = node
        out._index = index
        out.stop_gradient = False


def _flow(op: OpDef, inputs: Sequence[Any]) -> tuple[Plan | None, list[Edge | None]]:
    """Which inputs want cotangents, as the plan for just these, and where the cotangents go."""
    edges: list[Edge | None] = []
    rules = op.vjp
    if rules.__class__ is not Vjp:
        return None, edges
    bits = rules.bits
    last = len(bits) - 1
    mask = i = 0
    for value in inputs:
        bit = bits[i]
        if i < last:
            i += 1
        if not bit or value.__class__ in NOT_TENSORS or value.stop_gradient:
            edges.append(None)
            continue
        mask |= bit
        node = value._node
        edges.append((node, value._index, None) if node is not None else (None, -1, value))
    return (rules.plans.get(mask) or plan_of(op, rules, mask)) if mask else None, edges


# -- plans: made once for each op and set of inputs that want cotangents ---------------------------------------------


def plan_of(op: OpDef, rules: Vjp, mask: int) -> Plan:
    """The plan for the inputs that a set of bits names; it stays with the rules."""
    needs = frozenset(name for i, name in enumerate(op.inputs) if mask >> i & 1)
    names = [n for n in rules.residual_names(needs) if n not in op.attrs and n != "needs"]
    plan = Plan(op, needs, tuple(names), tuple(_keep(op, name) for name in names))
    rules.plans[mask] = plan
    return plan


def _keep(op: OpDef, name: str) -> Keep:
    """How the residual `name` is taken from a call's inputs and outputs."""
    base = name.removesuffix("_like")
    keep_one = _like if base != name else save_input
    if base not in op.inputs:
        return _keep_outputs(op, base, like=base != name)
    index = op.inputs.index(base)
    if op.variadic and index == len(op.inputs) - 1:
        return lambda inputs, outs: tuple([_kept(v, keep_one) for v in inputs[index:]])

    def keep(inputs: Sequence[Any], outs: Sequence[Tensor]) -> Any:
        if index >= len(inputs):
            return None
        value = inputs[index]
        return value if value.__class__ in NOT_TENSORS else keep_one(value)

    return keep


def _keep_outputs(op: OpDef, base: str, like: bool) -> Keep:
    if op.outputs == VARIADIC_OUTPUTS:
        return lambda inputs, outs: tuple([_like(t) if like else save_output(t, i) for i, t in enumerate(outs)])
    index = op.outputs.index(base)
    if like:
        return lambda inputs, outs: _like(outs[index])
    return lambda inputs, outs: save_output(outs[index], index)


def _kept(value: Any, keep_one: Callable[[Tensor], Any]) -> Any:
    return value if value.__class__ in NOT_TENSORS else keep_one(value)


def _like(tensor: Tensor) -> Like:
    return Like(tensor._data)


__all__ = ["NOT_TENSORS", "NO_ATTRS", "SCALAR_TYPES", "plan_of", "record", "record_many", "record_pair"]
