"""All facts about one function definition, in the terms that transformers ask for."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import gast

from ..names import Names
from ..native import native_constructs
from ..nodes import CONSTRUCTS, Node, Stmts, all_nodes, own_statements
from .activity import captured_by, written_by
from .cfg import Graph, build_graph
from .flow import NameSet, live_before, unbound_before
from .handled import needed_by_handlers
from .scopes import Scope, scope_of

_EMPTY: NameSet = frozenset()


@dataclass(frozen=True)
class Carried:
    """Names that go into a construct by value, and names that come out of it."""

    ins: tuple[str, ...]
    outs: tuple[str, ...]
    shared: tuple[str, ...]


@dataclass(frozen=True)
class FunctionFacts:
    """Facts about the statements of one function (not of functions nested in it)."""

    scope: Scope
    names: Names
    graph: Graph
    live: list[NameSet]
    outlasting: NameSet
    """Variables that code other than this function's own may see: captured by closures, or declared."""
    shared: NameSet
    """Variables that must stay one cell: the outlasting, and those a handler needs after a failed construct."""

    @cached_property
    def unbound(self) -> list[NameSet]:
        """For each point of the graph the names that may be unbound there."""
        return unbound_before(self.graph, self.scope.locals - self.scope.params)

    def writes(self, *blocks: Stmts) -> NameSet:
        """Names of this function, shared ones included, that the statements may bind or delete."""
        stmts = [stmt for block in blocks for stmt in block]
        return written_by(stmts, self.names) & (self.scope.locals | self.scope.declared)

    def live_in(self, stmt: Node) -> NameSet:
        """Names whose value may be read from the start of `stmt` on."""
        return self._at(self.live, (start for start, _ in self._spans(stmt)))

    def live_out(self, stmt: Node) -> NameSet:
        """Names whose value may be read after `stmt`."""
        return self._at(self.live, (end - 1 for _, end in self._spans(stmt)))

    def live_at_head(self, loop: Node) -> NameSet:
        """Names whose value may be read when a loop decides whether to go on."""
        return self._at(self.live, self.graph.heads.get(loop, []))

    def unbound_at(self, stmt: Node) -> NameSet:
        """Names that may be unbound at the start of `stmt`."""
        return self._at(self.unbound, (start for start, _ in self._spans(stmt)))

    def of_if(self, node: Node) -> Carried:
        """What an `if` statement takes and gives: a name goes in if a branch may need the value from before."""
        written = self.writes(node.body, node.orelse)
        entering = self._entering(node.body, node) | self._entering(node.orelse, node)
        passed = written - self.shared
        return self._carried(passed & entering, passed & self.live_out(node), written & self.shared)

    def of_loop(self, node: Node, flag: str | None = None) -> Carried:
        """What a loop carries from one iteration to the next and out of itself, its exit flag in any case."""
        target = [node.target] if hasattr(node, "target") else []
        written = self.writes(target, node.body)
        needed = self.live_at_head(node) | self.live_out(node) | {flag}  # a last `break` leaves past the head
        variables = (written - self.shared) & needed
        return self._carried(variables, variables, written & self.shared)

    def carried(self, node: Node) -> Carried:
        """`of_loop` or `of_if`."""
        return self.of_loop(node) if node in self.graph.heads else self.of_if(node)

    def _carried(self, ins: Iterable[str], outs: Iterable[str], shared: Iterable[str]) -> Carried:
        return Carried(tuple(sorted(ins)), tuple(sorted(outs)), tuple(sorted(shared)))

    def _entering(self, block: Stmts, node: Node) -> NameSet:
        return self.live_in(block[0]) if block else self.live_out(node)

    def _spans(self, stmt: Node) -> list[tuple[int, int]]:
        return self.graph.spans.get(stmt, [])

    def _at(self, table: list[NameSet], points: Iterable[int]) -> NameSet:
        return _EMPTY.union(*(table[point] for point in points))


def analyze(fn: Node, names: Names) -> FunctionFacts:
    """The facts about function definition `fn`."""
    scope = scope_of(fn)
    graph = build_graph(fn.body, names)
    live = live_before(graph)
    outlasting = scope.declared | (captured_by(fn, names) & scope.locals)
    needed = needed_by_handlers(graph, live, constructs_in(fn), scope.locals) | _declared_inside(fn, names)
    shared = outlasting | (needed & scope.locals)
    return FunctionFacts(scope, names, graph, live, outlasting, shared)


def constructs_in(fn: Node) -> list[Node]:
    """The `if`, `while` and `for` statements of a function that become calls, outermost first."""
    found = [node for node in own_statements(fn) if isinstance(node, CONSTRUCTS)]
    native = native_constructs(fn) if found else ()
    return [node for node in found if node not in native]


def _declared_inside(fn: Node, names: Names) -> NameSet:
    """Names that functions made from constructs of `fn` declare: the constructs around those must leave them shared."""
    return frozenset(
        identifier
        for inner in own_statements(fn)
        if isinstance(inner, gast.FunctionDef) and inner.name in names.generated
        for node in all_nodes(inner)
        if isinstance(node, gast.Nonlocal)
        for identifier in node.names
    )
