"""Each rewrite rule alone: both sides give the same bits, whatever the numbers are, and the rule is applied."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import vitrify as paddle
from tests.passes.programs import names, ran, same, specials, traced
from vitrify.core.dtype import as_dtype
from vitrify.ops.flat_product import mul_op
from vitrify.passes.algebra import RULES, holds_all, simplified
from vitrify.passes.dead import without_dead_code
from vitrify.passes.fold import folded
from vitrify.passes.rewrite import rewritten

FLOATS = ("float32", "float64", "float16")
NUMBERS = (*FLOATS, "int32", "int64", "uint8")
SHAPE = [4, 6]


def swap(x):
    return paddle.transpose(x, [1, 0])


# rule -> the operators that are left, the dtypes, and what it applies to (behind a relu, so that it is no input)
ELEMENTWISE = {
    "x * 1 is x": ([], NUMBERS, lambda x: x * 1),
    "1 * x is x": ([], NUMBERS, lambda x: paddle.ones(SHAPE, x.dtype) * x),
    "x / 1 is x": ([], FLOATS, lambda x: x / 1),
    "x + -0 is x": ([], NUMBERS, lambda x: x + (-0.0 if "float" in str(x.dtype) else 0)),
    "-0 + x is x": ([], NUMBERS, lambda x: (-0.0 if "float" in str(x.dtype) else 0) + x),
    "x - 0 is x": ([], NUMBERS, lambda x: x - 0),
    "-(-x) is x": ([], NUMBERS, lambda x: paddle.neg(paddle.neg(x))),
    "a cast behind one that loses nothing": (["cast"], FLOATS, lambda x: x.astype("float64").astype("int32")),
    "a transposition that moves nothing": ([], NUMBERS, lambda x: paddle.transpose(x, [0, 1])),
    "transpositions in turn": (["transpose"], NUMBERS, lambda x: swap(swap(x))),
    "a reshape that changes nothing": ([], NUMBERS, lambda x: x.reshape(SHAPE)),
    "reshapes in turn": (["reshape"], NUMBERS, lambda x: x.reshape([2, 12]).reshape([24])),
    "a transposed first factor": (["matmul"], FLOATS, lambda x: paddle.matmul(swap(x), x)),
    "a transposed second factor": (["matmul"], FLOATS, lambda x: paddle.matmul(x, swap(x))),
    "a product and what is added to its columns": (
        ["transpose", "sum", "linear"],
        FLOATS[:2],
        lambda x: mul_op(x, swap(x), x_num_col_dims=1) + x.sum(axis=1),
    ),
}
CASES = [(name, dtype) for name, (_, dtypes, _) in ELEMENTWISE.items() for dtype in dtypes]


@pytest.mark.parametrize(("name", "dtype"), CASES)
def test_both_sides_are_the_same(name, dtype):
    left, _, fn = ELEMENTWISE[name]
    (rule,) = [rule for rule in RULES if rule.name == name]
    graph = without_dead_code(folded(traced(lambda x: -fn(-x), (SHAPE, dtype))))
    result = without_dead_code(rewritten(graph, [rule]))
    assert names(result) == ["neg", *left, "neg"]
    given = [specials(SHAPE, dtype)]
    assert same(ran(result, given), ran(graph, given))


def test_every_rule_is_tested():
    assert {rule.name for rule in RULES} - {*ELEMENTWISE} == {"a cast to its own dtype"}


@pytest.mark.parametrize(
    "fn",
    [
        lambda x: x + 0.0,  # -0.0 + 0.0 is 0.0
        lambda x: x - (-0.0),
        lambda x: 0.0 - x,  # 0 - 0 is 0, not -0
        lambda x: x * 0.0,
        lambda x: x - x,
        lambda x: x / x,
        lambda x: x.astype("float16").astype("float32"),
        lambda x: x.astype("int32").astype("float32"),
        lambda x: (x + 1e30) - 1e30,
        lambda x: paddle.transpose(paddle.transpose(x, [1, 0]).reshape([3, 8]), [1, 0]),
        lambda x: x.reshape([2, 12]).transpose([1, 0]).reshape([24]),
    ],
)
def test_what_is_no_identity_stays(fn):
    graph = traced(lambda x: -fn(-x), SHAPE)
    result = simplified(graph)
    assert names(result) == names(graph)


def test_an_operand_that_broadcasts_is_no_result():
    graph = traced(lambda x: -(paddle.tanh(x) * paddle.ones([3, 1])), [4])
    assert names(simplified(graph)) == names(graph)


def test_outputs_are_arrays_of_their_own():
    """Who changes a result in place must change nothing else."""
    for fn in (
        lambda x: x * 1,
        lambda x: [y := paddle.tanh(x), y * 1],
        lambda x: [y := paddle.tanh(x), (y * 1).reshape([2, 2])],
    ):
        graph = traced(fn, [4])
        assert names(simplified(graph)) == names(graph)
    assert names(simplified(traced(lambda x: paddle.tanh(x) * 1, [4]))) == ["tanh"]


def test_rules_follow_each_other():
    def build(x):
        inner = ((-x) * 1).astype("float64").astype("float32") + -0.0
        return paddle.neg(paddle.neg(inner)) * 1

    graph = traced(build, [4])
    assert names(without_dead_code(simplified(graph))) == ["neg"]


DTYPES = ("bool", "uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64")


@pytest.mark.parametrize(("narrow", "wide"), list(itertools.product(DTYPES, DTYPES)))
def test_what_a_dtype_holds(narrow, wide):
    """Against casting there and back; integers at their ends, floats at theirs."""
    a, b = as_dtype(narrow).np, as_dtype(wide).np
    with np.errstate(all="ignore"):
        every_byte = np.frombuffer(bytes(range(2 if a.kind == "b" else 256)), a)
        given = np.concatenate([specials([64], a), every_byte])
        back = given.astype(b).astype(a)
    exact = same([back], [given])
    if holds_all(as_dtype(narrow), as_dtype(wide)):
        assert exact
    elif narrow != "bool":
        assert not exact or a.kind == b.kind == "V" or (a.itemsize == b.itemsize and {a.kind, b.kind} == {"i", "u"})
