"""`return`, `break` and `continue` in `finally` drop what was on its way: an exception, or a jump out of the body.

    while test:                         while test:
        try:                                error = None
            body                            returned = False
            return y                        try:
        finally:                                while True:
            if done:                                body
                break                               result = y
                                                    returned = True
                                                    break
                                            except BaseException as raised:
                                                error = raised
                                            if done:
                                                break
                                            if error is not None:
                                                raise error
                                            if returned:
                                                return result

A `finally` that always jumps drops whatever it was. So the block is a part of the function like any other, and a tensor
may decide whether it jumps. Only a `try` with a jump out of its `finally` is rewritten.
"""

from __future__ import annotations

import gast

from .context import Context
from .jumps import falls_through, jumps_out
from .leaving import Leaving
from .nodes import BLOCKS, SCOPES, Node, Stmts, functions_in
from .quote import quote
from .return_ import Returns, ReturnsInLoop

_KEEPING = """
try:
    while True:
        body
        break
except BaseException as raised:
    error = raised
"""
_DROPPING = """
try:
    while True:
        body
        break
except BaseException:
    pass
"""


def lower_jumping_finals(tree: Node, context: Context) -> Node:
    """`tree` without jumps out of `finally`."""
    for fn in functions_in(tree):
        fn.body = _block(fn.body, context)
    return tree


def _block(stmts: Stmts, context: Context) -> Stmts:
    """The statements, with every `try` in them rewritten that needs it, inner ones first."""
    return [new for stmt in stmts for new in _statement(stmt, context)]


def _statement(stmt: Node, context: Context) -> Stmts:
    if isinstance(stmt, SCOPES):
        return [stmt]
    for owner in (stmt, *getattr(stmt, "handlers", ())):
        for field in BLOCKS:
            if isinstance(getattr(owner, field, None), list):
                setattr(owner, field, _block(getattr(owner, field), context))
    is_fit = isinstance(stmt, (gast.Try, gast.TryStar)) and jumps_out(stmt.finalbody)
    return _lowered(stmt, context) if is_fit else [stmt]


def _lowered(stmt: Node, context: Context) -> Stmts:
    final, stmt.finalbody = stmt.finalbody, []
    leaving, returns = Leaving(context), Returns(context)
    inner = leaving.block([stmt] if stmt.handlers else stmt.body)
    inner = ReturnsInLoop(returns).block(inner)
    if not falls_through(final):
        return [*quote(_DROPPING, at=stmt, body=inner), *final]
    error, raised = context.names.fresh("error"), context.names.fresh("raised")
    context.errors.add(error)
    out = [*quote("error = None", at=stmt, error=error), *leaving.before(stmt)]
    if returns.flag_used:
        out += quote("returned = False", at=stmt, returned=returns.returned)
    out += quote(_KEEPING, at=stmt, body=inner, error=error, raised=raised)
    out += final
    out += quote("if error is not None:\n    raise error", at=stmt, error=error)
    if returns.flag_used:
        holes = {"returned": returns.returned, "result": returns.result}
        context.flagged.add(returns.result)
        out += quote("if returned:\n    return result", at=stmt, **holes)
    return [*out, *leaving.after(stmt)]
