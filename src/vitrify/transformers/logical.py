"""`and`, `or`, `not` and the ternary: the first operand by value, later ones as functions (they may not run)."""

from __future__ import annotations

import gast

from .context import Context
from .nodes import ExpressionTransformer, Node, all_nodes
from .quote import thunk

_OWNED = (gast.NamedExpr, gast.Yield, gast.YieldFrom, gast.Await)
_BOOLEAN = {gast.And: "convert_and", gast.Or: "convert_or"}


def convert_logical(tree: Node, context: Context) -> Node:
    """`tree` with helper calls for logical operators."""
    return _Logical(context).visit(tree)


def can_be_thunk(expr: Node) -> bool:
    """Whether an operand may move into a lambda: `:=` and `yield` in it would then be the lambda's."""
    return not any(isinstance(node, _OWNED) for node in all_nodes(expr))


def _chosen_constant(node: Node) -> Node | None:
    """`test and 'a' or other` as `'a' if test else other`, which it is for a constant that is true; else None."""
    first, *rest = node.values
    if not (isinstance(node.op, gast.Or) and isinstance(first, gast.BoolOp) and isinstance(first.op, gast.And)):
        return None
    *tests, constant = first.values
    if not isinstance(constant, gast.Constant) or not constant.value:
        return None
    parts = [_combined(first, tests), constant, _combined(node, rest)]
    return gast.copy_location(gast.IfExp(test=parts[0], body=parts[1], orelse=parts[2]), node)


def _combined(node: Node, values: list[Node]) -> Node:
    return values[0] if len(values) == 1 else gast.copy_location(gast.BoolOp(op=node.op, values=values), node)


class _Logical(ExpressionTransformer):
    def __init__(self, context: Context) -> None:
        self.context = context

    def visit_BoolOp(self, node: Node) -> Node:
        chosen = _chosen_constant(node)
        if chosen is not None:
            return self.visit_IfExp(chosen)
        movable = all(can_be_thunk(value) for value in node.values[1:])
        node = self.generic_visit(node)
        if not movable:
            return node
        first, *rest = node.values
        return self.context.call(_BOOLEAN[type(node.op)], first, *map(thunk, rest), at=node)

    def visit_IfExp(self, node: Node) -> Node:
        movable = can_be_thunk(node.body) and can_be_thunk(node.orelse)
        node = self.generic_visit(node)
        if not movable:
            return node
        return self.context.call("convert_ifexp", node.test, thunk(node.body), thunk(node.orelse), at=node)

    def visit_UnaryOp(self, node: Node) -> Node:
        node = self.generic_visit(node)
        return self.context.call("convert_not", node.operand, at=node) if isinstance(node.op, gast.Not) else node
