"""Fusion: which operators become one, chosen on the graph alone, and the graph in which they are.

A group is a set of operators, each connected to another, that compute the same elements: elementwise ones whose results
have one shape, for one loop over that shape computes them all, and reductions over the last dimensions of that shape,
with what is computed from one number for each row and what goes back over the rows: a few loops over each row while it
lies in the cache. Composite operators such as softmax count as what they are written in (`ir/decompose.py`). Operands
may broadcast into the shape. Sizes that are unknown are taken to be equal where they stand in the same dimension; who
runs a group asks the arrays. An operator that takes many steps by itself, such as gelu, or that NumPy
computes slower than memory brings its operands, such as exp and sums, is a group alone.

The other operators keep their order. A group stands where one of its members stood, behind whatever its members read
and before whatever reads them, so no cycle can arise, and effects stay where they were. What may raise does not pass an
operator that is there for its effect. Groups that would add to the peak of memory are not made.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from ..core.dtype import bfloat16, float16
from ..core.meta import Meta, numel
from ..ir.rows import Rows, drops_rows, rows_of
from ..ir.ssa import Graph, Op, Value, must_run
from ..ops.expression_size import count_primitives, primitives_of
from ..ops.fused import fused_op
from .lifetimes import Lifetimes

MAX_MEMBERS = 64
"""Larger groups take long to compile and gain nothing more."""
MAX_VALUES = 32
LEAST_PRIMITIVES = 3
"""An operator that computes so many arrays one after the other is worth a loop of its own."""
LARGE = 4096
"""Elements from which on a reduction alone is worth a loop of our own."""
AT_ONCE = frozenset({
    "abs", "add", "and_", "bitand", "bitnot", "bitor", "bitxor", "cast", "ceil", "div", "eq", "floor", "ge", "gt",
    "isfinite", "isinf", "isnan", "le", "lt", "mul", "ne", "neg", "not_", "or_", "reciprocal", "rint", "shl", "shr",
    "signbit", "square", "sub", "trunc", "xor",
})  # fmt: skip
"""Primitives that NumPy computes about as fast as memory brings what they read: a loop of our own gains nothing."""

HALVES = (float16, bfloat16)
"""What NumPy computes element by element, casts to and from float32 included."""


@dataclass(eq=False)
class Group:
    """Operators that become one: their numbers, in order, the place where the group stands, what they make, and what
    they read of others.
    """

    members: tuple[int, ...]
    place: int
    rows: Rows
    made: frozenset[Value]
    read: frozenset[Value]


def fuse(graph: Graph) -> Graph:
    """The graph with a `fused` operator for each group."""
    groups = [group for group in find_groups(graph) if len(group.members) > 1 or _takes_time(graph, group)]
    return outlined(graph, groups) if groups else graph


def _takes_time(graph: Graph, group: Group) -> bool:
    """Whether a single operator goes over its arrays several times, or computes more than memory waits for.

    NumPy adds up few numbers as fast, and in the order in which eager mode does: what a sum of them decides is decided
    alike.
    """
    op = graph.ops[group.members[0]]
    if op.op.combiner is not None:
        return numel(op.inputs[0].meta.shape) >= LARGE
    if op.op.scalar is None:
        return op.op.decompose is not None
    if any(isinstance(value.meta, Meta) and value.meta.dtype in HALVES for value in (*op.values, *op.outputs)):
        return True
    expression = op.op.scalar, len(op.inputs), op.attrs
    return count_primitives(*expression) >= LEAST_PRIMITIVES or not primitives_of(*expression) <= AT_ONCE


def find_groups(graph: Graph) -> list[Group]:
    """The groups of a graph, single operators among them."""
    return _Grouping(graph).groups()


class _Grouping:
    """Goes through the operators in order and joins each with the groups that make its operands."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.maker = {v: i for i, op in enumerate(graph.ops) for v in op.outputs}
        self.users: dict[Value, list[int]] = {v: [] for v in (*graph.inputs, *self.maker)}
        for index, op in enumerate(graph.ops):
            for value in op.values:
                self.users[value].append(index)
        self.kept = {v for v in graph.outputs if v is not None}
        self.group: dict[int, Group] = {}
        self.places = list(range(len(graph)))
        """Where each operator stands, by itself or in its group."""
        # How many operators with effects stand before each.
        self.effects = list(accumulate((must_run(op) for op in graph.ops), initial=0))
        self.lifetimes: Lifetimes | None = None

    def groups(self) -> list[Group]:
        """All groups."""
        for index, op in enumerate(self.graph.ops):
            rows = rows_of(op)
            if rows is not None:
                self.join(index, op, rows)
        return list(dict.fromkeys(self.group.values()))

    def join(self, index: int, op: Op, rows: Rows) -> None:
        """Make a group of an operator, and join it with those that it reads."""
        group = self.group[index] = Group((index,), index, rows, frozenset(op.outputs), frozenset(op.values))
        found = {self.group.get(self.maker.get(v, -1)): None for v in op.values}
        for other in sorted((g for g in found if g is not None), key=lambda g: -g.place):
            group = self.joined(group, other) or group

    def joined(self, a: Group, b: Group) -> Group | None:
        """The two groups as one; None where they may not be one."""
        rows = a.rows.with_(b.rows)
        if rows is None or len(a.members) + len(b.members) > MAX_MEMBERS:
            return None
        members = tuple(sorted(a.members + b.members))
        inside = a.made | b.made
        read = (a.read | b.read) - inside
        seen, last = self.seen(inside, a, b)
        if len(read) + len(seen) > MAX_VALUES:
            return None
        if rows.rank and not self.in_rows(rows, members, inside, read):
            return None
        first = max((self.places[self.maker[v]] for v in read if v in self.maker), default=-1)
        for place in (a.place, b.place):
            group = Group(members, place, rows, inside, read)
            if first < place < last and self.may_stand(group) and self.fits(group, inside - seen):
                for member in members:
                    self.group[member] = group
                return group
        return None

    def seen(self, inside: frozenset[Value], a: Group, b: Group) -> tuple[set[Value], int]:
        """What others than the two groups see of what these make, and the place of the first of these others."""
        seen = {*inside} & self.kept
        last = len(self.graph)
        for value in inside:
            for user in self.users[value]:
                group = self.group.get(user)
                if group is not a and group is not b:
                    seen.add(value)
                    last = min(last, self.places[user])
        return seen, last

    def in_rows(self, rows: Rows, members: Sequence[int], inside: frozenset[Value], read: frozenset[Value]) -> bool:
        """Whether each operand is either one number for each row or has an element for each one of a row."""
        for member in members:
            if any(v in inside and drops_rows(self.graph.ops[self.maker[v]]) for v in self.graph.ops[member].values):
                return False
        return all(rows.is_whole(v) or rows.is_narrow(v) for v in read)

    def may_stand(self, group: Group) -> bool:
        """Whether no member that may raise passes an operator with an effect."""
        if len({self.effects[m] for m in group.members}) == 1:
            return True
        metas = [v.meta for m in group.members for v in self.graph.ops[m].values]
        return all(isinstance(meta, Meta) and meta.is_static for meta in metas)

    def fits(self, group: Group, inner: frozenset[Value]) -> bool:
        """Whether the program needs no more memory at its peak with this group; if so it stands there now."""
        lives = self.lifetimes = self.lifetimes or Lifetimes(self.graph)
        before = [self.places[member] for member in group.members]
        for member in group.members:
            self.places[member] = group.place
        values = {lives.root(v) for v in (*group.read, *group.made)}
        changes = lives.moved(values, inner, self.places.__getitem__)
        together = group.members[-1] - group.members[0] < len(group.members)
        extra = 0 if together else max((lives.size[v] for v in inner), default=0)
        if lives.fits(changes, group.place, extra):
            return True
        for member, place in zip(group.members, before):
            self.places[member] = place
        return False


