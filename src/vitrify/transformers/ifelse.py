"""`if`: both branches become functions that take and return the variables they write."""

from __future__ import annotations

import gast

from .context import Context
from .facts.function import constructs_in
from .nodes import Node, Stmts, all_nodes, functions_in
from .quote import quote_expr
from .region import Constructs, call_construct, function, names_tuple, strings


def convert_branches(tree: Node, context: Context) -> Node:
    """`tree` with `vt.convert_ifelse` calls, loop bodies included."""
    for fn in functions_in(tree):
        if constructs_in(fn):
            _Branches(fn, context).transform_body(fn)
    return tree


class _Branches(Constructs):
    def visit_If(self, node: Node) -> Node | Stmts:
        if node in self.native:
            return self.generic_visit(node)
        carried = self.facts.of_if(node)
        self.shared |= set(carried.shared)
        if self._does_nothing(node):
            return []
        functions: Stmts = []
        args = [node.test]
        for base, stmts in (("then", _without_pass(node.body)), ("orelse", _without_pass(node.orelse))):
            if not stmts and carried.ins == carried.outs:
                args.append(quote_expr("vt.unchanged", at=node, vt=self.context.vt))
                continue
            identifier = self.context.names.fresh(base)
            functions += function(identifier, carried.ins, self.block(stmts), carried.outs, self.facts, at=node)
            args.append(quote_expr(identifier, at=node))
        args += [names_tuple(carried.ins, node), strings(carried.outs, node)]
        return functions + call_construct("convert_ifelse", args, carried.outs, carried.shared, self.context, at=node)

    def _does_nothing(self, node: Node) -> bool:
        """Whether lowering jumps has left an `if` on variables of ours with nothing in it."""
        read = [part for part in all_nodes(node.test) if isinstance(part, gast.Name)]
        ours = self.context.names.generated
        return not _without_pass(node.body + node.orelse) and all(part.id in ours for part in read)

    def _filled(self, node: Node) -> Node:
        """A `with` or `try`, whose body is `pass` where all that was in it did nothing."""
        node = self.generic_visit(node)
        node.body = node.body or [gast.copy_location(gast.Pass(), node)]
        return node

    visit_With = visit_Try = visit_TryStar = _filled


def _without_pass(stmts: Stmts) -> Stmts:
    return [stmt for stmt in stmts if not isinstance(stmt, gast.Pass)]
