"""Lists of unknown length with Python numbers and tensors: what they hold is what eager code says."""

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


def added_by_sum(x):
    found = given_back(x)
    tensors = [v for v in x if v > 0]
    return sum(found), sum(tensors), sum(found, x[0]), sum(tensors) / max(len(tensors), 1)


def set_by_position(x):
    found = [0, 1]
    for v in x:
        if v > 0:
            found.append(v)
        found[0] = found[-1]
    found.insert(1, 2)
    return found, found[::-1], [isinstance(v, int) for v in found]


def in_rows(x):
    rows = [[v for v in row if v > 0] for row in (x, -x, x * 2)]
    longest = max(len(row) for row in rows)
    return [[row[i] if i < len(row) else 0 for row in rows] for i in range(longest)]


def shown(value):
    if isinstance(value, dict):
        return {key: shown(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value), [shown(item) for item in value]
    return (value.tolist(), value.stop_gradient) if isinstance(value, paddle.Tensor) else (type(value), value)


ROWS = [[1.0, 2.0], [-1.0, -2.0], [1.0, -2.0]] * 2
LISTS = [given_back, in_pairs, chosen_before, computed_of_each, kept_in_an_object]
ITEMS = [first, last, taken_out, added_by_hand, largest]


def found_by(function, row):
    """What a call gives and keeps, and the gradient of the tensors in it."""
    x = paddle.to_tensor(row, stop_gradient=False)
    KEPT.clear()
    result = function(x)
    leaves = [v for v in paddle.utils.flatten(result) if isinstance(v, paddle.Tensor) and not v.stop_gradient]
    if leaves:
        sum(v.sum() for v in leaves).backward()
    return shown(result), shown(KEPT), None if x.grad is None else x.grad.tolist()


@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize("function", [*LISTS, *ITEMS, added_up, added_by_sum, set_by_position, in_rows])
def test_programs_give_what_eager_code_gives(function, whole):
    static = paddle.jit.to_static(function, full_graph=whole)
    for row in ROWS:
        assert found_by(static, row) == found_by(function, row)


def roots(x):
    return [(v + 1) ** 0.5 for v in given_back(x)]


def test_what_only_python_can_tell_is_refused():
    for function, message in (asked, "the class depends"), (roots, "numbers and tensors"):
        with pytest.raises(UnsupportedError, match=message):
            paddle.jit.to_static(function, full_graph=True)(paddle.to_tensor(ROWS[0]))
