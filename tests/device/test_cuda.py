"""GPUs by CuPy, with a stand-in for CuPy: what is queued where, what waits for what, and that nothing gets lost."""

from __future__ import annotations

import re
import weakref

import numpy as np
import pytest

import vitrify as paddle
from benchmarks import gpu
from tests.device import fake_cupy
from tests.device.fake_cupy import LOG
from tests.gpu import test_device as on_gpus
from tests.ops.test_cases import CASES
from tests.runtime import graphs
from vitrify import static
from vitrify.core.config import flags_guard
from vitrify.core.errors import HangError, VitrifyError
from vitrify.core.place import CUDAPlace, place_guard
from vitrify.device import cuda_streams
from vitrify.device.cuda_streams import CALLER, CudaStreams
from vitrify.device.stream_device import in_use
from vitrify.runtime.lowering import lower
from vitrify.runtime.on_streams import stream_plan
from vitrify.runtime.options import ExecutionOptions
from vitrify.runtime.streams import D2H, H2D, Stream
from vitrify.testing.paths import Call, metas_of, record, tensors_of

GPU = CUDAPlace(0)


@pytest.fixture(autouse=True)
def cupy(monkeypatch):
    monkeypatch.setattr(cuda_streams, "_current", cuda_streams._Current())
    with fake_cupy.installed() as module:
        yield module


def kinds():
    return [entry[0] for entry in LOG if entry[0] != "kernel"]


# -- the device ------------------------------------------------------------------------------------------------------


def test_copies_pass_through_pinned_memory_on_streams_of_their_own(cupy):
    device = CudaStreams()
    x = device.put(Stream(H2D), np.arange(6, dtype="float32").reshape(2, 3).T)
    assert kinds() == ["pinned", "h2d", "record"] and x.shape == (3, 2)
    h2d = next(e[1] for e in LOG if e[0] == "h2d")
    assert h2d.non_blocking and h2d.priority == -1 and len(device._staging._busy) == 1
    LOG.clear()
    landing = device.take(Stream(D2H), x)
    assert next(e for e in LOG if e[0] == "d2h")[2] is False  # does not block the host
    device.synchronize(device.record(Stream(D2H)))
    assert device.read(landing).tolist() == [[0, 3], [1, 4], [2, 5]]
    assert device.put(Stream(H2D), x) is x and device.put(Stream(H2D), None) is None
    assert device.read(device.put(Stream(H2D), np.float32(2.5))).tolist() == 2.5
    assert [v.tolist() for v in device.read(device.take(Stream(D2H), [x, None])[:1])] == [[[0, 3], [1, 4], [2, 5]]]
    assert device.read([x])[0].shape == (3, 2) and device.put(Stream(H2D), [np.ones(2)])[0].shape == (2,)
    assert device.take(Stream(D2H), np.ones(1)).tolist() == [1] and device.read("text") == "text"


def test_an_array_of_another_gpu_is_copied(cupy):
    x = CudaStreams(1).put(Stream(H2D), np.ones(2))
    assert x.device.id == 1 and CudaStreams(0).put(Stream(H2D), x).device.id == 0


def test_kernels_run_under_their_stream_and_what_is_an_input_is_copied(cupy):
    device = CudaStreams()
    x = device.put(Stream(H2D), np.ones(4, "float32"))
    LOG.clear()
    (same,) = device.launch(Stream(), lambda v: (v,), [x], 1, False, None)
    (part,) = device.launch(Stream(), lambda v: (v[1:],), [x], 1, False, None)
    (view,) = device.launch(Stream(), lambda v: (v[1:],), [x], 1, True, None)
    assert same is not x and not np.may_share_memory(part._host, x._host)
    assert np.may_share_memory(view._host, x._host)
    assert {e[2] for e in LOG if e[0] == "kernel"} == {device.stream(Stream())}
    (out,) = device.launch(Stream(), lambda a, out: (cupy.add(a, a, out=out),), [x], 1, False, 0)
    assert out is x or out._host is x._host
    assert x._host.tolist() == [2, 2, 2, 2]


