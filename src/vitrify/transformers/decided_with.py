"""A `with` whose manager a tensor chooses becomes a branch with a `with` on either side.

    with choose(x) as y:                manager = choose(x)
        body                            if vt.is_one(manager):
                                            with manager as y:
                                                body
                                        else:
                                            with manager as y:
                                                body

    with auto_cast(enable=test):        flag = test
        body                            if flag:
                                            with auto_cast(enable=True):
                                                body
                                        else:
                                            with auto_cast(enable=False):
                                                body

So a mode holds on one path alone. It is done for a statement that turned out to need it (`Context.deep_tries`).
"""

from __future__ import annotations

import gast

from .context import Context
from .nodes import Node, ScopeTransformer, Stmts, functions_in
from .quote import constant, copy_tree, name, quote

_FLAGS = {"set_grad_enabled": "mode", "auto_cast": "enable", "amp_guard": "enable", "autocast": "enabled"}
"""The modes of which a flag says whether they hold, and what it is called; the first argument, but of autocast."""


def lower_decided_managers(tree: Node, context: Context) -> Node:
    """`tree` with branches for the `with` statements whose managers were found to depend on a tensor."""
    if context.deep_tries:
        for fn in functions_in(tree):
            _Lowering(context).transform_body(fn)
    return tree


class _Lowering(ScopeTransformer):
    def __init__(self, context: Context) -> None:
        self.context = context

    def visit_With(self, node: Node) -> Node | Stmts:
        last = node.items[-1].context_expr
        header = range(node.lineno, (getattr(last, "end_lineno", None) or node.lineno) + 1)
        if self.context.deep_tries.isdisjoint(header):
            return self.generic_visit(node)
        first, *others = node.items
        if others:
            node.body = [_with(others, node.body, node)]
        node.items = [first]
        self.generic_visit(node)
        if others:  # which stand in the same lines
            node.body = [new for stmt in node.body for new in (stmt if isinstance(stmt, list) else [stmt])]
        return self._forked(node)

    def _forked(self, node: Node) -> Stmts:
        (item,) = node.items
        flag = _flag_of(item.context_expr)
        if flag is not None:
            held = self.context.names.fresh("flag")
            before = quote("held = value", at=flag, held=held, value=copy_tree(flag))
            tests = [name(held, at=node)]
            managers = [_with_flag(item.context_expr, is_set) for is_set in (True, False)]
        else:
            held = self.context.names.fresh("manager")
            before = quote("held = value", at=item.context_expr, held=held, value=item.context_expr)
            others = range(1, max(2, _options(item.context_expr)))
            tests = [self.context.call("is_one", name(held, at=node), at=node) for _ in others]
            managers = [name(held, at=item.context_expr) for _ in (0, *others)]
        *sides, last = [_entering(manager, node) for manager in managers]
        for test, side in zip(reversed(tests), reversed(sides)):
            last = gast.copy_location(gast.If(test=test, body=[side], orelse=[last]), node)
        return [*before, last]


def _entering(manager: Node, node: Node) -> Node:
    """A copy of the statement with another manager."""
    made = copy_tree(node)
    made.items[0].context_expr = manager
    return made


def _options(chosen: Node) -> int:
    """How many managers an expression chooses from."""
    return _options(chosen.body) + _options(chosen.orelse) if isinstance(chosen, gast.IfExp) else 1


def _with(items: list[Node], body: Stmts, at: Node) -> Node:
    return gast.copy_location(gast.With(items=items, body=body, type_comment=None), at)


def _called(call: Node) -> str:
    func = getattr(call, "func", None)
    return str(getattr(func, "attr", getattr(func, "id", "")))


def _flag_of(call: Node) -> Node | None:
    """The flag that a mode is made with, where the expression is a call that makes one."""
    keyword = _FLAGS.get(_called(call))
    if keyword is None:
        return None
    given = next((part.value for part in call.keywords if part.arg == keyword), None)
    is_first = given is None and keyword != "enabled" and call.args and not isinstance(call.args[0], gast.Starred)
    return call.args[0] if is_first else given


def _with_flag(call: Node, is_set: bool) -> Node:
    """The call with another flag."""
    made = copy_tree(call)
    flag = _flag_of(made)
    value = constant(is_set, at=call)
    for part in made.keywords:
        if part.value is flag:
            part.value = value
    made.args = [value if arg is flag else arg for arg in made.args]
    return made
