"""Generator functions turned inside out: they call who consumes them, and so become ordinary functions.

    for i in range(n):                  for i in range(n):
        if x[i] > 0:                        if x[i] > 0:
            yield x[i]                          if vt.give(sink, x[i]):
    yield from rest(x)                              return
                                        done, _ = vt.delegate(sink, rest(x))
                                        if done:
                                            return

`give` runs what the consumer does with an item and says whether it wants no more. So a tensor may decide whether, and
how often, a generator yields. It is done for one use of a generator from its start (`Context.pushing`).

In a `try` it is `vt.give_watched`: what the consumer raises is no business of the generator, which is left by it. Such
a generator is used up to its end only, for a `finally` runs when the generator is closed, which another may do later.
"""

from __future__ import annotations

import gast

from .context import Context
from .errors import Refusal
from .facts.cfg import may_swallow
from .nodes import TRIES, Node, ScopeTransformer, Stmts, is_generator, own_nodes_of
from .quote import constant, name, quote

_YIELDS = (gast.Yield, gast.YieldFrom)
_WATCHING = (*TRIES, gast.With)
_OF_CLOSING = frozenset({"BaseException", "GeneratorExit"})
"""What sees that a generator is closed."""
_GIVE = """
if vt.give(sink, value):
    return
"""
_WATCHED = """
if vt.give_watched(sink, value):
    return
"""
_DELEGATE = """
done, target = vt.delegate(sink, value)
if done:
    return
"""


def push_yields(tree: Node, context: Context) -> Node:
    """`tree`, a generator function, as one that gives its items to its first argument, if the conversion is for that.

    Raises Refusal where something waits for the exceptions of who consumes it, or a `yield` is part of an expression.
    """
    if not context.pushing:
        return tree
    if not isinstance(tree, gast.FunctionDef):
        raise _refused(tree)
    sink = context.names.fresh("sink")
    first = gast.copy_location(gast.Name(id=sink, ctx=gast.Param(), annotation=None, type_comment=None), tree)
    (tree.args.posonlyargs or tree.args.args).insert(0, first)
    tree.body = _Pushed(context, sink).block(tree.body)
    if is_generator(tree):
        raise _refused(tree)
    return tree


class _Pushed(ScopeTransformer):
    def __init__(self, context: Context, sink: str) -> None:
        self.context = context
        self.sink = sink
        self.give = _GIVE

    def visit(self, node: Node) -> Node | Stmts:
        """The statement, or those in its place."""
        if not (isinstance(node, _WATCHING) and _has_yield([node])):
            return super().visit(node)
        if not (_passes_on(node) if isinstance(node, gast.With) else _is_plain_try(node)):
            raise _refused(node)
        outer, self.give = self.give, _WATCHED
        try:
            return super().visit(node)
        finally:
            self.give = outer

    def visit_Expr(self, node: Node) -> Node | Stmts:
        return self._given(node, []) if isinstance(node.value, _YIELDS) else node

    def visit_Assign(self, node: Node) -> Node | Stmts:
        return self._given(node, node.targets) if isinstance(node.value, _YIELDS) else node

    def _given(self, node: Node, targets: Stmts) -> Stmts:
        """What stands for `targets = yield value`: who consumes it sends nothing."""
        given, vt = node.value, self.context.vt
        if isinstance(given, gast.YieldFrom):
            if self.give is not _GIVE:
                raise _refused(node)
            done, held = self.context.names.fresh("done"), self.context.names.fresh("value")
            stmts = quote(_DELEGATE, at=node, done=done, target=held, vt=vt, sink=self.sink, value=given.value)
            value = name(held, at=node)
        else:
            value = constant(None, at=node)
            stmts = quote(self.give, at=node, vt=vt, sink=self.sink, value=given.value or constant(None, at=node))
        if targets:
            stmts.append(gast.copy_location(gast.Assign(targets=targets, value=value, type_comment=None), node))
        return stmts


def _has_yield(nodes: Stmts) -> bool:
    return any(isinstance(inner, _YIELDS) for inner in own_nodes_of(nodes))


def _is_plain_try(node: Node) -> bool:
    """Whether its handlers see nothing of a consumer that wants no more, and its `finally` yields nothing."""
    kinds = [part for handler in node.handlers for part in getattr(handler.type, "elts", [handler.type])]
    named = all(getattr(kind, "id", getattr(kind, "attr", "GeneratorExit")) not in _OF_CLOSING for kind in kinds)
    return isinstance(node, gast.Try) and named and not _has_yield(node.finalbody)


def _passes_on(node: Node) -> bool:
    """Whether it is a `with` for a mode, to which all exceptions are alike."""
    return not any(map(may_swallow, node.items))


def _refused(node: Node) -> Refusal:
    return Refusal("a generator that only Python itself can run", node=node, hint="make a list of what it yields")
