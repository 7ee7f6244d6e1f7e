"""A program that is one kernel of two operands runs as that kernel, and is as any other in all else."""

import numpy as np
import pytest

import vitrify as paddle
from vitrify.core.config import flags_guard


@pytest.mark.parametrize("fn", [
    lambda x: x + 1, lambda x: 1 - x, lambda x: x - 1, lambda x: x * x, lambda x: 2.0 / x, lambda x: x == 1,
])  # fmt: skip
def test_operands_in_their_order(fn):
    x = paddle.to_tensor([1.0, 2.0, 4.0])
    compiled = paddle.jit.to_static(fn)
    for _ in range(3):
        assert compiled(x).tolist() == fn(x).tolist()


def test_two_inputs_either_way():
    x, y = paddle.to_tensor([5.0, 7.0]), paddle.to_tensor([2.0, 3.0])
    assert paddle.jit.to_static(lambda a, b: a - b)(x, y).tolist() == [3.0, 4.0]
    assert paddle.jit.to_static(lambda a, b: b - a)(x, y).tolist() == [-3.0, -4.0]


def test_the_result_is_an_array_of_its_own():
    x = paddle.to_tensor([1.0, 2.0])
    compiled = paddle.jit.to_static(lambda x: x + 0)
    first = compiled(x)
    first[0] = 9.0
    assert x.tolist() == [1.0, 2.0] and compiled(x).tolist() == [1.0, 2.0]


def test_what_it_raises_names_the_line():
    def summed(x, y):
        return x + y

    compiled = paddle.jit.to_static(summed)
    for n in (2, 3, 4):
        compiled(paddle.ones([n]), paddle.ones([n]))
    with pytest.raises(ValueError, match="broadcast") as info:
        compiled(paddle.ones([2]), paddle.ones([3]))
    assert "return x + y" in str(info.value)


def test_watching_sees_it():
    compiled = paddle.jit.to_static(lambda x: x / 0.0)
    x = paddle.to_tensor([1.0])
    assert compiled(x).tolist() == [np.inf]
    with flags_guard({"check_nan_inf": True}), pytest.raises(Exception, match=r"Inf|inf"):
        compiled(x)


def changed(x):
    return x + 1


def other(x):
    return x + 2


def test_another_body_is_noticed():
    compiled = paddle.jit.to_static(changed)
    x = paddle.to_tensor([1.0])
    assert [compiled(x).item() for _ in range(3)] == [2.0] * 3
    program, code = compiled.program_cache.last(), changed.__code__
    assert program.inputs_of_call() is not None
    changed.__code__ = other.__code__
    try:
        assert program.inputs_of_call() is None and program.current_inputs() is None
    finally:
        changed.__code__ = code
