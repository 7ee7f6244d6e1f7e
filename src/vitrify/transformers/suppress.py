"""`with suppress(...)` is a `try`, so that a tensor may decide what is raised in it.

    with suppress(KeyError, ValueError):        try:
        body                                        body
                                                except (KeyError, ValueError):
                                                    pass

Only where something is raised in the body itself, or where it turned out to miss what operations or called functions
raise (`Context.deep_tries`); else it stays the context manager that it is.
"""

from __future__ import annotations

from contextlib import suppress

import gast

from .context import Context
from .nodes import Node, ScopeTransformer, all_nodes, functions_in, own_nodes_of
from .quote import quote

_KINDS = (gast.Name, gast.Attribute)


def lower_suppress(tree: Node, context: Context) -> Node:
    """`tree` with `try` statements for `with suppress(...)`, where that is the one of contextlib."""
    nodes = list(all_nodes(tree))
    if not any(isinstance(node, gast.With) for node in nodes):
        return tree
    bound = {node.id for node in nodes if isinstance(node, gast.Name) and not isinstance(node.ctx, gast.Load)}
    bound |= {alias.asname or alias.name for alias in nodes if isinstance(alias, gast.alias)}
    for fn in functions_in(tree):
        _Suppress(context, bound).transform_body(fn)
    return tree


class _Suppress(ScopeTransformer):
    def __init__(self, context: Context, bound: set[str]) -> None:
        self.context = context
        self.bound = bound

    def visit_With(self, node: Node) -> Node:
        self.generic_visit(node)
        kinds = [] if len(node.items) > 1 else self._suppressed(node.items[0])
        raises = any(isinstance(inner, (gast.Raise, gast.Assert)) for inner in own_nodes_of(node.body))
        if not (kinds and (raises or node.lineno in self.context.deep_tries)):
            return node
        caught = kinds[0]
        if len(kinds) > 1:
            caught = gast.copy_location(gast.Tuple(elts=kinds, ctx=gast.Load()), caught)
        (lowered,) = quote("try:\n    body\nexcept kinds:\n    pass", at=node, body=node.body, kinds=caught)
        return lowered

    def _suppressed(self, item: Node) -> list[Node]:
        """The exceptions that `suppress(...)` names, of a plain one; none of anything else."""
        call = item.context_expr
        if item.optional_vars is not None or not isinstance(call, gast.Call) or call.keywords:
            return []
        root = call.func.value if isinstance(call.func, gast.Attribute) else call.func
        if not isinstance(root, gast.Name) or root.id in self.bound or not self._is_suppress(call.func, root.id):
            return []
        return list(call.args) if all(isinstance(arg, _KINDS) for arg in call.args) else []

    def _is_suppress(self, function: Node, root: str) -> bool:
        found = self.context.global_value(root)
        return (getattr(found, function.attr, None) if isinstance(function, gast.Attribute) else found) is suppress
