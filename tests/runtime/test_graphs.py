"""Programs as graphs of the device: what is captured, what is refused and why, and that replays follow inputs."""

from __future__ import annotations

import numpy as np
import pytest

import vitrify as paddle
from tests.device import fake_cupy
from tests.runtime import graphs
from vitrify import static
from vitrify.core.place import CUDAPlace, SimulatedPlace, place_guard
from vitrify.device import cuda_streams
from vitrify.device.graphs import GraphCaptureError
from vitrify.device.simulated import SimulatedDevice
from vitrify.ops.registry import NoGradient, define_op
from vitrify.runtime import interpreter, on_streams
from vitrify.runtime.lowering import lower
from vitrify.runtime.options import ExecutionOptions

curious = define_op(
    "curious_for_tests", kernel=lambda xp, x: x * (2 if bool(x.sum() > 0) else 3), meta=lambda x: x,
    vjp=NoGradient("a test"),
)  # fmt: skip
uploads = define_op(
    "uploads_for_tests", kernel=lambda xp, x: x + xp.asarray([1.0, 2.0, 3.0], dtype="float32"), meta=lambda x: x,
    vjp=NoGradient("a test"),
)  # fmt: skip


@pytest.fixture
def cupy(monkeypatch):
    monkeypatch.setattr(cuda_streams, "_current", cuda_streams._Current())
    with fake_cupy.installed() as module:
        yield module


def core_of(build, shapes, place, **options):
    main = static.Program()
    with static.program_guard(main, static.Program()):
        inputs = [static.data(f"x{i}", shape) for i, shape in enumerate(shapes)]
        outputs = build(*inputs)
    outputs = list(outputs) if isinstance(outputs, (list, tuple)) else [outputs]
    return lower(main.global_block(), inputs, outputs, place=place, options=ExecutionOptions(**options))


def two_branches(x, y):
    return paddle.tanh(x) @ y + paddle.sin(y) @ x, x


def values(seed, *shapes):
    made = np.random.default_rng(seed)
    return [made.standard_normal(shape).astype("float32") for shape in shapes]


# -- the simulated device --------------------------------------------------------------------------------------------


@pytest.fixture
def device(monkeypatch):
    found = SimulatedDevice(5)
    monkeypatch.setattr(on_streams, "device_at", lambda place: found)
    monkeypatch.setattr(interpreter, "graph_device_at", lambda place: found)
    return found


def test_replays_follow_their_inputs(device):
    core = core_of(two_branches, [[4, 4], [4, 4]], SimulatedPlace(5), graph="force")
    plain = core_of(two_branches, [[4, 4], [4, 4]], paddle.CPUPlace(), serial=True)
    launched = []
    launch = device.launch_graph
    device.launch_graph = lambda *args: launched.append(args) or launch(*args)
    for seed in range(6):
        given = values(seed, (4, 4), (4, 4))
        kept = [g.copy() for g in given]
        for a, b in zip(core(*given), plain(*given)):
            assert a.tobytes() == b.tobytes()
        assert all((a == b).all() for a, b in zip(given, kept))
    device.finish()
    assert len(launched) == 5  # all but the first
    assert "as a graph from the second run on" in str(core)


def test_random_programs_as_graphs(device):
    tried = 0
    for seed in range(40):
        made = graphs.program(seed, 10)
        if any(op.op.random for op in made[0].global_block().ops):
            continue
        tried += 1
        main, inputs, outputs = made
        core = lower(
            main.global_block(), inputs, outputs, place=SimulatedPlace(), options=ExecutionOptions(graph="force")
        )
        for again in range(3):
            given = graphs.arrays(seed + again)
            wanted = graphs.core(made, serial=True)(*given)
            assert [a.tobytes() for a in core(*given)] == [a.tobytes() for a in wanted], seed
    device.finish()
    assert tried > 5


@pytest.mark.parametrize("what", ["put", "take", "synchronize", "passed"])
def test_the_host_keeps_out_of_a_capture(device, what):
    event, x = device.record("a"), device.put("a", np.ones(2))
    device.begin_capture("a")
    given = {"put": ("a", np.ones(2)), "take": ("a", x), "synchronize": (event,), "passed": (event,)}
    with pytest.raises(GraphCaptureError, match="while a graph is captured"):
        getattr(device, what)(*given[what])
    with pytest.raises(GraphCaptureError):
        device.end_capture("a")
    device.finish()


def test_a_stream_that_nobody_waited_for_is_missed(device):
    x = device.put("a", np.ones(2))
    device.begin_capture("a")
    device.wait("b", device.record("a"))
    device.launch("b", lambda v: (v + 1,), [x], 1, False, None)
    with pytest.raises(GraphCaptureError, match="before b was waited for"):
        device.end_capture("a")


