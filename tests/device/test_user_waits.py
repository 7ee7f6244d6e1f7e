"""`synchronize()` of an event, a stream or a GPU ends, with a report, though the device hangs."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from tests.device import fake_cupy
from vitrify.core.config import flags_guard
from vitrify.core.errors import HangError
from vitrify.core.place import place_guard
from vitrify.device import gpu_streams as s
from vitrify.device.cuda_streams import cuda_streams
from vitrify.runtime.streams import Stream


@pytest.fixture
def gpu():
    with fake_cupy.installed() as module, place_guard("gpu:0"):
        yield module


@pytest.fixture
def impatient(gpu):
    with flags_guard({"hang_seconds": 0.02}):
        yield gpu


def hanging(stream):
    stream.stream_base.hangs = True
    return stream


def test_an_event_that_never_passes(impatient):
    event = hanging(s.Stream()).record_event()
    with pytest.raises(HangError, match=r"nothing has ended for 0.02 s\n  the caller waits for an event"):
        event.synchronize()


def test_a_stream_that_never_ends(impatient):
    with pytest.raises(HangError, match=r"the caller waits for stream 0x[0-9a-f]+"):
        hanging(s.Stream()).synchronize()


def test_a_device_that_never_ends(gpu):
    fake_cupy.DEVICES_END.clear()
    try:
        with flags_guard({"hang_seconds": 0.02}), pytest.raises(HangError, match="the caller waits for all of gpu:0"):
            s.synchronize()
    finally:
        fake_cupy.DEVICES_END.set()
    s.synchronize()


def test_the_report_names_what_each_thread_is_not_past(impatient):
    device = cuda_streams(0)
    device.stream(Stream("compute")).hangs = True
    device.launch(Stream("compute"), _kernel, [device.put(Stream("h2d"), np.ones(2))], 1, True, None)
    device.record(Stream("compute"))
    with pytest.raises(HangError) as caught:
        hanging(s.Stream()).synchronize()
    lines = str(caught.value).splitlines()
    here = lines.index(f"  in thread {threading.current_thread().name}:")
    assert any("stream compute" in line and "is not past" in line and "_kernel" in line for line in lines[here:])


def test_what_cuda_refuses_is_raised_here(gpu, monkeypatch):
    def refused(device):
        raise fake_cupy.CUDARuntimeError("cudaErrorIllegalAddress")

    monkeypatch.setattr(fake_cupy.Device, "synchronize", refused)
    with pytest.raises(fake_cupy.CUDARuntimeError, match="IllegalAddress"):
        s.synchronize()


def _kernel(x):
    return (x,)
