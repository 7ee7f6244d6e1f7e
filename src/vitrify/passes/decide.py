"""Branches whose outcome follows from others are taken, also where it follows for every round of a loop.

What a variable is that may be None, or one of several things, stands in a number beside it. A program asks that number
again and again, though one question has answered all: a loop that went on has kept its cache, so the cache is there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ..core.meta import Meta
from ..ir.ssa import Graph, Literal, Op, Operand, Value, map_graphs
from ..ops.control_flow import if_op, while_op
from ..ops.creation import full_op
from ..ops.registry import get_op
from .dead import without_dead_code
from .fold import constant_of

Known = dict[Value, Literal]
_EQUAL, _NOT, _AND, _OR = map(get_op, ("equal", "logical_not", "logical_and", "logical_or"))


def decided(graph: Graph) -> Graph:
    """The graph without branches that are never taken; the graph itself where it has none that can be told."""
    found, _ = _Walk().graph(graph, {})
    return graph if found is graph else map_graphs(found, without_dead_code)


@dataclass
class _Facts:
    """What is known inside a graph: numbers of its values, what makes them, how the branches of each `if` end, which
    they are by what they ask, and which values are read.
    """

    known: Known
    read: set[Value]
    made: dict[Value, tuple[Op, int]] = field(default_factory=dict)
    ends: dict[Op, tuple[Sequence[Literal | None], Sequence[Literal | None]]] = field(default_factory=dict)
    asked: dict[Operand, list[Op]] = field(default_factory=dict)

    def of(self, x: Operand) -> Literal | None:
        """The number that an operand is, where that is known."""
        return x if type(x) is Literal else self.known.get(x)

    def maker(self, x: Operand) -> tuple[Op | None, int]:
        """The operator that gives a value, and as which of its results."""
        return self.made.get(x, (None, 0)) if type(x) is Value else (None, 0)

    def copied(self) -> _Facts:
        """The same, of which more may be learnt that holds in one place alone."""
        return replace(self, known=dict(self.known))

    def learn(self, x: Operand, number: Literal) -> None:
        """Note that an operand is this number, and what follows for those that it is made of."""
        if type(x) is not Value or x in self.known:
            return
        self.known[x] = number
        for asked in self.asked.get(x, ()):
            self._learn_ends(asked, int(not number.value))
        op, index = self.maker(x)
        if op is None:
            return
        if op.op is if_op:
            self._learn_branch(op, index, number)
        elif op.op is _NOT:
            self.learn(op.inputs[0], Literal(not number.value, number.dtype))
        elif (op.op is _AND and number.value) or (op.op is _OR and not number.value):
            for operand in op.inputs:
                self.learn(operand, number)
        elif op.op is _EQUAL and number.value:
            for operand, other in (op.inputs, op.inputs[::-1]):
                same = self.of(other)
                if same is not None and _is_number(operand) and operand.meta.dtype is same.dtype:
                    self.learn(operand, same)

    def _learn_branch(self, op: Op, index: int, number: Literal) -> None:
        """Where only one branch of an `if` gives this number, it was that one."""
        fits = [ends[index] is None or _is_same(ends[index], number) for ends in self.ends.get(op, ())]
        if sorted(fits) == [False, True]:
            self.learn(op.inputs[0], _flag(fits[0], op.inputs[0]))
            self._learn_ends(op, int(fits[1]))

    def _learn_ends(self, op: Op, branch: int) -> None:
        """What an `if` gives where it took its first branch, or its second."""
        for out, end in zip(op.outputs, self.ends[op][branch]):
            if end is not None:
                self.learn(out, end)


class _Walk:
    """Goes through graphs with what is known of their inputs."""

    def graph(self, graph: Graph, known: Mapping[Value, Literal]) -> tuple[Graph, _Facts]:
        """The graph with its branches taken, and what is known inside."""
        facts, by, ops = _Facts(dict(known), _read_in(graph)), dict[Value, Operand](), list[Op]()
        for op in graph.ops:
            self._op(_replaced(op, by), facts, by, ops)
        outputs = tuple([None if v is None else by.get(v, v) for v in graph.outputs])
        if len(ops) == len(graph.ops) and all(a is b for a, b in zip(ops, graph.ops)):
            return graph, facts
        return _with_values(graph, ops, outputs), facts

    def _op(self, op: Op, facts: _Facts, by: dict[Value, Operand], ops: list[Op]) -> None:
        number = _number_of(op, facts)
        if number is not None:
            facts.known[op.outputs[0]] = number
        elif op.op is if_op:
            pred = facts.of(op.inputs[0])
            branch = None if pred is None else op.attrs["then" if pred.value else "orelse"]
            if branch is not None and None not in branch.outputs:
                self._take(op, branch, facts, by, ops)
                return
            op = self._if(op, facts)
        elif op.op is while_op:
            op = self._while(op, facts)
        facts.made.update({v: (op, i) for i, v in enumerate(op.outputs)})
        ops.append(op)

    def _take(self, op: Op, branch: Graph, facts: _Facts, by: dict[Value, Operand], ops: list[Op]) -> None:
        """The operators of a branch in place of the `if`."""
        inner: dict[Value, Operand] = dict(zip(branch.inputs, op.inputs[1:]))
        facts.read |= _read_in(branch)
        for own in branch.ops:
            self._op(_replaced(own, inner), facts, inner, ops)
        by.update({out: inner.get(v, v) for out, v in zip(op.outputs, branch.outputs) if v is not None})

    def _if(self, op: Op, facts: _Facts) -> Op:
        """The `if` with its branches walked through, each with what follows from being there."""
        attrs, ends = dict(op.attrs), []
        for name, is_true in (("then", True), ("orelse", False)):
            branch = op.attrs[name]
            there = facts.copied()
            there.learn(op.inputs[0], _flag(is_true, op.inputs[0]))
            attrs[name], inside = self.graph(branch, _handed(branch.inputs, op.inputs[1:], there))
            ends.append([None if v is None else inside.of(v) for v in attrs[name].outputs])
        for out, a, b in zip(op.outputs, *ends):
            if a is not None and b is not None and _is_same(a, b):
                facts.known[out] = a
        if any(attrs[name] is not op.attrs[name] for name in ("then", "orelse")):
            op = op.with_(attrs=attrs)
        facts.ends[op] = ends[0], ends[1]
        facts.asked.setdefault(op.inputs[0], []).append(op)
        return op

    def _while(self, op: Op, facts: _Facts) -> Op:
        """The loop with its body walked through, with what holds in every round."""
        cond, body, n = op.attrs["cond"], op.attrs["body"], op.attrs["n_carried"]
        first = int(cond is None)
        start, xs = op.inputs[first : first + n], op.attrs["n_xs"]
        captured = op.inputs[first + n + xs :]
        outer = _handed(body.inputs[n + xs :], captured, facts)
        asked: dict[int, Literal] = {}
        if cond is not None:
            cond, inside = self.graph(cond, _handed(cond.inputs[n:], captured, facts))
            if cond.outputs[0] is not None:
                inside.learn(cond.outputs[0], _flag(True, cond.outputs[0]))
            asked = {i: inside.known[v] for i, v in enumerate(cond.inputs[:n]) if v in inside.known}
        begun = _ended(facts, start, asked)
        held = {i: x for i, v in enumerate(start) if (x := begun.of(v)) is not None and _is_number(v)} | asked
        while True:
            given = outer | {body.inputs[i]: x for i, x in held.items()}
            found, inside = self.graph(body, given)
            ended = _ended(inside, found.outputs, asked)
            kept = {i: x for i, x in held.items() if i in asked or _is_same(ended.of(found.outputs[i]), x)}
            if kept == held:
                break
            held = kept
        unread = [] if cond is None else [i for i, v in enumerate(op.outputs[:n]) if v not in facts.read]
        unread = [i for i in unread if cond.inputs[i] not in _read_in(cond)]
        start = _going_on(facts, start, asked, unread)
        ends = _going_on(inside, found.outputs, asked, unread)
        if ends != found.outputs:
            found = found.with_(outputs=ends)
        if found is body and cond is op.attrs["cond"] and start == op.inputs[first : first + n]:
            return op
        inputs = (*op.inputs[:first], *start, *op.inputs[first + n :])
        return op.with_(inputs=inputs, attrs={**op.attrs, "cond": cond, "body": found})


def _going_on(
    facts: _Facts, values: Sequence[Operand], asked: Mapping[int, Literal], unread: Sequence[int]
) -> tuple[Operand, ...]:
    """What a loop goes on with, without what is handed to a round that does not come and read by nobody else.

    An `if` that says whether the loop goes on hands something then as well, of no size.
    """
    found = [*values]
    for i in unread:
        op, index = facts.maker(values[i])
        for j, number in asked.items():
            other, flag = facts.maker(values[j])
            if op is None or op is not other or op not in facts.ends:
                continue
            stops = [end[flag] is not None and not _is_same(end[flag], number) for end in facts.ends[op]]
            branch = op.attrs["orelse" if stops[0] else "then"]
            handed = dict(zip(branch.inputs, op.inputs[1:]))
            if sorted(stops) == [False, True] and branch.outputs[index] in handed:
                found[i] = handed[branch.outputs[index]]
    return tuple(found)


def _ended(facts: _Facts, values: Sequence[Operand], asked: Mapping[int, Literal]) -> _Facts:
    """What is known where another round begins, of which the condition says what some values are."""
    found = facts.copied()
    for i, number in asked.items():
        found.learn(values[i], number)
    return found


def _read_in(graph: Graph) -> set[Value]:
    """The values that its operators and outputs read."""
    return {v for op in graph.ops for v in op.values} | {v for v in graph.outputs if v is not None}


def _handed(inner: Sequence[Value], outer: Sequence[Operand], facts: _Facts) -> Known:
    """What is known of a graph's inputs."""
    return {v: number for v, x in zip(inner, outer) if (number := facts.of(x)) is not None}


