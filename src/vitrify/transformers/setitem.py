"""Items: `x[i] = v` becomes `x = vt.convert_setitem(x, i, v)` for a local `x`, so that the new value is explicit.

For other owners, `self.h[i] = v` is `vt.convert_setitem_at(vt.attr(self, 'h'), i, v)`: the helper stores back only if
the owner's new value is another object.
"""

from __future__ import annotations

import gast

from .attribute import inplace, is_simple, settled
from .context import Context
from .facts.scopes import scope_of
from .nodes import Node, ScopeTransformer, Stmts, functions_in
from .quote import constant, copy_tree, name, quote, quote_expr


def convert_item_stores(tree: Node, context: Context) -> Node:
    """`tree` with helper calls for stores to and deletions of items."""
    for fn in functions_in(tree):
        scope = scope_of(fn)
        _Stores(context, scope.locals | scope.declared).transform_body(fn)
    return tree


class _Stores(ScopeTransformer):
    def __init__(self, context: Context, variables: frozenset[str]) -> None:
        self.context = context
        self.variables = variables

    def visit_Assign(self, node: Node) -> Node | Stmts:
        target = node.targets[0]  # if there are more, all are names
        if not isinstance(target, gast.Subscript):
            return node
        before, value = settled(node.value, [target.value, target.slice], self.context)
        return before + self._store(target.value, self._key(target.slice), value, node)

    def visit_AugAssign(self, node: Node) -> Node | Stmts:
        target = node.target
        if not isinstance(target, gast.Subscript):
            return node
        before_owner, owner = ([], target.value) if _is_path(target.value) else self._keep(target.value)
        before_key, key = ([], target.slice) if is_simple(target.slice) else self._keep(self._key(target.slice))
        old = quote_expr("owner[key]", at=target, owner=copy_tree(owner), key=copy_tree(key))
        value = inplace(node, old, self.context)
        return before_owner + before_key + self._store(owner, self._key(key), value, node)

    def visit_Delete(self, node: Node) -> Node:
        (target,) = node.targets
        if not isinstance(target, gast.Subscript):
            return node
        call = self.context.call("del_item", target.value, self._key(target.slice), at=node)
        return gast.copy_location(gast.Expr(value=call), node)

    def _keep(self, expr: Node) -> tuple[Stmts, Node]:
        fresh = self.context.names.fresh("kept")
        return quote("kept = value", at=expr, kept=fresh, value=expr), name(fresh, at=expr)

    def _key(self, index: Node) -> Node:
        """An index as an ordinary expression; slices exist only in brackets, so `vt.index[...]` gives them."""
        plain = not any(isinstance(part, (gast.Slice, gast.Starred)) for part in [index, *getattr(index, "elts", [])])
        return index if plain else quote_expr("vt.index[key]", at=index, vt=self.context.vt, key=index)

    def _store(self, owner: Node, key: Node, value: Node, at: Node) -> Stmts:
        if isinstance(owner, gast.Name):
            call = self.context.call("convert_setitem", owner, key, value, at=at)
            if owner.id not in self.variables:  # a global or a closure's variable is not ours to bind
                return [gast.copy_location(gast.Expr(value=call), at)]
            return quote("owner = call", at=at, owner=owner.id, call=call)
        call = self.context.call("convert_setitem_at", self._place(owner), key, value, at=at)
        return [gast.copy_location(gast.Expr(value=call), at)]

    def _place(self, owner: Node) -> Node:
        if isinstance(owner, gast.Attribute):
            attribute = constant(self.context.mangle(owner.attr), at=owner)
            return self.context.call("attr", owner.value, attribute, at=owner)
        if isinstance(owner, gast.Subscript):
            return self.context.call("item", owner.value, self._key(owner.slice), at=owner)
        return quote_expr("vt.item((owner,), 0)", at=owner, vt=self.context.vt, owner=owner)


def _is_path(owner: Node) -> bool:
    """Whether `owner` is `a`, `a.b`, `a.b.c`, ...: cheap to evaluate twice."""
    while isinstance(owner, gast.Attribute):
        owner = owner.value
    return isinstance(owner, gast.Name)