def test_events_tie_streams_without_the_host(cupy):
    device = CudaStreams()
    event = device.record(Stream())
    device.wait(Stream(H2D), event)
    assert kinds() == ["record", "wait"] and not event.timing and device.passed(event)
    assert device.stream(CALLER) is fake_cupy.Stream.null
    device.check()
    device.free(None)
    device.finish()
    assert kinds().count("synchronize") == 2


def test_a_stream_that_hangs_is_reported(cupy):
    core = gpu_core(branches(4), mode="streams")
    x = on_gpu(graphs.arrays(0, 4)[:1])
    (wanted,) = core(*x)
    device = cuda_streams.cuda_streams(0)
    device.stream(Stream()).hangs = True
    core(*x)  # nobody waits yet
    with flags_guard({"hang_seconds": 0.01}), pytest.raises(HangError) as caught:
        device.finish()
    report = str(caught.value)
    assert "nothing has ended for 0.01 s\n  the caller waits for stream compute0" in report
    assert re.search(r"  stream compute0 is not past .* = (matmul|add)\(.*\), at .*test_cuda\.py:\d+, \d more", report)
    assert re.search(r"  stream compute1 is idle", report)
    assert not device.abandon(0.0)
    assert cuda_streams.cuda_streams(0) is not device, "what hangs is left to itself"
    np.testing.assert_array_equal(core(*x)[0].get(), wanted.get())


def test_an_interrupted_wait_for_a_stream_that_hangs_ends(cupy):
    device = cuda_streams.cuda_streams(0)
    device.stream(Stream()).hangs = True
    with pytest.raises(HangError), flags_guard({"hang_seconds": 0.01}), in_use(device):
        device.launch(Stream(), lambda: (cupy.ones(1),), [], 1, False, None)
        device.synchronize(device.record(Stream()))
    assert cuda_streams.cuda_streams(0) is not device


def test_events_that_have_passed_keep_no_programs(cupy):
    device = cuda_streams.cuda_streams(0)
    kernel = lambda: (cupy.ones(1),)  # noqa: E731 - a weak reference needs a function of its own
    with in_use(device):
        device.launch(Stream(), kernel, [], 1, False, None)
        device.record(Stream())
    alive = weakref.ref(kernel)
    del kernel
    assert alive() is None


def test_a_thread_keeps_its_streams(cupy):
    assert cuda_streams.cuda_streams(0) is cuda_streams.cuda_streams(0)
    assert cuda_streams.cuda_streams(1) is not cuda_streams.cuda_streams(0)


# -- programs --------------------------------------------------------------------------------------------------------


def gpu_core(made, **options):
    main, inputs, outputs = made
    return lower(main.global_block(), inputs, outputs, place=GPU, options=ExecutionOptions(**options))


def drawless(count=24):
    """A random program without random numbers."""
    made = (graphs.program(seed, count) for seed in range(100))
    return next(m for m in made if not any(op.op.random for op in m[0].global_block().ops))


def branches(size):
    main = static.Program()
    with static.program_guard(main, static.Program()):
        x = static.data("x", [size, size])
        out = paddle.matmul(x, x) + paddle.matmul(paddle.matmul(x, x.T), x)
    return main, [x], [out]


def on_gpu(arrays):
    return [fake_cupy.cupy.asarray(a) for a in arrays]


@pytest.mark.parametrize("mode", ["trace", "streams"])
def test_random_programs_give_the_same_bits(mode, monkeypatch):
    monkeypatch.setattr("vitrify.runtime.inplace.LEAST_BYTES", 0)
    for seed in range(30):
        given, made = graphs.arrays(seed), graphs.program(seed)
        paddle.seed(seed)
        wanted = graphs.core(made, serial=True, inplace=False)(*given)
        core = gpu_core(made, mode=mode)
        for arrays in (given, on_gpu(given), [given[0], *on_gpu(given[1:])]):
            paddle.seed(seed)
            got = core(*arrays)
            assert all(isinstance(v, fake_cupy.ndarray) for v in got)
            assert [v._host.tobytes() for v in got] == [v.tobytes() for v in wanted], seed


