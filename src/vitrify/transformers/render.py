"""Converted trees as text for people (`fn.code`): astor, which wraps long lines, or `ast.unparse` where it can't."""

from __future__ import annotations

import ast
import importlib
import warnings

import gast

from .nodes import Node

WIDTH = 100


def render(tree: Node) -> str:
    """Python source that parses back to `tree`."""
    plain = ast.fix_missing_locations(gast.gast_to_ast(tree))
    expected = ast.dump(plain)
    pretty = _astor(plain)
    if pretty is not None and _parses_to(pretty, expected):
        return pretty
    return ast.unparse(plain) + "\n"


def _astor(plain: ast.AST) -> str | None:
    """astor's text, or None where astor does not know a node or does not load (Python 3.14)."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # astor names the old ast.Num and ast.Str
        try:
            astor = importlib.import_module("astor")
            split = importlib.import_module("astor.source_repr").split_lines
            text: str = astor.to_source(plain, pretty_source=lambda source: "".join(split(source, maxline=WIDTH)))
        except (ImportError, AttributeError, TypeError, ValueError):
            return None
    return text


def _parses_to(text: str, expected: str) -> bool:
    """astor 0.8.1 misprints some nodes; its text counts only if it means the same."""
    try:
        parsed = ast.parse(text).body[0]
    except SyntaxError:
        return False
    node = parsed.value if isinstance(parsed, ast.Expr) else parsed
    return ast.dump(node) == expected
