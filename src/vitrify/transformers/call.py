"""Every call goes through `vt.convert_call(f)(...)`, so that what is called can be converted, too.

`f(*values)` is `vt.convert_starred(f)(vt.spread(values))`: a tensor may decide how many values there are.

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


def convert_calls_of_python(tree: Node, context: Context) -> Node:
    """`convert_calls` for code that stays Python, where stars take whatever Python goes through."""
    return _CallsOfPython(context).visit(tree)


class _Calls(ExpressionTransformer):
    def __init__(self, context: Context) -> None:
        self.context = context

    def visit_Call(self, node: Node) -> Node:
        known = helper_name(node, self.context.names) is not None or self._is_super(node) or _on_literal(node)
        node = self.generic_visit(node)
        if not known:
            node.func = self.context.call(self._helper(node), node.func, at=node.func)
        return node

    def _helper(self, call: Node) -> str:
        """The helper that gives what is called; the call's arguments become what that takes."""
        starred = [isinstance(arg, gast.Starred) for arg in call.args]
        if not any(starred):
            return "convert_call"
        spread = self.context.call
        call.args = [spread("spread", a.value, at=a) if star else a for a, star in zip(call.args, starred)]
        return "convert_starred"

    def _is_super(self, node: Node) -> bool:
        is_named = isinstance(node.func, gast.Name) and node.func.id == "super"
        return is_named and not self.context.global_names("super")


class _CallsOfPython(_Calls):
    def _helper(self, call: Node) -> str:
        return "convert_call"


def _on_literal(node: Node) -> bool:
    is_method = isinstance(node.func, gast.Attribute) and isinstance(node.func.value, _LITERALS)
    return is_method and node.func.attr not in _OF_OTHERS
