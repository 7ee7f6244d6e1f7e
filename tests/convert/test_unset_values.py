"""Where only the program knows whether a variable is set, and no flag can say so: refused, never taken for either."""

import pytest

import vitrify as paddle
from vitrify.core.errors import UnsupportedError


def set_on_a_path_in_a_loop(x):
    i = 0
    while x.sum() < 2:
        if i > 0:
            ys = []
        x, i = x + 1, i + 1
    return ys


def test_use_is_refused():
    static = paddle.jit.to_static(set_on_a_path_in_a_loop, full_graph=True)
    with pytest.raises(UnsupportedError):
        static(paddle.to_tensor([1.0, 2.0]) - 3)
