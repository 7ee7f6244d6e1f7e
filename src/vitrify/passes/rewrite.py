"""Declarative rewriting: patterns are calls of ops on holes, a rule says what may stand in the place of a match."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..core.errors import InternalError
from ..ir.ssa import Graph, Literal, Op, Operand, Value
from ..ops.registry import OpDef
from .operands import Outputs, key_of, replaced

MOST_STEPS = 8
"""How many rules in a row may rewrite one operator."""
Match = dict[str, Any]
Guard = Callable[[Match], bool]


@dataclass(frozen=True)
class Hole:
    """Matches any operand, the same one wherever its name comes again."""

    name: str


@dataclass(frozen=True)
class Number:
    """Matches a literal of this value; zeros have a sign where the dtype has."""

    value: float


@dataclass(frozen=True)
class Attr:
    """Matches any value of an attribute, or gives the one that was matched."""

    name: str


@dataclass(frozen=True)
class Call:
    """Matches an operator; in what replaces one, arguments and attributes may be functions of the match."""

    op: OpDef
    args: tuple[Any, ...]
    attrs: Mapping[str, Any]


def call(op: OpDef, *args: Any, **attrs: Any) -> Call:
    """The pattern of a call of `op`; attributes that are not named may have any value."""
    return Call(op, args, attrs)


@dataclass(frozen=True)
class Rule:
    """What matches `pattern` may be replaced by `by`, a hole or a call, if all of `when` hold of the match.

    The match has operands and attributes by the names of holes, and the result itself as "out".
    """

    name: str
    pattern: Call
    by: Hole | Call
    when: Sequence[Guard] = ()


def rewritten(graph: Graph, rules: Sequence[Rule]) -> Graph:
    """The graph with every match of a rule replaced, as long as one applies. What nobody needs then is still there."""
    by_op: dict[OpDef, list[Rule]] = {}
    for rule in rules:
        by_op.setdefault(rule.pattern.op, []).append(rule)
    if not any(op.op in by_op for op in graph.ops):
        return graph
    by: dict[Value, Operand] = {}
    maker: dict[Value, Op] = {}
    outputs = Outputs(graph)
    ops: list[Op] = []
    for op in graph.ops:
        found: Op | None = replaced(op, by)
        assert found is not None
        if found.op in by_op:
            found = _settled(found, by_op, maker, outputs, by)
        if found is not None:
            ops.append(found)
            maker.update(dict.fromkeys(found.outputs, found))
    if len(ops) == len(graph.ops) and all(a is b for a, b in zip(ops, graph.ops)):
        return graph
    return graph.with_(ops=ops, outputs=tuple([None if v is None else by.get(v, v) for v in graph.outputs]))


def _settled(
    op: Op, rules: Mapping[OpDef, Sequence[Rule]], maker: Mapping[Value, Op], outputs: Outputs, by: dict[Value, Operand]
) -> Op | None:
    """The operator when no rule applies any more; None when an operand takes its place."""
    for _ in range(MOST_STEPS):
        for rule in rules.get(op.op, ()):
            match: Match = {"out": op.outputs[0]}
            if not (_matches_op(rule.pattern, op, maker, match) and all(guard(match) for guard in rule.when)):
                continue
            if isinstance(rule.by, Call):
                if rule.by.op.view and op.outputs[0] in outputs.taken:
                    continue  # another view may lie in other memory
                op = _made(rule.by, match, op)
                break
            new = match[rule.by.name]
            if new.meta == op.outputs[0].meta and outputs.may_be(op.outputs[0], new):
                by[op.outputs[0]] = new
                return None
        else:
            return op
    raise InternalError(f"rules chase each other at {op.op.name}: {', '.join(r.name for r in rules[op.op])}")


def _made(pattern: Call, match: Match, old: Op) -> Op:
    attrs = {name: _filled(value, match) for name, value in pattern.attrs.items()}
    inputs = tuple([arg(match) if callable(arg) else match[arg.name] for arg in pattern.args])
    return Op(pattern.op, inputs, old.outputs, attrs, old.locs, old.role, old.name_scope)


def _filled(value: Any, match: Match) -> Any:
    if isinstance(value, Attr):
        return match[value.name]
    return value(match) if callable(value) else value


def _matches_op(pattern: Call, op: Op, maker: Mapping[Value, Op], match: Match) -> bool:
    if op.op is not pattern.op or len(op.inputs) != len(pattern.args):
        return False
    for name, wanted in pattern.attrs.items():
        if isinstance(wanted, Attr):
            match[wanted.name] = op.attrs[name]
        elif op.attrs[name] != wanted:
            return False
    return all(_matches(part, operand, maker, match) for part, operand in zip(pattern.args, op.inputs))


def _matches(part: Any, operand: Operand, maker: Mapping[Value, Op], match: Match) -> bool:
    if operand is None:
        return False
    if isinstance(part, Hole):
        return _same(match.setdefault(part.name, operand), operand)
    if isinstance(part, Number):
        return type(operand) is Literal and _is_number(operand, part.value)
    made = maker.get(operand) if type(operand) is Value else None
    return made is not None and _matches_op(part, made, maker, match)


def _same(a: Operand, b: Operand) -> bool:
    return a is b or (type(a) is Literal and type(b) is Literal and key_of(a) == key_of(b))


def _is_number(literal: Literal, wanted: float) -> bool:
    if literal.dtype.is_bool or literal.dtype.is_complex or literal.value != wanted:
        return False
    return bool(wanted) or literal.dtype.is_integer or math.copysign(1, literal.value) == math.copysign(1, wanted)  # type: ignore[arg-type]
