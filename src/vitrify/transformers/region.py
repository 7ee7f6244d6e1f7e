"""Functions made from branches and loop bodies: parameters in, a tuple out, shared variables declared."""

from __future__ import annotations

from collections.abc import Sequence

import gast

from .context import Context
from .facts import FunctionFacts, analyze
from .native import native_constructs
from .nodes import Node, ScopeTransformer, Stmts, docstring_length
from .quote import constant, name, quote, quote_expr, thunk, tuple_of

Names = Sequence[str]


class Constructs(ScopeTransformer):
    """Makes the constructs of one function calls; `shared`: variables that they write where they stand."""

    def __init__(self, fn: Node, context: Context) -> None:
        self.context = context
        self.facts = analyze(fn, context.names)
        self.native = native_constructs(fn)
        self.shared: set[str] = set()

    def transform_body(self, fn: Node) -> None:
        """Rewrite the body of the function, in which what is shared stays bound."""
        super().transform_body(fn)
        declare_shared(fn, sorted(self.shared), self.facts, self.context)


def function(identifier: str, params: Names, body: Stmts, returns: Names, facts: FunctionFacts, *, at: Node) -> Stmts:
    """`def identifier(params): body; return (returns)`."""
    template = """
        def identifier(params):
            declarations
            body
            return result
    """
    kept = [stmt for stmt in body if not isinstance(stmt, gast.Pass)]
    (made,) = quote(
        template,
        at=at,
        identifier=identifier,
        params=list(params),
        declarations=_declarations(body, facts, at),
        body=kept,
        result=names_tuple(returns, at),
    )
    if kept and isinstance(kept[-1], gast.Raise):
        made.body.pop()  # the `return` would never be reached
    return [made]


def names_tuple(identifiers: Names, at: Node) -> Node:
    """`(a, b)`, read."""
    return tuple_of([name(identifier, at=at) for identifier in identifiers], at=at)


def call_construct(helper: str, args: list[Node], outs: Names, shared: Names, context: Context, *, at: Node) -> Stmts:
    """`(outs) = vt.helper(args..., shared=...)`, or only the call when nothing comes out."""
    call = context.call(helper, *args, at=at)
    if shared:
        places = [_place(identifier, context, at) for identifier in shared]
        call.keywords = quote_expr("f(shared=places)", at=at, places=tuple_of(places, at=at)).keywords
    if not outs:
        return quote("call", at=at, call=call)
    return quote("(outs,) = call", at=at, outs=list(outs), call=call)


def strings(values: Names, at: Node) -> Node:
    """`('a', 'b')`."""
    return tuple_of([constant(value, at=at) for value in values], at=at)


def declare_shared(fn: Node, shared: Names, facts: FunctionFacts, context: Context) -> None:
    """Keep shared variables of `fn` bound in it, though every assignment may have moved into a nested function."""
    declare(fn, sorted(set(shared) & (facts.scope.locals - facts.scope.params)), context)


def declare(fn: Node, identifiers: Names, context: Context) -> None:
    """Make names local to `fn` by `x: vt.Variable` at its top, unless it does so already."""
    present = set(map(declaration_of, fn.body))
    start = docstring_length(fn)
    at = fn.body[start]
    needed = [identifier for identifier in identifiers if identifier not in present]
    fn.body[start:start] = [
        stmt for identifier in needed for stmt in quote("x: vt.Variable", at=at, x=identifier, vt=context.vt)
    ]


def declaration_of(stmt: Node) -> str | None:
    """The name that a statement declares and does not set."""
    is_declaration = isinstance(stmt, gast.AnnAssign) and stmt.value is None and isinstance(stmt.target, gast.Name)
    return stmt.target.id if is_declaration else None


def _declarations(body: Stmts, facts: FunctionFacts, at: Node) -> Stmts:
    written = sorted(facts.writes(body) & facts.shared)
    here = [x for x in written if x not in facts.scope.globals]
    everywhere = [x for x in written if x in facts.scope.globals]
    out = quote("nonlocal x", at=at, x=here) if here else []
    return out + (quote("global x", at=at, x=everywhere) if everywhere else [])


def _place(identifier: str, context: Context, at: Node) -> Node:
    return context.call("name", constant(identifier, at=at), thunk(name(identifier, at=at)), at=at)
