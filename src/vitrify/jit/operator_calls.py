"""How often eager operators are called, and when machine code for them pays: few programs call so many."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..codegen.errors import NoNativeForm
from ..core.config import NATIVE, NATIVE_AFTER_MS
from ..core.dispatch import EAGER
from ..core.lazy import lazy_module
from ..eager.engine import binary

if TYPE_CHECKING:
    from .eager_operators import EagerOperators

_native = lazy_module("vitrify.codegen.native")
_in_code = lazy_module("vitrify.jit.eager_operators")
# What machine code saves of a call, and how many calls pass until somebody looks whether they are enough.
_CALL_MS = 1e-3
_ROUND = 1024
# Loading the compiler takes several times as long as what `native_after_ms` stands for.
_LOADING = 9.0


def count_calls(operators: EagerOperators | None = None) -> None:
    """Let eager operators of two operands count themselves, and become machine code when that pays.

    operators: what makes it; by default what the whole process shares.
    Counting goes on behind that: what is left to Python is not often called, unless somebody replaced a method and has
    put it back.
    """
    plain = binary
    left, spent = _ROUND, 0.0

    def counting(op: Any, x: Any, y: Any) -> Any:
        nonlocal left, spent
        left -= 1
        if left <= 0:
            left, spent = _ROUND, spent + _ROUND * _CALL_MS
            wanted = NATIVE_AFTER_MS.value
            if NATIVE.value and spent >= wanted and spent >= wanted * (1.0 if _native.is_ready() else _LOADING):
                spent = 0.0
                install()
        return plain(op, x, y)

    def install() -> None:
        try:
            (_in_code.OPERATORS_IN_CODE if operators is None else operators).install()
        except NoNativeForm:
            EAGER.binary = EAGER.pair = plain

    EAGER.binary = EAGER.pair = counting


__all__ = ["count_calls"]
