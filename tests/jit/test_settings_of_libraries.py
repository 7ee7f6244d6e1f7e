"""What libraries ask unseen guards programs: settings that C code keeps, and what functions take."""

from __future__ import annotations

import decimal
import inspect

import numpy as np
import pytest

import vitrify as paddle

ONE = decimal.Decimal("1.0")
OBJECTS = np.array([{"a": 1}, [2.0]], dtype=object)


def asked(a, b=2, *, c=3):
    return a


def by_signature(x):
    return x * inspect.signature(asked).parameters["b"].default


def by_argument_names(x):
    return x * len(inspect.getfullargspec(asked).defaults)


def by_division(x):
    return x * float(decimal.Decimal(1) / decimal.Decimal(3))


def by_functions(x):
    return x * float(ONE.sqrt() + ONE.exp())


def by_precision(x):
    return x * decimal.getcontext().prec


def by_print_options(x):
    return x * np.get_printoptions()["precision"]


def by_text(x):
    return x * len(str(np.array([1.23456789])))


def by_format(x):
    return x * len(f"{[np.array([1.23456789])]}")


def by_items_of_objects(x):
    return x * OBJECTS[0]["a"] + OBJECTS[1][0]


def take_other_defaults():
    asked.__defaults__ = (7, 8)


def round_early():
    decimal.getcontext().prec = 4


def write_less():
    np.set_printoptions(precision=2)


def exchange_items():
    OBJECTS[0]["a"] = 5
    OBJECTS[1].insert(0, 7.0)


@pytest.fixture(autouse=True)
def _as_before():
    with decimal.localcontext(), np.printoptions():
        yield
    reset()


def reset():
    asked.__defaults__ = (2,)
    decimal.getcontext().prec = 28
    np.set_printoptions(precision=8)
    OBJECTS[0]["a"] = 1
    OBJECTS[1][:] = [2.0]


CASES = [
    (by_signature, take_other_defaults),
    (by_argument_names, take_other_defaults),
    (by_division, round_early),
    (by_functions, round_early),
    (by_precision, round_early),
    (by_print_options, write_less),
    (by_text, write_less),
    (by_format, write_less),
    (by_items_of_objects, exchange_items),
]


@pytest.mark.parametrize("full_graph", [True, False])
@pytest.mark.parametrize(("function", "change"), CASES, ids=[case[0].__name__ for case in CASES])
def test_programs_ask_libraries_as_they_are_now(function, change, full_graph):
    static = paddle.jit.to_static(function, full_graph=full_graph)
    x = paddle.to_tensor([1.0, 2.0])

    def compared():
        found = [static(x).tolist() for _ in range(3)]
        assert found == [function(x).tolist()] * 3
        return found[0]

    before = compared()
    change()
    assert compared() != before
    reset()
    assert compared() == before
