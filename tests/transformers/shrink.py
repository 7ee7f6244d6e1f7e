"""Makes a failing program smaller: drops statements and unwraps blocks while the failure stays."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

KEPT = "tick()"  # without it a loop might not end
BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases")


def shrink(text: str, fails: Callable[[str], bool]) -> str:
    """The smallest text found by single steps for which `fails` holds."""
    again = True
    while again:
        again = False
        for smaller in _steps(text):
            if len(smaller) < len(text) and fails(smaller):
                text, again = smaller, True
                break
    return text


def _steps(text: str) -> Iterator[str]:
    count = sum(1 for _ in _places(ast.parse(text)))
    for number in range(count):
        for unwrap in (False, True):
            tree = ast.parse(text)
            block, position = list(_places(tree))[number]
            if ast.unparse(block[position]) == KEPT:
                continue
            block[position : position + 1] = _inner(block[position]) if unwrap else []
            try:
                smaller = ast.unparse(ast.fix_missing_locations(tree)) + "\n"
                compile(smaller, "<shrunk>", "exec")
            except (SyntaxError, ValueError, IndexError):
                continue
            yield smaller


def _places(tree: ast.AST) -> Iterator[tuple[list[ast.AST], int]]:
    for node in ast.walk(tree):
        for field in BLOCKS:
            block = getattr(node, field, None)
            if isinstance(block, list) and not isinstance(node, ast.Module):
                yield from ((block, position) for position in range(len(block)))


def _inner(node: ast.AST) -> list[ast.AST]:
    return [stmt for field in ("body", "orelse", "finalbody") for stmt in getattr(node, field, None) or []]
