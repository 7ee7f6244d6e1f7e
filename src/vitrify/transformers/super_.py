"""`super()` without arguments finds its class and object through its frame; make both explicit."""

from __future__ import annotations

import gast

from .context import Context
from .facts.scopes import parameters
from .nodes import ExpressionTransformer, Node
from .quote import quote_expr


def make_super_explicit(tree: Node, context: Context) -> Node:
    """`tree` with `super()` written as `super(__class__, self)`, since it may move into a generated function."""
    names = parameters(tree.args)
    if not context.has_class_cell or not names or context.global_names("super"):
        return tree
    return _Super(names[0]).visit(tree)


class _Super(ExpressionTransformer):
    def __init__(self, first: str) -> None:
        self.first = first
        self.depth = 0

    def visit_FunctionDef(self, node: Node) -> Node:
        self.depth += 1  # in a nested function, `super()` would use that function's first argument
        if self.depth == 1:
            node = super().visit_FunctionDef(node)
        self.depth -= 1
        return node

    def visit_Call(self, node: Node) -> Node:
        node = self.generic_visit(node)
        bare = isinstance(node.func, gast.Name) and node.func.id == "super" and not node.args and not node.keywords
        return quote_expr("super(__class__, first)", at=node, first=self.first) if bare else node
