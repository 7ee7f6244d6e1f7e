"""Every call goes through `vt.convert_call(f)(...)`, so that what is called can be converted, too.

Left alone: helpers, explicit `super(...)`, methods of literals but those that make text of others (`", ".join(...)`).
"""

from __future__ import annotations

import gast

from .context import Context
from .facts.activity import helper_name
from .nodes import ExpressionTransformer, Node

_LITERALS = (gast.Constant, gast.JoinedStr)
_OF_OTHERS = frozenset({"join", "format", "format_map"})


def convert_calls(tree: Node, context: Context) -> Node:
    """`tree` with calls of unknown functions made through the helper."""
    return _Calls(context).visit(tree)


class _Calls(ExpressionTransformer):
    def __init__(self, context: Context) -> None:
        self.context = context

    def visit_Call(self, node: Node) -> Node:
        known = helper_name(node, self.context.names) is not None or self._is_super(node) or _on_literal(node)
        node = self.generic_visit(node)
        if not known:
            node.func = self.context.call("convert_call", node.func, at=node.func)
        return node

    def _is_super(self, node: Node) -> bool:
        is_named = isinstance(node.func, gast.Name) and node.func.id == "super"
        return is_named and not self.context.global_names("super")


def _on_literal(node: Node) -> bool:
    is_method = isinstance(node.func, gast.Attribute) and isinstance(node.func.value, _LITERALS)
    return is_method and node.func.attr not in _OF_OTHERS
