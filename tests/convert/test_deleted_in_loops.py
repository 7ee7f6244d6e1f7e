"""Loop variables that an iteration deletes: the next one that reads them raises, whatever they held."""

import pytest

import vitrify as paddle
from tests.end_to_end.differential import compare


def a_tuple(x):
    held, found = (x, x * 2), x
    while x.sum() < 5:
        x = x + 1
        found = found + held[1]
        del held
    return found


def on_a_path(x):
    held, found = {"a": x}, x
    while x.sum() < 5:
        x = x + 1
        found = found + held["a"]
        if x.sum() > 3:
            del held
    return found


def with_a_text(x):
    held, found = ("a", 1, x), x
    while x.sum() < 5:
        x = x + 1
        found = found + held[2] * (1 if held[0] == "a" else 2)
        del held
    return found


def made_anew(x):
    held, found = [x, x], x
    while x.sum() < 5:
        x = x + 1
        held = [x, found]
        found = found + held[0]
        del held
    return found


def left_behind(x):
    held, found = (x, x), x
    for turn in range(x.sum().astype("int64")):
        found = found + held[0]
        if turn > 1:
            del held
            break
    else:
        return held[0] + found
    return found


@pytest.mark.parametrize(
    "function", [a_tuple, on_a_path, with_a_text, made_anew, left_behind], ids=lambda function: function.__name__
)
def test_it_is_unset_from_then_on(function):
    static = paddle.jit.to_static(function, full_graph=True)
    for value in (0.0, 1.0, 2.0, 4.0, 6.0):
        x = paddle.to_tensor([value])
        try:
            function(x)
        except UnboundLocalError:
            with pytest.raises(UnboundLocalError):
                static(x)
        else:
            compare(function, ([value],), static=static)
