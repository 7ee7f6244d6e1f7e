"""`break`, `continue` and `else` of loops.

A loop that breaks keeps one `break`, as its last statement: `if broke: break`. That is valid Python at this stage,
and the loop transformer makes it the loop's extra condition. `continue` disappears: what it skips moves
into the other branch or behind a flag. `else` of a loop is what follows it, if it did not break.
"""

from __future__ import annotations

import gast

from ..core.errors import InternalError
from .context import Context
from .jumps import JumpLowering, contains, flag_of_breaks, has_break, is_loop_jump
from .native import native_constructs
from .nodes import Node, ScopeTransformer, Stmts, functions_in
from .quote import quote


def lower_loop_jumps(tree: Node, context: Context) -> Node:
    """`tree` whose loops have no `continue`, no `else`, and no `break` but a last `if flag: break`."""
    for fn in functions_in(tree):
        _Loops(context, native_constructs(fn)).transform_body(fn)
    return tree


def final_break_flag(loop: Node) -> Node | None:
    """The flag of a loop that ends in `if flag: break`, else None."""
    last = loop.body[-1]
    is_exit = isinstance(last, gast.If) and isinstance(last.test, gast.Name) and isinstance(last.body[0], gast.Break)
    return last.test if is_exit else None


class _Loops(ScopeTransformer):
    def __init__(self, context: Context, native: frozenset[Node]) -> None:
        self.context = context
        self.native = native

    def _loop(self, node: Node) -> Node | Stmts:
        if node in self.native:
            return self.generic_visit(node)
        node = self.generic_visit(node)  # inner loops first; afterwards the jumps left are this loop's own
        breaks, given = has_break(node.body), flag_of_breaks(node.body)
        jumps = _LoopJumps(self.context, given)
        node.body = jumps.filled(node.body, tail=True, at=node)
        if jumps.skipped is not None:
            node.body = quote("skipped = False", at=node.body[0], skipped=jumps.skipped) + node.body
        rest, node.orelse = node.orelse, []
        if not breaks or jumps.broke is None:
            return [node, *rest]
        node.body += quote("if broke:\n    break", at=node, broke=jumps.broke)
        first = [] if given else quote("broke = False", at=node, broke=jumps.broke)
        return [*first, node, *jumps.guard([jumps.broke], rest)]

    visit_For = visit_While = _loop


class _LoopJumps(JumpLowering):
    def __init__(self, context: Context, flag: str | None) -> None:
        self.context = context
        self.given = flag
        self.broke = flag
        self.skipped: str | None = None

    def may_jump(self, stmt: Node) -> bool:
        return contains(stmt, is_loop_jump, into_loops=False)

    def land(self, stmt: Node, tail: bool) -> Stmts:
        if isinstance(stmt, gast.Break) and self.given is not None:
            return []
        if isinstance(stmt, gast.Break):
            return quote("broke = True", at=stmt, broke=self._broke())
        return [] if tail else quote("skipped = True", at=stmt, skipped=self._skipped())

    def flags(self, stmts: Stmts) -> list[str]:
        continues = any(
            contains(stmt, lambda node: isinstance(node, gast.Continue), into_loops=False) for stmt in stmts
        )
        return ([self._broke()] if has_break(stmts) else []) + ([self._skipped()] if continues else [])

    def loop(self, stmt: Node, tail: bool) -> Stmts:
        raise InternalError("an inner loop has no jumps of the outer one")

    def _broke(self) -> str:
        self.broke = self.broke or self.context.names.fresh("broke")
        return self.broke

    def _skipped(self) -> str:
        self.skipped = self.skipped or self.context.names.fresh("skipped")
        return self.skipped
