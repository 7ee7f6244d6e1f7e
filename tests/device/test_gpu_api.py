"""`paddle.device`: streams, events, graphs and what is known of devices; on the CPU, clear errors."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

import vitrify as paddle
from tests.device import fake_cupy
from vitrify.core.errors import ArgumentError
from vitrify.core.place import place_guard
from vitrify.device import available as d
from vitrify.device import gpu_streams as s
from vitrify.device.gpu_graph import CUDAGraph, is_cuda_graph_supported
from vitrify.device.graphs import GraphCaptureError


@pytest.fixture
def gpu():
    with fake_cupy.installed() as module, place_guard("gpu:0"):
        yield module


def test_what_the_cpu_says():
    assert d.device_count() == 0 and not d.is_available() and not d.is_bf16_supported()
    assert d.get_available_device() == d.get_all_device_type() == d.get_available_custom_device() == []
    assert d.get_all_custom_device_type() == [] and d.get_cudnn_version() is None
    flags = (d.is_compiled_with_rocm, d.is_compiled_with_xpu, d.is_compiled_with_ipu, d.is_compiled_with_cinn)
    assert not any(flag() for flag in flags) and not d.is_compiled_with_custom_device("npu")
    assert not s.is_current_stream_capturing() and not is_cuda_graph_supported()
    with s.stream_guard(None), d.device_guard("cpu"):
        assert paddle.get_device() == "cpu"


@pytest.mark.parametrize(
    "call", [s.Stream, s.Event, s.current_stream, s.synchronize, d.get_device_properties, d.get_device_name, CUDAGraph]
)
@pytest.mark.parametrize("kind", [ValueError, RuntimeError, TypeError])
def test_what_only_a_gpu_has_is_refused(call, kind):
    with pytest.raises(kind, match="device should be a gpu"):
        call()


def test_names_are_where_paddle_has_them():
    assert paddle.device.Stream is paddle.device.cuda.Stream is s.Stream
    assert paddle.device.cuda.graphs.CUDAGraph is CUDAGraph and paddle.device.cuda.device_count() == 0
    assert paddle.device.get_device() == "cpu" and paddle.device.max_memory_allocated


def test_signatures_are_those_of_paddle():
    wanted = {
        s.Stream: "(device=None, priority=2, stream_base=None)",
        s.Event: "(enable_timing=False, blocking=False, interprocess=False)",
        s.Event.elapsed_time: "(self, end_event)",
        s.Stream.record_event: "(self, event=None)",
        CUDAGraph: "(place=None, mode='thread_local', pool_id=None)",
        CUDAGraph.print_to_dot_files: "(self, dirname, flags=None)",
        d.get_device_properties: "(device=None)",
    }
    for fn, text in wanted.items():
        bare = [p.replace(annotation=p.empty) for p in inspect.signature(fn).parameters.values()]
        assert str(inspect.Signature(bare)) == text


def test_streams_and_events(gpu):
    first, second = s.Stream(), s.Stream("gpu:0", priority=1)
    assert second.stream_base.priority == -1 and first != second and first.query() and hash(first) != hash(second)
    first.wait_stream(second)
    before = s.current_stream()
    with s.stream_guard(first):
        assert s.current_stream() == first
        event = s.Event(enable_timing=True)
        event.record()
        assert event.event_base.stream is first.stream_base and event.query()
    assert s.current_stream() == before
    assert event.elapsed_time(first.record_event(s.Event(enable_timing=True))) >= 0
    assert s.set_stream(second) == before and s.set_stream(before) == second
    for thing in (event, first):
        thing.synchronize()
    s.synchronize()
    assert [e[0] for e in fake_cupy.LOG].count("synchronize") == 3
    with pytest.raises(ArgumentError, match="priority is 1"):
        s.Stream(priority=7)
    fake_cupy.state.streams.clear()


def test_what_is_known_of_gpus(gpu):
    assert d.device_count() == 2 and d.is_available() and d.is_bf16_supported()
    assert d.get_device_name() == "Fake GPU" and d.get_device_capability(1) == (9, 0)
    assert d.get_device_properties("gpu:0").multi_processor_count == 132
    assert d.get_available_device() == ["gpu:0", "gpu:1"] and d.get_all_device_type() == ["gpu"]
    with d.device_guard(1):
        assert paddle.get_device() == "gpu:1"
    with pytest.raises(ArgumentError, match="there are 2 GPUs"):
        d.get_device_properties(5)


def test_eager_code_as_a_graph(gpu, tmp_path):
    x = paddle.ones([3])
    graph = CUDAGraph()
    for wrong in (graph.replay, graph.capture_end):
        with pytest.raises(GraphCaptureError):
            wrong()
    graph.capture_begin()
    with pytest.raises(GraphCaptureError, match="capturing already"):
        graph.capture_begin()
    assert s.is_current_stream_capturing()
    y = paddle.tanh(x) * 2
    graph.capture_end()
    for value in (1.0, 2.0):
        x._data._host[...] = value
        graph.replay()
        assert np.allclose(y.numpy(), 2 * np.tanh(value))
    graph.print_to_dot_files(tmp_path / "dot")
    assert (tmp_path / "dot" / "graph_0.dot").read_text().startswith("digraph")
    graph.reset()
    with pytest.raises(GraphCaptureError, match="nothing is captured"):
        graph.replay()
    with pytest.raises(ArgumentError, match="mode is one of"):
        CUDAGraph(mode="none")


def test_a_capture_that_waits_is_refused(gpu):
    graph = CUDAGraph(mode="relaxed")
    graph.capture_begin()
    with pytest.raises(fake_cupy.CUDARuntimeError):
        paddle.ones([2]).sum().item()
    with pytest.raises(GraphCaptureError, match="CUDA refused"):
        graph.capture_end()
    assert not s.is_current_stream_capturing()


def test_streams_that_joined_a_capture_leave_it_at_its_end(gpu):
    a, b = s.Stream(), s.Stream()
    a.stream_base.begin_capture()
    b.wait_stream(a)
    assert b.stream_base.is_capturing()
    a.stream_base.end_capture()
    s.current_stream().wait_stream(b)
    assert not b.stream_base.is_capturing() and not s.is_current_stream_capturing()


def test_random_numbers_are_refused_in_a_graph(gpu):
    """A replay would draw the same ones: the place in the generator's stream is the host's."""
    x = paddle.ones([3])
    graph = CUDAGraph()
    graph.capture_begin()
    y = paddle.nn.functional.dropout(x, 0.5)
    with pytest.raises(GraphCaptureError, match=r"copies from the memory of the host.*random numbers"):
        graph.capture_end()
    assert y.shape == [3]
    with pytest.raises(GraphCaptureError, match="nothing is captured"):
        graph.replay()
