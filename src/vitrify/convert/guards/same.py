"""Whether what a program read is still the very same objects, as one expression: calls ask it before anything else."""

from __future__ import annotations

import ast
from collections.abc import Callable, Hashable, Mapping, Sequence
from types import CodeType, FunctionType
from typing import Any

from ...core.cache import BoundedCache
from ...transformers.compile import compile_tree, inner_code

_MAKERS: BoundedCache[tuple[int, int], Callable[..., Callable[[], Any]]] = BoundedCache("guard_expressions", 256)

Codes = Sequence[tuple[FunctionType, CodeType]]
"""Functions, and the code that they had."""
Entries = Sequence[tuple[Mapping[Any, Any], Hashable, Any]]
"""Namespaces, names in them, and what these meant."""


def while_same(codes: Codes, entries: Entries, found: Any, otherwise: Callable[[], Any]) -> Callable[[], Any]:
    """A function that gives `found` as long as all functions have their code and all names their values.

    Else it gives `otherwise()`. A name costs it some ten nanoseconds; a loop over the names would cost ten times that.
    """
    sizes = len(codes), len(entries)
    maker = _MAKERS.get_or_build(sizes, lambda: _maker(*sizes))
    return maker(found, otherwise, *[part for known in (*codes, *entries) for part in known])


def _maker(functions: int, names: int) -> Callable[..., Callable[[], Any]]:
    terms = [f"f{i}.__code__ is c{i}" for i in range(functions)] + [f"n{i}[k{i}] is v{i}" for i in range(names)]
    known = [f"f{i}, c{i}" for i in range(functions)] + [f"n{i}, k{i}, v{i}" for i in range(names)]
    text = f"""
def make({", ".join(["found", "otherwise", *known])}):
    def look():
        try:
            if {" and ".join(terms) or "True"}:
                return found
        except KeyError:
            pass
        return otherwise()
    return look
"""
    code = compile_tree(ast.parse(text), _maker.__code__)
    return FunctionType(inner_code(code, ["make"]), {"KeyError": KeyError})
