"""`while` tests that assign with `:=` move into the loop, because a test only gives a value.

`while (line := read()) > 0: use(line)` becomes

    more = True
    while more:
        if (line := read()) > 0:
            use(line)
        else:
            more = False
"""

from __future__ import annotations

import gast

from .context import Context
from .nodes import Node, ScopeTransformer, Stmts, functions_in, own_nodes
from .quote import quote


def move_assigning_tests(tree: Node, context: Context) -> Node:
    """`tree` in which no `while` test binds a name."""
    for fn in functions_in(tree):
        _MoveTests(context).transform_body(fn)
    return tree


class _MoveTests(ScopeTransformer):
    def __init__(self, context: Context) -> None:
        self.context = context

    def visit_While(self, node: Node) -> Node | Stmts:
        node = self.generic_visit(node)
        if not any(isinstance(part, gast.NamedExpr) for part in [node.test, *own_nodes(node.test)]):
            return node
        more = self.context.names.fresh("more")
        template = """
            more = True
            while more:
                if test:
                    body
                else:
                    more = False
        """
        first, loop = quote(template, at=node, more=more, test=node.test, body=node.body)
        loop.orelse = node.orelse
        return [first, loop]
