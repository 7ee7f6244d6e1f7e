"""Handlers of the user's see errors of the user's, and nothing that comes of tensors without a value."""

import datetime
import decimal
import fractions
import itertools
import json
import math
import operator
from collections import defaultdict
from contextlib import suppress

import numpy as np
import pytest

import vitrify as paddle
from vitrify.core.errors import UnsupportedError

from ..end_to_end.differential import compare

CALL = (np.array(2.0, "float32"), np.array(2, "int64"))

LIBRARY = [
    lambda x, i: operator.index(i),
    lambda x, i: bytes(int(i)),
    lambda x, i: decimal.Decimal(x.item()),
    lambda x, i: fractions.Fraction(x.item()),
    lambda x, i: datetime.timedelta(seconds=float(x)),
    lambda x, i: json.dumps({"a": float(x)}),
    lambda x, i: list(itertools.islice(iter([1, 2, 3]), int(i))),
    lambda x, i: int(i).bit_length(),
    lambda x, i: float(x).is_integer(),
]


def in_handler(function):
    def f(x, i):
        try:
            y = function(x, i)
        except Exception as err:  # noqa: BLE001 - what it catches is the question
            y = "caught " + type(err).__name__
        return y

    return f


def in_suppress(function):
    def f(x, i):
        y = "caught"
        with suppress(TypeError, ValueError, LookupError, AttributeError):
            y = function(x, i)
        return y

    return f


@pytest.mark.parametrize("number", range(len(LIBRARY)))
@pytest.mark.parametrize("around", [in_handler, in_suppress])
def test_what_tensors_cause_is_not_caught(around, number):
    f = around(LIBRARY[number])
    compare(f, CALL, full_graph=False)
    static = paddle.jit.to_static(f, full_graph=True)
    with pytest.raises(UnsupportedError):
        static(*map(paddle.to_tensor, CALL))


USERS = [
    lambda x, i: int("abc"),
    lambda x, i: list(x.shape)[5],
    lambda x, i: {"a": x}["b"],
    lambda x, i: {1: "a", 3: "b"}[int(i)],
    lambda x, i: len(5),
    lambda x, i: "a" + 1,
    lambda x, i: json.loads("{"),
    lambda x, i: datetime.date(2020, 13, 1),
    lambda x, i: decimal.Decimal("x"),
    lambda x, i: x.reshape([3, 5]),
    lambda x, i: math.sqrt(-1.0),
    lambda x, i: math.sqrt(-x),
    lambda x, i: math.log(x - 2),
]


@pytest.mark.parametrize("number", range(len(USERS)))
@pytest.mark.parametrize("around", [in_handler, in_suppress])
def test_what_is_wrong_in_eager_code_too_is_caught(around, number):
    compare(around(USERS[number]), CALL)


@pytest.mark.parametrize("full_graph", [False, True])
def test_suppress_sees_what_a_program_raises(full_graph):
    def f(x, i):
        with suppress(ValueError):
            if x.sum() > 0:
                raise ValueError("positive")
            x = x * 2
        return x

    compare(f, CALL, full_graph=full_graph)


def test_a_missing_key_of_the_program_is_caught():
    def f(x, i):
        try:
            return {1: "a", 3: "b"}.pop(int(i))
        except KeyError:
            return "caught"

    compare(f, CALL, (CALL[0], np.array(3, "int64")))


def test_items_that_a_defaultdict_makes_are_changes_of_it():
    def f(x, table):
        if x.sum() > 0:
            x = x + len(table["a"])
        return x + len(table["b"])

    static = paddle.jit.to_static(f)
    for sign in (-1, 1, -1):
        tables = defaultdict(list), defaultdict(list)
        x = paddle.to_tensor([1.0]) * sign
        assert static(x, tables[0]).tolist() == f(x, tables[1]).tolist()
        assert tables[0] == tables[1]


def test_a_finally_that_does_nothing_lets_everything_pass():
    def f(x, i):
        try:
            assert x > i, "small"
            y = x * 2
        finally:
            pass
        return y

    compare(f, CALL, (np.array(3.0, "float32"), np.array(2, "int64")))


class Sign:
    """Asks a tensor in each special method, and raises if it is large."""

    def __init__(self, x):
        self.x = x

    def _checked(self):
        if self.x.sum() > 4:
            raise ValueError("large")
        return self.x.sum() > 0

    def __bool__(self):
        return bool(self._checked())

    def __str__(self):
        return "positive" if self._checked() else "negative"

    def __iter__(self):
        self._checked()
        yield from self.x

    def __exit__(self, *error):
        return bool(self._checked())

    def __enter__(self):
        return self


def truth_of(x):
    try:
        return x * 2 if not Sign(x) else x * 3
    except ValueError:
        return x - 1


def text_of(x):
    try:
        print(f"{Sign(x)}!")
    except ValueError as err:
        print("caught", err)
    return x * 2


def items_of(x):
    seen = []
    try:
        for item in Sign(x):
            seen.append(item)
    except ValueError:
        seen.append(x.sum())
    return seen


def raised_in_a_comprehension(x):
    try:
        return sum([x * 2 for _ in (0, 1) if Sign(x)])
    except ValueError:
        return x


def swallowed_if_a_tensor_says_so(x):
    with Sign(x):
        raise KeyError("key")
    return x + 1


def exit_that_decides_at_the_end_of_a_block(x):
    with Sign(x):
        if x.sum() > 2:
            raise KeyError("key")
        x = x * 2
    return x


@pytest.mark.parametrize("value", [1.0, -1.0, 3.0])
@pytest.mark.parametrize(
    "f",
    [
        *(truth_of, text_of, items_of, raised_in_a_comprehension, swallowed_if_a_tensor_says_so),
        exit_that_decides_at_the_end_of_a_block,
    ],
)
def test_what_special_methods_raise_is_caught(f, value):
    given = [(np.full([2], sign * value, "float32"),) for sign in (1, 0.5, -1)]
    compare(f, *given, full_graph=True)
