"""Identities that hold for every element: infinities, NaN and signed zeros included, integers with their overflow."""

from __future__ import annotations

from typing import Any

from ..core.dtype import DType, float32, float64
from ..core.meta import Meta
from ..ir.ssa import Graph
from ..ops.elementwise import add_op, divide_op, multiply_op, neg_op, subtract_op
from ..ops.flat_product import mul_op
from ..ops.like import cast_op
from ..ops.linear import linear_op
from ..ops.matmul import matmul_op
from ..ops.shape import reshape_op
from ..ops.transpose import transpose_op
from .rewrite import Attr, Hole, Match, Number, Rule, call, rewritten

a, b, c = Hole("a"), Hole("b"), Hole("c")
ONE, ZERO, MINUS_ZERO = Number(1), Number(0.0), Number(-0.0)
_MANTISSA = {"float16": 11, "bfloat16": 8, "float32": 24, "float64": 53}
_EXPONENT = {"float16": 5, "bfloat16": 8, "float32": 8, "float64": 11}


def holds_all(narrow: DType, wide: DType) -> bool:
    """Whether a value of the first dtype is one of the second, so that casting there and back changes nothing."""
    if narrow is wide or narrow.is_bool:
        return not wide.is_bool or narrow is wide
    if narrow.is_complex or wide.is_complex or wide.is_bool:
        return False
    if narrow.is_floating:
        return wide.is_floating and all(t[narrow.name] <= t[wide.name] for t in (_MANTISSA, _EXPONENT))
    bits = narrow.np.itemsize * 8 - (narrow.np.kind == "i")
    if wide.is_floating:
        return bits <= _MANTISSA[wide.name] and bits < 1 << (_EXPONENT[wide.name] - 1)
    signed = narrow.np.kind == "i"
    return (wide.np.kind == "i" or not signed) and bits <= wide.np.itemsize * 8 - (wide.np.kind == "i")


def _first_cast_keeps_all(match: Match) -> bool:
    return holds_all(match["a"].meta.dtype, match["first"])


def _swaps_last_two(match: Match) -> bool:
    perm = match["perm"]
    n = len(perm)
    return n >= 2 and tuple(perm) == (*range(n - 2), n - 1, n - 2)


def _is_identity(match: Match) -> bool:
    return tuple(match["perm"]) == tuple(range(len(match["perm"])))


def _sizes_known(match: Match) -> bool:
    return all(isinstance(match[name].meta, Meta) and match[name].meta.is_static for name in ("a", "out"))


def _shape_of_result(match: Match) -> Any:
    return match["out"].meta.shape


def _in_turn(match: Match) -> tuple[int, ...]:
    return tuple(match["perm"][i] for i in match["second"])


def _adds_to_columns(match: Match) -> bool:
    """Whether a number is added to each column of a matrix; of 16-bit floats, which are rounded between, never."""
    x, y, bias = (getattr(match[name], "meta", None) for name in ("a", "b", "c"))
    if not (isinstance(x, Meta) and isinstance(y, Meta) and isinstance(bias, Meta)):
        return False
    return x.ndim == 2 and bias.shape == y.shape[1:] and bias.dtype is x.dtype and x.dtype in (float32, float64)


def _not(name: str) -> Any:
    return lambda match: not match[name]


_FLIPPED = {"transpose_x": _not("tx"), "transpose_y": Attr("ty")}
RULES = (
    Rule("x * 1 is x", call(multiply_op, a, ONE), a),
    Rule("1 * x is x", call(multiply_op, ONE, a), a),
    Rule("x / 1 is x", call(divide_op, a, ONE), a),
    Rule("x + -0 is x", call(add_op, a, MINUS_ZERO), a),
    Rule("-0 + x is x", call(add_op, MINUS_ZERO, a), a),
    Rule("x - 0 is x", call(subtract_op, a, ZERO), a),
    Rule("-(-x) is x", call(neg_op, call(neg_op, a)), a),
    Rule("a cast to its own dtype", call(cast_op, a), a),
    Rule(
        "a cast behind one that loses nothing",
        call(cast_op, call(cast_op, a, dtype=Attr("first")), dtype=Attr("second")),
        call(cast_op, a, dtype=Attr("second")),
        when=[_first_cast_keeps_all],
    ),
    Rule("a transposition that moves nothing", call(transpose_op, a, perm=Attr("perm")), a, when=[_is_identity]),
    Rule(
        "transpositions in turn",
        call(transpose_op, call(transpose_op, a, perm=Attr("perm")), perm=Attr("second")),
        call(transpose_op, a, perm=_in_turn),
    ),
    Rule("a reshape that changes nothing", call(reshape_op, a), a, when=[_sizes_known]),
    Rule(
        "reshapes in turn",
        call(reshape_op, call(reshape_op, a)),
        call(reshape_op, a, shape=_shape_of_result),
        when=[_sizes_known],
    ),
    Rule(
        "a product and what is added to its columns",
        call(add_op, call(mul_op, a, b, x_num_col_dims=1), c),
        call(linear_op, a, b, c),
        when=[_adds_to_columns],
    ),
    Rule(
        "a transposed first factor",
        call(
            matmul_op, call(transpose_op, a, perm=Attr("perm")), b, transpose_x=Attr("tx"), transpose_y=Attr("ty")
        ),
        call(matmul_op, a, b, **_FLIPPED),
        when=[_swaps_last_two],
    ),
    Rule(
        "a transposed second factor",
        call(
            matmul_op, a, call(transpose_op, b, perm=Attr("perm")), transpose_x=Attr("tx"), transpose_y=Attr("ty")
        ),
        call(matmul_op, a, b, transpose_x=Attr("tx"), transpose_y=_not("ty")),
        when=[_swaps_last_two],
    ),
)  # fmt: skip


def simplified(graph: Graph) -> Graph:
    """The graph with all rules applied."""
    return rewritten(graph, RULES)
