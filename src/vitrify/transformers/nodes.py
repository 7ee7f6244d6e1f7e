"""What a syntax-tree node is here, and the visitors every transformer starts from.

gast builds its classes at import time, so to a type checker they are untyped; `Node` is the border.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from typing import Any, ClassVar

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
BLOCKS = ("body", "orelse", "finalbody")
_YIELDS = (gast.Yield, gast.YieldFrom, gast.Await)


_PLAIN_FIELDS = frozenset(
    {"ctx", "op", "ops", "kind", "type_comment", "id", "name", "attr", "arg", "names", "is_async"}
)
_KEPT_FIELDS = {  # here `name` is a node
    gast.ExceptHandler: ("type", "name", "body"),
    gast.TypeAlias: ("name", "type_params", "value"),
}


def _node_fields(cls: type) -> tuple[str, ...]:
    return _KEPT_FIELDS.get(cls, tuple(field for field in cls._fields if field not in _PLAIN_FIELDS))  # type: ignore[attr-defined]


_CLASSES: dict[type, str] = {
    cls: name
    for module in (ast, gast)
    for name, cls in vars(module).items()
    if isinstance(cls, type) and issubclass(cls, ast.AST) and cls.__name__ == name
}
"""The classes of gast's trees and of Python's, and the names by which visitors have methods for them."""
_FIELDS: dict[type, tuple[str, ...]] = {cls: _node_fields(cls) for cls in _CLASSES}
"""The fields of each class that can hold nodes worth visiting: all but contexts, operators and identifiers."""


def children(node: Node) -> list[Node]:
    """The nodes directly below `node`, in order, without contexts and operators."""
    found: list[Node] = []
    attributes = node.__dict__  # this function is where conversion spends its time
    for field in _FIELDS[type(node)]:
        value = attributes.get(field)
        if value is None:
            continue
        if type(value) is list:
            found += [item for item in value if type(item) in _FIELDS]
        elif type(value) in _FIELDS:
            found.append(value)
    return found


def all_nodes(root: Node) -> Iterator[Node]:
    """`root` and every node below it."""
    pending = [root]
    while pending:
        node = pending.pop()
        yield node
        pending += children(node)


def own_nodes(root: Node) -> Iterator[Node]:
    """Every node of the scope that `root` opens or lies in, without the insides of nested functions and classes."""
    return own_nodes_of(children(root))


def own_nodes_of(nodes: Stmts) -> Iterator[Node]:
    """`own_nodes` over a list, the nodes in it included, in the order of the source."""
    pending = nodes[::-1]
    while pending:
        node = pending.pop()
        yield node
        if not isinstance(node, SCOPES):
            pending += children(node)[::-1]


def child_statements(stmt: Node) -> Stmts:
    """The statements directly inside a compound statement."""
    attributes = stmt.__dict__
    found: Stmts = []
    for owner in (stmt, *attributes.get("handlers", ()), *attributes.get("cases", ())):
        for field in BLOCKS:
            block = owner.__dict__.get(field)
            if type(block) is list:
                found += block
    return found


def binds(expr: Node) -> bool:
    """Whether there is a `:=` in an expression, in functions inside of it as well."""
    return any(isinstance(node, gast.NamedExpr) for node in all_nodes(expr))


def target_leaves(target: Node) -> list[Node]:
    """What an assignment's target stores to one by one: the names, attributes and items in tuples and lists of them."""
    if isinstance(target, gast.Starred):
        return target_leaves(target.value)
    if isinstance(target, (gast.Tuple, gast.List)):
        return [leaf for element in target.elts for leaf in target_leaves(element)]
    return [target]


def is_generator(fn: Node) -> bool:
    """Whether a function definition (or lambda) yields or awaits, itself, not in a nested function."""
    pending = list(fn.body) if isinstance(fn.body, list) else [fn.body]
    while pending:
        node = pending.pop()
        cls = type(node)
        if cls in _YIELDS:
            return True
        if cls not in SCOPES:
            pending += children(node)
    return False


def own_statements(fn: Node) -> Iterator[Node]:
    """Every statement of a function, outer ones first, without those of nested functions and classes."""
    pending = fn.body[::-1]
    while pending:
        stmt = pending.pop()
        yield stmt
        if not isinstance(stmt, SCOPES):
            pending += child_statements(stmt)[::-1]


