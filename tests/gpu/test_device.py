"""On a real GPU: the table of ops, training, copies beside computation, graphs. `make test-gpu` runs these."""

from __future__ import annotations

import numpy as np
import pytest

import vitrify as paddle
from benchmarks.gpu import overlap, training_step
from tests.ops.test_cases import CASES
from tests.runtime import branching, graphs
from vitrify.core.place import CUDAPlace, place_guard
from vitrify.runtime.lowering import lower
from vitrify.runtime.options import ExecutionOptions
from vitrify.testing.paths import Call, tensors_of

pytestmark = pytest.mark.gpu
GPU = CUDAPlace(0)


def results(call, place):
    with place_guard(place):
        paddle.seed(7)
        given = [paddle.to_tensor(a, stop_gradient=a.dtype.kind not in "fc") for a in call.arrays]
        outs = tensors_of(call.on([t.clone() for t in given]))  # some change what they are given, which no leaf allows
        assert all(o.place == given[0].place for o in outs if given)
        for out in outs if call.case.grad else ():
            if not out.stop_gradient:
                (out * out).sum().backward(retain_graph=True)
        return [v if v is None else v.numpy() for v in (*outs, *(t.grad for t in given))]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_an_op_gives_what_it_gives_on_the_cpu(case):
    call = Call(case)
    for a, b in zip(results(call, "cpu"), results(call, "gpu:0"), strict=True):
        assert (a is None) == (b is None)
        assert a is None or (a.dtype == b.dtype and np.allclose(a, b, 1e-5, 1e-7, equal_nan=True))


class LeNet(paddle.nn.Layer):
    def __init__(self):
        super().__init__()
        nn = paddle.nn
        self.features = nn.Sequential(
            nn.Conv2D(1, 6, 3, padding=1), nn.ReLU(), nn.MaxPool2D(2, 2),
            nn.Conv2D(6, 16, 5), nn.ReLU(), nn.MaxPool2D(2, 2),
        )  # fmt: skip
        self.head = nn.Sequential(nn.Linear(400, 120), nn.Linear(120, 84), nn.Linear(84, 10))

    def forward(self, x):
        return self.head(paddle.flatten(self.features(x), 1))


@pytest.mark.parametrize("graph", [False, True])
def test_lenet_trains_as_on_the_cpu(graph):
    strategy = paddle.static.BuildStrategy()
    strategy.allow_cuda_graph_capture = graph
    rng = np.random.default_rng(0)
    images, labels = rng.standard_normal((8, 1, 28, 28)).astype("float32"), rng.integers(0, 10, 8)
    losses = {}
    for place in ("cpu", "gpu:0"):
        with place_guard(place):
            paddle.seed(1)
            model = LeNet()
            optimizer = paddle.optimizer.Adam(parameters=model.parameters())
            forward = paddle.jit.to_static(model, full_graph=True, build_strategy=strategy)
            x, y = paddle.to_tensor(images), paddle.to_tensor(labels)
            found = []
            for _ in range(5):
                loss = paddle.nn.functional.cross_entropy(forward(x), y)
                loss.backward()
                optimizer.step()
                optimizer.clear_grad()
                found.append(float(loss))
            losses[place] = found
    assert np.allclose(losses["cpu"], losses["gpu:0"], rtol=1e-3) and losses["cpu"][-1] < losses["cpu"][0]


@pytest.mark.parametrize("mode", ["trace", "streams"])
def test_random_programs(mode):
    for seed in range(30):
        main, inputs, outputs = made = graphs.program(seed)
        given = graphs.arrays(seed)
        paddle.seed(seed)
        wanted = graphs.core(made, serial=True)(*given)
        core = lower(main.global_block(), inputs, outputs, place=GPU, options=ExecutionOptions(mode=mode))
        for _ in range(3):
            paddle.seed(seed)
            assert all(np.allclose(a.get(), b, 1e-4, 1e-5) for a, b in zip(core(*given), wanted))


def test_branches_and_loops():
    for seed in range(12):
        fn = branching.function(seed)
        wanted = branching.run(fn, seed)
        branching.move(fn, GPU, mode="streams")
        got = branching.run(fn, seed)
        for a, b in zip((*got[0], *got[1]), (*wanted[0], *wanted[1])):
            assert (a is None) == (b is None) and (a is None or np.allclose(a, b, 1e-3, 1e-4))


def test_copies_run_beside_computation():
    took = overlap()
    assert took["both at once"] < 0.85 * (took["copies"] + took["products"]), took


def test_graphs_replay_what_kernels_computed():
    losses = {}
    with place_guard("gpu:0"):
        for graph in (False, True):
            step = training_step(graph)
            losses[graph] = [float(step()) for _ in range(6)]
    assert np.allclose(losses[False], losses[True], rtol=1e-4)
