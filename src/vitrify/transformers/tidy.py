"""What the transformers before leave that says nothing, because each of them knows only its own part.

    def then(y, returned):                  def then(y, returned):
        result = f(y)                           return f(y), True
        returned = True
        return result, returned

    def orelse(x):                          def orelse(x):
        (x,) = vt.convert_for(...)              return vt.convert_for(...)
        return (x,)

And `x: vt.Variable` where something else binds `x` in the function as well.
"""

from __future__ import annotations

import gast

from .context import Context
from .facts.scopes import scope_of
from .nodes import Node, Stmts, all_nodes, binds, functions_in
from .region import declaration_of

_CONSTRUCTS = frozenset({"convert_ifelse", "convert_while", "convert_for"})


def tidy(tree: Node, context: Context) -> Node:
    """`tree` without needless copies and declarations."""
    for fn in functions_in(tree):
        if fn.name in context.names.generated:
            _return_directly(fn, context)
        _drop_declarations(fn)
    return tree


def _return_directly(fn: Node, context: Context) -> None:
    """Let the `return` of a generated function compute what the statements before it set just for it."""
    if not isinstance(fn.body[-1], gast.Return) or not isinstance(fn.body[-1].value, gast.Tuple):
        return
    given = fn.body[-1].value
    names = [getattr(part, "id", None) for part in given.elts]
    if len(fn.body) > 1 and _is_construct_for(fn.body[-2], names, context):
        fn.body[-2:] = [gast.copy_location(gast.Return(value=fn.body[-2].value), fn.body[-2])]
        return
    shared = {known for node in fn.body if isinstance(node, (gast.Nonlocal, gast.Global)) for known in node.names}
    ours = context.names.generated.intersection(names) - shared
    values = _last_values(fn.body[:-1], ours)
    if values:
        fn.body[-1 - len(values) : -1] = []
        given.elts = [values.get(part.id, part) if isinstance(part, gast.Name) else part for part in given.elts]


def _is_construct_for(stmt: Node, names: list[str | None], context: Context) -> bool:
    """Whether a statement is `(names) = vt.convert_ifelse(...)` or the like."""
    if not isinstance(stmt, gast.Assign) or not isinstance(stmt.targets[0], gast.Tuple):
        return False
    function = getattr(stmt.value, "func", None)
    is_helper = getattr(getattr(function, "value", None), "id", None) == context.vt
    targets = [getattr(target, "id", None) for target in stmt.targets[0].elts]
    return is_helper and getattr(function, "attr", None) in _CONSTRUCTS and targets == names


def _last_values(body: Stmts, ours: set[str]) -> dict[str, Node]:
    """What the last statements give to variables of ours, as long as it does not matter which is computed first."""
    values: dict[str, Node] = {}
    for stmt in reversed(body):
        if not isinstance(stmt, gast.Assign) or len(stmt.targets) > 1:
            break
        target, value = getattr(stmt.targets[0], "id", None), stmt.value
        if target is None or target not in ours - values.keys() or _mentions(values, target) or binds(value):
            break
        if not isinstance(value, gast.Constant) and not all(isinstance(v, gast.Constant) for v in values.values()):
            break
        values[target] = value
    return values


def _mentions(values: dict[str, Node], known: str) -> bool:
    return any(getattr(node, "id", None) == known for value in values.values() for node in all_nodes(value))


def _drop_declarations(fn: Node) -> None:
    declared = {declaration_of(stmt): stmt for stmt in fn.body}
    declared.pop(None, None)
    if not declared:
        return
    body = fn.body
    fn.body = [stmt for stmt in body if stmt not in declared.values()]
    bound = scope_of(fn).locals if fn.body else frozenset()
    needed = [stmt for known, stmt in declared.items() if known not in bound]
    fn.body = [stmt for stmt in body if stmt in needed or stmt not in declared.values()]
