"""Comprehensions in which `:=` binds a variable of the function become loops, whose statements may bind it.

`[y for v in x if (y := f(v)) > 0]` is `found` after

    found = []
    for v1 in x:
        if (y := f(v1)) > 0:
            found.append(y)

and `any(...)`, `all(...)`, `next(...)` of such a generator expression are loops that stop with the answer; other
builtins that use one up get it as a list, `dict(...)` of pairs as a dict. The comprehension's own variables get fresh
names, as they are not the function's.
"""

from __future__ import annotations

from collections.abc import Callable

import gast

from .context import Context
from .facts.activity import is_consumer
from .facts.scopes import (
    comprehension_free_names,
    comprehension_parts,
    comprehension_variables,
    free_names,
    parameters,
)
from .nodes import COMPREHENSIONS, Node, Stmts, all_nodes, own_nodes_of
from .quote import constant, name, quote

_UNMOVABLE = (gast.Await, gast.Yield, gast.YieldFrom)
_STOPPING = {"any": True, "all": False}


def becomes_loop(expr: Node) -> bool:
    """Whether an expression is a comprehension, or a call that uses one up, that has to be a loop."""
    found = _used_up(expr) if isinstance(expr, gast.Call) else expr
    lazy = isinstance(found, gast.GeneratorExp) and found is expr
    return isinstance(found, COMPREHENSIONS) and not lazy and _binds(found) and _is_movable(found)


def _used_up(call: Node) -> Node | None:
    is_next = _is_next(call)
    only = call.args[0] if len(call.args) == 1 or is_next else None
    uses_up = is_consumer(call.func) or _joins(call.func) or is_next
    return only if uses_up and isinstance(only, gast.GeneratorExp) else None


def _is_next(call: Node) -> bool:
    """Whether it asks for the first item, with or without a default."""
    is_plain = isinstance(call.func, gast.Name) and call.func.id == "next" and not call.keywords
    return is_plain and len(call.args) in (1, 2) and not any(isinstance(arg, gast.Starred) for arg in call.args)


def _joins(function: Node) -> bool:
    """Whether it is the `join` of a text that stands there."""
    is_method = isinstance(function, gast.Attribute) and function.attr == "join"
    return is_method and isinstance(function.value, gast.Constant)


def _binds(node: Node) -> bool:
    return any(isinstance(part, gast.NamedExpr) for part in own_nodes_of(comprehension_parts(node)))


def _is_movable(node: Node) -> bool:
    """Whether its parts may become statements under other names: no scope inside has, or keeps, one of these."""
    own = comprehension_variables(node)
    inner = [part for given in comprehension_parts(node) for part in all_nodes(given)]
    if any(clause.is_async for clause in node.generators) or any(isinstance(part, _UNMOVABLE) for part in inner):
        return False
    consumed = {_used_up(part) for part in inner if isinstance(part, gast.Call)}
    return not any(own & _own_or_kept(part, consumed) for part in inner)


def _own_or_kept(node: Node, consumed: set[Node | None]) -> frozenset[str]:
    """The variables of a scope inside, and what it holds on to where it may be called later."""
    if isinstance(node, gast.Lambda):
        return frozenset(parameters(node.args)) | free_names(node)
    if not isinstance(node, COMPREHENSIONS):
        return frozenset()
    kept = isinstance(node, gast.GeneratorExp) and node not in consumed
    return comprehension_variables(node) | (comprehension_free_names(node) if kept else frozenset())


def as_loop(expr: Node, before: Stmts, context: Context) -> Node:
    """What `expr` reads as after the loop, which is added to `before`."""
    found = context.names.fresh("found")
    node: Node = _used_up(expr) if isinstance(expr, gast.Call) else expr
    _rename(node, context)
    called = expr.func.id if node is not expr and isinstance(expr.func, gast.Name) else ""
    if called in _STOPPING:
        stop = _STOPPING[called]
        before += quote("x = value", at=expr, x=found, value=constant(not stop, at=expr))
        before += _loops(node, node.generators, _answer(node, found, stop), _leave(node, found, stop))
        return name(found, at=expr)
    if called == "next":
        return _first(node, expr.args[1:], found, before, context)
    if called == "dict":
        node = _of_pairs(node)
    before += quote(_EMPTY[type(node).__name__], at=expr, x=found)
    before += _loops(node, node.generators, _collect(node, found), list)
    if node is expr:
        return name(found, at=expr)
    expr.args = [name(found, at=node)]
    return expr


def _first(node: Node, default: Stmts, found: str, before: Stmts, context: Context) -> Node:
    """What `next(node, default)` gives, after the statements added to `before`."""
    there, items = context.names.fresh("there"), context.names.fresh("items")
    before += quote("x = value", at=node, x=items, value=node.generators[0].iter)
    node.generators[0].iter = name(items, at=node)
    before += quote("there = False", at=node, there=there)
    for value in default:
        before += quote("x = value", at=node, x=found, value=value)
    take = quote("x = value\nthere = True\nbreak", at=node.elt, x=found, value=node.elt, there=there)
    before += _loops(node, node.generators, take, lambda: quote("if there:\n    break", at=node, there=there))
    if not default:
        before += quote("if not there:\n    raise StopIteration", at=node, there=there)
    return name(found, at=node)


def _of_pairs(node: Node) -> Node:
    """What `dict()` takes, as the comprehension that makes the same dict, if each item is written as a pair."""
    if not isinstance(node.elt, gast.Tuple) or len(node.elt.elts) != 2:
        return node
    key, value = node.elt.elts
    if any(isinstance(part, gast.Starred) for part in (key, value)):
        return node
    return gast.copy_location(gast.DictComp(key=key, value=value, generators=node.generators), node)


_EMPTY = {"ListComp": "x = []", "GeneratorExp": "x = []", "DictComp": "x = {}", "SetComp": "x = set()"}


def _collect(node: Node, found: str) -> Stmts:
    if isinstance(node, gast.DictComp):
        return quote("x[key] = value", at=node, x=found, key=node.key, value=node.value)
    template = "x.add(value)" if isinstance(node, gast.SetComp) else "x.append(value)"
    return quote(template, at=node, x=found, value=node.elt)


def _answer(node: Node, found: str, stop: bool) -> Stmts:
    template = "if test:\n    x = value\n    break" if stop else "if not test:\n    x = value\n    break"
    return quote(template, at=node.elt, test=node.elt, x=found, value=constant(stop, at=node.elt))


def _leave(node: Node, found: str, stop: bool) -> Callable[[], Stmts]:
    """What ends an outer loop once an inner one has the answer."""
    return lambda: quote("if x:\n    break" if stop else "if not x:\n    break", at=node, x=found)


def _loops(node: Node, generators: Stmts, innermost: Stmts, leave: Callable[[], Stmts]) -> Stmts:
    head, *rest = generators
    body = [*_loops(node, rest, innermost, leave), *leave()] if rest else innermost
    for test in reversed(head.ifs):
        body = quote("if test:\n    body", at=test, test=test, body=body)
    (loop,) = quote("for x in items:\n    body", at=node, x="x", items=head.iter, body=body)
    loop.target = head.target
    return [loop]


def _rename(node: Node, context: Context) -> None:
    """Give the comprehension's own variables names that the function does not use."""
    fresh = {own: context.names.fresh(own) for own in sorted(comprehension_variables(node))}
    for part in comprehension_parts(node):
        for inner in all_nodes(part):
            if isinstance(inner, gast.Name) and inner.id in fresh:
                inner.id = fresh[inner.id]