# -- what is refused -------------------------------------------------------------------------------------------------


def called_back(x):
    return paddle.jit.host_callback(np.sin, x, out=static.InputSpec([3], "float32"))


REFUSED = {
    "draws random numbers": (lambda x: x + paddle.rand([3]), [[3]]),
    "on the host": (called_back, [[3]]),
    "may vary": (lambda x: x + 1, [[None]]),
    "depends on values": (paddle.nonzero, [[3]]),
}  # fmt: skip


@pytest.mark.parametrize("why", REFUSED)
def test_what_cannot_be_captured_says_so(why):
    build, shapes = REFUSED[why]
    with pytest.raises(GraphCaptureError, match=why):
        core_of(build, shapes, SimulatedPlace(), graph="force")
    core = core_of(build, shapes, SimulatedPlace(), graph="allow")
    assert core.graphs is None and why in core.choice.reason and "no graph" in core.choice.reason


def test_control_flow_is_refused_with_its_line():
    def f(x):
        if x.sum() > 0:
            x = x + 1
        return x

    strategy = static.BuildStrategy()
    strategy.allow_cuda_graph_capture = True
    fn = paddle.jit.to_static(f, full_graph=True, build_strategy=strategy)
    with place_guard("simulated:1"):
        assert fn(paddle.ones([2])).tolist() == [2, 2]
    reason = fn.program_cache.last().segment.forward_core.choice.reason
    assert "no graph" in reason and "test_graphs.py" in reason


def test_the_cpu_has_no_graphs():
    with pytest.raises(GraphCaptureError, match="the CPU has no graphs"):
        core_of(lambda x: x + 1, [[2]], paddle.CPUPlace(), graph="force")
    assert "graph" not in core_of(lambda x: x + 1, [[2]], paddle.CPUPlace(), graph="allow").choice.reason


# -- CuPy ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["trace", "streams"])
def test_cuda_graphs_replay(cupy, mode):
    core = core_of(two_branches, [[4, 4], [4, 4]], CUDAPlace(0), graph="force", mode=mode)
    plain = core_of(two_branches, [[4, 4], [4, 4]], paddle.CPUPlace(), serial=True)
    before = None
    for seed in range(5):
        given = values(seed, (4, 4), (4, 4))
        fake_cupy.LOG.clear()
        arrays = given if seed % 2 else [cupy.asarray(g) for g in given]
        got, wanted = core(*arrays), plain(*given)
        assert [a._host.tobytes() for a in got] == [b.tobytes() for b in wanted]
        if before is not None:
            assert [a._host.tobytes() for a in before[0]] == [b.tobytes() for b in before[1]]  # nobody wrote into it
        before = got, wanted
        kinds = [entry[0] for entry in fake_cupy.LOG]
        assert kinds.count("graph") == (seed > 0) and kinds.count("begin_capture") == (seed == 1)
        assert "synchronize" not in kinds


@pytest.mark.parametrize("op", [curious, uploads])
@pytest.mark.parametrize("mode", ["trace", "streams"])
def test_what_the_device_refuses_runs_as_ever(cupy, op, mode):
    build = lambda x: op(x) + 1  # noqa: E731
    core = core_of(build, [[3]], CUDAPlace(0), graph="allow", mode=mode)
    plain = core_of(build, [[3]], paddle.CPUPlace())
    for seed in range(4):
        (given,) = values(seed, (3,))
        assert core(given)[0]._host.tobytes() == plain(given)[0].tobytes()
    assert core.graphs.refused and "no graph after all" in str(core)
    forced = core_of(build, [[3]], CUDAPlace(0), graph="force", mode=mode)
    forced(given)
    with pytest.raises(GraphCaptureError, match="cannot be captured"):
        forced(given)


def test_a_training_step_by_graphs(cupy):
    strategy = static.BuildStrategy()
    strategy.allow_cuda_graph_capture = True

    def loss(x, w):
        return ((paddle.tanh(x @ w)) ** 2).mean()

    fn = paddle.jit.to_static(loss, full_graph=True, build_strategy=strategy)
    results = []
    for place in ("cpu", "gpu:0"):
        w = paddle.to_tensor(values(1, (3, 2))[0], place=place, stop_gradient=False)
        for seed in range(5):
            x = paddle.to_tensor(values(seed, (4, 3))[0], place=place)
            out = fn(x, w)
            out.backward()
            w = (w - 0.1 * w.grad).detach()
            w.stop_gradient = False
        results.append(w.numpy())
    assert np.allclose(*results)
    segment = fn.program_cache.last().segment
    assert segment.forward_core.graphs and segment.backward_core.graphs
    assert not segment.forward_core.graphs.refused
