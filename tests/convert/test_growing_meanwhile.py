"""Lists that grow, or become shorter, while enumerate, zip or reversed goes through them."""

import pytest

from tests.end_to_end.differential import compare


def enumerated(x):
    found = [x]
    for i, v in enumerate(found, 1):
        if v.sum() > 0 and i < 5:
            found.append(v - 1)
    return found


def zipped(x):
    found = [x]
    for v, w in zip(found, range(4)):
        if v.sum() > w:
            found.append(v * 2)
    return found


def zipped_both(x):
    first, second = [x], [x * 2]
    for a, b in zip(first, second):
        if a.sum() > -3:
            first.append(a - 1)
            second.append(b * 2)
    return first, second


def zipped_with_enumerate(x):
    found = [x]
    for (i, v), w in zip(enumerate(found), [1, 2, 3]):
        if v.sum() > i:
            found.append(v * w)
    return found


def reversed_and_longer(x):
    found = [x, x * 2, x * 3]
    for v in reversed(found):
        if v.sum() > 0:
            found.append(v)
    return found


def reversed_and_shorter(x):
    found, seen = [x, x * 2, x * 3, x * 4], []
    for v in reversed(found):
        seen.append(v)
        if x.sum() > 0:
            found.pop(0)
            found.pop(0)
    return seen, found


def reversed_and_cleared(x):
    found, seen = [x, x * 2, x * 3], []
    for v in reversed(found):
        seen.append(v)
        if v.sum() > 0:
            found.clear()
    return seen, found


def left_by_a_tensor(x):
    found = [x]
    for i, v in enumerate(found):
        if v.sum() > 0:
            found.append(v - 1)
        if i > 3:
            break
    return found, i


def as_long_as_a_tensor_says(x):
    found = [v for v in x if v > 0]
    for i, v in enumerate(found):
        if i < 2:
            found.append(v * 2)
    return found


@pytest.mark.parametrize(
    "function",
    [
        enumerated,
        zipped,
        zipped_both,
        zipped_with_enumerate,
        reversed_and_longer,
        reversed_and_shorter,
        reversed_and_cleared,
        left_by_a_tensor,
        as_long_as_a_tensor_says,
    ],
    ids=lambda f: f.__name__,
)
def test_as_in_eager_code(function):
    compare(function, ([1.0, 2.0, 0.5],), ([-1.0, -2.0, 0.5],), ([0.5, -0.25, 4.0],), ([9.0, 9.0, 9.0],))
