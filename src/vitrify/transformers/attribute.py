"""Attributes: `x.shape` may have unknown dimensions, and stores must be visible to a tracer."""

from __future__ import annotations

import gast

from .context import Context
from .nodes import (
    FUNCTIONS,
    ExpressionTransformer,
    Node,
    ScopeTransformer,
    Stmts,
    all_nodes,
    binds,
    children,
    functions_in,
)
from .quote import constant, name, quote


def convert_shapes(tree: Node, context: Context) -> Node:
    """`tree` with `vt.convert_shape(x)` for `x.shape`."""
    return _Shapes(context).visit(tree)


def convert_attribute_stores(tree: Node, context: Context) -> Node:
    """`tree` with `vt.set_attr(x, 'h', v)` for `x.h = v`, `vt.del_attr` for `del`."""
    for fn in functions_in(tree):
        _Stores(context).transform_body(fn)
    return tree


def is_simple(expr: Node) -> bool:
    """Whether evaluating an expression earlier or later makes no difference: names, literals, slices of those."""
    if isinstance(expr, (gast.Name, gast.Constant)):
        return True
    if isinstance(expr, (gast.Tuple, gast.Slice, gast.UnaryOp)):
        return all(is_simple(part) for part in children(expr))
    return False


def settled(value: Node, moved: list[Node], context: Context) -> tuple[Stmts, Node]:
    """`value` such that it may be written after `moved`, which Python evaluates after it.

    The statements that put it into a variable first, if needed, and the expression to use.
    """
    if is_simple(value) or (not binds(value) and all(is_simple(part) for part in moved)):
        return [], value
    fresh = context.names.fresh("value")
    return quote("target = value", at=value, target=fresh, value=value), name(fresh, at=value)


class _Shapes(ExpressionTransformer):
    """Goes into class bodies and decorators as well: what they read there would be -1 for an unknown dimension."""

    def __init__(self, context: Context) -> None:
        self.context = context

    def visit_ClassDef(self, node: Node) -> Node:
        for field in ("decorator_list", "bases", "keywords"):
            setattr(node, field, self.visit_list(getattr(node, field)))
        node.body = [stmt if _has_functions(stmt) else self.visit(stmt) for stmt in node.body]
        return node

    def visit_FunctionDef(self, node: Node) -> Node:
        node.decorator_list = self.visit_list(node.decorator_list)
        return super().visit_FunctionDef(node)

    def visit_Attribute(self, node: Node) -> Node:
        node = self.generic_visit(node)
        wanted = node.attr == "shape" and isinstance(node.ctx, gast.Load)
        return self.context.call("convert_shape", node.value, at=node) if wanted else node


def _has_functions(stmt: Node) -> bool:
    """Whether functions are in a statement of a class body, which are converted when they are called."""
    if isinstance(stmt, gast.ClassDef):
        return False
    return any(isinstance(node, (*FUNCTIONS, gast.Lambda)) for node in all_nodes(stmt))


class _Stores(ScopeTransformer):
    def __init__(self, context: Context) -> None:
        self.context = context

    def visit_Assign(self, node: Node) -> Node | Stmts:
        target = node.targets[0]  # if there are more, all are names
        if not isinstance(target, gast.Attribute):
            return node
        before, value = settled(node.value, [target.value], self.context)
        return [*before, self._set(target, value, node)]

    def visit_AugAssign(self, node: Node) -> Node | Stmts:
        target = node.target
        if not isinstance(target, gast.Attribute):
            return node
        before: Stmts = []
        if not isinstance(target.value, gast.Name):
            owner = self.context.names.fresh("owner")
            before = quote("owner = value", at=node, owner=owner, value=target.value)
            target.value = name(owner, at=target)
        old = quote("owner.attribute", at=target, owner=target.value, attribute=target.attr)[0].value
        return [*before, self._set(target, inplace(node, old, self.context), node)]

    def visit_Delete(self, node: Node) -> Node:
        (target,) = node.targets
        if not isinstance(target, gast.Attribute):
            return node
        attribute = constant(self.context.mangle(target.attr), at=target)
        call = self.context.call("del_attr", target.value, attribute, at=node)
        return gast.copy_location(gast.Expr(value=call), node)

    def _set(self, target: Node, value: Node, at: Node) -> Node:
        attribute = constant(self.context.mangle(target.attr), at=target)
        call = self.context.call("set_attr", target.value, attribute, value, at=at)
        return gast.copy_location(gast.Expr(value=call), at)


_INPLACE = {
    gast.Add: "+=", gast.Sub: "-=", gast.Mult: "*=", gast.MatMult: "@=", gast.Div: "/=", gast.FloorDiv: "//=",
    gast.Mod: "%=", gast.Pow: "**=", gast.LShift: "<<=", gast.RShift: ">>=", gast.BitOr: "|=", gast.BitXor: "^=",
    gast.BitAnd: "&=",
}  # fmt: skip


def inplace(node: Node, old: Node, context: Context) -> Node:
    """`vt.inplace('+=', old, value)` for an augmented assignment."""
    return context.call("inplace", constant(_INPLACE[type(node.op)], at=node), old, node.value, at=node)
