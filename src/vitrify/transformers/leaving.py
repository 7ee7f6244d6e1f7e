"""Jumps out of a block that becomes a loop of its own: flags, which are looked at behind it."""

from __future__ import annotations

import gast

from .context import Context
from .nodes import BLOCKS, LOOPS, SCOPES, Node, Stmts
from .quote import quote


class Leaving:
    """Makes `break` and `continue` that leave the body of a `try` a flag, as the body becomes a loop of its own."""

    _FLAGS = ((gast.Break, "broke"), (gast.Continue, "continued"))

    def __init__(self, context: Context) -> None:
        self.context = context
        self.flags: dict[type, str] = {}

    def block(self, stmts: Stmts) -> Stmts:
        """The statements, whose jumps set a flag and leave the loop that is put around them."""
        return [new for stmt in stmts for new in self._statement(stmt)]

    def before(self, stmt: Node) -> Stmts:
        """What sets the flags back."""
        return [new for flag in self.flags.values() for new in quote("flag = False", at=stmt, flag=flag)]

    def after(self, stmt: Node) -> Stmts:
        """The jumps, where a flag is set."""
        out: Stmts = []
        for kind, flag in self.flags.items():
            (found,) = quote("if flag:\n    pass", at=stmt, flag=flag)
            found.body = [gast.copy_location(kind(), stmt)]
            out.append(found)
        return out

    def _statement(self, stmt: Node) -> Stmts:
        for kind, word in self._FLAGS:
            if isinstance(stmt, kind):
                flag = self.flags.setdefault(kind, self.context.names.fresh(word))
                return quote("flag = True\nbreak", at=stmt, flag=flag)
        if isinstance(stmt, LOOPS):
            stmt.orelse = self.block(stmt.orelse)
        elif not isinstance(stmt, SCOPES):
            for owner in (stmt, *getattr(stmt, "handlers", ())):
                for field in BLOCKS:
                    if isinstance(getattr(owner, field, None), list):
                        setattr(owner, field, self.block(getattr(owner, field)))
        return [stmt]
