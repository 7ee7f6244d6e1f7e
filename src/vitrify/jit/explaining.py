"""explain: what became of a static function, in words."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from ..core.errors import DTypeError
from ..eager.layer import Layer
from ..runtime.summary import counted, summary
from .api import to_static
from .partial_program import PartialProgramLayer
from .report import at_border
from .split import Break
from .static_function import StaticFunction

MAX_CALLS = 8


@dataclass(frozen=True)
class ProgramReport:
    """One cached program: for which inputs, what it assumes, how often it ran."""

    inputs: tuple[str, ...]
    values: tuple[str, ...]
    operators: int
    guards: tuple[str, ...]
    calls: int
    runs: str = ""
    """How it runs: the mode and why, instructions, streams and events, writes in place, buffers freed early."""

    def lines(self) -> Iterator[str]:
        """The report, a line each."""
        given = ", ".join([*self.inputs, *self.values])
        yield f"program for ({given}): {counted(self.operators, 'operator')}, ran {counted(self.calls, 'time')}"
        if self.runs:
            yield f"  {self.runs}"
        for guard in self.guards:
            yield f"  as long as {guard}"


@dataclass(frozen=True)
class SegmentReport:
    """One compiled piece of the function: all of it, or the lines of a segment."""

    name: str
    source: str
    programs: tuple[ProgramReport, ...]
    runs_python: bool = False
    """Whether it runs as Python after all: too little in it to pay for a program, or none could be used again."""

    @property
    def misses(self) -> int:
        """How many programs were built."""
        return len(self.programs)

    @property
    def hits(self) -> int:
        """How many calls found their program."""
        return sum(p.calls for p in self.programs) - self.misses

    def lines(self) -> Iterator[str]:
        """The report, a line each."""
        if self.runs_python:
            yield f"{self.name}: runs as Python, because there is too little in it to pay for a program"
            return
        if not self.programs:
            yield f"{self.name}: not called yet"
            return
        yield f"{self.name}: {counted(self.misses, 'program')} built, {counted(max(self.hits, 0), 'hit')}"
        for program in self.programs:
            yield from (f"  {line}" for line in program.lines())


@dataclass(frozen=True)
class Explanation:
    """What `explain` found out. `str()` of it is for reading.

    segments: compiled pieces, one if the function is whole. breaks: statements that run as Python, and why.
    driver: what runs the segments, as source text.
    """

    name: str
    segments: tuple[SegmentReport, ...]
    breaks: tuple[Break, ...] = ()
    driver: str = ""
    result: Any = field(default=None, repr=False)

    @property
    def is_whole(self) -> bool:
        """Whether the function is one program."""
        return not self.breaks

    def __str__(self) -> str:
        return "\n".join(self._lines())

    def _headline(self) -> str:
        if self.is_whole:
            return f"{self.name} is compiled as a whole"
        because = f"because of {counted(len(self.breaks), 'statement')} that cannot be compiled"
        compiled = sum(not segment.runs_python for segment in self.segments)
        if compiled:
            return f"{self.name} is compiled in {counted(compiled, 'segment')}, {because}:"
        calls = " (functions that it calls are compiled on their own)" if self.driver else ""
        return f"{self.name} runs as Python, {because}{calls}:"

    def _lines(self) -> Iterator[str]:
        yield self._headline()
        for found in self.breaks:
            yield from _break_lines(found)
        if self.driver:
            yield "what runs:"
            yield from (f"    {line}" for line in self.driver.strip().splitlines())
        for segment in self.segments:
            yield from segment.lines()


def _break_lines(found: Break) -> Iterator[str]:
    yield f"- {found.reason}"
    if found.loc is not None:
        yield from (f"    {line}" for line in found.loc.report().splitlines())
    if found.hint is not None:
        yield f"    to make it whole: {found.hint}"


@at_border
def explain(function: Any, *args: Any, **kwargs: Any) -> Explanation:
    """What became of a static function: its segments, why it was split and what would make it whole, guards, cache use.

    function: what `to_static` returned, or a function or Layer, which is made static for the purpose. With arguments it
    is called until its split is settled (at most 8 times, effects included); without, the calls so far are explained.
    Raises DTypeError for anything that is no function.

    Example:
        >>> import time
        >>> import vitrify as paddle
        >>> def f(x):
        ...     y = x * 2
        ...     if time.time() > 0:
        ...         y = y - 1
        ...     return y + 1
        >>> found = paddle.jit.explain(f, paddle.ones([2]))
        >>> found.is_whole, len(found.breaks)
        (False, 1)
    """
    static = _static(function)
    result = None
    if args or kwargs:
        before: Any = None
        for _ in range(MAX_CALLS):
            result = static(*args, **kwargs)
            seen = _state(static)
            if seen == before:
                break
            before = seen
    return _explanation(static, result)


def _static(function: Any) -> StaticFunction:
    if isinstance(function, Layer):
        function = function.forward
    found = function if isinstance(function, StaticFunction) else None
    if found is None and callable(function):
        found = to_static(function)
    if found is None:
        raise DTypeError(f"explain: expects a function or a Layer, got {type(function).__name__}")
    return found


def _state(static: StaticFunction) -> tuple[int, int]:
    breaks = () if static.split_state is None else static.split_state.breaks
    return len(breaks), len(static.program_cache)


def _explanation(static: StaticFunction, result: Any) -> Explanation:
    name = static.dygraph_function.__qualname__
    split = static.split_state
    if split is None or not split.breaks:
        return Explanation(name, (_segment(name, "", static),), result=result)
    code = split.code
    if code is None:
        return Explanation(name, (), tuple(split.breaks), result=result)
    segments = [_segment(s.name, s.source, split.segments[s.key]) for s in code.segments]
    return Explanation(name, tuple(segments), tuple(split.breaks), code.source, result)


def _segment(name: str, source: str, static: StaticFunction) -> SegmentReport:
    reports = []
    for key, program in static.program_cache.entries():
        concrete = program.concrete
        inputs = tuple(f"{var.name}: {var.meta}" for var in concrete.inputs)
        values = tuple(repr(value) for _, value in key.values)
        guards = tuple(str(guard) for guard in concrete.guards or ())
        runs = summary(program.segment.forward_core) if isinstance(program, PartialProgramLayer) else ""
        reports.append(ProgramReport(inputs, values, concrete.work, guards, program.total_calls, runs))
    built = static.program_cache
    return SegmentReport(name, source, tuple(reports), runs_python=len(built.exact) > 0 and built.runs_python)


__all__ = ["Explanation", "explain"]
