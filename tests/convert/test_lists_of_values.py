"""Lists of Python values, such as texts, whose length a tensor decides."""

from enum import Enum

import pytest

import vitrify as paddle
from tests.end_to_end.differential import compare
from vitrify.core.errors import UnsupportedError

UP, DOWN = [1.0, 2.0, 3.0], [-1.0, -2.0, -3.0]
CALLS = (UP,), (DOWN,), ([1.0, -2.0, 3.0],), ([-1.0, 4.0, -1.0],)


class Side(Enum):
    LEFT = 1
    RIGHT = 2


def grown_on_a_path(x):
    names = []
    if x.sum() > 0:
        names.append("positive")
    return x, names, len(names)


def grown_on_both(x):
    names = ["start"]
    if x.sum() > 0:
        names.append("up")
        names.append("and")
    else:
        names.append("down")
    names.append("end")
    return names, x * len(names)


def grown_in_a_loop(x):
    names = []
    for v in x:
        names.append("p" if v > 0 else "n")
        if v > 2:
            names.append("large")
    return names


def looked_for(x):
    names = ["a"]
    if x[0] > 0:
        names.append("b")
    if x[1] > 0:
        names += ["c", "a"]
    return "a" in names, "b" in names, "c" in names, "d" in names, "b" not in names


def gone_through(x):
    names = []
    if x[0] > 0:
        names.append("double")
    if x[1] > 0:
        names.append("add")
    for name in names:
        x = x * 2 if name == "double" else x + 1
    return x


def read(x):
    names = ["a", "b"]
    if x.sum() > 0:
        names.insert(0, "c")
    first, last = names[0], names[-1]
    return first, last, names[1], names[:2], names[::-1], x * (first == "c")


def taken_out(x):
    names = ["a", "b", "c"]
    if x[0] > 0:
        names.pop(0)
    if x[1] > 0:
        del names[0]
    last = names.pop()
    return names, last


def replaced(x):
    names = ["a", "b"]
    if x[0] > 0:
        names.append("c")
    names[0] = "d" if x[1] > 0 else "e"
    names[-1] = "f"
    return names


def pairs(x):
    log = []
    for v in x:
        if v > 0:
            log.append((v * 2, "up"))
        elif v < -1:
            log.append((v, "down"))
    return log, [name for _, name in log]


def pairs_that_come_to_differ(x):
    log = []
    i = 0
    while i < x.sum():
        log.append((x[0] + i, "early"))
        i += 1
    log.append((x[1], "late"))
    return log


def of_values_alone(x):
    log = [("a", Side.LEFT)]
    if x.sum() > 0:
        log.append(("b", Side.RIGHT))
    return log, log[-1][1] is Side.RIGHT


def members(x):
    sides = []
    while x.sum() < 9:
        sides.append(Side.LEFT if x[0] > 1 else Side.RIGHT)
        if x[1] > 3:
            sides.append(None)
        x = x + 1
    return sides, Side.LEFT in sides


def sorted_by_name(x):
    names = ["m"]
    if x[0] > 0:
        names.append("z")
    if x[1] > 0:
        names.append("b")
    if x[2] > 0:
        names.append("a")
    backwards = sorted(names, reverse=True)
    names.sort()
    return names, backwards


def made_by_a_comprehension(x):
    return ["p" if v > 0 else "n" for v in x if v > -2], {"k": ["a" for v in x if v > 0]}


def in_an_attribute(x):
    class Log:
        pass

    log = Log()
    log.lines = []
    if x.sum() > 0:
        log.lines.append("positive")
    log.lines.append("done")
    return log.lines, len(log.lines)


def joined_lists(x):
    a, b = [], ["x"]
    if x[0] > 0:
        a.append("a")
    if x[1] > 0:
        b.extend(["y", "z"])
    return a + b, b + a, a + ["k"]


def of_functions(x):
    steps = [paddle_double]
    if x[0] > 0:
        steps.append(paddle_add)
    for step in steps:
        x = step(x)
    return x


def paddle_double(x):
    return x * 2


def paddle_add(x):
    return x + 1


CASES = [
    grown_on_a_path, grown_on_both, grown_in_a_loop, looked_for, gone_through, read, taken_out, replaced, pairs,
    pairs_that_come_to_differ, of_values_alone, members, sorted_by_name, made_by_a_comprehension, in_an_attribute,
    joined_lists, of_functions,
]  # fmt: skip


@pytest.mark.parametrize("function", CASES, ids=lambda f: f.__name__)
def test_as_in_eager_code(function):
    compare(function, *CALLS)


def argument(x, names):
    if x.sum() > 0:
        names.append("up")
    return x * len(names)


def without_an_order(x):
    names = ["a"]
    if x.sum() > 0:
        names.append(None)
    return sorted(names)


def in_inner_lists(x):
    rows = [[("a", x[0])]]
    if x.sum() > 0:
        rows.append([("a", x[1]), ("a", x[2])])
    rows.append([("b", x[1])])
    return rows


def errors_of_tensors(x):
    try:
        for v in x:
            if v > 2:
                raise KeyError(v)
    except KeyError as err:
        return [err]
    return []


@pytest.mark.parametrize("function", [without_an_order, in_inner_lists, errors_of_tensors], ids=lambda f: f.__name__)
def test_refused(function):
    with pytest.raises(UnsupportedError) as caught:
        paddle.jit.to_static(function, full_graph=True)(paddle.to_tensor(UP))
    assert "test_lists_of_values.py" in str(caught.value)
    assert caught.value.hint


@pytest.mark.parametrize("shared", [False, True])
def test_the_callers_list(shared):
    compare(argument, (UP, []), (DOWN, []), (UP, ["a"]), (DOWN, ["a", "b"]), shared=shared)


def sums_of_numbers(x):
    floats, ints = [], []
    rest = x.sum()
    while rest < 3:
        floats.append(float(rest))
        ints.append(int(rest))
        rest = rest + 1
    print(sum(floats), sum(ints), sum(ints, 0.0), sum(floats, 1))
    return sum(floats), sum(ints), sum(ints, 0.5), max(floats, default=0), min(ints, default=True)


def test_sums_are_of_the_class_that_python_gives_them():
    compare(sums_of_numbers, *CALLS, strict=True)
