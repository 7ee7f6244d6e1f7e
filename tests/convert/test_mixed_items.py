"""Lists of unknown length with Python numbers and tensors: what they hold is what eager code says, or refused."""

import pytest

import vitrify as paddle
from vitrify.core.errors import UnsupportedError


def given_back(x):
    found = [3]
    for v in x:
        if v > 0:
            found.append(v)
    return found


def in_pairs(x):
    found = [(x, 1)]
    for v in x:
        if v > 0:
            found.append((v + x, v))
    return {"found": found}


def chosen_before(x):
    found = []
    i = 0
    while x.sum() + i < 3:
        found.append(i if i % 2 else x.sum())
        i += 1
    return found


def computed_of_each(x):
    return [v * 2 for v in given_back(x)]


def kept_in_an_object(x):
    KEPT["found"] = given_back(x)
    return x * 2


KEPT: dict[str, object] = {}


def first(x):
    return given_back(x)[0]


def last(x):
    return {"last": given_back(x)[-1]}


def taken_out(x):
    return given_back(x).pop()


def added_by_hand(x):
    total = 0
    for v in given_back(x):
        total = total + v
    return total


def largest(x):
    return max(given_back(x))


def asked(x):
    return type(given_back(x)[0]).__name__


def added_up(x):
    found = [3.0]
    for v in x:
        if v > 0:
            found.append(v * 2)
    return sum(found) + x, found[0] * x


def shown(value):
    if isinstance(value, dict):
        return {key: shown(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value), [shown(item) for item in value]
    return (value.tolist(), value.stop_gradient) if isinstance(value, paddle.Tensor) else (type(value), value)


ROWS = [[1.0, 2.0], [-1.0, -2.0], [1.0, -2.0]] * 2
LISTS = [given_back, in_pairs, chosen_before, computed_of_each, kept_in_an_object]
ITEMS = [first, last, taken_out, added_by_hand, largest, asked]


def found_by(function, row):
    """What a call gives and keeps, and the gradient of the tensors in it."""
    x = paddle.to_tensor(row, stop_gradient=False)
    KEPT.clear()
    result = function(x)
    leaves = [v for v in paddle.utils.flatten(result) if isinstance(v, paddle.Tensor) and not v.stop_gradient]
    if leaves:
        sum(v.sum() for v in leaves).backward()
    return shown(result), shown(KEPT), None if x.grad is None else x.grad.tolist()


@pytest.mark.parametrize("function", [*LISTS, *ITEMS, added_up])
def test_segments_give_what_eager_code_gives(function):
    static = paddle.jit.to_static(function, full_graph=False)
    for row in ROWS:
        assert found_by(static, row) == found_by(function, row)


@pytest.mark.parametrize("function", [*LISTS, *ITEMS])
def test_whole_functions_are_refused(function):
    with pytest.raises(UnsupportedError, match=r"numbers and tensors|the class depends"):
        paddle.jit.to_static(function, full_graph=True)(paddle.to_tensor(ROWS[0]))


def test_arithmetic_needs_no_class():
    static = paddle.jit.to_static(added_up, full_graph=True)
    for row in ROWS:
        assert found_by(static, row) == found_by(added_up, row)
