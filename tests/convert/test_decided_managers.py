"""`with` statements whose context manager, or its flag, a tensor chooses."""

from contextlib import nullcontext

import numpy as np
import pytest

import vitrify as paddle
from vitrify.core.errors import UnsupportedError

from ..end_to_end.differential import compare


class Scaled:
    def __init__(self, factor):
        self.factor = factor

    def __enter__(self):
        return self.factor

    def __exit__(self, *error):
        print("left", self.factor)


class Entered:
    def __enter__(self):
        return 5

    def __exit__(self, *error):
        print("left")


def chosen(s):
    if s > 0:
        return paddle.no_grad()
    return nullcontext()


def in_the_header(x, s):
    with paddle.no_grad() if s > 0 else nullcontext():
        y = x * x
        if y.sum() > 3:
            return y * 2 + x
    return y + x


def in_a_variable(x, s):
    mode = paddle.no_grad() if s > 0 else nullcontext()
    with mode:
        y = x * x
    return y * 2


def by_a_function(x, s):
    with chosen(s):
        y = x * 2
    return y


def one_of_three(x, s):
    with paddle.no_grad() if s > 1 else paddle.enable_grad() if s > 0 else nullcontext():
        y = x * x
    return y * x


def by_a_flag_in_a_loop(x, s):
    for i in range(4):
        with paddle.set_grad_enabled(bool(s > i)):
            if x.sum() > 30:
                break
            x = x * 1.5
    else:
        x = x - 1
    return x * 2


def second_of_two(x, s):
    with paddle.no_grad(), paddle.amp.auto_cast(enable=bool(s > 0), dtype="bfloat16"):
        y = paddle.matmul(x.reshape([1, -1]), x.reshape([-1, 1]))
    return y.astype("float32")


def of_the_users(x, s):
    with Scaled(2) if s > 0 else Entered() as factor:
        x = x * factor
    return x


@pytest.mark.parametrize(
    "f",
    [in_the_header, in_a_variable, by_a_function, one_of_three, by_a_flag_in_a_loop, second_of_two, of_the_users],
)
def test_each_path_has_its_manager(f):
    x = np.array([1.0, 2.0, 4.0], "float32")
    compare(f, *[(x, np.array(s, "float32")) for s in (2.0, -1.0, 0.5)], full_graph=True)


def test_a_flag_that_no_with_holds_is_refused():
    @paddle.jit.to_static(full_graph=True)
    def f(x):
        paddle.set_grad_enabled(bool(x > 0))
        return x * 2

    with pytest.raises(UnsupportedError):
        f(paddle.to_tensor(1.0))
