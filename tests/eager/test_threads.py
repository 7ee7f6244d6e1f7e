"""Threads and tasks: each in its own modes, none disturbs another."""

import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from vitrify.core.dtype import default_dtype_guard, float32
from vitrify.core.meta import Meta
from vitrify.core.modes import AmpState, amp_state, scoped
from vitrify.core.names import generate, guard
from vitrify.core.rng import rng_guard
from vitrify.eager.create_parameter import create_parameter
from vitrify.eager.grad_mode import is_grad_enabled, no_grad
from vitrify.eager.tensor import Tensor, to_tensor
from vitrify.ir.builder import Builder, building
from vitrify.ir.program import Program, Variable

ROUNDS = 200


def eager(x):
    y = x * x
    y.backward()
    got = x.grad.tolist()
    x.clear_gradient(False)
    return got == [4.0]


def without_gradients(x):
    with no_grad():
        return (x * x).stop_gradient and not is_grad_enabled()


def building_a_program(x):
    builder = Builder(Program(), lift=lambda t: 1.0)
    with building(builder):
        x = builder.block.add_input(Meta((1,), float32))
        out = x + x
    return isinstance(out, Variable) and len(builder.program.global_block().ops) == 1


def seeded(x):
    with rng_guard(3):
        return create_parameter([2], "float32").tolist() == EXPECTED


def doubles(x):
    with default_dtype_guard("float64"):
        return to_tensor(1.0).dtype.name == "float64"


def naming(x):
    with guard("mine_"):
        return generate("fc") == "mine_fc_0"


def low_precision(x):
    with scoped(amp_state, AmpState("O1", "float16")):
        return amp_state.get().dtype == "float16"


def plain(x):
    return (
        is_grad_enabled()
        and amp_state.get() is None
        and type(x + x) is Tensor
        and to_tensor(1.0).dtype.name == "float32"
        and generate("fc") != "mine_fc_0"
    )


with rng_guard(3):
    EXPECTED = create_parameter([2], "float32").tolist()

KINDS = [eager, without_gradients, building_a_program, seeded, doubles, naming, low_precision, plain]


def test_eight_threads_each_in_its_own_mode():
    start = threading.Barrier(len(KINDS))

    def work(kind):
        x = to_tensor([2.0], stop_gradient=False)
        start.wait()
        return all(kind(x) for _ in range(ROUNDS))

    with ThreadPoolExecutor(len(KINDS)) as pool:
        assert list(pool.map(work, KINDS)) == [True] * len(KINDS)
    assert is_grad_enabled() and amp_state.get() is None


def test_a_new_thread_starts_with_the_defaults():
    found = []
    with no_grad():
        thread = threading.Thread(target=lambda: found.append(is_grad_enabled()))
        thread.start()
        thread.join()
    assert found == [True]


def test_backward_in_many_threads_over_shared_leaves():
    w = to_tensor(np.ones(4), stop_gradient=False)

    def work(i):
        x = to_tensor(np.full(4, float(i)), stop_gradient=False)
        for _ in range(50):
            (x * w).sum().backward()
        return x.grad.tolist() == [50.0] * 4

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(work, range(8)))
