"""Traces: valid in every mode, with lanes, arrows and memory, and figures that agree with what ran."""

from __future__ import annotations

import json
import threading
from collections import defaultdict

import numpy as np
import pytest

import vitrify as paddle
from tests.runtime import graphs
from vitrify.core.config import flags_guard
from vitrify.core.errors import FileFormatError
from vitrify.ops.registry import NoGradient, define_op
from vitrify.profiler import Profiler, export_chrome_tracing, load_profiler_result
from vitrify.profiler.result import overlap, own_times, united

MODES = ["trace", "threads", "streams"]
MEETING = {}


def _meeting_kernel(xp, x, *, tag):
    if MEETING:
        MEETING["barrier"].wait(30)
    return x + tag


meeting = define_op("meeting_for_tests", kernel=_meeting_kernel, meta=lambda x, *, tag: x, vjp=NoGradient("a test"))


def trace_of(work, path, **options):
    """The trace of `work`, as JSON, and the result that it was made of."""
    profiler = Profiler(on_trace_ready=lambda p: p.export(str(path)), profile_memory=True, **options)
    with profiler:
        work()
    return json.loads(path.read_text()), profiler.profiler_result


def complete(trace):
    return [e for e in trace["traceEvents"] if e["ph"] == "X"]


def check(trace):
    """Every event has its fields, those of a lane are nested, and none lies outside of the recording."""
    lanes = defaultdict(list)
    named = {e["tid"] for e in trace["traceEvents"] if e["ph"] == "M" and e["name"] == "thread_name"}
    for event in complete(trace):
        assert event["dur"] >= 0 and event["ts"] >= 0 and event["tid"] in named
        assert event["ts"] + event["dur"] <= trace["duration"] + 1e-3
        lanes[event["pid"], event["tid"]].append((event["ts"], event["ts"] + event["dur"]))
    for events in lanes.values():
        assert events == sorted(events, key=lambda e: (e[0], -e[1]))
        open_ends = []
        outermost = 0.0
        for start, end in events:
            while open_ends and open_ends[-1] <= start + 1e-6:
                open_ends.pop()
            assert not open_ends or end <= open_ends[-1] + 1e-3, "events of a lane are nested, or apart"
            outermost += 0 if open_ends else end - start
            open_ends.append(end)
        assert outermost <= trace["duration"] + 1e-3
    arrows = defaultdict(dict)
    for event in trace["traceEvents"]:
        if event["ph"] in "sf":
            arrows[event["id"]][event["ph"]] = event
    for arrow in arrows.values():
        assert arrow["s"]["ts"] <= arrow["f"]["ts"] and arrow["s"]["tid"] != arrow["f"]["tid"]
        for end in arrow.values():
            assert any(a <= end["ts"] <= b for a, b in lanes[end["pid"], end["tid"]])
    return arrows


def meeting_program(mode):
    """Two operators at once, joined, then two again."""
    main = paddle.static.Program()
    with paddle.static.program_guard(main):
        x = paddle.static.data("x", [64, 64])
        joined = meeting(x, tag=1) + meeting(x, tag=2)
        outputs = [meeting(joined, tag=3), meeting(joined, tag=4)]
    return graphs.core((main, [x], outputs), mode=mode, threads=2)


@pytest.fixture
def met():
    MEETING["barrier"] = threading.Barrier(2)
    yield
    MEETING.clear()


@pytest.mark.parametrize("mode", MODES)
def test_a_program_in_each_mode(mode, tmp_path):
    core = meeting_program(mode)
    x = np.ones((64, 64), "float32")
    core(x)
    trace, result = trace_of(lambda: [core(x) for _ in range(5)], tmp_path / "trace.json")
    check(trace)
    instructions = [e for e in complete(trace) if e["cat"] == "Instruction"]
    assert len(instructions) == 5 * 5
    assert {e["args"]["where"].rpartition(":")[0] for e in instructions} == {__file__}
    assert sum(own_times(result.work)) <= result.duration * len(result.lanes)
    if mode == "trace":
        assert len({e["tid"] for e in instructions}) == 1


@pytest.mark.parametrize("mode", ["threads", "streams"])
def test_lanes_overlap_and_arrows_join_them(mode, tmp_path, met):
    core = meeting_program(mode)
    x = np.ones((64, 64), "float32")
    trace, result = trace_of(lambda: core(x), tmp_path / "trace.json")
    arrows = check(trace)
    both = overlap(result)
    assert 0 < both.several <= both.some <= result.duration
    assert arrows, "the operators that join wait for the other lane"
    lanes = {e["args"]["name"] for e in trace["traceEvents"] if e.get("name") == "thread_name"}
    kinds = {e["cat"] for e in complete(trace)}
    if mode == "threads":
        assert "MainThread" in lanes and any(lane.startswith("vitrify") for lane in lanes)
    else:
        assert {"stream compute0", "stream compute1", "stream d2h"} <= lanes
        assert {"Launch", "Memcpy", "Instruction"} <= kinds