def test_what_is_on_the_device_is_not_copied_and_the_host_does_not_wait():
    core = gpu_core(drawless(), mode="streams")
    given = on_gpu(graphs.arrays(1))
    core(*given)
    LOG.clear()
    core(*given)
    assert not {"h2d", "d2h", "synchronize", "item"} & {*kinds()}
    assert LOG[0][0] == "record" and LOG[0][1] is fake_cupy.Stream.null  # behind what the caller has queued
    waits = [e for e in LOG if e[0] == "wait" and e[1] is fake_cupy.Stream.null]
    assert len(waits) == len(stream_plan(core, ()).schedule.streams)  # the caller goes on behind all of them


def test_host_arrays_are_copied_on_the_copy_stream():
    core = gpu_core(drawless(), mode="streams")
    core(*graphs.arrays(1))
    device = cuda_streams.cuda_streams(0)
    copies = [e[1] for e in LOG if e[0] == "h2d" and e[1].ptr]
    assert len(copies) == 3 and {*copies} == {device.stream(Stream(H2D))}
    assert [len(fed) for fed, _ in core.plans] == [3]


def test_an_error_waits_for_the_device_and_the_next_run_works():
    def build(x, i):
        return paddle.gather(x, i) * 2

    main = static.Program()
    with static.program_guard(main, static.Program()):
        x, i = static.data("x", [3]), static.data("i", [1], "int64")
        out = build(x, i)
    core = lower(main.global_block(), [x, i], [out], place=GPU, options=ExecutionOptions(mode="streams"))
    x = np.arange(3, dtype="float32")
    LOG.clear()
    with pytest.raises(Exception, match="gather"):
        core(x, np.array([7]))
    assert "synchronize" in kinds()
    assert core(x, np.array([2]))[0]._host.tolist() == [4]


def test_the_mode_is_chosen_by_the_work():
    assert "too little work" in gpu_core(graphs.program(1)).choice.reason
    assert "threads were asked for" in gpu_core(graphs.program(1), mode="threads").choice.reason
    wide = gpu_core(branches(1024))
    assert wide.choice.mode == "streams" and "of the work" in wide.choice.reason
    assert gpu_core(graphs.program(1), serial=True).choice.mode == "trace"


# -- functions and executors -----------------------------------------------------------------------------------------


def test_a_static_function_stays_on_the_device():
    def f(x, w):
        y = paddle.tanh(x @ w)
        if y.sum() > 0:
            y = y * 2
        return y

    fn = paddle.jit.to_static(f, full_graph=True)
    values = np.linspace(-1, 2, 16).reshape(4, 4).astype("float32")
    results = {}
    for place in ("cpu", "gpu:0", "cpu"):
        x, w = (paddle.to_tensor(values, place=place, stop_gradient=False) for _ in range(2))
        for _ in range(2):
            LOG.clear()
            out = fn(x, w)
            copied = [e for e in LOG if e[0] in ("h2d", "d2h")]
        out.sum().backward()
        assert str(out.place) == str(x.place) == str(w.grad.place)
        results[place] = [out.numpy(), x.grad.numpy(), w.grad.numpy()]
        assert len(copied) == (place == "gpu:0")  # the condition
    for a, b in zip(results["cpu"], results["gpu:0"]):
        assert np.allclose(a, b)
    assert "memcpy_d2h" in "".join(str(p.segment.forward_core) for p in fn.program_cache.programs())


def test_an_executor_runs_at_its_place():
    main, startup = static.Program(), static.Program()
    with static.program_guard(main, startup):
        x = static.data("x", [None, 3])
        w = static.create_parameter([3, 2], "float32", name="w_on_gpu")
        y = paddle.matmul(x, w).sum()
    exe, scope = static.Executor(GPU), static.Scope()
    exe.run(startup, scope=scope)
    assert scope.find_var("w_on_gpu").get_tensor()._place() == GPU
    feed = {"x": np.ones((2, 3), "float32")}
    (found,) = exe.run(main, feed, [y], scope=scope)
    weights = scope.find_var("w_on_gpu").get_tensor().numpy()
    assert isinstance(found, np.ndarray) and np.allclose(found, 2 * weights.sum())
    (kept,) = exe.run(main, feed, [y], scope=scope, return_numpy=False)
    assert kept.place == GPU


