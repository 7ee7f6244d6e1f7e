"""What Python calls the code of the user's lambdas and comprehensions, by line and column where a part of it begins.

Conversion makes lambdas of its own; in tracebacks they have the name of the code of the user's that they belong to.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

import gast

from .nodes import Node, all_nodes

_COMPREHENSIONS = {
    gast.ListComp: "<listcomp>", gast.SetComp: "<setcomp>", gast.DictComp: "<dictcomp>", gast.GeneratorExp: "<genexpr>",
}  # fmt: skip
RUN_AS_FUNCTIONS = (gast.GeneratorExp,) if sys.version_info >= (3, 12) else tuple(_COMPREHENSIONS)
"""The comprehensions that Python runs as functions of their own."""


def inner_names(tree: Node) -> dict[tuple[int, int], str]:
    """The names of code inside of a function."""
    return {(part.lineno, part.col_offset): name for part, name in _parts(tree)}


def _parts(tree: Node) -> Iterator[tuple[Node, str]]:
    """What begins code that becomes a lambda, outer ones first."""
    for node in all_nodes(tree):
        if isinstance(node, gast.Lambda):
            yield node.body, "<lambda>"
        elif isinstance(node, RUN_AS_FUNCTIONS):
            # The tuple of a dict's key and value is located where the whole of it is.
            parts = [node if isinstance(node, gast.DictComp) else node.elt, *node.generators[0].ifs]
            for clause in node.generators[1:]:
                parts += [clause.iter, *clause.ifs]
            yield from ((part, _COMPREHENSIONS[type(node)]) for part in parts)
