"""Makes a program smaller while it keeps a property: whole statements go first, then parts of expressions."""

from __future__ import annotations

import ast
import copy
import time
from collections.abc import Callable, Iterator
from typing import Any

BODIES = ("body", "orelse", "finalbody", "handlers", "cases")
COUNTER = "turn"

Edit = Callable[[], object]


def shrink(source: str, holds: Callable[[str], bool], seconds: float = 60.0) -> str:
    """Return a smallest program found of which `holds` is still true."""
    end = time.monotonic() + seconds
    smallest = ast.unparse(ast.parse(source))
    if not holds(smallest):
        return source
    shrunk = True
    while shrunk:
        shrunk = False
        index = 0
        while time.monotonic() < end:
            candidate = edited(smallest, index)
            if candidate is None:
                break
            if len(candidate) < len(smallest) and compiles(candidate) and holds(candidate):
                smallest = candidate
                shrunk = True
            else:
                index += 1
    return smallest


def compiles(source: str) -> bool:
    """Say whether a program is well formed."""
    try:
        compile(source, "<candidate>", "exec")
    except (SyntaxError, ValueError):
        return False
    return True


def edited(source: str, index: int) -> str | None:
    """Return the source after the edit of that number; None when there are no more."""
    tree = ast.parse(source)
    for number, edit in enumerate(edits(tree)):
        if number == index:
            edit()
            return ast.unparse(ast.fix_missing_locations(tree))
    return None


def edits(tree: ast.Module) -> Iterator[Edit]:
    """Yield every way to make the tree smaller, the boldest first."""
    yield from _fewer_parameters(tree)
    nodes = list(_without_calls(tree))
    for size in (8, 3, 1):
        for node in nodes:
            for name in BODIES:
                yield from _removals(node, name, size)
    for node in nodes:
        yield from _unwrappings(node)
    for node in nodes:
        yield from _simpler_expressions(node)


def _without_calls(tree: ast.Module) -> Iterator[ast.AST]:
    """Yield the nodes of a program but those of `CALLS` and `tensor`: arguments keep their types."""
    yield tree
    for statement in tree.body:
        if statement is not _calls(tree) and getattr(statement, "name", "") != "tensor":
            yield from ast.walk(statement)


def _calls(tree: ast.Module) -> ast.Assign | None:
    last = tree.body[-1] if tree.body else None
    return last if isinstance(last, ast.Assign) and isinstance(last.value, ast.List) else None


def _fewer_parameters(tree: ast.Module) -> Iterator[Edit]:
    """Leave out a call, or a parameter of `f` with what each call gives for it."""
    calls = _calls(tree)
    if calls is None:
        return
    rows = calls.value.elts  # type: ignore[attr-defined]
    if len(rows) > 1:
        yield from [lambda row=row: rows.remove(row) for row in rows]
    function = next((s for s in tree.body if isinstance(s, ast.FunctionDef) and s.name == "f"), None)
    for index in range(len(function.args.args) if function is not None else 0):
        yield lambda index=index: [held.pop(index) for held in (function.args.args, *(row.elts for row in rows))]


def _removals(node: ast.AST, name: str, size: int) -> Iterator[Edit]:
    """Leave out `size` neighbours of a block."""
    block = getattr(node, name, None)
    if not isinstance(block, list):
        return
    for start in range(0, len(block), max(1, size // 2)):
        part = block[start : start + size]
        if len(part) == size and not any(_needed(child, node, block) for child in part):
            yield lambda start=start: _cut(node, name, block, start, size)


def _needed(node: ast.AST, parent: ast.AST, block: list[Any]) -> bool:
    """Counters of loops stay, so that programs end; so does a lone `pass`, and what is called."""
    if isinstance(node, ast.AugAssign):
        counts = isinstance(node.target, ast.Name) and node.target.id.startswith(COUNTER)
        return counts and isinstance(parent, ast.While)
    if isinstance(node, ast.Assign):
        return isinstance(node.targets[0], ast.Name) and node.targets[0].id == "CALLS"
    return isinstance(node, ast.Pass) and len(block) == 1


def _cut(node: ast.AST, name: str, block: list[Any], start: int, size: int) -> None:
    del block[start : start + size]
    if not block and name == "body" and not isinstance(node, ast.Module):
        block.append(ast.Pass())


def _unwrappings(node: ast.AST) -> Iterator[Edit]:
    """Put one of the blocks of a compound statement in its place."""
    for name in BODIES:
        block = getattr(node, name, None)
        if not isinstance(block, list):
            continue
        for position, child in enumerate(block):
            for inner in BODIES:
                held = getattr(child, inner, None)
                if isinstance(held, list) and held and all(isinstance(s, ast.stmt) for s in held):
                    if isinstance(child, (ast.FunctionDef, ast.ClassDef)):
                        continue
                    yield lambda block=block, position=position, held=held: block.__setitem__(
                        slice(position, position + 1), held
                    )


def _simpler_expressions(node: ast.AST) -> Iterator[Edit]:
    """Put a part of an expression in its place, or leave out an element or argument."""
    for name, value in ast.iter_fields(node):
        if isinstance(value, ast.expr):
            yield from _replacements(value, lambda new, name=name: setattr(node, name, new))
        elif isinstance(value, list):
            for position, child in enumerate(value):
                if isinstance(child, ast.expr):
                    if isinstance(node, (ast.List, ast.Tuple, ast.Call, ast.BoolOp)) and len(value) > 1:
                        yield lambda value=value, position=position: value.__delitem__(position)
                    yield from _replacements(
                        child, lambda new, value=value, position=position: value.__setitem__(position, new)
                    )


def _replacements(node: ast.expr, put: Callable[[ast.expr], None]) -> Iterator[Edit]:
    if isinstance(node, (ast.Name, ast.Constant)):
        return
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.expr) and not isinstance(getattr(child, "ctx", None), (ast.Store, ast.Del)):
            yield lambda child=child: put(copy.deepcopy(child))
