"""What `return`, `break` and `continue` have in common: code that a jump skips is put where it won't run.

Rules for a list of statements, in this order:
- after a jump nothing follows (the rest is dead);
- `if c: <always jumps>` + rest: the rest moves into the other branch, so no flag is needed;
- any other statement that may jump sets a flag, and the rest is guarded by `if not flag`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable

import gast

from .nodes import SCOPES, Node, Stmts, child_statements
from .quote import name, quote

_JUMPS = (gast.Return, gast.Raise, gast.Break, gast.Continue)


def falls_through(stmts: Stmts) -> bool:
    """Whether control may reach the end of the statements."""
    return all(goes_on(stmt) for stmt in stmts)


def goes_on(stmt: Node) -> bool:
    """Whether control may reach the end of one statement."""
    if isinstance(stmt, _JUMPS):
        return False
    if isinstance(stmt, gast.If):
        return falls_through(stmt.body) or falls_through(stmt.orelse)
    if isinstance(stmt, (gast.For, gast.While)):
        return has_break(stmt.body) or (not is_endless(stmt) and falls_through(stmt.orelse))
    if isinstance(stmt, gast.Try):
        ends = [falls_through([*stmt.body, *stmt.orelse]), *(falls_through(h.body) for h in stmt.handlers)]
        return any(ends) and falls_through(stmt.finalbody)
    return True  # a `with` may swallow an exception, a `match` may match nothing


def is_endless(loop: Node) -> bool:
    """Whether a loop is `while True`."""
    return isinstance(loop, gast.While) and isinstance(loop.test, gast.Constant) and bool(loop.test.value)


def runs_once(loop: Node) -> bool:
    """Whether a loop is left in its first iteration, unless something is raised: `while True` that ends in `break`."""
    if not is_endless(loop) or falls_through(loop.body):
        return False
    return not any(contains(stmt, lambda node: isinstance(node, gast.Continue), into_loops=False) for stmt in loop.body)


def has_break(stmts: Stmts) -> bool:
    """Whether a `break` of the loop around `stmts` stands in them."""
    return any(contains(stmt, lambda node: isinstance(node, gast.Break), into_loops=False) for stmt in stmts)


def is_loop_jump(node: Node) -> bool:
    """Whether a node is `break` or `continue`."""
    return isinstance(node, (gast.Break, gast.Continue))


def break_by(flag: str, *, at: Node) -> Node:
    """A `break` that comes with a flag already set, so that the loop needs no flag of its own."""
    node = gast.copy_location(gast.Break(), at)
    node.flag = flag
    return node


def flag_of_breaks(stmts: Stmts) -> str | None:
    """The flag that every `break` of the loop around `stmts` comes with, if they all share one."""
    flags = flags_of_breaks(stmts)
    return flags.pop() if len(flags) == 1 else None


def flags_of_breaks(stmts: Stmts) -> set[str | None]:
    """The flags that the `break` statements of the loop around `stmts` come with; None for one without."""
    flags: set[str | None] = set()

    def collect(node: Node) -> bool:
        if isinstance(node, gast.Break):
            flags.add(getattr(node, "flag", None))
        return False

    for stmt in stmts:
        contains(stmt, collect, into_loops=False)
    return flags


def contains(stmt: Node, wanted: Callable[[Node], bool], *, into_loops: bool) -> bool:
    """Whether `stmt` is or holds a wanted statement; bodies of nested loops count only on request."""
    if wanted(stmt):
        return True
    if isinstance(stmt, SCOPES):
        return False
    if isinstance(stmt, (gast.For, gast.While)) and not into_loops:
        return any(contains(child, wanted, into_loops=False) for child in stmt.orelse)
    return any(contains(child, wanted, into_loops=into_loops) for child in child_statements(stmt))


def jumps_out(stmts: Stmts) -> bool:
    """Whether `return`, or a `break` or `continue` of a loop around, leaves the statements."""
    return any(
        contains(stmt, lambda node: isinstance(node, gast.Return), into_loops=True)
        or contains(stmt, lambda node: isinstance(node, (gast.Break, gast.Continue)), into_loops=False)
        for stmt in stmts
    )


class JumpLowering(ABC):
    """Removes one kind of jump from statement lists. `tail`: nothing that the jump skips follows the list."""

    @abstractmethod
    def may_jump(self, stmt: Node) -> bool:
        """Whether `stmt` is or contains a jump to be removed."""

    @abstractmethod
    def land(self, stmt: Node, tail: bool) -> Stmts:
        """What replaces the jump `stmt` itself."""

    @abstractmethod
    def flags(self, stmts: Stmts) -> list[str]:
        """The flags that jumps in `stmts` set when they are not in tail position; asked before lowering them."""

    @abstractmethod
    def loop(self, stmt: Node, tail: bool) -> Stmts:
        """The lowered form of a loop that contains a jump."""

    def end(self, at: Node) -> Stmts:
        """What to run where control falls off a tail list."""
        return []

    def lower(self, stmts: Stmts, tail: bool, at: Node) -> Stmts:
        """`stmts` without the jumps; `at` is the node that owns the list."""
        for position, stmt in enumerate(stmts):
            if self.may_jump(stmt):
                return stmts[:position] + self._jumper(stmt, stmts[position + 1 :], tail)
            if not goes_on(stmt):
                return stmts[: position + 1]
        return stmts + (self.end(stmts[-1] if stmts else at) if tail else [])

    def _jumper(self, stmt: Node, rest: Stmts, tail: bool) -> Stmts:
        if isinstance(stmt, _JUMPS):
            return self.land(stmt, tail)
        rest = self._push(stmt, rest) if goes_on(stmt) else []
        falls_off_loop = tail and not rest and goes_on(stmt) and isinstance(stmt, (gast.For, gast.While))
        flags = self.flags([stmt]) if rest or falls_off_loop else []  # asked first: lowering removes the jumps
        lowered = _INSIDE[type(stmt).__name__](self, stmt, tail and not rest)
        following = self.end(stmt) if falls_off_loop else self.lower(rest, tail, stmt) if rest else []
        return lowered + self.guard(flags, following)

    def _push(self, stmt: Node, rest: Stmts) -> Stmts:
        """Move `rest` into the branch of an `if` that goes on, if the other never does; what is left to guard."""
        if not isinstance(stmt, gast.If):
            return rest
        if not falls_through(stmt.body):
            stmt.orelse = stmt.orelse + rest
            return []
        if not falls_through(stmt.orelse):
            stmt.body = stmt.body + rest
            return []
        return rest

    def guard(self, flags: list[str], rest: Stmts) -> Stmts:
        """`rest`, run only if no flag is set."""
        if not rest or not flags:
            return rest
        test = name(flags[0], at=rest[0])
        if len(flags) > 1:
            every = [name(flag, at=rest[0]) for flag in flags]
            test = gast.copy_location(gast.BoolOp(op=gast.Or(), values=every), rest[0])
        return quote("if not test:\n    rest", at=rest[0], test=test, rest=rest)

    def if_(self, stmt: Node, tail: bool) -> Stmts:
        stmt.body = self.filled(stmt.body, tail, stmt)
        stmt.orelse = self.lower(stmt.orelse, tail, stmt)
        return [stmt]

    def with_(self, stmt: Node, tail: bool) -> Stmts:
        stmt.body = self.filled(stmt.body, tail, stmt)
        return [stmt]

    def match_(self, stmt: Node, tail: bool) -> Stmts:
        for case in stmt.cases:
            case.body = self.filled(case.body, tail, stmt)
        return [stmt]

    def try_(self, stmt: Node, tail: bool) -> Stmts:
        """The `else` block runs only if the body did not jump."""
        flags = self.flags(stmt.body) if stmt.orelse else []
        stmt.body = self.filled(stmt.body, tail and not stmt.orelse, stmt)
        stmt.orelse = self.guard(flags, self.lower(stmt.orelse, tail, stmt)) if stmt.orelse else []
        for handler in stmt.handlers:
            handler.body = self.filled(handler.body, tail, handler)
        return [stmt]

    def filled(self, stmts: Stmts, tail: bool, at: Node) -> Stmts:
        """`lower`, for a block that must not be empty."""
        return self.lower(stmts, tail, at) or [gast.copy_location(gast.Pass(), at)]


_Inside = Callable[[JumpLowering, Node, bool], Stmts]
_INSIDE: dict[str, _Inside] = {
    "If": JumpLowering.if_,
    "With": JumpLowering.with_,
    "Match": JumpLowering.match_,
    "Try": JumpLowering.try_,
    "TryStar": JumpLowering.try_,
    "For": lambda lowering, stmt, tail: lowering.loop(stmt, tail),
    "While": lambda lowering, stmt, tail: lowering.loop(stmt, tail),
}