def functions_in(root: Node) -> list[Node]:
    """All convertible function definitions in `root`, innermost first; class bodies stay closed."""
    if isinstance(root, (gast.ClassDef, gast.AsyncFunctionDef)):
        return []
    found = [fn for stmt in child_statements(root) for fn in functions_in(stmt)]
    return [*found, root] if isinstance(root, gast.FunctionDef) else found


class Visitor:
    """Like `ast.NodeVisitor`, with the methods looked up once for each class and only `children` visited."""

    _methods: ClassVar[dict[type, Callable[..., Any]]] = {}

    def __init_subclass__(cls) -> None:
        cls._methods = {node: getattr(cls, f"visit_{name}", cls.generic_visit) for node, name in _CLASSES.items()}

    def visit(self, node: Node) -> Any:
        """Call the method for the node's class."""
        return self._methods[type(node)](self, node)

    def generic_visit(self, node: Node) -> Any:
        """Visit what is below `node`."""
        for child in children(node):
            self.visit(child)


class Transformer(Visitor):
    """Like `ast.NodeTransformer`: methods return the new node, in statement lists also a list of nodes."""

    def generic_visit(self, node: Node) -> Any:
        """Transform what is below `node`, in place."""
        attributes = node.__dict__
        for field in _FIELDS[type(node)]:
            value = attributes.get(field)
            if value is None:
                continue
            if type(value) is list:
                if value:
                    attributes[field] = self.visit_list(value)
            elif type(value) in _FIELDS:
                attributes[field] = self.visit(value)
        return node

    def visit_list(self, nodes: Stmts) -> Stmts:
        """The transformed form of a list of nodes (which may contain None)."""
        out: Stmts = []
        for node in nodes:
            result = self.visit(node) if type(node) in _FIELDS else node
            if type(result) is list:
                out += result
            else:
                out.append(result)
        return out


class ScopeTransformer(Transformer):
    """Rewrites the statements of one function; nested functions, lambdas and classes are left as they are."""

    def transform_body(self, fn: Node) -> None:
        """Rewrite `fn.body` in place."""
        fn.body = self.block(fn.body)

    def block(self, stmts: Stmts) -> Stmts:
        """The rewritten form of a statement list."""
        return self.visit_list(stmts)

    def _closed(self, node: Node) -> Node:
        return node

    visit_FunctionDef = visit_AsyncFunctionDef = visit_ClassDef = visit_Lambda = _closed


class ExpressionTransformer(Transformer):
    """Rewrites expressions everywhere in a tree but in class bodies, decorators and annotations."""

    def visit_ClassDef(self, node: Node) -> Node:
        return node

    visit_AsyncFunctionDef = visit_ClassDef

    def visit_FunctionDef(self, node: Node) -> Node:
        node.args.defaults = self.visit_list(node.args.defaults)
        node.body = self.visit_list(node.body)
        return node

    def visit_Lambda(self, node: Node) -> Node:
        if not is_generator(node):
            node.args.defaults = self.visit_list(node.args.defaults)
            node.body = self.visit(node.body)
        return node

    def visit_AnnAssign(self, node: Node) -> Node:
        if node.value is not None:
            node.value = self.visit(node.value)
        return node

    def visit_match_case(self, node: Node) -> Node:
        if node.guard is not None:
            node.guard = self.visit(node.guard)
        node.body = self.visit_list(node.body)
        return node


def replace_nodes(root: Node, replacements: Mapping[Node, Node]) -> None:
    """Exchange nodes below `root`, in place."""
    if replacements:
        _Replace(replacements).generic_visit(root)


class _Replace(Transformer):
    def __init__(self, replacements: Mapping[Node, Node]) -> None:
        self.replacements = replacements

    def visit(self, node: Node) -> Node:
        new = self.replacements.get(node)
        return self.generic_visit(node) if new is None else new


def docstring_length(fn: Node) -> int:
    """1 when the body starts with a docstring (which must stay first), else 0."""
    first = fn.body[0] if fn.body else None
    is_doc = (
        isinstance(first, gast.Expr) and isinstance(first.value, gast.Constant) and isinstance(first.value.value, str)
    )
    return int(is_doc)
