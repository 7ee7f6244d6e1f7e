"""Comprehensions: the element and the conditions become functions of the item, so that a tensor may decide.

`[a + b for a in x if a > 0 for b in y]` is `vt.list_of(x, lambda a: vt.each(y, lambda b: a + b), lambda a: a > 0)`:
the first iterable by value, what is made of an item (a further `for` inside it), then the conditions in order.
A target like `i, (a, b)` is taken apart by `unpack=`; one of plain names by as many parameters.

Left alone: comprehensions in which `:=` still binds a variable of the function (`walrus.py`), those whose variables a
function or generator inside captures (it would see later values), and asynchronous ones.
"""

from __future__ import annotations

import gast

from .context import Context
from .facts.activity import is_consumer
from .facts.scopes import comprehension_free_names, comprehension_parts, free_names
from .nodes import ExpressionTransformer, Node, all_nodes, target_leaves
from .quote import copy_tree, quote_expr, tuple_of

_UNMOVABLE = (gast.NamedExpr, gast.Await, gast.Yield, gast.YieldFrom)


def convert_comprehensions(tree: Node, context: Context) -> Node:
    """`tree` with `vt.list_of`, `vt.set_of`, `vt.dict_of` and `vt.generator` calls."""
    return _Comprehensions(context).visit(tree)


class _Comprehensions(ExpressionTransformer):
    def __init__(self, context: Context) -> None:
        self.context = context

    def visit_ListComp(self, node: Node) -> Node:
        return self._converted(node, "list_of")

    def visit_SetComp(self, node: Node) -> Node:
        return self._converted(node, "set_of")

    def visit_DictComp(self, node: Node) -> Node:
        return self._converted(node, "dict_of")

    def visit_GeneratorExp(self, node: Node) -> Node:
        return self._converted(node, "generator")

    def _converted(self, node: Node, helper: str) -> Node:
        movable = _is_movable(node)
        node = self.generic_visit(node)
        if not movable:
            return node
        element = tuple_of([node.key, node.value], at=node) if isinstance(node, gast.DictComp) else node.elt
        for clause in reversed(node.generators[1:]):
            element = self._clause("each", clause, element)
        return gast.copy_location(self._clause(helper, node.generators[0], element), node)

    def _clause(self, helper: str, clause: Node, element: Node) -> Node:
        target = self._distinct(clause.target)
        names = _target_names(target)
        functions = [
            quote_expr("lambda names: value", at=part, names=names, value=part) for part in [element, *clause.ifs]
        ]
        call = self.context.call(helper, clause.iter, *functions, at=clause.iter)
        if not _is_flat(target):
            call.keywords = quote_expr("f(unpack=value)", at=clause.iter, value=self._unpack(target)).keywords
        return call

    def _distinct(self, target: Node) -> Node:
        """The target with a name of its own for what a later part of it overwrites, as in `for _, v, _ in rows`."""
        target = copy_tree(target)
        later: set[str] = set()
        for leaf in reversed(target_leaves(target)):
            if leaf.id in later:
                leaf.id = self.context.names.fresh(leaf.id)
            later.add(leaf.id)
        return target

    def _unpack(self, target: Node) -> Node:
        item = self.context.names.fresh("item")
        names = tuple_of([_read(leaf) for leaf in target_leaves(target)], at=target)
        return quote_expr(
            "lambda item: [names for target in [item]][0]", at=target, item=item, names=names, target=target
        )


def _is_movable(node: Node) -> bool:
    """Whether element and conditions may become functions."""
    if any(clause.is_async or not _has_plain_leaves(clause.target) for clause in node.generators):
        return False
    parts = [inner for part in comprehension_parts(node) for inner in all_nodes(part)]
    if any(isinstance(inner, _UNMOVABLE) for inner in parts):
        return False
    own = {leaf.id for clause in node.generators for leaf in target_leaves(clause.target)}
    consumed = {arg for call in parts if isinstance(call, gast.Call) and is_consumer(call.func) for arg in call.args}
    return not any(own & _captured(inner) for inner in parts if inner not in consumed)


def _captured(node: Node) -> frozenset[str]:
    """What an expression holds on to beyond its evaluation."""
    if isinstance(node, gast.GeneratorExp):
        return comprehension_free_names(node)
    return free_names(node) if isinstance(node, gast.Lambda) else frozenset()


def _has_plain_leaves(target: Node) -> bool:
    leaves = target_leaves(target)
    return bool(leaves) and all(isinstance(leaf, gast.Name) for leaf in leaves)


def _is_flat(target: Node) -> bool:
    """A name, or two names and more: what the parameters themselves say."""
    if isinstance(target, gast.Name):
        return True
    return len(target.elts) > 1 and all(isinstance(element, gast.Name) for element in target.elts)


def _target_names(target: Node) -> list[str]:
    return [leaf.id for leaf in target_leaves(target)]


def _read(leaf: Node) -> Node:
    read = copy_tree(leaf)
    read.ctx = gast.Load()
    return read
