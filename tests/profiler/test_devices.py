"""Traces of GPUs, with a stand-in for CuPy: lanes of streams whose times the device tells."""

from __future__ import annotations

import json

import numpy as np
import pytest

import vitrify as paddle
from tests.device import fake_cupy
from tests.profiler.test_trace import check, complete
from vitrify.core.config import flags_guard
from vitrify.core.place import CUDAPlace
from vitrify.device import cuda_streams
from vitrify.profiler import Profiler
from vitrify.profiler.result import overlap
from vitrify.runtime.lowering import lower
from vitrify.runtime.options import ExecutionOptions

X = np.ones((8, 8), "float32")


@pytest.fixture(autouse=True)
def _no_gpu(monkeypatch):
    monkeypatch.setattr(cuda_streams, "_current", cuda_streams._Current())
    with fake_cupy.installed():
        yield


def branches():
    """Two chains that are joined, on the streams of a GPU."""
    main = paddle.static.Program()
    with paddle.static.program_guard(main):
        x = paddle.static.data("x", [8, 8])
        a, b = paddle.tanh(paddle.matmul(x, x)), paddle.tanh(paddle.matmul(x, x) + 1)
        out = (a + b).sum()
    options = ExecutionOptions(mode="streams")
    return lower(main.global_block(), [x], [out], place=CUDAPlace(0), options=options, label="on the GPU")


def test_the_streams_of_a_gpu_are_lanes(tmp_path, capsys):
    core, path = branches(), tmp_path / "trace.json"
    core(X)
    with Profiler(on_trace_ready=lambda p: p.export(str(path)), profile_memory=True, record_shapes=True) as profiler:
        for _ in range(3):
            core(X)
    trace = json.loads(path.read_text())
    assert check(trace), "arrows lead from stream to stream"
    names = {e["tid"]: e["args"]["name"] for e in trace["traceEvents"] if e.get("name") == "thread_name"}
    lanes = {}
    for event in complete(trace):
        lanes.setdefault(event["cat"], set()).add(names[event["tid"]])
    assert lanes["Instruction"] == {"stream compute0", "stream compute1"}
    assert lanes["Memcpy"] == {"stream h2d"}
    assert lanes["Launch"] == lanes["Program"] == {"MainThread"}
    assert len([e for e in complete(trace) if e["cat"] == "Instruction"]) == 3 * len(core.instructions)
    assert overlap(profiler.profiler_result).some > 0
    profiler.summary()
    assert "stream compute1" in capsys.readouterr().out


def test_without_a_profiler_no_event_takes_times():
    core = branches()
    core(X)
    fake_cupy.LOG.clear()
    core(X)
    plain = len([e for e in fake_cupy.LOG if e[0] == "record"])
    with Profiler(on_trace_ready=lambda _: None):
        fake_cupy.LOG.clear()
        core(X)
    assert len([e for e in fake_cupy.LOG if e[0] == "record"]) >= plain + 2 * len(core.instructions)


def test_benchmark_waits_behind_each_launch():
    core = branches()
    core(X)
    with flags_guard({"FLAGS_benchmark": True}):
        fake_cupy.LOG.clear()
        core(X)
    assert len([e for e in fake_cupy.LOG if e[0] == "synchronize"]) >= len(core.instructions)
    assert str(core).count("1 x ") == len(core.instructions)
