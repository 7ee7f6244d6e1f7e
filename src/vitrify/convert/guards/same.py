"""Whether what a program read is still the very same objects, as one expression: calls ask it before anything else."""

from __future__ import annotations

import ast
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from types import CellType, CodeType, FunctionType
from typing import Any

from ...core.cache import BoundedCache
from ...transformers.compile import compile_tree, inner_code

_MAKERS: BoundedCache[Any, Callable[..., Callable[[], Any]]] = BoundedCache("guard_expressions", 256)

Codes = Sequence[tuple[FunctionType, CodeType]]
"""Functions, and the code that they had."""
Defaults = Sequence[tuple[FunctionType, Any]]
"""Functions, and the defaults that they had."""
Entries = Sequence[tuple[Mapping[Any, Any], Hashable, Any]]
"""Namespaces, names in them, and what these meant."""
Attributes = Sequence[tuple[Any, str, Any]]
"""Classes, names of attributes, and what the classes or their bases held under them."""
Cells = Sequence[tuple[CellType, Any]]
"""Variables of closures, and what they held."""
Unnamed = Sequence[tuple[Callable[[Any], bool], Any]]
"""What tells whether a namespace has none of some names, and the names."""


@dataclass(frozen=True)
class Compared:
    """What is the very object that it was while a program may run. sees_attributes: no Layer has got another one."""

    codes: Codes = ()
    defaults: Defaults = ()
    entries: Entries = ()
    attributes: Attributes = ()
    cells: Cells = ()
    unnamed: Unnamed = ()
    sees_attributes: bool = False


def while_same(
    codes: Codes,
    entries: Entries,
    attributes: Attributes,
    cells: Cells,
    unnamed: Unnamed,
    found: Any,
    otherwise: Callable[[], Any],
) -> Callable[[], Any]:
    """A function that gives `found` as long as all functions have their code and all names and cells their values.

    Else it gives `otherwise()`. A name costs it some ten nanoseconds; a loop over the names would cost ten times that.
    """
    form = len(codes), len(entries), len(cells), len(unnamed), tuple(name for _, name, _ in attributes)
    maker = _MAKERS.get_or_build(form, lambda: _maker(*form))
    held = [(cls, value) for cls, _, value in attributes]
    return maker(found, otherwise, *[part for known in (*codes, *entries, *cells, *unnamed, *held) for part in known])


def _maker(
    functions: int, names: int, cells: int, unnamed: int, attributes: Sequence[str]
) -> Callable[..., Callable[[], Any]]:
    terms = [f"f{i}.__code__ is c{i}" for i in range(functions)] + [f"n{i}[k{i}] is v{i}" for i in range(names)]
    terms += [f"x{i}.cell_contents is y{i}" for i in range(cells)]
    terms += [f"d{i}(b{i})" for i in range(unnamed)]
    terms += [f"t{i}.{name} is a{i}" for i, name in enumerate(attributes)]
    known = [f"f{i}, c{i}" for i in range(functions)] + [f"n{i}, k{i}, v{i}" for i in range(names)]
    known += [f"x{i}, y{i}" for i in range(cells)] + [f"d{i}, b{i}" for i in range(unnamed)]
    known += [f"t{i}, a{i}" for i in range(len(attributes))]
    text = f"""
def make({", ".join(["found", "otherwise", *known])}):
    def look():
        try:
            if {" and ".join(terms) or "True"}:
                return found
        except (KeyError, ValueError, AttributeError):
            pass
        return otherwise()
    return look
"""
    code = compile_tree(ast.parse(text), _maker.__code__)
    errors = {error.__name__: error for error in (KeyError, ValueError, AttributeError)}
    return FunctionType(inner_code(code, ["make"]), errors)
