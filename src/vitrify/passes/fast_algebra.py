"""Identities of real numbers, which floats keep but for rounding, signed zeros, infinities and NaN."""

from __future__ import annotations

from collections.abc import Callable
from math import isfinite
from typing import Any

from ..core.meta import Meta
from ..ir.ssa import Graph, Literal
from ..ops.elementwise import add_op, divide_op, multiply_op, neg_op, subtract_op
from ..ops.registry import get_op
from .rewrite import Hole, Match, Number, Rule, call, rewritten

x, c, d = Hole("x"), Hole("c"), Hole("d")
ZERO, MINUS_ZERO = Number(0.0), Number(-0.0)
exp_op, log_op, sqrt_op, square_op = map(get_op, ("exp", "log", "sqrt", "square"))


def _of_floats(match: Match) -> bool:
    meta = match["out"].meta
    return isinstance(meta, Meta) and meta.dtype.is_floating


def _number(compute: Callable[..., float], *names: str) -> Callable[[Match], Any]:
    """A literal computed from literals that were matched; None where these are none, or the result is not finite."""

    def found(match: Match) -> Literal | None:
        parts = [match[name] for name in names]
        if not all(type(part) is Literal for part in parts):
            return None
        dtype = match["out"].meta.dtype
        try:
            value = compute(*[part.value for part in parts])
        except ZeroDivisionError:
            return None
        return Literal(value, dtype) if isfinite(dtype.np.type(value)) else None

    return found


_PRODUCT = _number(lambda c, d: c * d, "c", "d")
_SUM = _number(lambda c, d: c + d, "c", "d")
_RECIPROCAL = _number(lambda c: 1 / c, "c")


def _rule(name: str, pattern: Any, by: Any, number: Callable[[Match], Any] | None = None) -> Rule:
    """A rule for floats, which holds where the number that it computes is one."""
    return Rule(name, pattern, by, [_of_floats, *([lambda match: number(match) is not None] if number else [])])


TWO_FACTORS = call(multiply_op, call(multiply_op, x, c), d)
TWO_SUMMANDS = call(add_op, call(add_op, x, c), d)
RULES = (
    _rule("x + 0 is x", call(add_op, x, ZERO), x),
    _rule("0 + x is x", call(add_op, ZERO, x), x),
    _rule("x - -0 is x", call(subtract_op, x, MINUS_ZERO), x),
    _rule("0 - x is -x", call(subtract_op, ZERO, x), call(neg_op, x)),
    _rule("x / c is x * (1 / c)", call(divide_op, x, c), call(multiply_op, x, _RECIPROCAL), _RECIPROCAL),
    _rule("(x * c) * d is x * (c * d)", TWO_FACTORS, call(multiply_op, x, _PRODUCT), _PRODUCT),
    _rule("(x + c) + d is x + (c + d)", TWO_SUMMANDS, call(add_op, x, _SUM), _SUM),
    _rule("sqrt(x) * sqrt(x) is x", call(multiply_op, call(sqrt_op, x), call(sqrt_op, x)), x),
    _rule("square(sqrt(x)) is x", call(square_op, call(sqrt_op, x)), x),
    _rule("exp(log(x)) is x", call(exp_op, call(log_op, x)), x),
    _rule("log(exp(x)) is x", call(log_op, call(exp_op, x)), x),
)  # fmt: skip


def simplified_fast(graph: Graph) -> Graph:
    """The graph with all rules applied."""
    return rewritten(graph, RULES)
