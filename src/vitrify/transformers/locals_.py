"""`locals()` and `vars()` read the frame, whose variables conversion moves; write out the dict that they give."""

from __future__ import annotations

from collections.abc import Iterator

import gast

from .context import Context
from .facts import FunctionFacts, analyze
from .facts.flow import NameSet, bound_before
from .facts.scopes import free_names, outer_expressions, parameters
from .nodes import COMPREHENSIONS, SCOPES, Node, all_nodes, child_statements, children, replace_nodes
from .quote import constant, name

_BUILTINS = frozenset({"locals", "vars"})


def make_locals_explicit(tree: Node, context: Context) -> Node:
    """`tree` with `{"x": x, ...}` for `locals()`; a call stays, to be refused, where a variable may be unset or not."""
    if any(map(_is_call, all_nodes(tree))) and not any(map(context.global_names, _BUILTINS)):
        _write_out(tree, context.free, context)
    return tree


def _write_out(fn: Node, outer: NameSet, context: Context) -> None:
    facts = analyze(fn, context.names)
    free = (free_names(fn) & outer) - facts.scope.globals
    if _BUILTINS & (facts.scope.locals | free):
        return
    for inner in _inner_functions(fn):
        _write_out(inner, facts.scope.locals | outer, context)
    order = [*parameters(fn.args), *sorted(facts.scope.locals - facts.scope.params), *sorted(free)]
    replace_nodes(fn, {call: _dict([n for n in order if n in found], call) for call, found in _calls(facts, free)})


def _calls(facts: FunctionFacts, free: NameSet) -> Iterator[tuple[Node, NameSet]]:
    """The calls of the function's own statements with the variables that are set there for certain."""
    locals_ = facts.scope.locals
    bound = bound_before(facts.graph, facts.scope.params)
    for point, may_be_bound, may_be_unbound in zip(facts.graph.points, bound, facts.unbound, strict=True):
        if not may_be_bound & may_be_unbound & locals_:
            for root in point.roots:
                for call in _own_calls(root):
                    yield call, (may_be_bound & locals_) | free


def _own_calls(root: Node) -> Iterator[Node]:
    if _is_call(root):
        yield root
    if isinstance(root, COMPREHENSIONS):  # it has variables of its own, but for its first iterable
        parts = iter((root.generators[0].iter,))
    else:
        parts = iter(outer_expressions(root) if isinstance(root, SCOPES) else children(root))
    for part in parts:
        yield from _own_calls(part)


def _is_call(node: Node) -> bool:
    return (
        isinstance(node, gast.Call)
        and isinstance(node.func, gast.Name)
        and node.func.id in _BUILTINS
        and not node.args
        and not node.keywords
    )


def _inner_functions(node: Node) -> Iterator[Node]:
    for stmt in child_statements(node):
        if isinstance(stmt, gast.FunctionDef):
            yield stmt
        elif not isinstance(stmt, SCOPES):
            yield from _inner_functions(stmt)


def _dict(names: list[str], at: Node) -> Node:
    keys = [constant(identifier, at=at) for identifier in names]
    values = [name(identifier, at=at) for identifier in names]
    return gast.copy_location(gast.Dict(keys=keys, values=values), at)
