"""Variables that may be unset. A branch passes its variables on by value, so an unset one needs a value, too.

`guard_reads` runs on the user's own control flow, where it is known best which reads may fail; `initialise` runs
when jumps are lowered, just before the constructs become calls.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from dataclasses import replace

import gast

from .context import Context
from .facts import FunctionFacts, analyze
from .facts.activity import activity, helper_name
from .facts.function import constructs_in
from .facts.scopes import body_of, comprehension_parts, comprehension_variables, outer_expressions, scope_of
from .inner_names import RUN_AS_FUNCTIONS
from .nodes import (
    COMPREHENSIONS,
    SCOPES,
    Node,
    ScopeTransformer,
    Stmts,
    all_nodes,
    children,
    docstring_length,
    functions_in,
    own_nodes_of,
    replace_nodes,
)
from .quote import constant, locate, name, quote


def guard_reads(tree: Node, context: Context) -> Node:
    """`tree` with `vt.load(x)` for reads that may find `x` unset, and `x = vt.Undefined(...)` for `del x`.

    Reads of inner functions are `vt.load_free(x)`: Python has another exception for them.
    """
    for fn in functions_in(tree):
        constructs, lazy = constructs_in(fn), _lazily_evaluated(fn)
        if not constructs and not lazy:
            continue
        facts = analyze(fn, context.names)
        # Any local may end up in a branch, which takes what follows an early return; and lowering jumps may change
        # which variables are shared for handlers, where a guard does no harm.
        own = _doubtful_reads(facts, facts.scope.locals)
        moved = {node.id for node in own & lazy} - facts.outlasting  # whose cells the user's own functions share
        if not constructs:
            own = {node for node in own if node.id in moved}
        captured = _doubtful_captures(facts, activity(constructs, context.names).writes | moved)
        reads = {node for node in own | captured if node.id not in context.flagged}
        context.doubtful.update(node.id for node in reads)
        free = _inside_functions([*own_nodes_of(body_of(fn))], context)
        replace_nodes(fn, {node: _load(node, context, node in free) for node in reads})
        _Statements(context, facts).transform_body(fn)
    return tree


def unsure_names(fn: Node, context: Context) -> frozenset[str]:
    """The variables of a function that it may read before they are set."""
    if not constructs_in(fn):
        return frozenset()
    facts = analyze(fn, context.names)
    return frozenset(node.id for node in _doubtful_reads(facts, facts.scope.locals))


def initialise(tree: Node, context: Context) -> Node:
    """`tree` with `x = vt.Undefined('x', line)` before the first use of each `x` that a construct may find unset."""
    for fn in functions_in(tree):
        constructs = constructs_in(fn)
        own, lazy = _guarded([*own_nodes_of(body_of(fn))], context)
        if not constructs and not lazy:
            continue
        facts = analyze(fn, context.names)
        # What is shared only for a handler now may be passed by value later, when its construct has become a call.
        facts = replace(facts, shared=facts.outlasting)
        hidden = (lazy - facts.outlasting) | (own & _kept_inside(constructs, facts))
        needed = hidden & facts.scope.locals - facts.scope.params
        for node in constructs:
            unbound = _unbound_at(facts, node)
            if unbound:
                needed |= unbound.intersection(facts.carried(node).ins)
        for identifier in sorted(needed):
            _insert(fn, identifier, context)
    return tree


def _lazily_evaluated(fn: Node) -> set[Node]:
    """All in the operands that become lambdas, where Python would tell of a variable of a function around."""
    roots: list[Node] = []
    for node in own_nodes_of(body_of(fn)):
        if isinstance(node, gast.BoolOp):
            roots += node.values[1:]
        elif isinstance(node, gast.IfExp):
            roots += [node.body, node.orelse]
        elif isinstance(node, gast.Compare):
            roots += node.comparators[1:]
    return _all_in(roots)


def _guarded(nodes: Sequence[Node], context: Context) -> tuple[set[str], set[str]]:
    """The variables of a function that guards read in its own code, and those that they read in lambdas of ours."""
    own: set[str] = set()
    lazy: set[str] = set()
    for node in nodes:
        if isinstance(node, gast.Call) and helper_name(node, context.names) is not None:
            if node.func.attr == "load" and isinstance(node.args[0], gast.Name):
                own.add(node.args[0].id)
            for arg in node.args:
                if isinstance(arg, gast.Lambda):
                    lazy |= set().union(*_guarded([*own_nodes_of([arg.body])], context))
    return own, lazy


def _kept_inside(constructs: Sequence[Node], facts: FunctionFacts) -> set[str]:
    """Variables that a construct sets for itself alone: as functions of their own, these leave the name unknown."""
    kept: set[str] = set()
    for node in constructs:
        carried = facts.carried(node)
        kept |= activity([node], facts.names).writes.difference(carried.outs, carried.shared)
    return kept


def _unbound_at(facts: FunctionFacts, node: Node) -> frozenset[str]:
    return facts.unbound_at(node) - facts.scope.params


def _doubtful_reads(facts: FunctionFacts, names: frozenset[str]) -> set[Node]:
    found: set[Node] = set()
    for point, unbound in zip(facts.graph.points, facts.unbound, strict=True):
        doubtful = unbound & names
        for root in point.roots if doubtful else ():
            found |= {node for node in _own_reads(root) if node.id in doubtful}
    return found


def _doubtful_captures(facts: FunctionFacts, written: Set[str]) -> set[Node]:
    """Reads by nested functions of variables that a construct (or a start value of ours) may leave unset.

    Others' own cells tell that.
    """
    written &= facts.scope.locals
    found: set[Node] = set()
    for point, unbound in zip(facts.graph.points, facts.unbound, strict=True):
        if unbound & written:
            for root in point.roots:
                found |= set(_captured_reads(root, unbound & written))
    return found


def _captured_reads(root: Node, names: frozenset[str], is_inside: bool = False) -> Iterator[Node]:
    """Reads of `names`, variables of the function around, in the functions that `root` makes."""
    if isinstance(root, (gast.FunctionDef, gast.Lambda)):
        for part in outer_expressions(root):
            yield from _captured_reads(part, names, is_inside)
        names -= scope_of(root).locals
        for part in body_of(root):
            yield from _captured_reads(part, names, True)
    elif isinstance(root, gast.Name):
        if is_inside and isinstance(root.ctx, gast.Load) and root.id in names:
            yield root
    elif not isinstance(root, gast.ClassDef):
        hidden = comprehension_variables(root) if isinstance(root, COMPREHENSIONS) else frozenset()
        for part in children(root):
            yield from _captured_reads(part, names - hidden, is_inside)


def _own_reads(root: Node, hidden: frozenset[str] = frozenset()) -> Iterator[Node]:
    """Variables read when `root` is evaluated; not in nested functions, nor a comprehension's own."""
    if isinstance(root, gast.Name):
        if isinstance(root.ctx, gast.Load) and root.id not in hidden:
            yield root
    elif isinstance(root, COMPREHENSIONS):
        yield from _own_reads(root.generators[0].iter, hidden)
        hidden |= comprehension_variables(root)
        for part in comprehension_parts(root):
            yield from _own_reads(part, hidden)
    else:
        for part in outer_expressions(root) if isinstance(root, SCOPES) else children(root):
            yield from _own_reads(part, hidden)


