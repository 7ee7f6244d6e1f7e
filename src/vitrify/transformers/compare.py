"""Comparisons: `a < f(x) < c` evaluates `f(x)` once, and `c` only if `a < f(x)` holds; `a in b` asks each item."""

from __future__ import annotations

import gast

from .context import Context
from .logical import can_be_thunk
from .nodes import ExpressionTransformer, Node, all_nodes
from .quote import constant, thunk

OPERATORS = {
    gast.Eq: "==", gast.NotEq: "!=", gast.Lt: "<", gast.LtE: "<=", gast.Gt: ">", gast.GtE: ">=",
    gast.Is: "is", gast.IsNot: "is not", gast.In: "in", gast.NotIn: "not in",
}  # fmt: skip


def convert_chained_comparisons(tree: Node, context: Context) -> Node:
    """`tree` with `vt.convert_compare(a, '<', f(x), '<', lambda: c)`; single ones stay, but for `in`."""
    stored = (node for node in all_nodes(tree) if isinstance(node, gast.Name) and isinstance(node.ctx, gast.Store))
    assigned = {name.id for name in stored} if isinstance(tree, gast.FunctionDef) else set()
    return _Chains(context, assigned).visit(tree)


class _Chains(ExpressionTransformer):
    def __init__(self, context: Context, assigned: set[str]) -> None:
        self.context = context
        self.assigned = assigned

    def visit_Compare(self, node: Node) -> Node:
        movable = all(can_be_thunk(operand) for operand in node.comparators[1:])
        node = self.generic_visit(node)
        if not movable or (len(node.ops) == 1 and self._is_plain(node)):
            return node
        args = [node.left]
        for position, (operator, operand) in enumerate(zip(node.ops, node.comparators, strict=True)):
            args += [constant(OPERATORS[type(operator)], at=operand), thunk(operand) if position else operand]
        return self.context.call("convert_compare", *args, at=node)

    def _is_plain(self, node: Node) -> bool:
        """Whether Python's own comparison does: `in` asks tensors, `is` meets what two paths gave one name or call."""
        if isinstance(node.ops[0], (gast.Is, gast.IsNot)):
            return not any(map(self._may_be_merged, (node.left, *node.comparators)))
        return not isinstance(node.ops[0], (gast.In, gast.NotIn))

    def _may_be_merged(self, operand: Node) -> bool:
        if isinstance(operand, gast.Name):
            return operand.id in self.assigned
        return isinstance(operand, (gast.Call, gast.Subscript))
