"""What a syntax-tree node is here, and the visitors every transformer starts from.

gast builds its classes at import time, so to a type checker they are untyped; `Node` is the border.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from typing import Any

import gast

Node = Any
"""A gast node. (`ast.AST` knows no fields, so `Any` is the honest static type.)"""

Stmts = list[Node]

FUNCTIONS = (gast.FunctionDef, gast.AsyncFunctionDef)
LOOPS = (gast.For, gast.While)
CONSTRUCTS = (gast.If, gast.For, gast.While)
TRIES = (gast.Try, gast.TryStar)
SCOPES = (gast.FunctionDef, gast.AsyncFunctionDef, gast.ClassDef, gast.Lambda)
COMPREHENSIONS = (gast.ListComp, gast.SetComp, gast.DictComp, gast.GeneratorExp)
_YIELDS = (gast.Yield, gast.YieldFrom, gast.Await)


def own_nodes(root: Node) -> Iterator[Node]:
    """Every node of the scope that `root` opens or lies in, without the insides of nested functions and classes."""
    for child in gast.iter_child_nodes(root):
        yield child
        if not isinstance(child, SCOPES):
            yield from own_nodes(child)


def own_nodes_of(stmts: Stmts) -> Iterator[Node]:
    """`own_nodes` over a list of statements, the statements included."""
    for stmt in stmts:
        yield stmt
        if not isinstance(stmt, SCOPES):
            yield from own_nodes(stmt)


def is_generator(fn: Node) -> bool:
    """Whether a function definition (or lambda) yields or awaits, itself, not in a nested function."""
    body = fn.body if isinstance(fn.body, list) else [fn.body]
    return any(isinstance(node, _YIELDS) for node in own_nodes_of(body))


def is_convertible(fn: Node) -> bool:
    """Whether statements of this function may be rewritten: plain functions only."""
    return isinstance(fn, gast.FunctionDef) and not is_generator(fn)


def functions_in(root: Node) -> list[Node]:
    """All convertible function definitions in `root`, innermost first; class bodies stay closed."""
    found: list[Node] = []
    for child in gast.iter_child_nodes(root):
        if isinstance(child, (gast.ClassDef, gast.AsyncFunctionDef)):
            continue
        if isinstance(child, FUNCTIONS) and not is_convertible(child):
            continue
        found += functions_in(child)
    if is_convertible(root):
        found.append(root)
    return found


class ScopeTransformer(ast.NodeTransformer):
    """Rewrites the statements of one function; nested functions, lambdas and classes are left as they are."""

    def transform_body(self, fn: Node) -> None:
        """Rewrite `fn.body` in place."""
        fn.body = self.block(fn.body)

    def block(self, stmts: Stmts) -> Stmts:
        """The rewritten form of a statement list."""
        out: Stmts = []
        for stmt in stmts:
            result = self.visit(stmt)
            out += result if isinstance(result, list) else [] if result is None else [result]
        return out

    def _closed(self, node: Node) -> Node:
        return node

    visit_FunctionDef = visit_AsyncFunctionDef = visit_ClassDef = visit_Lambda = _closed


class ExpressionTransformer(ast.NodeTransformer):
    """Rewrites expressions everywhere in a tree but in class bodies, generators, decorators and annotations."""

    def visit_ClassDef(self, node: Node) -> Node:
        return node

    visit_AsyncFunctionDef = visit_ClassDef

    def visit_FunctionDef(self, node: Node) -> Node:
        if not is_generator(node):
            node.args.defaults = [self.visit(default) for default in node.args.defaults]
            node.body = self._block(node.body)
        return node

    def visit_Lambda(self, node: Node) -> Node:
        if not is_generator(node):
            node.args.defaults = [self.visit(default) for default in node.args.defaults]
            node.body = self.visit(node.body)
        return node

    def visit_AnnAssign(self, node: Node) -> Node:
        if node.value is not None:
            node.value = self.visit(node.value)
        return node

    def visit_match_case(self, node: Node) -> Node:
        if node.guard is not None:
            node.guard = self.visit(node.guard)
        node.body = self._block(node.body)
        return node

    def _block(self, stmts: Stmts) -> Stmts:
        out: Stmts = []
        for stmt in stmts:
            result = self.visit(stmt)
            out += result if isinstance(result, list) else [result]
        return out


def replace_nodes(root: Node, replacements: Mapping[Node, Node]) -> None:
    """Exchange nodes below `root`, in place."""

    class Replace(ast.NodeTransformer):
        def visit(self, node: Node) -> Node:
            new = replacements.get(node)
            return self.generic_visit(node) if new is None else new

    Replace().generic_visit(root)


def docstring_length(fn: Node) -> int:
    """1 when the body starts with a docstring (which must stay first), else 0."""
    first = fn.body[0] if fn.body else None
    is_doc = (
        isinstance(first, gast.Expr) and isinstance(first.value, gast.Constant) and isinstance(first.value.value, str)
    )
    return int(is_doc)
