"""Calls that are not like the ones before, for functions that know a call by what the last ones were."""

from __future__ import annotations

import numpy as np
import pytest

import vitrify as paddle

SCALE = 2.0


def tensor(*values, dtype="float32", grad=False):
    return paddle.to_tensor(np.array(values, dtype), stop_gradient=not grad)


def double(x, y):
    return x * SCALE + y


OTHERS = {
    "another dtype": lambda: (tensor(1, 2, dtype="float64"), tensor(3, 4, dtype="float64")),
    "another size": lambda: (tensor(1, 2, 3), tensor(3, 4, 5)),
    "another rank": lambda: (paddle.ones([2, 2]), paddle.ones([2, 2])),
    "a number": lambda: (tensor(1, 2), 5.0),
    "an array": lambda: (tensor(1, 2), np.array([3, 4], "float32")),
    "a gradient": lambda: (tensor(1, 2, grad=True), tensor(3, 4)),
    "a parameter": lambda: (paddle.create_parameter([2], "float32"), tensor(3, 4)),
    "the same tensor twice": lambda: (tensor(1, 2),) * 2,
    "other values": lambda: (tensor(7, 8), tensor(3, 4)),
}


def check_other_arguments(called, args, times):
    """`called`, `double` compiled and called with two tensors before, takes these as well, and then the first ones."""
    wanted = double(*args)
    for _ in range(times):
        found = called(*args)
        np.testing.assert_array_equal(found.numpy(), wanted.numpy())
        assert (found.dtype, found.stop_gradient) == (wanted.dtype, wanted.stop_gradient)
    assert called(tensor(1, 2), tensor(3, 4)).tolist() == [5, 8]


def check_names_and_wrong_numbers(called):
    """Arguments come by name as well, and a wrong number of them is refused."""
    x, y = tensor(1, 2), tensor(3, 4)
    assert called(x, y=y).tolist() == called(y=y, x=x).tolist() == [5, 8]
    for wrong in [(x,), (x, y, x), ()]:
        with pytest.raises(TypeError):
            called(*wrong)


def check_another_trace_and_switching_off(called, static):
    """A trace records what is called in it, and functions that are switched off run as they were written."""
    x, y = tensor(1, 2), tensor(3, 4)
    outer = static(lambda a, b: called(a, b) * 10)
    assert outer(x, y).tolist() == outer(x, y).tolist() == [50, 80]
    assert "multiply" in outer.concrete_program.main_program.to_string(True)
    paddle.jit.enable_to_static(False)
    try:
        before = called.program_cache.info()
        assert called(x, y).tolist() == [5, 8]
        assert called.program_cache.info() == before
    finally:
        paddle.jit.enable_to_static(True)
