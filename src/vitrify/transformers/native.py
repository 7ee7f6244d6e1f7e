"""Generators: which of their statements must stay in the generator's own frame.

A branch or loop that yields cannot become a function; nor can one that returns from the generator, or jumps out of
a loop that stays. They remain Python statements, decided by Python values.
"""

from __future__ import annotations

from collections.abc import Iterator

import gast

from .jumps import contains, is_loop_jump
from .nodes import CONSTRUCTS, LOOPS, SCOPES, Node, Stmts, child_statements, is_generator, own_nodes

_LEAVING = (gast.Yield, gast.YieldFrom, gast.Await, gast.Return)


def native_constructs(fn: Node) -> frozenset[Node]:
    """The `if`, `while` and `for` statements of a function that stay as they are: none unless it is a generator."""
    return frozenset(_native(fn.body, in_native_loop=False)) if is_generator(fn) else frozenset()


def _native(stmts: Stmts, in_native_loop: bool) -> Iterator[Node]:
    for stmt in stmts:
        stays = isinstance(stmt, CONSTRUCTS) and _stays(stmt, in_native_loop)
        if stays:
            yield stmt
        if isinstance(stmt, LOOPS):
            yield from _native(stmt.body, in_native_loop=stays)
            yield from _native(stmt.orelse, in_native_loop)
        elif not isinstance(stmt, SCOPES):
            yield from _native(child_statements(stmt), in_native_loop)


def _stays(construct: Node, in_native_loop: bool) -> bool:
    if any(isinstance(node, _LEAVING) for node in own_nodes(construct)):
        return True
    return in_native_loop and contains(construct, is_loop_jump, into_loops=False)
