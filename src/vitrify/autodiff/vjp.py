"""The vjp of one operator, recorded into a program: residuals gathered by name, cotangents fitted to the inputs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..core.meta import UNKNOWN, Meta, Ref
from ..ir.program import Literal, Operator, Variable
from ..ops.like import cast, sum_to_like
from ..ops.missing import filled
from ..ops.registry import VARIADIC_OUTPUTS, Rule, Vjp

See = Callable[[Any], Any]


def _unref(value: Any, inputs: Sequence[Any]) -> Any:
    """An attribute with its Refs turned back into the variables they stand for."""
    if isinstance(value, Ref):
        var = inputs[value.index]
        return var if value.item is None else var[value.item]
    if isinstance(value, slice):
        return slice(*(_unref(v, inputs) for v in (value.start, value.stop, value.step)))
    if isinstance(value, (list, tuple)):
        return type(value)(_unref(v, inputs) for v in value)
    return value


class _Residuals:
    """Looks up what a vjp rule asks for."""

    def __init__(self, operator: Operator, needs: frozenset[str], see: See) -> None:
        self.operator = operator
        self.needs = needs
        self.see = see

    def __getitem__(self, name: str) -> Any:
        op = self.operator.op
        if name == "needs":
            return self.needs
        if name in op.attrs:
            return _unref(self.operator.attrs[name], [self._value(v) for v in self.operator.inputs])
        base = name[:-5] if name.endswith("_like") else name
        if base in op.inputs:
            return self._input(op.inputs.index(base))
        if op.outputs == VARIADIC_OUTPUTS:
            return tuple(self._value(v) for v in self.operator.outputs)
        return self._value(self.operator.outputs[op.outputs.index(base)])

    def _input(self, index: int) -> Any:
        op = self.operator.op
        own = self.operator.inputs[: len(self.operator.inputs) - self.operator.ref_count]
        if op.variadic and index == len(op.inputs) - 1:
            return tuple(self._value(v) for v in own[index:])
        return self._value(own[index]) if index < len(own) else None

    def _value(self, value: Any) -> Any:
        if isinstance(value, Literal):
            return value.value
        return self.see(value) if isinstance(value, Variable) else value


def _call(rule: Rule, cts: Any, residuals: _Residuals) -> Any:
    return rule.fn(cts, **{name: residuals[name] for name in rule.residuals})


def operator_vjp(
    operator: Operator, cotangents: Sequence[Variable | None], needs: frozenset[str], see: See
) -> list[Variable | None]:
    """A cotangent (or None) for each of the operator's own inputs.

    see: gives a forward variable as the block being built sees it.
    """
    op = operator.op
    rules = op.vjp
    assert isinstance(rules, Vjp)
    whole: Any = [filled(ct, see(v)) for ct, v in zip(cotangents, operator.outputs)]
    cts = tuple(whole) if op.multiple else whole[0]
    residuals = _Residuals(operator, needs, see)
    found: Mapping[str, Any]
    if rules.joint is not None:
        found = _call(rules.joint, cts, residuals)
    else:
        found = {name: _call(rule, cts, residuals) for name, rule in rules.per_input.items() if name in needs}
    return _by_input(operator, found, needs, see)


def _by_input(operator: Operator, found: Mapping[str, Any], needs: frozenset[str], see: See) -> list[Variable | None]:
    op = operator.op
    last = len(op.inputs) - 1
    out: list[Variable | None] = []
    for i, value in enumerate(operator.inputs[: len(operator.inputs) - operator.ref_count]):
        name = op.input_name(i)
        if not isinstance(value, Variable) or name not in needs:
            out.append(None)
            continue
        ct = found.get(name)
        if ct is not None and op.variadic and i >= last:
            ct = ct[i - last]
        if ct is not None and op.broadcast:
            ct = _fit(ct, value, operator.inputs, see)
        out.append(_in_dtype_of(value, ct))
    return out


def _fit(ct: Variable, value: Variable, operands: Sequence[Any], see: See) -> Variable:
    """`ct` summed over the dimensions along which `value` was broadcast.

    That keeps `value` until backward where only its run-time sizes tell; not so where an unknown size must be its own,
    because no other operand could have stretched it.
    """
    meta = value.meta
    assert isinstance(meta, Meta)
    if len(ct.shape) == len(meta.shape) and all(
        _is_own(axis - len(meta.shape), size, given, value, operands)
        for axis, (size, given) in enumerate(zip(meta.shape, ct.shape))
    ):
        return ct
    fitted: Variable = sum_to_like(ct, see(value))
    return fitted


def _in_dtype_of(value: Variable, ct: Variable | None) -> Variable | None:
    """`ct` in the dtype of `value`: rules of integers may compute in floats."""
    if ct is None or not (isinstance(value.meta, Meta) and isinstance(ct.meta, Meta)) or ct.dtype is value.dtype:
        return ct
    fitted: Variable = cast(ct, value.dtype)
    return fitted


def _is_own(axis: int, size: int, given: int, value: Variable, operands: Sequence[Any]) -> bool:
    """Whether dimension `axis` (from the end) of the result is that of `value`, of size `size` (-1: unknown)."""
    if size != UNKNOWN:
        return size == given
    others = [v.meta.shape for v in operands if isinstance(v, Variable) and v is not value and isinstance(v.meta, Meta)]
    return all(len(shape) < -axis or shape[axis] == 1 for shape in others)
