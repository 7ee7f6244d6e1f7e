"""Assignments to one simple target each, so that later transformers meet few forms.

`a, b = c = v`, `(x, self.y) = v`, `for self.i in xs`, `with m as d[k]`, `x: int = v` and `del a, b[i]` become
assignments whose targets are names or one tuple of names, one attribute or one item.
Order is Python's: the value first, then the targets from left to right.
"""

from __future__ import annotations

import gast

from .context import Context
from .nodes import Node, ScopeTransformer, Stmts, functions_in, target_leaves
from .quote import name, quote

_PLACES = (gast.Attribute, gast.Subscript)


def normalise(tree: Node, context: Context) -> Node:
    """`tree` with simple assignments only."""
    for fn in functions_in(tree):
        _Normalise(context).transform_body(fn)
    return tree


class _Normalise(ScopeTransformer):
    def __init__(self, context: Context) -> None:
        self.context = context

    def visit_Assign(self, node: Node) -> Stmts:
        if len(node.targets) > 1:
            are_names = all(isinstance(target, gast.Name) for target in node.targets)
            return [node] if are_names else self._chain(node)
        (target,) = node.targets
        if isinstance(target, _PLACES) or not _has_places(target):
            return [node]
        stores = self._replace_places(target)
        return [node, *stores]

    def _chain(self, node: Node) -> Stmts:
        value = self.context.names.fresh("value")
        out = quote("value = expr", at=node, value=value, expr=node.value)
        for target in node.targets:
            out += self._assign(target, name(value, at=node))
        return out

    def _assign(self, target: Node, value: Node) -> Stmts:
        (assign,) = quote("target = expr", at=value, expr=value)
        assign.targets = [target]
        return self.visit_Assign(assign)

    def _replace_places(self, target: Node) -> Stmts:
        """Put fresh names for the attributes and items in a tuple target; the statements that store them."""
        stores: Stmts = []

        def replace(elements: list[Node]) -> list[Node]:
            out = []
            for element in elements:
                inner = element.value if isinstance(element, gast.Starred) else element
                if isinstance(inner, (gast.Tuple, gast.List)):
                    inner.elts = replace(inner.elts)
                elif isinstance(inner, _PLACES):
                    fresh, store = self._stand_in(inner)
                    stores.extend(store)
                    element = _like(element, fresh)
                out.append(element)
            return out

        target.elts = replace(target.elts)
        return stores

    def _stand_in(self, place: Node) -> tuple[Node, Stmts]:
        fresh = self.context.names.fresh("item")
        return name(fresh, at=place, store=True), self._assign(place, name(fresh, at=place))

    def visit_AnnAssign(self, node: Node) -> Node | Stmts:
        if node.value is not None:
            assign = gast.Assign(targets=[node.target], value=node.value, type_comment=None)
            return self.visit_Assign(gast.copy_location(assign, node))
        if isinstance(node.target, gast.Name):
            return node
        return quote("target", at=node, target=_as_load(node.target))

    def visit_Delete(self, node: Node) -> Stmts:
        targets = [leaf for target in node.targets for leaf in target_leaves(target)]
        return [gast.copy_location(gast.Delete(targets=[target]), node) for target in targets]

    def visit_For(self, node: Node) -> Node:
        stores = self._separate(node, "target")
        node = self.generic_visit(node)
        node.body = stores + node.body
        return node

    def visit_With(self, node: Node) -> Node:
        if len(node.items) > 1 and any(_has_places(item.optional_vars) for item in node.items if item.optional_vars):
            return self.visit_With(_nested(node))
        stores = self._separate(node.items[0], "optional_vars") if len(node.items) == 1 else []
        node = self.generic_visit(node)
        node.body = stores + node.body
        return node

    def _separate(self, owner: Node, field: str) -> Stmts:
        target = getattr(owner, field)
        if target is None or not _has_places(target):
            return []
        if isinstance(target, _PLACES):
            fresh, stores = self._stand_in(target)
            setattr(owner, field, fresh)
            return stores
        return self._replace_places(target)


def _nested(node: Node) -> Node:
    """One `with` for each item, because the first item's target is stored before the second item is evaluated."""
    body = node.body
    for item in reversed(node.items):
        inner = gast.copy_location(gast.With(items=[item], body=body, type_comment=None), node)
        body = [inner]
    return inner


def _has_places(target: Node) -> bool:
    return any(isinstance(node, _PLACES) for node in target_leaves(target))


def _like(element: Node, fresh: Node) -> Node:
    if isinstance(element, gast.Starred):
        return gast.copy_location(gast.Starred(value=fresh, ctx=gast.Store()), element)
    return fresh


def _as_load(target: Node) -> Node:
    if isinstance(target, gast.Attribute):
        return target.value
    load = gast.Tuple(elts=[target.value, target.slice], ctx=gast.Load())
    return gast.copy_location(load, target)
