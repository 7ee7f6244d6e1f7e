"""`return` inside branches and loops: the value goes into one variable, returned at the end of the function.

A function whose returns all stand outside `if` and loops keeps them. Where every branch ends in a return, no
flag appears; otherwise `returned` guards what a return skips and, with `break`, leaves loops.
"""

from __future__ import annotations

from functools import cached_property

import gast

from .context import Context
from .facts.function import constructs_in
from .jumps import JumpLowering, break_by, contains
from .nodes import Node, ScopeTransformer, Stmts, docstring_length, functions_in
from .quote import constant, name, quote


def lower_returns(tree: Node, context: Context) -> Node:
    """`tree` with at most one `return` in functions that returned from inside a branch or loop."""
    for fn in functions_in(tree):
        if any(_may_return(node) for node in constructs_in(fn)):
            _lower(fn, context)
    return tree


def _may_return(stmt: Node) -> bool:
    return contains(stmt, lambda node: isinstance(node, gast.Return), into_loops=True)


def _lower(fn: Node, context: Context) -> None:
    lowering = Returns(context)
    start = docstring_length(fn)
    body = lowering.lower(fn.body[start:], tail=True, at=fn)
    first = quote("returned = False", at=fn.body[start], returned=lowering.returned) if lowering.flag_used else []
    last = quote("return result", at=body[-1], result=lowering.result)
    fn.body = fn.body[:start] + first + body + last


class Returns(JumpLowering):
    """Makes returns an assignment, and a flag where something is skipped."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self.flag_used = False

    @cached_property
    def result(self) -> str:
        """The variable for what is returned."""
        return self.context.names.fresh("result")

    @cached_property
    def returned(self) -> str:
        """The variable that tells whether it was."""
        return self.context.names.fresh("returned")

    def may_jump(self, stmt: Node) -> bool:
        return _may_return(stmt)

    def land(self, stmt: Node, tail: bool) -> Stmts:
        value = stmt.value if stmt.value is not None else constant(None, at=stmt)
        out = quote("result = value", at=stmt, result=self.result, value=value)
        return out if tail else out + self.set_flag(stmt)

    def set_flag(self, at: Node) -> Stmts:
        """`returned = True`."""
        self.flag_used = True
        return quote("returned = True", at=at, returned=self.returned)

    def flags(self, stmts: Stmts) -> list[str]:
        jumps = any(_may_return(stmt) for stmt in stmts)
        self.flag_used |= jumps
        return [self.returned] if jumps else []

    def end(self, at: Node) -> Stmts:
        return quote("result = None", at=at, result=self.result)

    def loop(self, stmt: Node, tail: bool) -> Stmts:
        inside = ReturnsInLoop(self)
        stmt.body = inside.block(stmt.body)
        stmt.orelse = self.lower(stmt.orelse, tail=False, at=stmt)
        return [stmt]


class ReturnsInLoop(ScopeTransformer):
    """Inside a loop a return sets the flag and breaks; each enclosing loop then breaks, too."""

    def __init__(self, lowering: Returns) -> None:
        self.lowering = lowering

    def visit_Return(self, node: Node) -> Stmts:
        return [*self.lowering.land(node, tail=False), self._leave(node)]

    def _leave(self, at: Node) -> Node:
        return break_by(self.lowering.returned, at=at)

    def _loop(self, node: Node) -> Node | Stmts:
        if not _may_return(node):
            return node
        node = self.generic_visit(node)
        test = name(self.lowering.returned, at=node)
        return [node, *quote("if returned:\n    leave", at=node, returned=test, leave=[self._leave(node)])]

    visit_For = visit_While = _loop
