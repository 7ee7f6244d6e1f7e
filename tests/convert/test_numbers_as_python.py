"""Numbers that a program computes are those that Python does: of bools ints, signed zeros, powers that are floats."""

from __future__ import annotations

import copy
import dataclasses
import math
import operator

import pytest

import vitrify as paddle
from tests.end_to_end.differential import compare
from vitrify.core.errors import UnsupportedError

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


def numbers_of_two_classes(x):
    found = [1]
    if x[0] > 0:
        found.append(0.5)
    return [n * 2 for n in found]


def items_of_two_classes(x):
    found = numbers_of_two_classes(x)
    total = 0
    for n in found:
        total = total + n
    return found, found[0], found[-1], total, f"{found}", x * found[0]


def changed_items_of_two_classes(x):
    found = numbers_of_two_classes(x)
    found.append(7)
    found.insert(0, 1.5)
    last = found.pop()
    return last, found, dict(enumerate(found)), tuple(found)


def items_of_two_classes_in_a_loop(x):
    found = numbers_of_two_classes(x)
    i = paddle.zeros([])
    while i < x.sum():
        found = [n + n for n in found]
        i = i + 1
    return found, x * found[-1]


FUNCTIONS = [numbers_of_two_classes, items_of_two_classes, changed_items_of_two_classes, items_of_two_classes_in_a_loop]


@pytest.mark.parametrize("function", FUNCTIONS)
def test_items_of_lists_keep_the_class_of_their_path(function):
    compare(function, *CALLS, strict=True)
    compare(function, *CALLS, strict=True, full_graph=False)


def whole_on_one_path(x):
    n = 1
    return n - 0.5 if x[0] > 0 else n


def item_at(x):
    return [x, x * 2, x * 3][whole_on_one_path(x) % 3]


def item_put_at(x):
    found = [x, x * 2]
    if x[0] < 0:
        found.append(x)
    found[whole_on_one_path(x)] = x * 5
    return found


def slice_to(x):
    return x[: whole_on_one_path(x)]


def text_at(x):
    return "abc"[whole_on_one_path(x)]


def range_to(x):
    return sum(range(whole_on_one_path(x) * 3))


def repeated(x):
    return [x] * whole_on_one_path(x), "ab" * whole_on_one_path(x)


def popped_at(x):
    found = [x, x * 2]
    if x[0] < 0:
        found.append(x)
    return found.pop(whole_on_one_path(x))


def put_in_at(x):
    found = [x, x * 2]
    found.insert(whole_on_one_path(x), x)
    return found


def deleted_at(x):
    found = [x, x * 2, x * 3]
    del found[whole_on_one_path(x)]
    return found


def of_bits(x):
    return whole_on_one_path(x) | 4, 1 << whole_on_one_path(x)


def inverted(x):
    return ~whole_on_one_path(x)


def caught(x):
    try:
        return [x, x * 2][whole_on_one_path(x)]
    except TypeError as error:
        return str(error)


def float_on_a_path(x):
    found, n = [x, x * 2], float(x.mean())
    return found[n] if x[0] > 0 else found[1:]


WHOLE = [
    float_on_a_path,
    item_at,
    item_put_at,
    slice_to,
    text_at,
    range_to,
    repeated,
    popped_at,
    put_in_at,
    deleted_at,
    of_bits,
]


@pytest.mark.parametrize("function", [*WHOLE, inverted, caught])
def test_where_python_takes_whole_numbers_only(function):
    compare(function, *CALLS)
    compare(function, *CALLS, full_graph=False)


def kinds_that_become_one(x):
    found = [(1, x)]
    k = 1.5
    found.insert(0, 1)
    if x[1] > 0:
        found.extend([3, x[0]])
    elif x[2] > 0:
        found.append(k)
    return tuple(found)


def text_of_one_of_two_lists(x):
    found = [1]
    if x[2] > 1:
        if x[1] > -1:
            found = found + [4]
    else:
        found.append(0.25)
    return found, f"{found}"


@pytest.mark.parametrize("function", [kinds_that_become_one, text_of_one_of_two_lists])
def test_items_of_kinds_that_paths_tell_apart(function):
    compare(function, *CALLS, strict=True)
    compare(function, *CALLS, strict=True, full_graph=False)


@dataclasses.dataclass
class Rate:
    value: float = 1.0
    of: object = None


def copied_numbers(x):
    rate = Rate(of=x)
    if x[0] < 0:
        rate.value *= 0.5
    return dataclasses.asdict(rate)["value"], copy.deepcopy(rate).value, copy.deepcopy([rate.value])


def test_copies_of_numbers_are_numbers():
    compare(copied_numbers, *CALLS, strict=True)
    compare(copied_numbers, *CALLS, strict=True, full_graph=False)


class Plain:
    pass


def own_attributes(x):
    made = Plain()
    made.a, made.n = x, 1
    if x[0] > 0:
        del made.n
    return sorted(vars(made)), len(made.__dict__)


def test_attributes_that_a_path_deletes_are_not_among_an_objects():
    compare(own_attributes, *CALLS, full_graph=False)
    with pytest.raises(UnsupportedError, match=r"vars\(\) of an object"):
        paddle.jit.to_static(own_attributes, full_graph=True)(paddle.ones([3]))