def outlined(graph: Graph, groups: Sequence[Group]) -> Graph:
    """The graph with each of these groups as one operator."""
    at = {group.place: group for group in groups}
    gone = {m for group in groups for m in group.members}
    users: dict[Value, set[int]] = {}
    for index, op in enumerate(graph.ops):
        for value in op.values:
            users.setdefault(value, set()).add(index)
    kept = {v for v in graph.outputs if v is not None}
    ops = []
    for index, op in enumerate(graph.ops):
        if index in at:
            members = at[index].members
            made = [v for m in members for v in graph.ops[m].outputs]
            seen = [v for v in made if v in kept or not users.get(v, set()).issubset(members)]
            ops.append(_fused([graph.ops[m] for m in members], seen))
        elif index not in gone:
            ops.append(op)
    return graph.with_(ops=ops)


def _fused(ops: Sequence[Op], outputs: Sequence[Value]) -> Op:
    """One operator for these, which gives `outputs`; it stands at the user's line of the last."""
    made = {v for op in ops for v in op.outputs}
    inputs = tuple(dict.fromkeys(v for op in ops for v in op.values if v not in made))
    inner = {v: Value(v.meta, v.name) for v in (*inputs, *made)}
    body = Graph(
        tuple(inner[v] for v in inputs),
        tuple(inner[v] for v in outputs),
        tuple(
            op.with_(
                inputs=tuple(inner[v] if type(v) is Value else v for v in op.inputs),
                outputs=tuple(inner[v] for v in op.outputs),
            )
            for op in ops
        ),
    )
    last = ops[-1]
    return Op(fused_op, inputs, tuple(outputs), {"body": body}, last.locs, last.role, last.name_scope)
