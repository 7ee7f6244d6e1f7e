"""Converted trees as text for people (`fn.code`): astor, or `ast.unparse` where it can't; long lines wrapped.

astor prints the same on every Python version. Its tuples of one item (`x, = f()`), its `lambda :`, the spaces of its
annotations (`x: int=3) ->int`), the empty lines at the start of its blocks and the places where it breaks lines
(between `vt.` and a name) are not what a person would write, so those are ours.
"""

from __future__ import annotations

import ast
import importlib
import io
import tokenize
import warnings
from collections.abc import Iterator
from typing import Any

from .exchange import to_plain
from .nodes import Node

WIDTH = 100
INDENT = 4


def render(tree: Node) -> str:
    """Python source that parses back to `tree`."""
    plain = ast.fix_missing_locations(to_plain(tree))
    expected = ast.dump(plain)
    pretty = _astor(plain)
    if pretty is None or not _parses_to(pretty, expected):
        pretty = ast.unparse(plain) + "\n"
    wrapped = _wrap(pretty)
    return wrapped if _parses_to(wrapped, expected) else pretty


def _astor(plain: ast.AST) -> str | None:
    """astor's text, or None where astor does not know a node or does not load (Python 3.14)."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # astor names the old ast.Num and ast.Str
        try:
            astor = importlib.import_module("astor.code_gen")
            text: str = astor.to_source(plain, pretty_source="".join, source_generator_class=_generator(astor))
        except (ImportError, AttributeError, TypeError, ValueError):
            return None
    return text


def _generator(astor: Any) -> Any:
    """astor's generator with tuples, lambdas, annotations and inner functions as people write them."""

    class Generator(astor.SourceGenerator):  # type: ignore[misc]
        is_annotated = False  # whether the parameter just written is
        first: ast.AST | None = None  # the first statement of the block that is being written

        def visit_Tuple(self, node: ast.Tuple) -> None:
            with self.delimit(node) as delimiters:
                delimiters.discard = delimiters.discard and len(node.elts) > 1
                self.comma_list(node.elts, len(node.elts) == 1)

        def visit_Lambda(self, node: ast.Lambda) -> None:
            with self.delimit(node) as delimiters:
                astor.set_precedence(delimiters.p, node.body)
                self.write("lambda " if ast.unparse(node.args) else "lambda")
                self.visit_arguments(node.args)
                self.write(": ", node.body)

        def visit_arg(self, node: ast.arg) -> None:
            self.write(node.arg)
            self.is_annotated = node.annotation is not None
            if node.annotation is not None:
                astor.set_precedence(astor.Precedence.Comma, node.annotation)
                self.write(": ", node.annotation)

        def conditional_write(self, *stuff: Any) -> Any:
            mark = stuff[0]
            spaced = " -> " if mark == " ->" else " = " if mark == "=" and self.is_annotated else mark
            return super().conditional_write(spaced, *stuff[1:])

        def body(self, statements: list[ast.stmt]) -> None:
            self.first = statements[0]
            super().body(statements)

        def decorators(self, node: ast.AST, extra: int) -> None:
            """What stands before a `def` or `class`: an empty line, unless it is the first of a block."""
            super().decorators(node, 0 if node is self.first else min(extra, 1))

    return Generator


def _wrap(text: str) -> str:
    """`text` with its long lines broken behind brackets and commas, as far out as possible."""
    lines = text.splitlines()
    breaks = _breaks(text)
    out: list[str] = []
    for number, line in enumerate(lines, 1):
        out += _broken(line, breaks.get(number, []))
    return "\n".join(out) + "\n"


def _breaks(text: str) -> dict[int, list[tuple[int, int]]]:
    """By line, the columns where a line may be broken, each with the number of brackets open there."""
    found: dict[int, list[tuple[int, int]]] = {}
    depth = 0
    lambdas: list[int] = []  # the depths of those whose parameters are being read: no place to break a line
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.OP:
            depth += (token.string in "([{") - (token.string in ")]}")
            if token.string == ":" and lambdas and lambdas[-1] == depth:
                lambdas.pop()
            elif depth and token.string in "([{," and not lambdas:
                found.setdefault(token.end[0], []).append((token.end[1], depth))
        elif token.string == "lambda":
            lambdas.append(depth)
    return found


def _broken(line: str, breaks: list[tuple[int, int]]) -> Iterator[str]:
    """The parts of one line."""
    indent = len(line) - len(line.lstrip()) + 2 * INDENT
    start, prefix = 0, ""
    while len(prefix) + len(line) - start > WIDTH:
        room = [(column, depth) for column, depth in breaks if start < column <= start + WIDTH - len(prefix)]
        room = [(column, depth) for column, depth in room if column - start > WIDTH // 3 and column < len(line)]
        if not room:
            break
        least = min(depth for _, depth in room)
        column = max(column for column, depth in room if depth == least)
        yield prefix + line[start:column].strip() if start else line[:column].rstrip()
        start, prefix = column, " " * indent
    yield prefix + line[start:].strip() if start else line


def _parses_to(text: str, expected: str) -> bool:
    """astor 0.8.1 misprints some nodes; its text counts only if it means the same."""
    try:
        parsed = ast.parse(text).body[0]
    except SyntaxError:
        return False
    node = parsed.value if isinstance(parsed, ast.Expr) else parsed
    return ast.dump(node) == expected
