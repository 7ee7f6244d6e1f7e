"""Statements behind a jump or an endless loop never run; without them, facts are sharper and flags fewer."""

from __future__ import annotations

import gast

from .context import Context
from .facts.scopes import scope_of
from .jumps import goes_on, is_endless
from .nodes import Node, Stmts, functions_in, own_nodes
from .region import declare

_DECLARATIONS = (gast.Global, gast.Nonlocal)
_BLOCKS = ("body", "orelse", "finalbody")


def remove_dead_code(tree: Node, context: Context) -> Node:
    """`tree` without statements that follow one which always jumps."""
    for fn in functions_in(tree):
        before = scope_of(fn).locals
        for owner in [fn, *own_nodes(fn)]:
            if is_endless(owner):
                owner.orelse = []
            for field in _BLOCKS:
                block = getattr(owner, field, None)
                if isinstance(block, list):
                    setattr(owner, field, _live(block))
        declare(fn, sorted(before - scope_of(fn).locals), context)  # they are local even if never assigned
    return tree


def _live(block: Stmts) -> Stmts:
    for position, stmt in enumerate(block):
        if not goes_on(stmt):
            dead = block[position + 1 :]
            return [*(late for late in dead if isinstance(late, _DECLARATIONS)), *block[: position + 1]]
    return block
