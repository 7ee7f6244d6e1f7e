"""Functions that cannot be one program: compiled segments around the statements that must run as Python.

A failed trace costs nothing but time: it is undone, the call runs eagerly, and the line that failed is remembered. The
next call finds a driver (`transformers/split.py`) with segments around that statement. Each segment is a static
function of its own; where one fails in turn, that call runs it eagerly, and the split becomes finer.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from inspect import CO_ASYNC_GENERATOR, CO_COROUTINE, CO_GENERATOR
from types import CodeType, FunctionType, MethodType, TracebackType
from typing import TYPE_CHECKING, Any, Protocol

from ..convert import is_user_code
from ..core.cache import BoundedCache
from ..core.errors import VitrifyError
from ..core.setting import Setting
from ..core.source import Loc
from ..eager.layer import Layer
from ..transformers import SegmentCode, SplitCode, instantiate, split_code
from .arguments import Arguments
from .faults import fault

if TYPE_CHECKING:
    from .static_function import StaticFunction


@dataclass(frozen=True)
class Break:
    """Why a function is split: what failed, and where in the function."""

    line: int | None
    reason: str
    loc: Loc | None
    hint: str | None = None


class MakePart(Protocol):
    """Makes the static function of a part: a segment, or a function that is called."""

    def __call__(
        self,
        function: FunctionType,
        *,
        instance: Any = None,
        on_failure: Callable[[Exception], None] | None = None,
        on_idle: Callable[[], None],
    ) -> StaticFunction:
        """A static function that tells of a failed trace, and when it has settled as Python."""


SMALLEST_PART: Setting[int] = Setting("smallest_part", 3)
"""Operators that make compiling a part of a function worth a call of it."""

PATIENCE = 8
"""After so many calls with nothing compiled a part stays Python."""

CONVINCED = 64
"""After so many calls that ran no program of its own a function is not asked any more what it is called with."""

Settle = Callable[[Any], None]


class Split:
    """How one function is split. `driver()` is what to call; None while there is nothing to compile in it."""

    def __init__(self, function: FunctionType, make: MakePart, calls: CompiledCalls) -> None:
        self.function = function
        self.breaks: list[Break] = []
        self.segments: dict[Any, StaticFunction] = {}
        self.left: set[Any] = set()
        """Keys of segments that stay Python: too little to do in them."""
        self._calls = calls
        self._make = make
        self._code: SplitCode | None = None
        self._driver: Callable[..., Any] | None = None
        self._helpers: DriverHelpers | None = None
        self._has_segments = False
        self._idle_calls = 0
        self._stale = True
        self._whole = False

    def record(self, err: Exception, within: range | None = None) -> None:
        """Take note of a trace that failed although the function itself does not. within: the lines of the segment."""
        loc = place_in(self.function, err)
        line = None if loc is None else loc.line
        if line is None or (within is not None and line not in within):
            self._whole = self._stale = True  # no finer split would get any further
        elif any(b.line == line for b in self.breaks):
            return  # met again, by another call or before the split that knows of it
        self.breaks.append(Break(line, _reason(err), getattr(err, "loc", None) or loc, getattr(err, "hint", None)))
        self._stale = True

    def _leave(self, key: Any) -> None:
        """Let the statements of a segment be Python."""
        self.left.add(key)
        self._stale = True

    def driver(self) -> Callable[..., Any] | None:
        """The function with segments in place of what can be compiled."""
        self._refresh()
        helpers = self._helpers
        if helpers is not None and not self._has_segments:
            # Did the last call meet anything compiled?
            self._idle_calls = 0 if helpers.compiles else self._idle_calls + 1
            helpers.compiles = False
            if self._idle_calls > PATIENCE:
                self._driver = self._helpers = None
        return self._driver

    def _refresh(self) -> None:
        if not self._stale:
            return
        self._stale = False
        self._driver = self._helpers = self._code = None
        if self._whole:
            return
        lines = frozenset(b.line for b in self.breaks if b.line is not None)
        self._code = split_code(self.function, lines, self.left)
        if self._code is not None:
            self._helpers = DriverHelpers(self._calls)
            self._has_segments = bool(self._code.segments)
            self._driver = self._bound(self._code, self._helpers)

    def _bound(self, code: SplitCode, helpers: DriverHelpers) -> Callable[..., Any]:
        free: dict[str, object] = {code.helper: helpers}
        for segment in code.segments:
            if segment.key not in self.segments:
                self.segments[segment.key] = self._segment(segment)
            free[segment.name] = self.segments[segment.key]
        driver = instantiate(code.code, self.function, free)
        driver.__defaults__ = self.function.__defaults__
        driver.__kwdefaults__ = self.function.__kwdefaults__
        return driver

    def _segment(self, segment: SegmentCode) -> StaticFunction:
        native = instantiate(segment.code, self.function, {})
        native.__kwdefaults__ = None
        lines = range(segment.lines[0], segment.lines[1] + 1)
        return self._make(
            native, on_failure=lambda err: self.record(err, lines), on_idle=lambda: self._leave(segment.key)
        )

    @property
    def code(self) -> SplitCode | None:
        """The driver and segments as they are now."""
        self._refresh()
        return self._code

    @property
    def runs_python(self) -> bool:
        """Whether nothing is compiled in it."""
        self._refresh()
        return self._driver is None


def _reason(err: Exception) -> str:
    said = fault(err)
    if said is not None:
        return said
    return err.message if isinstance(err, VitrifyError) else f"{type(err).__name__}: {err}"


def place_in(function: FunctionType, err: BaseException) -> Loc | None:
    """The line of `function` at which `err` came up: its innermost frame there, else the place that the error names."""
    code = function.__code__
    lines = _lines_of(code)
    tb: TracebackType | None = err.__traceback__
    found = None
    while tb is not None:
        inside = tb.tb_frame.f_code
        same = inside.co_filename == code.co_filename and inside.co_name == code.co_name
        if same and tb.tb_lineno in lines:
            found = Loc(code.co_filename, tb.tb_lineno, code.co_name)
        tb = tb.tb_next
    named = getattr(err, "loc", None)
    if found is None and named is not None and named.file == code.co_filename and named.line in lines:
        found = named
    return found


def _lines_of(code: CodeType) -> range:
    """From the first line of a function to its last."""
    last = max((line for _, _, line in code.co_lines() if line is not None), default=code.co_firstlineno)
    inner = [_lines_of(const).stop for const in code.co_consts if isinstance(const, CodeType)]
    return range(code.co_firstlineno, max([last + 1, *inner]))


class CompiledCalls:
    """Functions of the user's that drivers call, each compiled on its own."""

    def __init__(self, make: MakePart) -> None:
        self._make = make
        self._functions: BoundedCache[FunctionType, StaticFunction] = BoundedCache("functions_of_drivers", 1024)

    def function(self, fn: FunctionType) -> Callable[..., Any]:
        """`fn`, compiled if it is the user's own and will be met again."""
        # A nested function is made anew each time: compiling it would not pay.
        if "<locals>" in fn.__qualname__ or not _is_convertible(fn):
            return fn
        return self._functions.get_or_build(fn, lambda: self._make(fn, on_idle=_nothing))

    def method(self, method: MethodType) -> Callable[..., Any]:
        """A method of a Layer, compiled if it is the user's own; kept at its Layer."""
        fn, owner = method.__func__, method.__self__
        if not (isinstance(owner, Layer) and isinstance(fn, FunctionType)):
            return method
        held = owner.__dict__.setdefault(COMPILED, {})
        if fn not in held:
            pays = _is_convertible(fn) or (fn.__name__ == "forward" and _holds_user_code(owner))
            held[fn] = self._make(fn, instance=owner, on_idle=_nothing) if pays else None
        found = held[fn]
        if found is not None and found.settled:
            found = held[fn] = None
        return found or method