def test_prints_and_callbacks_get_arrays_of_the_host(capsys):
    def f(x):
        print("sum", x.sum())
        y = paddle.jit.host_callback(np.square, x, out=paddle.static.InputSpec([2], "float32"))
        return y + 1

    fn = paddle.jit.to_static(f, full_graph=True)
    with place_guard("gpu:0"):
        x = paddle.to_tensor([1.0, 2.0])
        for _ in range(2):
            assert fn(x).tolist() == [2, 5]
    text = str(fn.program_cache.last().segment.forward_core)
    assert "memcpy_d2h" in text and "memcpy_h2d" in text
    assert capsys.readouterr().out.count("sum") == 2


# -- the table of ops ------------------------------------------------------------------------------------------------


def outputs_and_gradients(call, place):
    with place_guard(place):
        paddle.seed(7)
        given = [paddle.to_tensor(a, stop_gradient=a.dtype.kind not in "fc") for a in call.arrays]
        outs = tensors_of(call.on(given))
        assert all(o.place == paddle.CPUPlace() if place == "cpu" else o.place == GPU for o in outs)
        for out in outs if call.case.grad else ():
            if not out.stop_gradient:
                (out * out).sum().backward(retain_graph=True)
        return [v if v is None else v.numpy() for v in (*outs, *(t.grad for t in given))]


@pytest.mark.slow
def test_every_case_of_the_op_table_gives_the_same_with_the_names_that_cupy_has():
    for case in CASES:
        call = Call(case)
        try:
            wanted = outputs_and_gradients(call, "cpu")
        except VitrifyError:
            continue  # it changes what it is given, which wants a gradient here
        for a, b in zip(wanted, outputs_and_gradients(call, "gpu:0")):
            assert (a is None) == (b is None), case
            assert a is None or (a.dtype == b.dtype and np.allclose(a, b, 1e-6, 1e-8, equal_nan=True)), case


@pytest.mark.slow
def test_every_case_as_a_program():
    for case in [c for c in CASES if c.static]:
        call = Call(case)
        recorded = record(call.on, metas_of(call.arrays))
        block = recorded.program.global_block()
        paddle.seed(7)
        wanted = lower(block, recorded.inputs, recorded.outputs)(*call.arrays)
        for mode in ("trace", "streams"):
            core = lower(block, recorded.inputs, recorded.outputs, place=GPU, options=ExecutionOptions(mode=mode))
            paddle.seed(7)
            got = core(*call.arrays)
            for a, b in zip(wanted, got):
                assert np.allclose(a, b._host, 1e-6, 1e-8, equal_nan=True), (case, mode)


# -- what measures and tests real GPUs -------------------------------------------------------------------------------


def test_the_benchmark_runs(capsys, monkeypatch):
    monkeypatch.setattr(gpu, "SIZE", 8)
    assert gpu.main(["--seconds", "0"]) == 0
    out = capsys.readouterr().out
    assert "Fake GPU" in out and "both at once" in out and "as CUDA graphs" in out


def test_the_benchmark_says_that_there_is_no_gpu(capsys, monkeypatch):
    monkeypatch.setattr(gpu, "is_compiled_with_cuda", lambda: False)
    assert gpu.main([]) == 0
    assert capsys.readouterr().out == "no GPU: CuPy is not installed, or sees no device\n"


RUNS = [
    (on_gpus.test_lenet_trains_as_on_the_cpu, (False,)),
    (on_gpus.test_lenet_trains_as_on_the_cpu, (True,)),
    pytest.param(on_gpus.test_random_programs, ("streams",), marks=pytest.mark.slow),
    pytest.param(on_gpus.test_branches_and_loops, (), marks=pytest.mark.slow),
    (on_gpus.test_graphs_replay_what_kernels_computed, ()),
]


@pytest.mark.parametrize(("test", "arguments"), RUNS)
def test_the_tests_of_gpus_run(test, arguments):
    test(*arguments)
