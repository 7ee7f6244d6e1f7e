"""Tensors of several elements have no truth: that is an error only where a path asks for it."""

import numpy as np
import pytest

from ..end_to_end.differential import compare


def value_of_and_or(x, y, s):
    return (s > 100 and x) or y


def operands_of_three(x, y, s):
    return (s > 100 and x.sum() > 0 and y) or y


def nested(x, y, s):
    if s > 100:
        y = y + 1
        if x:
            return y
    return y * 2


def in_a_try(x, y, s):
    try:
        if s > 100 and x:
            return x
        y = x * 2
    except ValueError:
        y = x * 3
    return y


def of_a_loop(x, y, s):
    while s > 100 and x:
        s = s - 1
    return s


def negated(x, y, s):
    return not (s > 100 and not x)


@pytest.mark.parametrize("f", [value_of_and_or, operands_of_three, nested, in_a_try, of_a_loop, negated])
def test_the_path_without_it_runs(f):
    x = np.array([1.0, 2.0, 3.0], "float32")
    compare(f, (x, x * 2, np.array(2.0, "float32")), full_graph=True)


def test_a_handler_sees_it_where_it_is_asked():
    x = np.array([1.0, 2.0, 3.0], "float32")
    compare(in_a_try, *[(x, x * 2, np.array(s, "float32")) for s in (200.0, 2.0)], full_graph=True)


class Asked:
    """What counts how often its truth is asked."""

    def __init__(self, value):
        self.value, self.count = value, 0

    def __bool__(self):
        self.count += 1
        return bool(self.value.sum() > 0)


def object_in_the_test_of_a_loop(x):
    asked, y = Asked(x), x
    while asked and y.sum() < 10:
        y = y * 1.5
    return y, asked.count


def object_beside_a_break(x):
    asked, y = Asked(x), x
    while asked:
        y = y * 1.5
        if y.sum() > 10:
            break
    return y, asked.count


def object_behind_a_tensor(x):
    asked = Asked(x)
    if x[0] > 5 and asked:
        print("both")
    return asked.count


@pytest.mark.parametrize("f", [object_in_the_test_of_a_loop, object_beside_a_break, object_behind_a_tensor])
def test_methods_that_tell_truth_run_where_their_path_asks(f):
    compare(f, *[(np.array([v, 2.0, 3.0], "float32"),) for v in (1.0, 6.0, 7.0)], strict=True)


class Told:
    """An object that says each time that its truth is asked."""

    def __init__(self, value, name):
        self.value = value
        self.name = name

    def __bool__(self):
        print("asked", self.name)
        return bool(self.value > 0)


def in_conditions(x):
    a, b = Told(x[0], "a"), Told(x[1], "b")
    if a and b:
        x = x * 2
    elif a or b:
        x = x * 3
    y = x if not (a and b) else x + 1
    return y, [v for v in (1, 2) if a and v]


def in_a_loop(x):
    a, b = Told(x[0], "a"), Told(x[1], "b")
    while a and b:
        a.value = a.value - 1
    return a.value


def kept(x):
    a, b = Told(x[0], "a"), Told(x[1], "b")
    found = a or b
    return found.name, bool(a and b)


def of_python(x):
    a, b = Told(1, "a"), Told(0, "b")
    if a and b:
        return x
    if b and a:
        return x * 3
    return x * 2


@pytest.mark.parametrize("f", [in_conditions, in_a_loop, kept, of_python])
def test_operands_are_asked_as_often_as_python_asks_them(f):
    calls = ([1.0, 2.0, 3.0],), ([-1.0, 2.0, 3.0],), ([1.0, -2.0, 0.5],), ([-1.0, -2.0, 0.5],)
    compare(f, *calls)
    compare(f, *calls, full_graph=False)


def operand_of_another_class(x):
    a, b = x[0] > 0, bool(x[1] > 0)
    c = a and b
    return c, a or b, b and a, b or a, isinstance(c, bool), x * 2 if c else x


def operand_that_is_known(x):
    a = x[0] > 0
    return a and True, a or False, True and a


@pytest.mark.parametrize("f", [operand_of_another_class, operand_that_is_known])
def test_and_and_or_give_an_operand_of_its_class(f):
    calls = ([1.0, 2.0],), ([-1.0, 2.0],), ([1.0, -2.0],), ([-1.0, -2.0],)
    compare(f, *calls, strict=True)
    compare(f, *calls, strict=True, full_graph=False)