def _nothing() -> None:
    """What is told of a called function that settles: its callers look for themselves."""


MAX_SEEN = 256


class DriverHelpers:
    """What the Python statements of one driver call in place of what they name."""

    def __init__(self, calls: CompiledCalls) -> None:
        self._calls = calls
        self._seen: dict[FunctionType, Any] = {}
        self.compiles = False
        """Whether anything called lately is compiled."""

    def convert_call(self, function: Any) -> Any:
        """`function`, compiled if it is the user's own and will be met again."""
        kind = function.__class__
        if kind is FunctionType:
            found = self._seen.get(function)
            if found is not function:
                found = self._function(function, found)
        elif kind is MethodType:
            found = self._calls.method(function)
        elif isinstance(function, Layer) and isinstance(function.forward, MethodType):
            forward = self._calls.method(function.forward)
            found = function if forward is function.forward else function.calling(forward)
        else:
            return function
        if found is not function:
            self.compiles = True
        return found

    def _function(self, function: FunctionType, seen: Any) -> Any:
        """What is called in place of a function: once it has settled as Python, the function itself."""
        found: Any = self._calls.function(function) if seen is None else seen
        if found is not function and found.settled:
            found = function
        if "<locals>" not in function.__qualname__ and len(self._seen) < MAX_SEEN:
            self._seen[function] = found
        return found


