"""The last step, on the tree that is compiled: what Python does without a visible call goes through helpers.

These are reads of attributes and items, operators and context managers: a tracer must know which attributes of the
user's objects a program depends on, and the user's classes may say what an operator does. Lists and dicts that are
written where a function is called may be kept by it, so they are such as a tensor may let grow. The readable form
(`fn.code`) leaves this step out, because it changes nothing for other values but who looks on.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import cast

from .names import mangle
from .nodes import Node, Transformer

_CONSTRUCTS = frozenset({"convert_ifelse", "convert_while", "convert_for"})
BLIND_METHODS = frozenset(
    {"append", "extend", "insert", "clear", "add", "update", "discard", "appendleft", "extendleft"}
)
"""Methods that change a container without telling what it held."""


_OPERATORS: dict[type, str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%", ast.Pow: "**",
    ast.MatMult: "@", ast.LShift: "<<", ast.RShift: ">>", ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^",
    ast.USub: "-", ast.UAdd: "+", ast.Invert: "~",
    ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=",
}  # fmt: skip


def observe_reads(definition: ast.stmt, helper: str, class_name: str | None) -> None:
    """Put `vt.get_attr(x, 'y')` for `x.y`, and `vt.peek_attr(x, 'y')` in `x.y.append(...)`, everywhere in it.

    Likewise `vt.get_item(x, y)` for `x[y]`, `vt.operate('+', x, y)` for `x + y`, `f(vt.new_list([x]))` for `f([x])`.
    """
    _Reads(helper, class_name).generic_visit(definition)


def names_only_changed(names: Iterable[ast.Name], calls: Iterable[ast.Call], helper: str) -> frozenset[str]:
    """Names of a tree that occur only as `name.append(...)` and the like, so that nothing depends on what they hold."""
    owners = (_changed_owner(call, helper) for call in calls)
    blind = {id(owner): owner.id for owner in owners if isinstance(owner, ast.Name)}
    if not blind:
        return frozenset()
    return frozenset(blind.values()) - {name.id for name in names if id(name) not in blind}


def _changed_owner(node: ast.AST, helper: str) -> ast.expr | None:
    """`x` in `vt.convert_call(x.append)`, where only a method that changes blindly is taken from it."""
    if not (isinstance(node, ast.Call) and _is_helper(node.func, helper) and node.args):
        return None
    method = node.args[0]
    blind = isinstance(method, ast.Attribute) and method.attr in BLIND_METHODS
    return method.value if blind else None  # type: ignore[attr-defined]


def _is_helper(func: ast.expr, helper: str) -> bool:
    return isinstance(func, ast.Attribute) and isinstance(func.value, ast.Name) and func.value.id == helper


def _is_row(target: ast.expr) -> bool:
    """Whether it is several targets, each for one value."""
    is_several = isinstance(target, (ast.Tuple, ast.List))
    return is_several and not any(isinstance(part, ast.Starred) for part in target.elts)  # type: ignore[attr-defined]


def _stars(target: ast.expr) -> list[int]:
    """The places of targets behind a star, of which Python lets there be one."""
    parts = target.elts if isinstance(target, (ast.Tuple, ast.List)) else []
    return [place for place, part in enumerate(parts) if isinstance(part, ast.Starred)]


class _Reads(Transformer):
    def __init__(self, helper: str, class_name: str | None) -> None:
        self.helper = helper
        self.class_name = class_name

    def visit_Call(self, node: ast.Call) -> ast.AST:
        owner = _changed_owner(node, self.helper)
        if isinstance(owner, ast.Attribute):
            method = node.args[0]
            assert isinstance(method, ast.Attribute)
            method.value = self._read("peek_attr", owner)
            return node
        node = self.generic_visit(node)
        if isinstance(node.func, ast.Call) and _is_helper(node.func.func, self.helper):
            node.args = [self._kept(arg) for arg in node.args]
            for keyword in node.keywords:
                keyword.value = self._kept(keyword.value)
        elif _is_helper(node.func, self.helper) and node.func.attr == "convert_for":  # type: ignore[attr-defined]
            self._keep_items(node.args[0])
        return node

    def _kept(self, node: ast.expr) -> ast.expr:
        """A display that is given to a function, which may keep it, as a list or dict that may grow."""
        self._keep_items(node)
        if isinstance(node, (ast.List, ast.Dict)):
            return self._helped("new_list" if isinstance(node, ast.List) else "new_dict", node, node)
        return node

    def _keep_items(self, node: ast.expr) -> None:
        if isinstance(node, (ast.List, ast.Tuple)):
            node.elts = [self._kept(item) for item in node.elts]
        elif isinstance(node, ast.Dict):
            node.values = [self._kept(item) for item in node.values]

    def visit_Attribute(self, node: ast.Attribute) -> Node:
        if not isinstance(node.ctx, ast.Load):
            return self.generic_visit(node)
        if isinstance(node.value, ast.Name) and node.value.id == self.helper:
            return node
        return self._read("get_attr", node)

    def _read(self, function: str, node: ast.Attribute) -> ast.Call:
        name = ast.copy_location(ast.Constant(mangle(self.class_name, node.attr)), node)
        return self._helped(function, node, self.visit(node.value), name)

    def _helped(self, function: str, at: ast.expr, *args: ast.expr) -> ast.Call:
        helper = ast.Attribute(ast.Name(self.helper, ast.Load()), function, ast.Load())
        call = ast.Call(helper, list(args), [])
        for part in (helper, helper.value, call):
            ast.copy_location(part, at)
        return call

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        node = self.generic_visit(node)
        if not isinstance(node.ctx, ast.Load) or self._is_helper_item(node):
            return node
        key = node.slice
        if any(isinstance(part, (ast.Slice, ast.Starred)) for part in (key, *getattr(key, "elts", ()))):
            owner = ast.Attribute(ast.Name(self.helper, ast.Load()), "index", ast.Load())
            key = ast.Subscript(owner, key, ast.Load())
            for part in (owner, owner.value, key):
                ast.copy_location(part, node)
        return self._helped("get_item", node, node.value, key)

    def _is_helper_item(self, node: ast.Subscript) -> bool:
        """Whether it is `vt.index[...]`."""
        return _is_helper(node.value, self.helper)

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        node = self.generic_visit(node)
        if isinstance(node.left, ast.Constant) and isinstance(node.right, ast.Constant):
            return node
        return self._operation(node, node.op, node.left, node.right)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        node = self.generic_visit(node)
        if isinstance(node.op, ast.Not) or isinstance(node.operand, ast.Constant):
            return node
        return self._operation(node, node.op, node.operand)

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        node = self.generic_visit(node)
        operator, other = node.ops[0], node.comparators[0]
        if len(node.ops) == 1 and isinstance(operator, (ast.Is, ast.IsNot)):
            symbol = ast.copy_location(ast.Constant("is" if isinstance(operator, ast.Is) else "is not"), node)
            return self._helped("convert_compare", node, node.left, symbol, other)
        if len(node.ops) > 1 or type(operator) not in _OPERATORS:
            return node
        return self._operation(node, operator, node.left, other)

    def _operation(self, at: ast.expr, operator: ast.AST, *operands: ast.expr) -> ast.AST:
        symbol = ast.copy_location(ast.Constant(_OPERATORS[type(operator)]), at)
        return self._helped("operate", at, symbol, *operands)

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
        node = self.generic_visit(node)
        if not isinstance(node.target, ast.Name):
            return node
        old = ast.copy_location(ast.Name(node.target.id, ast.Load()), node.target)
        symbol = ast.copy_location(ast.Constant(_OPERATORS[type(node.op)] + "="), node)
        at = ast.copy_location(ast.Constant(None), node)
        return ast.copy_location(ast.Assign([node.target], self._helped("inplace", at, symbol, old, node.value)), node)

    def visit_arg(self, node: ast.arg) -> ast.AST:
        return node

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        node = self.generic_visit(node)
        target, value = node.targets[0], node.value
        stars = _stars(target) if len(node.targets) == 1 else []
        if stars:
            node.targets = [self._without_star(node, cast(ast.Tuple, target), stars[0])]
        elif len(node.targets) == 1 and _is_row(target) and not self._gives_tuple(value):
            count = ast.copy_location(ast.Constant(len(target.elts)), value)  # type: ignore[attr-defined]
            node.value = self._helped("unpacked", value, value, count)
        return node

    def _without_star(self, node: ast.Assign, target: ast.Tuple, at: int) -> ast.Tuple:
        """The targets, the one behind the star like the others; the value becomes a tuple with a list for that one."""
        numbers = [ast.copy_location(ast.Constant(n), node.value) for n in (at, len(target.elts) - at - 1)]
        node.value = self._helped("unpacked_rest", node.value, node.value, *numbers)
        parts = [part.value if isinstance(part, ast.Starred) else part for part in target.elts]
        return ast.copy_location(ast.Tuple(parts, ast.Store()), target)

    def _gives_tuple(self, value: ast.expr) -> bool:
        """Whether the value is a tuple for sure, as that of a construct is."""
        if isinstance(value, (ast.Tuple, ast.List)):
            return True
        func = value.func if isinstance(value, ast.Call) else None
        return isinstance(func, ast.Attribute) and _is_helper(func, self.helper) and func.attr in _CONSTRUCTS

    def visit_With(self, node: ast.With) -> Node:
        for item in node.items:
            helper = ast.Attribute(ast.Name(self.helper, ast.Load()), "managed", ast.Load())
            call = ast.Call(helper, [item.context_expr], [])
            for part in (helper, helper.value, call):
                ast.copy_location(part, item.context_expr)
            item.context_expr = call
        return self.generic_visit(node)

    def visit_MatchValue(self, node: ast.MatchValue) -> ast.AST:
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        if node.value is not None:
            node.value = self.visit(node.value)
        return node
