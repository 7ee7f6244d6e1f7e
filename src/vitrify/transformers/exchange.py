"""From Python's trees to gast's and back, with gast's rules for each class, applied without reflection.

gast copies every node by asking it for each of its fields and attributes; nodes keep all of both in their `__dict__`.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any, ClassVar

import gast
from gast.ast3 import Ast3ToGAst, GAstToAst3

from .nodes import Node

_Rule = Callable[[Any, Any], Any]
WITHOUT_FIELDS = (ast.expr_context, ast.operator, ast.unaryop, ast.boolop, ast.cmpop)


def _classes(module: ModuleType) -> dict[str, type]:
    found = {name: cls for name, cls in vars(module).items() if isinstance(cls, type) and issubclass(cls, ast.AST)}
    return {name: cls for name, cls in found.items() if cls.__name__ == name}  # no aliases, such as the old ast.Num


_PLAIN, _GAST = _classes(ast), _classes(gast)


class _Exchange:
    """What both ways share: a table from a node's class to the rule for it, and the rule for most of them."""

    _rules: ClassVar[Mapping[type, _Rule]] = {}
    located = True
    """Whether all nodes made so far that have a place know it."""

    def visit(self, node: Node) -> Any:
        """The node in the other language."""
        return self._rules[type(node)](self, node)

    def _visit(self, value: Any) -> Any:  # by this name the rules of gast ask for the value of a field
        rules = self._rules
        cls = type(value)
        if cls is list:
            return [rules[type(item)](self, item) if type(item) in rules else item for item in value]
        return rules[cls](self, value) if cls in rules else value


def _copied(to: Any) -> _Rule:
    """The rule for a class that has the same fields in both languages."""
    new = to.__new__
    fields, has_place = to._fields, "end_col_offset" in to._attributes

    def rule(self: Any, node: Node) -> Node:
        made: Node = new(to)
        attributes = made.__dict__
        attributes.update(node.__dict__)
        rules = self._rules
        for field in fields:
            value = attributes.get(field)
            cls = type(value)
            if cls is list:
                attributes[field] = [rules[type(item)](self, item) if type(item) in rules else item for item in value]
            elif cls in rules:
                attributes[field] = rules[cls](self, value)
        if has_place and attributes.get("end_col_offset") is None:
            self.located = False
        return made

    return rule


def _watched(own: _Rule) -> _Rule:
    """A rule of gast's, noting like ours whether the node that it made has a place."""

    def rule(self: Any, node: Node) -> Node:
        made = own(self, node)
        if "end_col_offset" in made._attributes and getattr(made, "end_col_offset", None) is None:
            self.located = False
        return made

    return rule


def _shared(to: Any) -> _Rule:
    """The rule for a class without fields: one object stands for all, as in what Python's parser gives."""
    only = to()
    return lambda self, node: only


def _rules_of(exchange: type, before: Mapping[str, type], after: Mapping[str, type]) -> dict[type, _Rule]:
    """The rule for each class: that of `exchange` if it has one."""
    rules: dict[type, _Rule] = {}
    for name, cls in before.items():
        own = getattr(exchange, f"visit_{name}", None)
        if own is not None and name != "Constant":  # what visitors say of Constant is about the old ast.Num and ast.Str
            rules[cls] = _watched(own)
        elif name in after:
            rules[cls] = (_shared if issubclass(cls, WITHOUT_FIELDS) else _copied)(after[name])
    return rules


class _ToGast(_Exchange, Ast3ToGAst):  # type: ignore[misc]  # gast has no types
    def visit_Name(self, node: ast.Name) -> Node:
        made = gast.Name.__new__(gast.Name)
        made.__dict__.update(node.__dict__, ctx=self.visit(node.ctx), annotation=None, type_comment=None)
        return made


class _ToPlain(_Exchange, GAstToAst3):  # type: ignore[misc]  # gast has no types
    def __init__(self) -> None:
        self.names: list[ast.Name] = []
        self.calls: list[ast.Call] = []

    def visit_Name(self, node: Node) -> ast.Name:
        made = ast.Name.__new__(ast.Name)
        attributes = made.__dict__
        attributes.update(node.__dict__, ctx=self.visit(node.ctx))
        attributes.pop("annotation", None)
        attributes.pop("type_comment", None)
        self.located &= attributes.get("end_col_offset") is not None
        self.names.append(made)
        return made

    def visit_Call(self, node: Node) -> ast.Call:
        made: ast.Call = _COPIED_CALL(self, node)
        self.calls.append(made)
        return made

    def _make_arg(self, node: Node | None) -> ast.arg | None:
        made: ast.arg | None = super()._make_arg(node)
        self.located &= made is None or made.end_col_offset is not None
        return made


_COPIED_CALL = _copied(ast.Call)
_ToGast._rules = _rules_of(_ToGast, _PLAIN, _GAST)
_ToPlain._rules = _rules_of(_ToPlain, _GAST, _PLAIN)


def to_gast(tree: ast.AST) -> Node:
    """A copy of one of Python's trees as a tree of gast's."""
    return _ToGast().visit(tree)


def to_plain(tree: Node) -> Any:
    """A copy of a tree of gast's as one of Python's."""
    return _ToPlain().visit(tree)


def to_compile(tree: Node) -> tuple[Any, list[ast.Name], list[ast.Call]]:
    """`to_plain(tree)`, each node at its place or that of the node around it, and the names and calls in it."""
    exchange = _ToPlain()
    plain = exchange.visit(tree)
    if not exchange.located:
        ast.fix_missing_locations(plain)
    return plain, exchange.names, exchange.calls
