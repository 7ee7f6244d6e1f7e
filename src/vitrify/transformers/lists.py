"""Lists and dicts that may grow: `[]` becomes `vt.new_list([])`, so that a tensor may decide how long the list gets.

`{}` is `vt.new_dict({})`, so that it may decide which keys there are; `{'a': x, **d}` is `vt.new_dict({'a': x}, d)`.
So is `kwargs` at the start of a function that has `**kwargs`. `(a, *values)` is `vt.new_tuple((a, vt.spread(values)))`.
Left alone: those that nobody can get hold of to change them, because they are used up where they stand (an argument
with items, an index, an operand of `+`, what a `for` goes through).
"""

from __future__ import annotations

import gast

from .context import Context
from .facts.activity import CONVERTING, helper_name
from .nodes import ExpressionTransformer, Node
from .quote import name, quote

STORES = frozenset(
    {"set_attr", "convert_setitem", "convert_setitem_at", "new_list", "new_dict", "new_set", "attempt", "returned"}
)
"""Helpers that keep an argument."""
KEEPING_METHODS = frozenset({"append", "appendleft", "insert", "setdefault"})
"""Methods of containers that keep an argument."""


def open_lists(tree: Node, context: Context) -> Node:
    """`tree` with helper calls around the lists that may grow."""
    return _Lists(context).visit(tree)


class _Lists(ExpressionTransformer):
    def __init__(self, context: Context) -> None:
        self.context = context

    def visit_List(self, node: Node) -> Node:
        node = self.generic_visit(node)
        if not isinstance(node.ctx, gast.Load):
            return node
        node.elts = [self._spread(element) for element in node.elts]
        return self.context.call("new_list", node, at=node)

    def visit_Tuple(self, node: Node) -> Node:
        node = self.generic_visit(node)
        if not isinstance(node.ctx, gast.Load) or not any(isinstance(element, gast.Starred) for element in node.elts):
            return node
        node.elts = [self._spread(element) for element in node.elts]
        return self.context.call("new_tuple", node, at=node)

    def visit_Dict(self, node: Node) -> Node:
        node = self.generic_visit(node)
        node.keys = [key if key is None or isinstance(key, gast.Constant) else self._key(key) for key in node.keys]
        return self.context.call("new_dict", *_parts(node), at=node)

    def _key(self, key: Node) -> Node:
        """A key that may be no value of Python's yet."""
        return self.context.call("key", key, at=key)

    def visit_Set(self, node: Node) -> Node:
        node = self.generic_visit(node)
        items = gast.Tuple(elts=[self._spread(element) for element in node.elts], ctx=gast.Load())
        items = gast.copy_location(items, node)
        if any(isinstance(element, gast.Starred) for element in node.elts):
            items = self.context.call("new_tuple", items, at=node)
        return self.context.call("new_set", items, at=node)

    def _spread(self, element: Node) -> Node:
        if not isinstance(element, gast.Starred):
            return element
        return self.context.call("spread", element.value, at=element)

    def visit_FunctionDef(self, node: Node) -> Node:
        node = self.generic_visit(node)
        rest = node.args.kwarg
        if rest is not None and _is_kept(rest.id, node.body):
            made = self.context.call("new_dict", name(rest.id, at=rest), at=rest)
            start = 1 if gast.get_docstring(node) is not None else 0
            node.body[start:start] = quote("rest = made", at=rest, rest=rest.id, made=made)
        return node

    def visit_Call(self, node: Node) -> Node:
        if helper_name(node, self.context.names) not in STORES and not self._stores(node):
            node.args = [self._used_up(arg) for arg in node.args]
            for keyword in node.keywords:
                keyword.value = self._used_up(keyword.value)
            node.func = self.visit(node.func)
            return node
        return self.generic_visit(node)

    def _stores(self, node: Node) -> bool:
        """Whether it is `vt.convert_call(xs.append)(...)` or its like."""
        inner = node.func
        if not isinstance(inner, gast.Call) or helper_name(inner, self.context.names) not in CONVERTING:
            return False
        return isinstance(inner.args[0], gast.Attribute) and inner.args[0].attr in KEEPING_METHODS

    def visit_Compare(self, node: Node) -> Node:
        node.left, *node.comparators = [self._used_up(operand) for operand in (node.left, *node.comparators)]
        return node

    def visit_BinOp(self, node: Node) -> Node:
        both = isinstance(node.left, gast.List) and isinstance(node.right, gast.List)
        if isinstance(node.op, gast.Mult) or both:
            return self.generic_visit(node)
        node.left, node.right = self._used_up(node.left), self._used_up(node.right)
        return node

    def visit_Subscript(self, node: Node) -> Node:
        node.value, node.slice = self._used_up(node.value), self._used_up(node.slice)
        return node

    def visit_For(self, node: Node) -> Node:
        node.iter = self._used_up(node.iter)
        node.body, node.orelse = self.visit_list(node.body), self.visit_list(node.orelse)
        return node

    def visit_comprehension(self, node: Node) -> Node:
        node.iter = self._used_up(node.iter)
        node.ifs = [self.visit(test) for test in node.ifs]
        return node

    def visit_Starred(self, node: Node) -> Node:
        node.value = self._used_up(node.value)
        return node

    def _used_up(self, node: Node) -> Node:
        """An expression whose value nobody keeps; a display in it may still hold lists that are kept."""
        if isinstance(node, gast.Dict) and node.keys and all(isinstance(key, gast.Constant) for key in node.keys):
            return self.generic_visit(node)
        is_display = isinstance(node, (gast.List, gast.Tuple))
        if not is_display or (_is_made_of_others(node) and (node.elts or isinstance(node, gast.List))):
            return self.visit(node)
        node.elts = [self._used_up(element) for element in node.elts]
        return node


def _is_kept(rest: str, body: list[Node]) -> bool:
    """Whether `**rest` is used for more than to be handed on as `**rest`."""
    handed_on = {id(k.value) for part in body for k in gast.walk(part) if isinstance(k, gast.keyword) and k.arg is None}
    named = (n for part in body for n in gast.walk(part) if isinstance(n, gast.Name) and n.id == rest)
    return any(id(n) not in handed_on for n in named)


def _parts(node: Node) -> list[Node]:
    """The dicts that a display joins: runs of its own entries, and what stands behind `**`."""
    parts: list[Node] = []
    run: Node | None = None
    for key, value in zip(node.keys, node.values):
        if key is None:
            parts.append(value)
            run = None
            continue
        if run is None:
            run = gast.copy_location(gast.Dict(keys=[], values=[]), node)
            parts.append(run)
        run.keys.append(key)
        run.values.append(value)
    return parts or [node]


def _is_made_of_others(node: Node) -> bool:
    """Whether it is `[]`, for whoever gets it to fill, or holds `*values`, which may be such a list."""
    return not node.elts or any(isinstance(element, gast.Starred) for element in node.elts)
