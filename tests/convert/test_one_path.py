"""What one path alone gives and no tensor can stand for: refused where it is used, never a silent value."""

import pytest

import vitrify as paddle
from tests.end_to_end import one_path
from vitrify.core.errors import UnsupportedError


@pytest.mark.parametrize("function", one_path.REFUSED, ids=lambda f: f.__name__)
def test_use_is_refused(function):
    static = paddle.jit.to_static(function, full_graph=True)
    with pytest.raises((UnsupportedError, TypeError)):
        static(paddle.to_tensor([1.0, 2.0, 3.0]))


def key_is_there(x):
    d = {}
    if x.sum() > 0:
        d["a"] = x
    return x * 2 if "a" in d else x - 1


def how_many_keys(x):
    d = {}
    if x.sum() > 0:
        d["a"] = x
    return x + len(d)


@pytest.mark.parametrize("f", [key_is_there, how_many_keys])
def test_keys_that_one_path_sets(f):
    static = paddle.jit.to_static(f, full_graph=True)
    for value in (1.0, -1.0, 1.0, -1.0):
        x = paddle.full([2], value)
        assert static(x).tolist() == f(x).tolist()
