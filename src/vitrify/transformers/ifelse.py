"""`if`: both branches become functions that take and return the variables they write."""

from __future__ import annotations

from .context import Context
from .facts import FunctionFacts, analyze
from .facts.function import constructs_in
from .native import native_constructs
from .nodes import Node, ScopeTransformer, Stmts, functions_in
from .quote import quote_expr
from .region import call_construct, declare_shared, function, names_tuple, strings


def convert_branches(tree: Node, context: Context) -> Node:
    """`tree` with `vt.convert_ifelse` calls, loop bodies included."""
    for fn in functions_in(tree):
        if not constructs_in(fn):
            continue
        facts = analyze(fn, context.names)
        branches = _Branches(context, facts, native_constructs(fn))
        branches.transform_body(fn)
        declare_shared(fn, sorted(branches.shared), facts, context)
    return tree


class _Branches(ScopeTransformer):
    def __init__(self, context: Context, facts: FunctionFacts, native: frozenset[Node]) -> None:
        self.context = context
        self.facts = facts
        self.native = native
        self.shared: set[str] = set()

    def visit_If(self, node: Node) -> Node | Stmts:
        if node in self.native:
            return self.generic_visit(node)
        carried = self.facts.of_if(node)
        self.shared |= set(carried.shared)
        then, orelse = (self.context.names.fresh(base) for base in ("then", "orelse"))
        functions: Stmts = []
        for identifier, stmts in ((then, node.body), (orelse, node.orelse)):
            functions += function(identifier, carried.ins, self.block(stmts), carried.outs, self.facts, at=node)
        args = [node.test, *(quote_expr(identifier, at=node) for identifier in (then, orelse))]
        args += [names_tuple(carried.ins, node), strings(carried.outs, node)]
        return functions + call_construct("convert_ifelse", args, carried.outs, carried.shared, self.context, at=node)
