"""Templates: small pieces of Python text with holes, made into gast nodes. The only place that parses text.

    quote("target = vt.convert_not(value)", at=node, target="y", value=expr)

A hole is a name. A `str` renames it, a node replaces it, and a list of nodes or names is spliced in where
the hole stands as a statement, parameter, argument, tuple element or in a `nonlocal`/`global` line.
Nodes of the template get the location of `at`; nodes put into holes keep theirs.
"""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import gast

from ..core.cache import BoundedCache
from .exchange import WITHOUT_FIELDS, to_gast
from .nodes import Node, Stmts, Transformer, all_nodes, children

Hole = str | Node | Sequence[str] | Sequence[Node]
_TEMPLATES: BoundedCache[str, Node] = BoundedCache("transformer templates", limit=128)
_LOCATION = ("lineno", "col_offset", "end_lineno", "end_col_offset")


def quote(template: str, *, at: Node, **holes: Hole) -> Stmts:
    """The statements of `template` with its holes filled, located at `at`."""
    place = _head(at)
    tree = _copy(_TEMPLATES.get_or_build(template, lambda: _parse(template)), place)
    body: Stmts = _Fill(holes, place).visit(tree).body
    return body


def _parse(template: str) -> Node:
    tree = to_gast(ast.parse(textwrap.dedent(template)))
    for node in all_nodes(tree):
        for attribute in _LOCATION:
            node.__dict__.pop(attribute, None)
    return tree


def quote_expr(template: str, *, at: Node, **holes: Hole) -> Node:
    """The expression of `template` with its holes filled, located at `at`."""
    (stmt,) = quote(template, at=at, **holes)
    return stmt.value


def name(identifier: str, *, at: Node, store: bool = False) -> Node:
    """A variable, read or written."""
    ctx = gast.Store() if store else gast.Load()
    node = gast.Name(id=identifier, ctx=ctx, annotation=None, type_comment=None)
    return gast.copy_location(node, at)


def constant(value: object, *, at: Node) -> Node:
    """A literal."""
    return gast.copy_location(gast.Constant(value=value, kind=None), at)


def tuple_of(elements: Iterable[Node], *, at: Node) -> Node:
    """A tuple display."""
    return gast.copy_location(gast.Tuple(elts=list(elements), ctx=gast.Load()), at)


def call_helper(helper: str, function: str, *args: Node, at: Node) -> Node:
    """`vt.function(args...)`."""
    return quote_expr(f"vt.{function}(args)", at=at, vt=helper, args=list(args))


def thunk(expr: Node) -> Node:
    """`lambda: expr`, to be called by a helper at once or never."""
    return quote_expr("lambda: value", at=expr, value=expr)


def locate(nodes: Stmts, at: Node) -> Stmts:
    """`nodes`, each node in them that has no location yet now having that of `at`."""
    place = _head(at)
    for node in nodes:
        _locate(node, place)
    return nodes


def _locate(node: Node, place: Mapping[str, int]) -> None:
    if getattr(node, "lineno", None) is None:
        for attribute, value in place.items():
            setattr(node, attribute, value)
    for child in children(node):
        _locate(child, place)


def _head(at: Node) -> dict[str, int]:
    """The location of a node, of a statement with a body the line that it starts with.

    A call whose parts span lines would be shown at its last line, far from the `if` or loop that it stands for.
    """
    for part in ("test", "iter"):
        at = getattr(at, part, at)
    place: dict[str, int | None] = {attribute: getattr(at, attribute, None) for attribute in _LOCATION}
    if place["end_lineno"] != place["lineno"]:
        place["end_lineno"], place["end_col_offset"] = place["lineno"], place["col_offset"]
    return {attribute: value for attribute, value in place.items() if value is not None}


def copy_tree(node: Node) -> Node:
    """A copy of a tree that shares no node with it but contexts and operators, one of which stands for all."""
    return _copy(node, {})


def _copy(node: Node, place: Mapping[str, int]) -> Node:
    """A copy of a tree, all of it at `place` if one is given."""
    cls: Any = type(node)
    new = cls.__new__(cls)
    attributes = new.__dict__
    for field, value in node.__dict__.items():
        if type(value) is list:
            attributes[field] = [_copy(item, place) if isinstance(item, ast.AST) else item for item in value]
        elif isinstance(value, ast.AST) and not isinstance(value, WITHOUT_FIELDS):
            attributes[field] = _copy(value, place)
        else:
            attributes[field] = value
    attributes.update(place)
    return new


class _Fill(Transformer):
    """Puts holes' nodes into a template, and does not go into them: they may be large."""

    def __init__(self, holes: Mapping[str, Hole], place: Mapping[str, int]) -> None:
        self.holes = holes
        self.place = place

    def visit_Name(self, node: Node) -> Node:
        hole = self.holes.get(node.id)
        if hole is None:
            return self.generic_visit(node)
        if isinstance(hole, str):
            node.id = hole
            return node
        if isinstance(hole, Sequence):
            return [self._element(item, node) for item in hole]
        return hole

    def _element(self, item: str | Node, like: Node) -> Node:
        if not isinstance(item, str):
            return item
        new = gast.Name(id=item, ctx=type(like.ctx)(), annotation=None, type_comment=None)
        new.__dict__.update(self.place)
        return new

    def visit_Expr(self, node: Node) -> Node:
        node = self.generic_visit(node)
        return node.value if isinstance(node.value, list) else node

    def visit_FunctionDef(self, node: Node) -> Node:
        node.name = self.holes.get(node.name, node.name)
        return self.generic_visit(node)

    visit_ClassDef = visit_FunctionDef

    def visit_Attribute(self, node: Node) -> Node:
        node.attr = self.holes.get(node.attr, node.attr)
        return self.generic_visit(node)

    def visit_Nonlocal(self, node: Node) -> Node:
        node.names = [name for old in node.names for name in self._names(old)]
        return node

    visit_Global = visit_Nonlocal

    def _names(self, old: str) -> Sequence[str]:
        hole = self.holes.get(old, old)
        return [hole] if isinstance(hole, str) else [str(item) for item in hole]
