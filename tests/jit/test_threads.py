"""Threads: each in a mode of its own, and all in one static function."""

import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import vitrify as paddle
from vitrify.core.dtype import default_dtype_guard
from vitrify.core.rng import Generator, rng_guard

from .models import Scale, tensor

THREADS = 8
X = (1.0, 2.0, 3.0)


def together(*functions):
    """Run all functions at once, from a common start; their results in order."""
    start = threading.Barrier(len(functions))

    def run(function):
        start.wait()
        return function()

    with ThreadPoolExecutor(len(functions)) as pool:
        return [f.result() for f in [pool.submit(run, function) for function in functions]]


def refine(x, w):
    for _ in range(6):
        x = x * w + 1
        if x.sum() > 40:
            break
    return (x * x).sum()


def gradients(f):
    x, w = tensor(*X, grad=True), tensor(0.5, 1.0, 1.5, grad=True)
    loss = f(x, w)
    loss.backward()
    return loss.item(), x.grad.numpy(), w.grad.numpy()


def test_one_static_function_first_call_and_later():
    expected = gradients(refine)
    for _ in range(5):
        f = paddle.jit.to_static(refine)
        for _ in range(2):
            for found in together(*[lambda f=f: gradients(f)] * THREADS):
                for a, b in zip(found, expected):
                    assert np.allclose(a, b, rtol=1e-5)
        assert len(f.program_cache) == 1


@pytest.mark.slow
def test_eight_threads_and_ten_thousand_calls_each():
    f = paddle.jit.to_static(refine, full_graph=True)

    def bits():
        return [np.asarray(part).tobytes() for part in gradients(f)]

    def calls():
        return [bits() for _ in range(10_000)]

    alone = bits()
    for found in together(*[calls] * THREADS):
        assert all(one == alone for one in found)
    assert len(f.program_cache) == 1


def test_one_layer_with_many_sizes():
    net = paddle.jit.to_static(Scale())
    eager = net.forward.dygraph_function

    def calls(n):
        for size in range(1, 6):
            x = paddle.full([size + n, 3], float(n - 3))
            assert np.allclose(net(x).numpy(), eager(x).numpy())
        return True

    assert all(together(*[lambda n=n: calls(n) for n in range(THREADS)]))
    assert len(net.forward.program_cache) <= 3


def eager_thread():
    for _ in range(30):
        x = tensor(*X, grad=True)
        (x * x).sum().backward()
        assert x.grad.tolist() == [2, 4, 6] and paddle.in_dynamic_mode() and paddle.is_grad_enabled()


def static_thread():
    exe = paddle.static.Executor()
    for _ in range(10):
        main = paddle.static.Program()
        with paddle.static.program_guard(main, paddle.static.Program()):
            assert not paddle.in_dynamic_mode()
            x = paddle.static.data("x", [None, 3])
            y = (x * 2).sum()
        (out,) = exe.run(main, feed={"x": np.ones([2, 3], "float32")}, fetch_list=[y])
        assert out == 12


def no_grad_thread():
    with paddle.no_grad():
        for _ in range(30):
            x = tensor(*X, grad=True)
            assert (x * x).stop_gradient and not paddle.is_grad_enabled()


def trace_thread():
    for _ in range(10):
        assert gradients(paddle.jit.to_static(refine))[0] == gradients(refine)[0]


def amp_thread():
    with paddle.amp.auto_cast(level="O1", dtype="bfloat16"):
        for _ in range(30):
            assert paddle.matmul(paddle.ones([2, 2]), paddle.ones([2, 2])).dtype is paddle.bfloat16


def plain_matmul_thread():
    for _ in range(30):
        assert paddle.matmul(paddle.ones([2, 2]), paddle.ones([2, 2])).dtype is paddle.float32


def random_thread(seed):
    with rng_guard(Generator(seed)):
        return [paddle.rand([4]).tolist() for _ in range(20)]


def dtype_thread():
    with default_dtype_guard("float64"):
        for _ in range(30):
            assert paddle.ones([2]).dtype is paddle.float64


MODES = (eager_thread, static_thread, no_grad_thread, trace_thread, amp_thread, plain_matmul_thread, dtype_thread)


def test_every_thread_keeps_its_mode():
    together(*MODES, eager_thread)
    assert paddle.in_dynamic_mode() and paddle.is_grad_enabled()


def test_random_streams_do_not_mix():
    alone = [random_thread(n) for n in range(THREADS)]
    assert together(*[lambda n=n: random_thread(n) for n in range(THREADS)]) == alone


def test_static_mode_of_one_thread_is_no_other_threads():
    paddle.enable_static()
    try:
        (dynamic,) = together(paddle.in_dynamic_mode)
        assert dynamic and not paddle.in_dynamic_mode()
    finally:
        paddle.disable_static()
