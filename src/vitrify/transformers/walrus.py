"""`:=` where a function could not bind its name: `a and (y := f(x))` and comprehensions become statements.

    value = a
    if value:
        value = (y := f(x))

What Python evaluates before such an operand in the same statement goes into variables first, so the order stays.
"""

from __future__ import annotations

from collections.abc import Callable

import gast

from .comprehension_walrus import as_loop, becomes_loop
from .context import Context
from .nodes import Node, ScopeTransformer, Stmts, children, functions_in, own_nodes_of
from .quote import name, quote

_IN_ORDER = (
    gast.BinOp, gast.UnaryOp, gast.Compare, gast.Call, gast.Tuple, gast.List, gast.Set, gast.Attribute, gast.Subscript,
    gast.NamedExpr, gast.Starred, gast.keyword, gast.BoolOp, gast.IfExp, gast.Dict,
)  # fmt: skip
"""Expressions whose parts are evaluated from left to right and once, lazy operands apart."""


def lower_lazy_bindings(tree: Node, context: Context) -> Node:
    """`tree` without `:=` in the later operands of `and`, `or`, chained comparisons and in ternaries."""
    for fn in functions_in(tree):
        if any(isinstance(node, gast.NamedExpr) for node in own_nodes_of(fn.body)):
            _Statements(context).transform_body(fn)
    return tree


def _binds(expr: Node) -> bool:
    return any(isinstance(node, gast.NamedExpr) for node in own_nodes_of([expr]))


def _lazy_operands(expr: Node) -> list[Node]:
    if isinstance(expr, gast.BoolOp):
        return list(expr.values[1:])
    if isinstance(expr, gast.IfExp):
        return [expr.body, expr.orelse]
    return list(expr.comparators[1:]) if isinstance(expr, gast.Compare) else []


def _needs_lowering(expr: Node) -> bool:
    """Whether a lazy operand in it binds a name, at a place that statements can reach."""
    if becomes_loop(expr):
        return True
    if not isinstance(expr, _IN_ORDER):
        return False
    return any(map(_binds, _lazy_operands(expr))) or any(map(_needs_lowering, children(expr)))


class _Statements(ScopeTransformer):
    def __init__(self, context: Context) -> None:
        self.context = context

    def _lower_field(self, node: Node, field: str) -> Stmts:
        node = self.generic_visit(node)
        expr = getattr(node, field)
        if expr is None or not _needs_lowering(expr):
            return [node]
        before: Stmts = []
        setattr(node, field, self._lower(expr, before))
        return [*before, node]

    def visit_Expr(self, node: Node) -> Stmts:
        return self._lower_field(node, "value")

    visit_Assign = visit_Return = visit_Expr

    def visit_AnnAssign(self, node: Node) -> Stmts:
        return self._lower_field(node, "value") if isinstance(node.target, gast.Name) else [node]

    def visit_AugAssign(self, node: Node) -> Stmts:
        """Python reads the target first; one that is no variable, or is bound on the way, stays as it is."""
        target = node.target
        bound = {part.target.id for part in own_nodes_of([node.value]) if isinstance(part, gast.NamedExpr)}
        if isinstance(target, gast.Name) and target.id not in bound:
            return self._lower_field(node, "value")
        return [node]

    def visit_If(self, node: Node) -> Stmts:
        return self._lower_field(node, "test")

    visit_Assert = visit_If

    def visit_For(self, node: Node) -> Stmts:
        return self._lower_field(node, "iter")

    def _statement(self, stmt: Node) -> Stmts:
        """A statement made here, lowered in turn."""
        made = self.visit(stmt)
        return made if isinstance(made, list) else [made]

    # expressions
    def _lower(self, expr: Node, before: Stmts) -> Node:
        """`expr` as it reads after the statements added to `before`."""
        if not _needs_lowering(expr):
            return expr
        if becomes_loop(expr):
            loop: Stmts = []
            result = as_loop(expr, loop, self.context)
            before += [made for stmt in loop for made in self._statement(stmt)]
            return result
        if any(map(_binds, _lazy_operands(expr))):
            return _LAZY[type(expr).__name__](self, expr, before)
        return self._in_order(expr, before)

    def _in_order(self, expr: Node, before: Stmts) -> Node:
        parts = _parts(expr)
        last = max(position for position, part in enumerate(parts) if _needs_lowering(part))
        replaced = {}
        for position, part in enumerate(parts[: last + 1]):
            replaced[part] = self._lower(part, before) if position == last else self._settled(part, before)
        return _with_parts(expr, replaced)

    def _settled(self, part: Node, before: Stmts) -> Node:
        """A part evaluated now, into a variable."""
        if isinstance(part, (gast.Starred, gast.keyword)):
            part.value = self._settled(part.value, before)
            return part
        return part if isinstance(part, gast.Constant) else self._kept(self._lower(part, before), before)

    def _kept(self, expr: Node, before: Stmts) -> Node:
        fresh = self.context.names.fresh("value")
        before += quote("x = value", at=expr, x=fresh, value=expr)
        return name(fresh, at=expr)

    def _boolean(self, expr: Node, before: Stmts) -> Node:
        first, *others = expr.values
        result = self._kept(self._lower(first, before), before)
        template = "if x:\n    rest" if isinstance(expr.op, gast.And) else "if not x:\n    rest"
        for operand in others:
            inner: Stmts = []
            inner += quote("x = value", at=operand, x=result.id, value=self._lower(operand, inner))
            (branch,) = quote(template, at=operand, x=result.id, rest=inner)
            before.append(branch)
            before = branch.body
        return result

    def _ternary(self, expr: Node, before: Stmts) -> Node:
        result = self.context.names.fresh("value")
        test = self._lower(expr.test, before)
        sides: list[Stmts] = []
        for operand in (expr.body, expr.orelse):
            inner: Stmts = []
            inner += quote("x = value", at=operand, x=result, value=self._lower(operand, inner))
            sides.append(inner)
        before += quote("if test:\n    then\nelse:\n    other", at=expr, test=test, then=sides[0], other=sides[1])
        return name(result, at=expr)

    def _chain(self, expr: Node, before: Stmts) -> Node:
        left = self._kept(self._lower(expr.left, before), before)
        result = self.context.names.fresh("value")
        for operator, operand in zip(expr.ops, expr.comparators, strict=True):
            right = self._kept(self._lower(operand, before), before)
            link = gast.copy_location(gast.Compare(left=left, ops=[operator], comparators=[right]), operand)
            before += quote("x = value", at=operand, x=result, value=link)
            left = name(right.id, at=operand)
            if operand is not expr.comparators[-1]:
                (branch,) = quote("if x:\n    pass", at=operand, x=result)
                before.append(branch)
                before = branch.body
        return name(result, at=expr)


def _parts(expr: Node) -> list[Node]:
    """The parts of an expression in the order in which Python evaluates them."""
    if isinstance(expr, gast.NamedExpr):
        return [expr.value]
    if isinstance(expr, gast.Dict):
        return [part for pair in zip(expr.keys, expr.values, strict=True) for part in pair if part is not None]
    return children(expr)


def _with_parts(expr: Node, replaced: dict[Node, Node]) -> Node:
    for field in expr._fields:
        value = getattr(expr, field, None)
        if isinstance(value, list):
            setattr(expr, field, [replaced.get(part, part) for part in value])
        elif value in replaced:
            setattr(expr, field, replaced[value])
    return expr


_LAZY: dict[str, Callable[[_Statements, Node, Stmts], Node]] = {
    "BoolOp": _Statements._boolean,
    "IfExp": _Statements._ternary,
    "Compare": _Statements._chain,
}
