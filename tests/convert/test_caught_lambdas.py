"""Lambdas called in a `try` that sees what called functions raise when the program runs."""

import pytest

from tests.end_to_end.differential import compare


def strict(v):
    if v.sum() > 1:
        raise ValueError("planned")
    return v * 0.5


def beside_what_raises(x):
    try:
        x = (lambda v, w=x: v + w)(x)
        x = strict(x)
    except ValueError:
        x = x * 3
    return x


def around_what_raises(x):
    try:
        y = (lambda v, *, times=2.0: strict(v) * times)(x)
    except ValueError:
        y = x * 3
    return y


def chosen_from_a_list(x):
    out = []
    for function in [lambda v: strict(v), lambda v: v]:
        try:
            out.append(function(x))
        except ValueError:
            out.append(x * 3)
    return out


def that_gives_a_tuple(x):
    seen = []
    try:
        y = (lambda: (x, x + 1, x + 2))()
        x = strict(y[0])
    finally:
        seen.append(x)
    return x, seen


def lambda_of_a_lambda(x):
    try:
        y = (lambda v: (lambda u: strict(u + v))(v))(x)
    except ValueError as err:
        y = x * len(str(err))
    return y


@pytest.mark.parametrize(
    "function",
    [beside_what_raises, around_what_raises, chosen_from_a_list, that_gives_a_tuple, lambda_of_a_lambda],
    ids=lambda f: f.__name__,
)
def test_as_in_eager_code(function):
    compare(function, ([1.0, 2.0, 3.0],), ([-1.0, -2.0, -3.0],))
