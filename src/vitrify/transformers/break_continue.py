"""`break`, `continue` and `else` of loops.

A loop that breaks keeps one `break`, as its last statement: `if broke: break`. That is valid Python at this stage,
and the loop transformer makes it the loop's extra condition. `continue` disappears: what it skips moves
into the other branch or behind a flag. `else` of a loop is what follows it, if it did not break.
A loop that ends in its first iteration, as the bodies of rewritten `try` statements do, is no loop: its statements
stay, and what a `break` skips moves likewise.
"""

from __future__ import annotations

import gast

from ..core.errors import InternalError
from .context import Context
from .jumps import JumpLowering, contains, flag_of_breaks, flags_of_breaks, has_break, is_loop_jump, runs_once
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
        if runs_once(node):
            return self._once(node)
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

    def _once(self, node: Node) -> Stmts:
        """The statements of a loop that ends in its first iteration."""
        jumps = _BlockJumps(self.context)
        body = jumps.lower(node.body, tail=True, at=node)
        first = [] if jumps.broke is None else quote("broke = False", at=node, broke=jumps.broke)
        return [*first, *body]


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


class _BlockJumps(_LoopJumps):
    """Out of a loop that ends in its first iteration.

    A `break` that has nothing to skip needs no flag, as no iteration follows, and one that comes with a flag no other.
    """

    def __init__(self, context: Context) -> None:
        super().__init__(context, None)

    def land(self, stmt: Node, tail: bool) -> Stmts:
        return [] if tail or getattr(stmt, "flag", None) else super().land(stmt, tail)

    def flags(self, stmts: Stmts) -> list[str]:
        given = flags_of_breaks(stmts)
        return sorted(self._broke() if flag is None else flag for flag in given)
