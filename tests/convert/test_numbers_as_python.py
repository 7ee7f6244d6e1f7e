"""Numbers that a program computes are those that Python does: of bools ints, signed zeros, powers that are floats."""

from __future__ import annotations

import math
import operator

import pytest

import vitrify as paddle
from tests.end_to_end.differential import compare

CALLS = [([1.0, 2.0, 3.0],), ([-1.0, 2.0, 3.0],), ([-1.0, -2.0, 0.5],)]
BINARY = [operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod, operator.pow]
BINARY += [operator.lshift, operator.rshift, operator.and_, operator.or_, operator.xor, divmod, max, min]
UNARY = [operator.neg, operator.pos, operator.invert, abs, round, math.trunc, math.floor, int, float]


def shown(value):
    return repr(value.numpy() if isinstance(value, paddle.Tensor) else value)


def same(function, *calls):
    """Signs of zeros and classes of numbers count."""
    for whole in (False, True):
        static = paddle.jit.to_static(function, full_graph=whole)
        for row in [*calls, *calls]:
            found = [f(*map(paddle.to_tensor, row)) for f in (function, static)]
            assert shown(found[1]) == shown(found[0])


@pytest.mark.parametrize("function", BINARY)
def test_operators_of_two_bools(function):
    def of_bools(x):
        a, b = bool(x[0] > 0), bool(x[1] > -5)
        return function(a, b), function(a, True), function(True, b)

    same(of_bools, *CALLS)


@pytest.mark.filterwarnings("ignore:Bitwise inversion:DeprecationWarning")  # of bools, since Python 3.12
@pytest.mark.parametrize("function", UNARY)
def test_operators_of_one_bool(function):
    def of_bool(x):
        return function(bool(x[0] > 0))

    same(of_bool, *CALLS)


def counted(x):
    found = bool(x[0] > 0)
    found += bool(x[1] > 0)
    for v in x:
        found = found + (v > 1).item()
    return found, (bool(x[0] > 0) + bool(x[1] > 0)) / 2, x * (found * 2)


def doubled_in_a_loop(x):
    n = (x[0] > 0).item()
    i = paddle.zeros([])
    while i < x.sum():
        n = n + n
        i = i + 1
    return n, [1] * n


@pytest.mark.parametrize("function", [counted, doubled_in_a_loop])
def test_bools_that_are_counted(function):
    compare(function, *CALLS, strict=True)


def zero_of_a_path(x):
    n = 0.0 if x[0] > 0 else -0.0
    return n, str(n), (n, 1), math.copysign(1.0, n)


def zero_of_a_loop(x):
    n, signs = 0.0, []
    for v in x:
        if v < 0:
            n = -0.0
        signs.append(0.0 if v > 0 else -0.0)
    return n, str(n), signs


def zero_exchanged_in_a_loop(x):
    n = 0.0
    i = paddle.zeros([])
    while i < x.sum():
        n = -0.0
        i = i + 1
    return n, str(-n)


@pytest.mark.parametrize("function", [zero_of_a_path, zero_of_a_loop, zero_exchanged_in_a_loop])
def test_zeros_keep_their_signs(function):
    same(function, *CALLS)


def power(x):
    exponent = int(x[0])
    return 2**exponent, x * 10**exponent, pow(3, exponent)


def power_of_a_loop(x):
    exponent = 3
    print("begins")
    for v in x:
        if v < 0:
            exponent -= 3
    return 10**exponent


@pytest.mark.parametrize("function", [power, power_of_a_loop])
def test_powers_below_one_are_floats(function):
    compare(function, *CALLS, strict=True)
    compare(function, *CALLS, strict=True, full_graph=False)


def remainders(x):
    f = float(x[0])
    return math.fmod(f, 0.3), math.fmod(7.5, f), math.fmod(int(x[1]), 2), math.fmod(f, math.inf)


def remainder_of_zero(x):
    return math.fmod(1.0, float(x[1] - 2))


@pytest.mark.parametrize("function", [remainders, remainder_of_zero])
def test_remainders_with_the_sign_of_what_is_divided(function):
    compare(function, *CALLS, strict=True)
