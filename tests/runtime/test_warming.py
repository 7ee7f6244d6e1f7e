"""When a program is optimized: how many runs it takes as recorded, and that runs before and after mean the same."""

import numpy as np
import pytest

import vitrify as paddle
from vitrify.runtime.options import ALWAYS, DEFAULT, ExecutionOptions
from vitrify.runtime.warming import NEVER, run_to_optimize_at


def segment_of(function, *arguments):
    static = paddle.jit.to_static(function, full_graph=True)
    static(*arguments)
    return static, static.program_cache.last().segment


def chain(x):
    return paddle.tanh(x * 2 + 1) * x


def runs(size, options=DEFAULT, function=chain):
    _, segment = segment_of(function, paddle.ones([size]))
    return run_to_optimize_at(segment.block, options)


def test_the_longer_a_run_the_sooner():
    assert 2 == runs(1 << 22) < runs(1 << 14) < runs(4) < 200


def test_loops_count_more_than_once():
    def loop(x):
        while x.sum() < 100:
            x = x * 2 + 1
        return x

    assert runs(1 << 12, function=loop) < runs(1 << 12)


def test_what_is_asked_for():
    assert runs(4, ExecutionOptions(passes=False)) == NEVER
    assert runs(4, ExecutionOptions(native=ALWAYS)) == 0
    assert runs(1 << 22, function=paddle.nn.functional.softmax) == 2  # one operator that takes long


def test_a_function_that_calls_itself():
    def halved(x):
        return x if x.sum() < 1 else halved(x / 2) + 1

    static, segment = segment_of(halved, paddle.ones([4]))
    assert run_to_optimize_at(segment.block, ExecutionOptions()) > 1
    segment.optimize()
    np.testing.assert_allclose(static(paddle.ones([4])).numpy(), halved(paddle.ones([4])).numpy())


@pytest.mark.parametrize("size", [3, 5000])
def test_results_and_gradients_stay_across_the_change(size):
    static = paddle.jit.to_static(chain, full_graph=True)
    rng = np.random.default_rng(0)
    held = []
    for step in range(130):
        data = rng.standard_normal(size).astype("float32")
        found = []
        for function in (static, chain):
            x = paddle.to_tensor(data, stop_gradient=False)
            y = function(x)
            found.append((x, y))
        held.append(found)
        if step % 3 == 2:  # backward of runs from before and after the change, mixed
            for pair in held:
                for _, y in pair:
                    y.sum().backward()
                (a, b), (c, d) = pair
                np.testing.assert_allclose(b.numpy(), d.numpy(), rtol=1e-5, atol=1e-6)
                np.testing.assert_allclose(a.grad.numpy(), c.grad.numpy(), rtol=1e-5, atol=1e-6)
            held.clear()
    segment = static.program_cache.last().segment
    assert segment.forward_core.options.passes


def test_the_change_comes_at_the_same_run_again():
    def last_run():
        static, segment = segment_of(chain, paddle.ones([64]))
        count = 1
        while not segment.forward_core.options.passes:
            static(paddle.ones([64]))
            count += 1
        return count

    assert last_run() == last_run() == runs(64)