def _number_of(op: Op, facts: _Facts) -> Literal | None:
    """The number that an operator gives, where it follows from what is known."""
    if len(op.outputs) != 1 or not _is_number(op.outputs[0]):
        return None
    if op.op in (_AND, _OR):
        ends, meta = op.op is _OR, op.outputs[0].meta
        for x in op.inputs:
            number = facts.of(x)
            if number is not None and number.value == ends and isinstance(meta, Meta) and number.dtype is meta.dtype:
                return number
    return constant_of(op, facts.known)


def _flag(value: bool, x: Operand) -> Literal:
    """What an operand is that says this."""
    return Literal(value, x.meta.dtype)


def _is_number(x: Operand) -> bool:
    """Whether it is one boolean or integer."""
    meta = x.meta
    return isinstance(meta, Meta) and meta.shape == () and (meta.dtype.is_bool or meta.dtype.is_integer)


def _is_same(x: Any, y: Any) -> bool:
    return x is not None and y is not None and x.dtype is y.dtype and x.value == y.value


def _replaced(op: Op, by: Mapping[Value, Operand]) -> Op:
    """The operator with other operands."""
    if not by or not any(v in by for v in op.values):
        return op
    return op.with_(inputs=tuple([by.get(v, v) if type(v) is Value else v for v in op.inputs]))


def _with_values(graph: Graph, ops: Sequence[Op], outputs: Sequence[Operand]) -> Graph:
    """The graph of these operators; what is put out is a value."""
    more, given = [], []
    for v in outputs:
        if type(v) is Literal:
            made = Value(v.meta)
            more.append(Op(full_op, (), (made,), {"shape": (), "fill_value": v.value, "dtype": v.dtype}))
            v = made
        given.append(v)
    return Graph(graph.inputs, tuple(given), (*ops, *more))


__all__ = ["decided"]
