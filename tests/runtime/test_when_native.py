"""When programs and their parts become native calls: by what runs are worth, not by the clock."""

import numpy as np
import pytest

import vitrify as paddle
from tests.codegen.test_pointwise import UNKNOWN, block_of
from vitrify.core.config import flags_guard
from vitrify.runtime.lowering import lower
from vitrify.runtime.options import ExecutionOptions

pytestmark = pytest.mark.native


def layers(x, w):
    for _ in range(6):
        x = paddle.nn.functional.softmax(paddle.matmul(x, w)) + x
    return x.sum(0)


def lowered(native="auto"):
    return lower(block_of(layers, *[(UNKNOWN, "float32")] * 2), options=ExecutionOptions(native=native))


def numbers(rows):
    return np.ones((rows, 4), np.float32), np.eye(4, dtype=np.float32)


def plans(core):
    program = core.whole._program
    return 0 if program is None else sum(1 for e in program._plans._entries.values() if e.value.steps)


def run_at(core, rows, most=10_000):
    """How many runs with so many rows there are until one more is planned for."""
    before = plans(core)
    for count in range(1, most):
        core(*numbers(rows))
        if plans(core) > before:
            return count
    return most


def test_a_program_is_native_after_some_runs_the_same_ones_each_time():
    with flags_guard({"native_after_ms": 0.5, "cache_mb": 0}):
        first, second = run_at(lowered(), 3), run_at(lowered(), 3)
    assert first == second and 2 < first < 200


def test_longer_runs_earn_the_plan_of_another_size():
    with flags_guard({"native_after_ms": 0.5, "cache_mb": 0}):
        core = lowered()
        run_at(core, 3)
        soon = run_at(core, 5)
        for _ in range(100):
            core(*numbers(3))
        assert 1 == run_at(core, 7) < soon


def test_sizes_that_never_come_again_are_planned_for_seldom():
    with flags_guard({"native_after_ms": 0.5, "cache_mb": 0}):
        core = lowered()
        for rows in range(1, 201):
            core(*numbers(rows))
        assert 1 < plans(core) < 60
        for _ in range(40):
            (out,) = core(*numbers(201))
        np.testing.assert_allclose(out, lowered("never")(*numbers(201))[0], rtol=1e-5)


def test_at_once_means_each_size():
    core = lowered("always")
    for rows in range(1, 6):
        core(*numbers(rows))
    assert plans(core) == 5


@pytest.mark.parametrize("fn", [paddle.matmul, paddle.nn.functional.linear])
def test_one_product_alone_is_a_native_call(fn):
    """NumPy's would be BLAS's threads, and in bfloat16 one of float32 between conversions."""
    core = lower(block_of(fn, *[(UNKNOWN, "float32")] * 2), options=ExecutionOptions(native="always"))
    x, w = numbers(6)
    for _ in range(3):
        (out,) = core(x + 1, w)
    assert plans(core) == 1
    np.testing.assert_allclose(out, (x + 1) @ w)


def test_one_operator_whose_form_is_worth_no_call_is_left_to_the_interpreter():
    block = block_of(lambda x: paddle.sort(x, -1), (UNKNOWN, "float32"))
    assert len(block.ops) == 1 and lower(block, options=ExecutionOptions()).whole is None
