"""The SSA form of programs: immutable graphs of values, on which passes work.

A Graph is a closed function: values enter through `inputs`, leave through `outputs`, and each is defined exactly once.
Operators with blocks hold graphs in their place, closed as well, so that what a branch or body reads is among the
operator's inputs. Functions of a program may call themselves; a `Function` is the name under which they do.
`ir/ssa_blocks.py` translates from Blocks and back, `ir/ssa_verify.py` says what a Graph must be.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ..core.meta import Meta
from ..core.source import Loc
from ..ops.fused import fused_op
from ..ops.registry import OpDef
from .attributes import leaves, mapped
from .program import AnyMeta, Literal, refs_of
from .text import FORWARD

Operand = Any  # Value | Literal | None


class Value:
    """One value of a graph, equal to itself only. `name` is a hint for who reads it and need not be unique."""

    __slots__ = ("meta", "name")

    def __init__(self, meta: AnyMeta, name: str = "") -> None:
        self.meta = meta
        self.name = name

    def __repr__(self) -> str:
        return f"<value {self.name or '?'} : {self.meta}>"


class Op:
    """One call of an op: operands, the values it defines, attributes (Graphs where a Block has Blocks), user frames.

    Nothing of it changes once it is made; `with_` gives another. `values`: the operands that are values; `has_graphs`:
    whether it runs graphs or refers to functions.
    """

    __slots__ = ("attrs", "has_graphs", "inputs", "locs", "name_scope", "op", "outputs", "role", "values")

    def __init__(
        self, op: OpDef, inputs: tuple[Operand, ...], outputs: tuple[Value, ...], attrs: Mapping[str, Any],
        locs: tuple[Loc, ...] = (), role: str = FORWARD, name_scope: str = "",
    ) -> None:  # fmt: skip
        self.op = op
        self.inputs = inputs
        self.values: tuple[Value, ...] = tuple([v for v in inputs if type(v) is Value])
        self.has_graphs = bool(attrs) and any(map(_holds_graph, attrs.values()))
        self.outputs = outputs
        self.attrs = attrs
        self.locs = locs
        self.role = role
        self.name_scope = name_scope

    def with_(
        self, *, inputs: tuple[Operand, ...] | None = None, outputs: tuple[Value, ...] | None = None,
        attrs: Mapping[str, Any] | None = None,
    ) -> Op:  # fmt: skip
        """The same call with other operands, values or attributes."""
        return Op(
            self.op,
            self.inputs if inputs is None else inputs,
            self.outputs if outputs is None else outputs,
            self.attrs if attrs is None else attrs,
            self.locs,
            self.role,
            self.name_scope,
        )

    @property
    def has_refs(self) -> bool:
        """Whether an attribute takes a number from an operand."""
        return bool(refs_of(self.attrs))

    @property
    def regions(self) -> Iterator[Graph]:
        """The graphs among its attributes; functions are not."""
        return (leaf for value in self.attrs.values() for leaf in leaves(value) if type(leaf) is Graph)

    @property
    def functions(self) -> Iterator[Function]:
        """The functions that it refers to."""
        return (leaf for value in self.attrs.values() for leaf in leaves(value) if type(leaf) is Function)

    def __repr__(self) -> str:
        return f"<op {self.op.name} -> {', '.join(v.name for v in self.outputs)}>"


def _holds_graph(value: Any) -> bool:
    kind = type(value)
    return kind is Graph or kind is Function or ((kind is tuple or kind is list) and any(map(_holds_graph, value)))


@dataclass(frozen=True, eq=False, slots=True)
class Graph:
    """A closed function of values, its operators in an order in which they may run. An output may be None."""

    inputs: tuple[Value, ...]
    outputs: tuple[Value | None, ...]
    ops: tuple[Op, ...]

    def with_(self, *, ops: Iterable[Op] | None = None, outputs: tuple[Value | None, ...] | None = None) -> Graph:
        """The graph with other operators, or other outputs."""
        return Graph(self.inputs, self.outputs if outputs is None else outputs, self.ops if ops is None else tuple(ops))

    def __len__(self) -> int:
        return len(self.ops)


class Function:
    """A function of a program. Its graph is filled in once, after the graphs that refer to it were begun."""

    __slots__ = ("graph", "name")

    graph: Graph

    def __init__(self, name: str) -> None:
        self.name = name


def inner_ops(op: Op) -> Iterator[Op]:
    """`op` and all operators that it runs, in its graphs and in the functions that it refers to."""
    seen: set[Function] = set()
    waiting = [op]
    while waiting:
        found = waiting.pop()
        yield found
        if not found.has_graphs:
            continue
        for region in found.regions:
            waiting += region.ops
        for function in found.functions:
            if function not in seen:
                seen.add(function)
                waiting += function.graph.ops


def must_run(op: Op) -> bool:
    """Whether it must run even if nothing reads what it defines: for an effect, or for what it may raise.

    Random operators count, because dropping one would shift the numbers that later ones draw.
    """
    kind = op.op
    if kind.effect or kind.random or kind.raises or not op.has_graphs:
        return kind.effect or kind.random or kind.raises
    return any(o.op.effect or o.op.random or o.op.raises for o in inner_ops(op))


def shares_memory(op: Op) -> bool:
    """Whether what it gives may be, or lie in, what it takes: views, lists, branches, what hands values on."""
    if op.op.view or op.op.passes:
        return True
    if any(type(v.meta) is not Meta for v in op.outputs) or any(type(v.meta) is not Meta for v in op.values):
        return True
    return op.has_graphs


def visible(graph: Graph) -> set[Value]:
    """The values that outputs may be, or lie in."""
    found = {v for v in graph.outputs if v is not None}
    for op in reversed(graph.ops):
        if not found.isdisjoint(op.outputs) and shares_memory(op):
            found.update(op.values)
    return found


def map_graphs(graph: Graph, fn: Callable[[Graph], Graph], _functions: dict[Function, Function] | None = None) -> Graph:
    """`fn` applied to every graph inside, the innermost first, then to `graph`; functions are mapped once each.

    Groups of fused operators are left as they are.
    """
    functions = {} if _functions is None else _functions

    def inner(leaf: Any) -> Any:
        if type(leaf) is Graph:
            return map_graphs(leaf, fn, functions)
        if type(leaf) is not Function:
            return leaf
        found = functions.get(leaf)
        if found is None:
            found = functions[leaf] = Function(leaf.name)
            found.graph = leaf.graph  # for those inside that ask before the new one is there
            found.graph = map_graphs(leaf.graph, fn, functions)
        return found

    ops = [_with_inner(op, inner) if op.has_graphs and op.op is not fused_op else op for op in graph.ops]
    if any(a is not b for a, b in zip(ops, graph.ops)):
        graph = graph.with_(ops=ops)
    return fn(graph)


def _with_inner(op: Op, inner: Callable[[Any], Any]) -> Op:
    attrs = {name: mapped(inner, value) for name, value in op.attrs.items()}
    changed = any(new is not old and _holds_graph(old) for new, old in zip(attrs.values(), op.attrs.values()))
    return op.with_(attrs=attrs) if changed else op


__all__ = [
    "Function", "Graph", "Literal", "Op", "Operand", "Value", "inner_ops", "map_graphs", "must_run", "shares_memory",
    "visible",
]  # fmt: skip
