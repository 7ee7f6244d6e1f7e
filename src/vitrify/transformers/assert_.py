"""`assert test, message` becomes a helper call; the message is computed only if the assertion fails."""

from __future__ import annotations

import gast

from .context import Context
from .logical import can_be_thunk
from .nodes import Node, ScopeTransformer, functions_in
from .quote import thunk


def convert_asserts(tree: Node, context: Context) -> Node:
    """`tree` with `vt.convert_assert` calls (untouched under `python -O`, which drops assert statements)."""
    if __debug__:
        for fn in functions_in(tree):
            _Asserts(context).transform_body(fn)
    return tree


class _Asserts(ScopeTransformer):
    def __init__(self, context: Context) -> None:
        self.context = context

    def visit_Assert(self, node: Node) -> Node:
        if node.msg is not None and not can_be_thunk(node.msg):
            return node
        message = [] if node.msg is None else [thunk(node.msg)]
        call = self.context.call("convert_assert", node.test, *message, at=node)
        return gast.copy_location(gast.Expr(value=call), node)
