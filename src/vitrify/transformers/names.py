"""Names for generated variables and functions: readable, never clashing with the user's."""

from __future__ import annotations

import ast

import gast

from .nodes import Node

_NAMING = frozenset({"id", "name", "asname", "rest"})


def identifiers(root: Node) -> set[str]:
    """Every identifier that could name a variable anywhere in `root`."""
    found: set[str] = set()
    pending = [root]
    while pending:
        node = pending.pop()
        for field, value in node.__dict__.items():
            if type(value) is str:
                if field in _NAMING:
                    found.add(value.partition(".")[0])
            elif type(value) is list:
                pending += [item for item in value if isinstance(item, ast.AST)]
            elif isinstance(value, ast.AST):
                pending.append(value)
        if isinstance(node, (gast.Global, gast.Nonlocal)):
            found.update(node.names)
    return found


def mangle(class_name: str | None, name: str) -> str:
    """A name as the compiler stores it: `__x` inside class `A` is `_A__x`."""
    private = name.startswith("__") and not name.endswith("__")
    if not private or class_name is None or not class_name.strip("_"):
        return name
    return f"_{class_name.lstrip('_')}{name}"


class Names:
    """Hands out names not used in one function tree, and remembers which ones are ours.

    >>> names = Names({"then"}); names.fresh("then"), names.fresh("body")
    ('then_1', 'body')
    """

    def __init__(self, taken: set[str], helper: str = "vt") -> None:
        self._taken = set(taken)
        self.generated: set[str] = set()
        self.helper = self.fresh(helper)

    def fresh(self, base: str) -> str:
        """`base`, or `base_1`, `base_2`, ... — the first that nothing else uses."""
        name, number = base, 0
        while name in self._taken:
            number += 1
            name = f"{base}_{number}"
        self._taken.add(name)
        self.generated.add(name)
        return name
