"""CUDA graphs of eager code: `paddle.device.cuda.graphs.CUDAGraph`."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import Any

from ..core.errors import ArgumentError
from .cuda_capture import PrivateMemory, dot_text, graph_of_capture
from .cuda_memory import cupy
from .gpu_streams import NoDeviceError, Stream, current_stream, gpu_place
from .graphs import GraphCaptureError

_MODES = {"global": "Global", "thread_local": "ThreadLocal", "relaxed": "Relaxed"}


def is_cuda_graph_supported() -> bool:
    """Whether the current place is a GPU, which can capture graphs."""
    try:
        gpu_place("CUDAGraph")
    except NoDeviceError:
        return False
    return True


class CUDAGraph:
    """What eager code gave the GPU between `capture_begin` and `capture_end`, to be run again by `replay`.

    Tensors that the code read must keep their memory: change them in place (`x.set_value(...)`). Results are in the
    tensors that it made. Copies from the host and random numbers are refused: a replay would repeat them. mode:
    "global", "thread_local" or "relaxed", how much else is refused meanwhile.
    Raises NoDeviceError where the place is no GPU. Source: paddle.device.cuda.graphs.CUDAGraph.
    """

    def __init__(self, place: Any = None, mode: str = "thread_local", pool_id: int | None = None) -> None:
        self._place = gpu_place("CUDAGraph", place)
        if mode not in _MODES:
            raise ArgumentError(f"CUDAGraph: mode is one of {tuple(_MODES)}, but received {mode!r}")
        self._mode = getattr(cupy().cuda.runtime, f"streamCaptureMode{_MODES[mode]}")
        self._memory = PrivateMemory(cupy())
        self._graph: Any = None
        self._inside: ExitStack | None = None
        self._stream: Stream | None = None

    def capture_begin(self) -> None:
        """Take note of what this thread gives the GPU from now on; nothing runs."""
        if self._inside is not None:
            raise GraphCaptureError("CUDAGraph: it is capturing already")
        self._stream = Stream(self._place)
        self._stream.wait_stream(current_stream(self._place))
        with ExitStack() as stack:
            stack.enter_context(cupy().cuda.Device(self._place.index))
            stack.enter_context(self._stream.stream_base)
            stack.enter_context(self._memory)
            self._stream.stream_base.begin_capture(self._mode)
            self._inside = stack.pop_all()

    def capture_end(self) -> None:
        """Keep what was noted; raises GraphCaptureError if CUDA refused some of it."""
        if self._inside is None or self._stream is None:
            raise GraphCaptureError("CUDAGraph: call capture_begin first")
        inside, self._inside = self._inside, None
        with inside:
            self._graph = graph_of_capture(cupy(), self._stream.stream_base)

    def replay(self) -> None:
        """Run it all, on the current stream."""
        self._captured().launch(current_stream(self._place).stream_base)

    def reset(self) -> None:
        """Forget what was captured."""
        self._graph = None

    def print_to_dot_files(self, dirname: Any, flags: int | None = None) -> None:
        """Write the graph for Graphviz into a directory; flags: as CUDA's debug flags, by default all details."""
        folder = Path(dirname)
        folder.mkdir(parents=True, exist_ok=True)
        text = dot_text(self._captured(), 1 if flags is None else flags)
        (folder / "graph_0.dot").write_text(text, encoding="utf-8")

    def _captured(self) -> Any:
        if self._graph is None:
            raise GraphCaptureError("CUDAGraph: nothing is captured yet")
        return self._graph


__all__ = ["CUDAGraph", "is_cuda_graph_supported"]