def _inside_functions(nodes: Sequence[Node], context: Context) -> set[Node]:
    """All that is inside of the user's inner functions, and of comprehensions that Python runs as functions."""
    ours = {arg for node in nodes if _is_helper_call(node, context) for arg in node.args}
    found: set[Node] = set()
    for node in nodes:
        if isinstance(node, (gast.FunctionDef, gast.Lambda)):
            body = body_of(node)
            found |= _inside_functions([*own_nodes_of(body)], context) if node in ours else _all_in(body)
        elif isinstance(node, RUN_AS_FUNCTIONS):
            found |= _all_in(comprehension_parts(node))
    return found


def _all_in(roots: Sequence[Node]) -> set[Node]:
    return {node for root in roots for node in all_nodes(root)}


def _is_helper_call(node: Node, context: Context) -> bool:
    owner = node.func.value if isinstance(node, gast.Call) and isinstance(node.func, gast.Attribute) else None
    return isinstance(owner, gast.Name) and owner.id == context.vt


def _load(read: Node, context: Context, is_free: bool) -> Node:
    return context.call("load_free" if is_free else "load", read, at=read)


def _undefined(identifier: str, at: Node, context: Context) -> Stmts:
    is_doubtful = identifier in context.doubtful
    named = (constant(identifier, at=at), constant(at.lineno, at=at)) if is_doubtful else ()
    value = context.call("Undefined", *named, at=at)
    return quote("x = value", at=at, x=identifier, value=value)


def _insert(fn: Node, identifier: str, context: Context) -> None:
    start = docstring_length(fn)
    for position, stmt in enumerate(fn.body[start:], start):
        does = activity([stmt], context.names)
        if identifier in does.writes | does.reads:
            fn.body[position:position] = _undefined(identifier, _first_write(stmt, identifier), context)
            return


def _first_write(stmt: Node, identifier: str) -> Node:
    for node in own_nodes_of([stmt]):
        is_write = getattr(node, "id", None) == identifier and isinstance(node.ctx, gast.Store)
        if is_write and hasattr(node, "lineno"):  # the name of a handler has no place of its own
            return node
    return stmt


class _Statements(ScopeTransformer):
    """What reads a variable without naming it in an expression: `del x`, and `x += ...`."""

    def __init__(self, context: Context, facts: FunctionFacts) -> None:
        self.context = context
        self.facts = facts

    def visit_Delete(self, node: Node) -> Node | Stmts:
        (target,) = node.targets
        if not isinstance(target, gast.Name) or target.id not in self.facts.scope.locals - self.facts.outlasting:
            return node
        self.context.doubtful.add(target.id)
        return [*self._check(target, node), *_undefined(target.id, node, self.context)]

    def visit_AugAssign(self, node: Node) -> Node | Stmts:
        if not isinstance(node.target, gast.Name) or node.target.id not in self.facts.scope.locals:
            return node
        checked = self._check(node.target, node)
        loaded = quote("x = value", at=node, x=node.target.id, value=checked[0].value) if checked else []
        return [*loaded, node]

    def _check(self, target: Node, at: Node) -> Stmts:
        if target.id not in self.facts.unbound_at(at):
            return []
        self.context.doubtful.add(target.id)
        check = gast.Expr(value=self.context.call("load", name(target.id, at=at), at=at))
        return locate([check], at)
