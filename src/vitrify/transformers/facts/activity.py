"""Reads and writes of local names by an expression or statement, as seen from one function's scope."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

import gast

from ..contract import THUNK_HELPERS
from ..names import Names
from ..nodes import SCOPES, Node, Visitor, all_nodes
from .scopes import (
    comprehension_free_names,
    comprehension_parts,
    free_names,
    import_names,
    outer_expressions,
    pattern_names,
    scope_of,
    type_scope_names,
    walrus_targets,
)

_CONSUMERS = frozenset({"sum", "any", "all", "min", "max", "list", "tuple", "set", "frozenset", "dict", "sorted"})
"""Builtins that use up a generator expression before they return, so that it captures nothing."""


class Activity(NamedTuple):
    """What evaluating some code does to names.

    reads: may be read; writes: may be bound or deleted; kills: bound on every evaluation that finishes; deletes:
    unbound by `del`; captures: closed over by a function or generator that may outlive the statement.
    """

    reads: frozenset[str] = frozenset()
    writes: frozenset[str] = frozenset()
    kills: frozenset[str] = frozenset()
    deletes: frozenset[str] = frozenset()
    captures: frozenset[str] = frozenset()


def activity(nodes: list[Node], names: Names) -> Activity:
    """The activity of evaluating `nodes` one after the other, nested blocks included."""
    collector = _Collector(names)
    for node in nodes:
        collector.visit(node)
    return collector.result()


def written_by(nodes: list[Node], names: Names) -> frozenset[str]:
    """`activity(nodes, names).writes`, without a look into nested functions, which write names of their own."""
    collector = _WriteCollector(names)
    for node in nodes:
        collector.visit(node)
    return collector.result().writes


def captured_by(fn: Node, names: Names) -> frozenset[str]:
    """Names that closures inside `fn` hold on to (generated functions excepted: they are called at once)."""
    collector = _CaptureCollector(names)
    for node in fn.body if isinstance(fn.body, list) else [fn.body]:
        collector.visit(node)
    return collector.result().captures


def helper_name(call: Node, names: Names) -> str | None:
    """`f` for a call `vt.f(...)`, else None."""
    func = call.func
    is_helper = isinstance(func, gast.Attribute) and isinstance(func.value, gast.Name) and func.value.id == names.helper
    return func.attr if is_helper else None


CONVERTING = frozenset({"convert_call", "convert_starred"})
"""Helpers that give what is called in place of a function."""


def called_name(call: Node, names: Names) -> str | None:
    """`f` for a call `f(...)` or `vt.convert_call(f)(...)`, else None."""
    func = call.func
    if isinstance(func, gast.Call) and helper_name(func, names) in CONVERTING:
        func = func.args[0]
    return func.id if isinstance(func, gast.Name) else None


def is_consumer(function: Node) -> bool:
    """Whether a call of `function` uses up a generator expression before it returns."""
    return isinstance(function, gast.Name) and function.id in _CONSUMERS


class _Collector(Visitor):
    def __init__(self, names: Names) -> None:
        self.names = names
        self.reads: set[str] = set()
        self.writes: set[str] = set()
        self.kills: set[str] = set()
        self.deletes: set[str] = set()
        self.captures: set[str] = set()
        self._lazy = 0

    def result(self) -> Activity:
        parts = (self.reads, self.writes, self.kills, self.deletes, self.captures)
        return Activity(*map(frozenset, parts))

    @contextmanager
    def lazy(self) -> Iterator[None]:
        """What is visited inside may not be evaluated."""
        self._lazy += 1
        try:
            yield
        finally:
            self._lazy -= 1

    def _read(self, *identifiers: str) -> None:
        self.reads.update(identifiers)

    def _write(self, *identifiers: str) -> None:
        self.writes.update(identifiers)
        if not self._lazy:
            self.kills.update(identifiers)

    def _visit_all(self, nodes: list[Node]) -> None:
        for node in nodes:
            self.visit(node)

    def visit_Name(self, node: Node) -> None:
        if isinstance(node.ctx, gast.Load):
            self.reads.add(node.id)
        elif isinstance(node.ctx, gast.Del):
            self._read(node.id)
            self.writes.add(node.id)
            self.deletes.add(node.id)
        else:
            self._write(node.id)

    def visit_NamedExpr(self, node: Node) -> None:
        self.visit(node.value)
        self.visit(node.target)

    def visit_AugAssign(self, node: Node) -> None:
        if isinstance(node.target, gast.Name):
            self._read(node.target.id)
        self.visit(node.value)
        self.visit(node.target)

    def visit_AnnAssign(self, node: Node) -> None:
        if node.value is not None:
            self.visit(node.value)
            self.visit(node.target)
        elif not isinstance(node.target, gast.Name):
            self.visit(node.target)

    # lazy operands
    def visit_BoolOp(self, node: Node) -> None:
        self.visit(node.values[0])
        with self.lazy():
            self._visit_all(node.values[1:])

    def visit_IfExp(self, node: Node) -> None:
        self.visit(node.test)
        with self.lazy():
            self._visit_all([node.body, node.orelse])

    def visit_Compare(self, node: Node) -> None:
        self._visit_all([node.left, node.comparators[0]])
        with self.lazy():
            self._visit_all(node.comparators[1:])

    def visit_Assert(self, node: Node) -> None:
        self.visit(node.test)
        if node.msg is not None:
            with self.lazy():
                self.visit(node.msg)

    # nested scopes
    def visit_FunctionDef(self, node: Node) -> None:
        self._visit_all(list(outer_expressions(node)))
        self._write(node.name)
        outlives = node.name not in self.names.generated
        self._inner(node, outlives)
        if outlives:
            self.captures |= scope_of(node).nonlocals

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_ClassDef(self, node: Node) -> None:
        self._visit_all(list(outer_expressions(node)))
        self._write(node.name)
        self._inner(node, outlives=True)

    def visit_Lambda(self, node: Node) -> None:
        self._visit_all(list(outer_expressions(node)))
        self._inner(node, outlives=True)

    def visit_TypeAlias(self, node: Node) -> None:
        self._write(node.name.id)
        self._types(node)

    def _types(self, node: Node) -> None:
        """Type parameters, or the value of a type alias: a scope that is evaluated later, if at all."""
        names = type_scope_names(node)
        self.reads |= names
        self.captures |= names

    def _inner(self, node: Node, outlives: bool) -> None:
        """A nested scope: what it captures if it may outlive the statement, else what closures in it capture."""
        self._types(node)
        free = free_names(node)
        self.reads |= free
        self.captures |= free if outlives else captured_by(node, self.names) & free

    def visit_Call(self, node: Node) -> None:
        self.visit(node.func)
        helper = helper_name(node, self.names)
        ours = helper in THUNK_HELPERS
        consumed = helper is None and called_name(node, self.names) in _CONSUMERS
        if ours or consumed:
            self._arguments(node, called_at_once=ours, consumed=consumed)
        else:
            self._visit_all(node.args)
            self._visit_all(node.keywords)

    def _arguments(self, node: Node, called_at_once: bool, consumed: bool = False) -> None:
        for arg in [*node.args, *(keyword.value for keyword in node.keywords)]:
            if called_at_once and isinstance(arg, gast.Lambda):
                self._inner(arg, outlives=False)
            elif consumed and isinstance(arg, gast.GeneratorExp):
                self._comprehension(arg)
            elif consumed and isinstance(arg, gast.Call) and helper_name(arg, self.names) == "generator":
                self._arguments(arg, called_at_once=True)
            else:
                self.visit(arg)

    def _comprehension(self, node: Node) -> None:
        self.visit(node.generators[0].iter)
        self.reads |= comprehension_free_names(node)
        self.writes |= walrus_targets(node)
        self.captures |= _captures_in_comprehension(node, self.names)

    visit_ListComp = visit_SetComp = visit_DictComp = _comprehension

    def visit_GeneratorExp(self, node: Node) -> None:
        self._comprehension(node)
        self.captures |= comprehension_free_names(node)

    # statements that bind names other than by a Name node
    def visit_Import(self, node: Node) -> None:
        self._write(*import_names(node))

    visit_ImportFrom = visit_Import

    def visit_match_case(self, node: Node) -> None:
        self._write(*pattern_names(node.pattern))
        self.generic_visit(node)


class _WriteCollector(_Collector):
    """Collects what is written alone."""

    def _inner(self, node: Node, outlives: bool) -> None:
        pass


class _CaptureCollector(_Collector):
    """Collects captures alone: what generated functions read would be found once for each one around them."""

    def visit_Name(self, node: Node) -> None:
        pass

    visit_BoolOp = visit_IfExp = visit_Compare = visit_Assert = Visitor.generic_visit

    def _inner(self, node: Node, outlives: bool) -> None:
        self._types(node)
        captured = None if outlives else captured_by(node, self.names)
        if captured is None or captured:
            free = free_names(node)
            self.captures |= free if captured is None else captured & free


def _captures_in_comprehension(node: Node, names: Names) -> frozenset[str]:
    if not any(isinstance(inner, (*SCOPES, gast.GeneratorExp)) for inner in all_nodes(node) if inner is not node):
        return frozenset()
    collector = _Collector(names)
    for part in comprehension_parts(node):
        collector.visit(part)
    return frozenset(collector.captures) & comprehension_free_names(node)
