"""Lists of a length that only a run knows, given to libraries; errors of theirs that only conversion causes."""

import array as arrays
import math
import statistics

import numpy as np
import pytest

import vitrify as paddle
from tests.end_to_end.differential import compare
from vitrify.core.errors import UnsupportedError

CALLS = [([1.0, -2.0, 3.0],), ([8.0, 1.0, 0.5],)]


def _grown(x):
    history = []
    while float(x.abs().max()) < 20:
        x = x * 2
        history.append(float(x.mean()))
    return x, history


def mean(x):
    x, history = _grown(x)
    return x, np.mean(history)


def array(x):
    x, history = _grown(x)
    return np.array(history), np.array(history[-2:])


def tensor(x):
    x, history = _grown(x)
    return paddle.to_tensor(np.array(history, "float32")) * x[0]


def plain(x):
    x, history = _grown(x)
    return statistics.mean(history) + math.fsum(history)


def of_pairs(x):
    pairs = []
    while x.abs().max() < 20:
        x = x * 2
        pairs.append((x.max().item(), x.min().item()))
    return np.array(pairs).sum()


@pytest.mark.parametrize("fn", [mean, array, tensor, plain, of_pairs])
def test_a_list_of_unknown_length_is_given_to_libraries_in_one_program(fn):
    static = compare(fn, *CALLS)
    assert static.cache_info().misses == 1


def filled(x):
    held = arrays.array("f", [0.0] * 3)
    for index, value in enumerate(x):
        held[index] = value.item() * 2
    return x + held[0]


def test_an_error_that_only_conversion_causes_is_no_silent_run_of_python():
    x = paddle.to_tensor([1.0, -2.0, 3.0])
    with pytest.raises(UnsupportedError) as told:
        paddle.jit.to_static(filled, full_graph=True)(x)
    assert "held[index] = value.item() * 2" in str(told.value)
    compare(filled, ([1.0, -2.0, 3.0],), full_graph=False)
