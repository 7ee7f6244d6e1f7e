"""Waits that users ask for, for an event or for a whole GPU: one that hangs tells what each thread's streams do."""

from __future__ import annotations

from threading import Event, Thread
from typing import Any

from .cuda_memory import cupy
from .cuda_streams import CudaStreams, streams_of_all_threads
from .cuda_waits import passes
from .patience import await_progress


def await_event(index: int, event: Any, what: str) -> None:
    """Let the host wait for an event of GPU number `index`; raises HangError when nothing gets on.

    what: what the report says the caller waits for.
    """
    known = streams_of_all_threads(index)
    await_progress(lambda seconds: passes(cupy(), event, seconds), lambda: _passed(known), lambda: _report(what, known))


def await_device(index: int) -> None:
    """Let the host wait for all that GPU number `index` was given; raises HangError when nothing gets on."""
    xp = cupy()
    device = xp.cuda.Device(index)
    if xp.cuda.get_current_stream().is_capturing():
        device.synchronize()  # which CUDA refuses
        return
    known = streams_of_all_threads(index)
    wait = _DeviceWait(device)
    wait.start()
    await_progress(wait.ended.wait, lambda: _passed(known), lambda: _report(f"all of gpu:{index}", known))
    if wait.failure is not None:
        raise wait.failure


class _DeviceWait(Thread):
    """CUDA's own wait for a device, which knows no time-out, in a thread that may be left behind."""

    def __init__(self, device: Any) -> None:
        super().__init__(name="waits for a GPU", daemon=True)
        self._awaited = device
        self.ended = Event()
        self.failure: Exception | None = None

    def run(self) -> None:
        try:
            self._awaited.synchronize()
        except Exception as err:  # noqa: BLE001 - it is raised where the caller waits
            self.failure = err
        finally:
            self.ended.set()


def _passed(known: list[CudaStreams]) -> int:
    return sum(streams.marks.passed() for streams in known)


def _report(what: str, known: list[CudaStreams]) -> str:
    lines = [f"  the caller waits for {what}"]
    for streams in known:
        lines += [f"  in thread {streams.thread}:", *streams.marks.lines()]
    return "\n".join(lines)
