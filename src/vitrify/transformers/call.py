"""Every call goes through `vt.convert_call(f)(...)`, so that what is called can be converted, too.

`f(*values, **named)` is `vt.convert_starred(f)(vt.spread(values), **vt.named(named))`: a tensor may decide how many
values there are, and which names.

What `enumerate`, `map`, generator expressions and their like give is `vt.kept_iterator(...)` where a variable keeps it:
it is used up once.

Left alone: helpers, explicit `super(...)`, methods of literals but those that make text of others (`", ".join(...)`).
"""

from __future__ import annotations

import gast

from .context import Context
from .facts.activity import helper_name
from .nodes import ExpressionTransformer, Node

_LITERALS = (gast.Constant, gast.JoinedStr)
_ITERATORS = frozenset({"enumerate", "filter", "map", "reversed", "zip"})
_STORES = frozenset({"set_attr", "convert_setitem", "convert_setitem_at"})
"""Helpers that store their last argument."""
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
        helper = helper_name(node, self.context.names)
        known = helper is not None or self._is_super(node) or _on_literal(node)
        is_kept = self._keeps_iterators() and helper in _STORES and self._is_iterator(node.args[-1])
        node = self.generic_visit(node)
        if is_kept:
            node.args[-1] = self.context.call("kept_iterator", node.args[-1], at=node)
        if not known:
            node.func = self.context.call(self._helper(node), node.func, at=node.func)
        return node

    def visit_Assign(self, node: Node) -> Node:
        is_unpacked = all(isinstance(target, (gast.Tuple, gast.List)) for target in getattr(node, "targets", [node]))
        is_kept = self._keeps_iterators() and self._is_iterator(node.value) and not is_unpacked
        parts = node.value.elts if isinstance(node.value, gast.Tuple) and self._keeps_iterators() else []
        kept = [index for index, part in enumerate(parts) if self._is_iterator(part)]  # each for a variable of its own
        node = self.generic_visit(node)
        for index in kept:
            part = node.value.elts[index]
            node.value.elts[index] = self.context.call("kept_iterator", part, at=part)
        if is_kept:
            node.value = self.context.call("kept_iterator", node.value, at=node.value)
        return node

    visit_AnnAssign = visit_NamedExpr = visit_Return = visit_Assign

    def _helper(self, call: Node) -> str:
        """The helper that gives what is called; the call's arguments become what that takes."""
        return "convert_starred" if spread_arguments(call, self.context) else "convert_call"

    def _keeps_iterators(self) -> bool:
        """Whether builtins may give what a program counts through, in place of an iterator."""
        return True

    def _is_iterator(self, value: Node | None) -> bool:
        """Whether it is a generator expression, or what a builtin such as `enumerate` gives."""
        if not isinstance(value, gast.Call) or helper_name(value, self.context.names) == "generator":
            return isinstance(value, gast.Call)
        return isinstance(value.func, gast.Name) and value.func.id in _ITERATORS

    def _is_super(self, node: Node) -> bool:
        is_named = isinstance(node.func, gast.Name) and node.func.id == "super"
        return is_named and not self.context.global_names("super")


def spread_arguments(call: Node, context: Context) -> bool:
    """Whether there are stars among the call's arguments; what stands behind them is made what the helpers take."""
    starred = [isinstance(arg, gast.Starred) for arg in call.args]
    named = [keyword for keyword in call.keywords if keyword.arg is None]
    call.args = [context.call("spread", a.value, at=a) if star else a for a, star in zip(call.args, starred)]
    for keyword in named:
        keyword.value = context.call("named", keyword.value, at=keyword.value)
    return any(starred) or bool(named)


class _CallsOfPython(_Calls):
    def _helper(self, call: Node) -> str:
        return "convert_call"

    def _keeps_iterators(self) -> bool:
        return False


def _on_literal(node: Node) -> bool:
    """Whether it is a method of a literal, given literals alone: a tensor may have chosen among others."""
    is_method = isinstance(node.func, gast.Attribute) and isinstance(node.func.value, _LITERALS)
    given = [*node.args, *[keyword.value for keyword in node.keywords]]
    return is_method and node.func.attr not in _OF_OTHERS and all(isinstance(part, gast.Constant) for part in given)