COMPILED = "_compiled_methods"
_GENERATORS = CO_GENERATOR | CO_COROUTINE | CO_ASYNC_GENERATOR


def _is_convertible(fn: FunctionType) -> bool:
    """Whether it is a function of the user's, and no generator or coroutine."""
    return is_user_code(fn) and not fn.__code__.co_flags & _GENERATORS


def _holds_user_code(layer: Layer) -> bool:
    """Whether a Layer, one of ours such as Sequential, calls Layers of the user's."""
    forwards = [getattr(type(inner), "forward", None) for inner in layer.sublayers()]
    return any(isinstance(forward, FunctionType) and is_user_code(forward) for forward in forwards)


class SplitProgram:
    """Takes the place of a program where a function is split."""

    captured: Sequence[Any] = ()

    def __init__(self, split: Split, instance: Any, python: AsPython, settle: Settle) -> None:
        self._split = split
        self._python = python
        self._first = () if instance is None else (instance,)
        self._settle = settle
        self._calls = 0

    def current_inputs(self) -> Sequence[Any]:
        """Nothing can make it outdated."""
        return ()

    @property
    def runs_python(self) -> bool:
        """Whether there is nothing to compile in the function."""
        return self._split.runs_python

    def call(self, tensors: Sequence[Any], captured: Sequence[Any], arguments: Arguments, eager: Any) -> Any:
        """The driver's result; the function's own where there is nothing to compile in it."""
        driver = self._split.driver()
        if driver is None:
            return self._python.call(tensors, captured, arguments, eager)
        self._calls += 1
        if self._calls == CONVINCED:
            self._settle(self)
        return driver(*self._first, *arguments[0], **arguments[1])


class AsPython:
    """Takes the place of programs where a function runs as it is. `settle` is told now and then: it may stay so."""

    captured: Sequence[Any] = ()
    runs_python = True

    def __init__(self, settle: Settle, patience: int) -> None:
        self._settle = settle
        self._patience = patience
        self._calls = 0

    def current_inputs(self) -> Sequence[Any]:
        """Nothing can make it outdated."""
        return ()

    def call(self, tensors: Sequence[Any], captured: Sequence[Any], arguments: Arguments, eager: Any) -> Any:
        """The function's own result."""
        self._calls += 1
        if self._calls % self._patience == 0:
            self._settle(self)
        return eager(*arguments[0], **arguments[1])


MAX_WAIT = 8


class AfterErrors:
    """Takes the place of a program where the function itself raised: the trace told nothing new, so it can wait.

    Each time in a row doubles the calls that run as Python before another trace; one that raises nothing ends the wait.
    """

    captured: Sequence[Any] = ()
    runs_python = False

    def __init__(self, errors: int) -> None:
        self._left = 2 ** min(errors - 1, MAX_WAIT) - 1

    def current_inputs(self) -> Sequence[Any] | None:
        """None once it is time for another trace."""
        return () if self._left > 0 else None

    def call(self, tensors: Sequence[Any], captured: Sequence[Any], arguments: Arguments, eager: Any) -> Any:
        """The function's own result."""
        self._left -= 1
        result = eager(*arguments[0], **arguments[1])
        self._left = 0
        return result
