"""Statements behind a jump or an endless loop never run; without them, facts are sharper and flags fewer."""

from __future__ import annotations

from collections.abc import Iterator

import gast

from .context import Context
from .facts.scopes import scope_of
from .jumps import goes_on, is_endless
from .nodes import BLOCKS, Node, Stmts, functions_in, own_statements
from .region import declare

_DECLARATIONS = (gast.Global, gast.Nonlocal)


def remove_dead_code(tree: Node, context: Context) -> Node:
    """`tree` without statements that follow one which always jumps."""
    for fn in functions_in(tree):
        changes = list(_changes(fn))
        if not changes:
            continue
        before = scope_of(fn).locals
        for owner, block, rest in changes:
            setattr(owner, block, rest)
        declare(fn, sorted(before - scope_of(fn).locals), context)  # they are local even if never assigned
    return tree


def _changes(fn: Node) -> Iterator[tuple[Node, str, Stmts]]:
    """Whose block of which name is to change, and what is left of it."""
    for stmt in [fn, *own_statements(fn)]:
        for owner in (stmt, *getattr(stmt, "handlers", ()), *getattr(stmt, "cases", ())):
            for field in BLOCKS:
                block = getattr(owner, field, None)
                if not isinstance(block, list):
                    continue
                rest = [] if field == "orelse" and is_endless(owner) else _live(block)
                if rest != block:
                    yield owner, field, rest


def _live(block: Stmts) -> Stmts:
    for position, stmt in enumerate(block):
        if not goes_on(stmt):
            dead = block[position + 1 :]
            return [*(late for late in dead if isinstance(late, _DECLARATIONS)), *block[: position + 1]]
    return block
