"""`raise error from cause` asks a helper for the exception, which may have to wait until the program runs."""

from __future__ import annotations

from .context import Context
from .nodes import Node, ScopeTransformer, functions_in


def convert_raises(tree: Node, context: Context) -> Node:
    """`tree` with `raise vt.convert_raise(error, cause)`; it stays a `raise`, so that nothing seems to follow it."""
    for fn in functions_in(tree):
        _Raises(context).transform_body(fn)
    return tree


class _Raises(ScopeTransformer):
    def __init__(self, context: Context) -> None:
        self.context = context

    def visit_Raise(self, node: Node) -> Node:
        given = [part for part in (node.exc, node.cause) if part is not None]
        node.exc, node.cause = self.context.call("convert_raise", *given, at=node), None
        return node
