"""Captures of CUDA graphs by CuPy: what CUDA noted, what is refused, memory that belongs to a graph."""

from __future__ import annotations

from typing import Any

from .graphs import GraphCaptureError

_VERBOSE = 1  # cudaGraphDebugDotFlagsVerbose
_FROM_HOST = ("HtoD", "HostToDevice", "Host to Device")


def graph_of_capture(xp: Any, queue: Any) -> Any:
    """What CUDA noted of a stream; raises GraphCaptureError where CUDA refused some of it.

    A copy from the host is refused: its memory may be something else at the next launch. Draws of random numbers have
    one, for the host says where in the generator's stream they are.
    """
    try:
        graph = queue.end_capture()
        text = dot_text(graph)
    except xp.cuda.runtime.CUDARuntimeError as err:
        raise GraphCaptureError(f"CUDA refused the capture: {err}") from None
    if any(word in text for word in _FROM_HOST):
        raise GraphCaptureError("a kernel copies from the memory of the host, as those do that draw random numbers")
    return graph


def dot_text(graph: Any, flags: int = _VERBOSE) -> str:
    """A graph for Graphviz, with what `flags` asks for."""
    text = graph.debug_dot_str(flags)
    return text if isinstance(text, str) else bytes(text).decode()


class PrivateMemory:
    """Memory of a graph: a pool that is used inside `with` blocks, in this thread."""

    def __init__(self, xp: Any) -> None:
        self._xp = xp
        self._pool = xp.cuda.MemoryPool()
        self._inside: list[Any] = []

    def __enter__(self) -> None:
        context = self._xp.cuda.using_allocator(self._pool.malloc)
        context.__enter__()
        self._inside.append(context)

    def __exit__(self, *error: Any) -> None:
        self._inside.pop().__exit__(*error)