def test_waits_are_seen(tmp_path, met):
    """In a run on threads the one that has nothing to do waits for the queue."""
    core = meeting_program("threads")
    x = np.ones((64, 64), "float32")
    trace, _ = trace_of(lambda: [core(x) for _ in range(20)], tmp_path / "trace.json")
    assert "QueueWait" in {e["cat"] for e in complete(trace)}


def test_waits_of_the_host_for_a_stream_are_seen(tmp_path):
    def f(x):
        return x.reshape([int(x.sum()), 2])

    compiled = paddle.jit.to_static(f, full_graph=True)
    x = paddle.full([4], 0.5)
    compiled(x)
    ((_, program),) = compiled.program_cache.entries()
    core = program.segment.forward_core
    streams = core.variant(type(core.options)(mode="streams"))
    streams(x.numpy())  # the first time each shape is checked, one operator after the other
    trace, _ = trace_of(lambda: streams(x.numpy()), tmp_path / "trace.json")
    check(trace)
    assert "EventWait" in {e["cat"] for e in complete(trace)}


@pytest.mark.parametrize("compiled", [False, True])
def test_training(compiled, tmp_path):
    net = paddle.nn.Sequential(paddle.nn.Linear(16, 64), paddle.nn.ReLU(), paddle.nn.Linear(64, 1))
    forward = paddle.jit.to_static(net) if compiled else net
    optimizer = paddle.optimizer.Adam(parameters=net.parameters())
    x = paddle.randn([32, 16])

    def steps():
        for _ in range(3):
            forward(x).mean().backward()
            optimizer.step()
            optimizer.clear_grad()

    trace, result = trace_of(steps, tmp_path / "trace.json")
    assert not check(trace)
    wanted = {"Forward", "Backward", "Optimization", "Operator", "Kernel", "ProfileStep"}
    assert wanted <= {e["cat"] for e in complete(trace)}
    counters = [e for e in trace["traceEvents"] if e["ph"] == "C"]
    assert [e["ts"] for e in counters] == sorted(e["ts"] for e in counters)
    assert min(e["args"]["bytes in use"] for e in counters) >= 0
    assert max(e["args"]["bytes in use"] for e in counters) >= 32 * 64 * 4
    assert united(result.work) == sorted(united(result.work))


def test_a_trace_is_read_back(tmp_path, capsys):
    path = tmp_path / "folder" / "trace.json"
    path.parent.mkdir()
    _, result = trace_of(lambda: paddle.ones([3]).tanh(), path, record_shapes=True)
    loaded = load_profiler_result(path)
    assert [(e.kind, e.name, e.end - e.start) for e in loaded.events] == [
        (e.kind, e.name, e.end - e.start) for e in result.events
    ]
    assert loaded.duration == result.duration
    assert [s[1:] for s in loaded.samples] == [s[1:] for s in result.samples]


@pytest.mark.parametrize("text", ["", "no json", "[1]", '{"traceEvents": []}'])
def test_other_files_are_refused(text, tmp_path):
    path = tmp_path / "other.json"
    path.write_text(text)
    with pytest.raises(FileFormatError, match="no trace"):
        load_profiler_result(path)


def test_each_trace_gets_a_file(tmp_path):
    with Profiler(on_trace_ready=export_chrome_tracing(str(tmp_path / "log"), "worker")):
        paddle.ones([2])
    (path,) = (tmp_path / "log").iterdir()
    assert path.name.startswith("worker_time_") and path.name.endswith(".paddle_trace.json")
    check(json.loads(path.read_text()))


def test_other_formats_are_refused(tmp_path):
    with Profiler(on_trace_ready=lambda _: None) as profiler:
        paddle.ones([2])
    with pytest.raises(ValueError, match="format is 'json'"):
        profiler.export(str(tmp_path / "trace.pb"), format="pb")


def test_under_benchmark_instructions_of_streams_do_not_overlap(tmp_path):
    core = meeting_program("streams")
    x = np.ones((64, 64), "float32")
    with flags_guard({"FLAGS_benchmark": True}):
        _, result = trace_of(lambda: core(x), tmp_path / "trace.json")
    assert overlap(result).several == 0
