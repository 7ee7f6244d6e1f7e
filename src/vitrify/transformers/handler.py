"""Exception handlers: what conversion itself cannot do is no error of the user's, so no handler may take it for one.

Every handler that could catch such an error starts with `vt.pass_on()`, which raises it again.
"""

from __future__ import annotations

import gast

from .context import Context
from .nodes import TRIES, Node, functions_in, own_nodes
from .quote import quote

_NEVER_OURS = frozenset(
    {
        *("KeyError", "AttributeError", "NameError", "UnboundLocalError", "ImportError", "ModuleNotFoundError"),
        *("StopIteration", "StopAsyncIteration", "GeneratorExit", "KeyboardInterrupt", "SystemExit", "MemoryError"),
        *("ArithmeticError", "ZeroDivisionError", "OverflowError", "FloatingPointError"),
        *("OSError", "IOError", "FileNotFoundError", "PermissionError", "TimeoutError", "EOFError"),
        *("RuntimeError", "NotImplementedError", "RecursionError", "UnicodeError", "UnicodeDecodeError"),
    }
)
"""Builtin exceptions of which no error of a conversion is a kind."""


def guard_handlers(tree: Node, context: Context) -> Node:
    """`tree` whose handlers leave errors of the conversion alone."""
    for fn in functions_in(tree):
        for node in own_nodes(fn):
            if isinstance(node, TRIES):
                for handler in node.handlers:
                    _guard(handler, context)
    return tree


def _guard(handler: Node, context: Context) -> None:
    raises_again = isinstance(handler.body[0], gast.Raise) and handler.body[0].exc is None
    if _may_be_ours(handler.type) and not raises_again:
        at = handler.body[0] if handler.type is None else handler.type
        handler.body[:0] = quote("vt.pass_on()", at=at, vt=context.vt)


def _may_be_ours(kind: Node | None) -> bool:
    if isinstance(kind, gast.Tuple):
        return any(_may_be_ours(element) for element in kind.elts)
    return not (isinstance(kind, gast.Name) and kind.id in _NEVER_OURS)
