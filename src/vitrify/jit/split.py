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
from typing import TYPE_CHECKING, Any

from ..convert import is_user_code
from ..core.cache import BoundedCache
from ..core.errors import VitrifyError
from ..core.source import Loc
from ..eager.layer import Layer
from ..transformers import SegmentCode, SplitCode, instantiate, split_code
from .arguments import Arguments

if TYPE_CHECKING:
    from .static_function import StaticFunction


@dataclass(frozen=True)
class Break:
    """Why a function is split: what failed, and where in the function."""

    line: int | None
    reason: str
    loc: Loc | None
    hint: str | None = None


class Split:
    """How one function is split. `driver()` is what to call; None while there is nothing to compile in it."""

    def __init__(self, function: FunctionType, make: MakeSegment, helpers: DriverHelpers) -> None:
        self.function = function
        self._helpers = helpers
        self.breaks: list[Break] = []
        self.segments: dict[Any, StaticFunction] = {}
        self._make = make
        self._code: SplitCode | None = None
        self._driver: Callable[..., Any] | None = None
        self._lines: frozenset[int] | None = None
        self._whole = False

    def record(self, err: Exception) -> None:
        """Take note of a trace that failed although the function itself does not."""
        loc = place_in(self.function, err)
        line = None if loc is None else loc.line
        found = Break(line, _reason(err), getattr(err, "loc", None) or loc, getattr(err, "hint", None))
        known = any(b.line == line for b in self.breaks)
        self.breaks.append(found)
        self._whole = self._whole or line is None or known  # no finer split would get any further

    def driver(self) -> Callable[..., Any] | None:
        """The function with segments in place of what can be compiled."""
        lines = frozenset(b.line for b in self.breaks if b.line is not None)
        if self._whole:
            return None
        if lines != self._lines:
            self._lines, self._code = lines, split_code(self.function, lines)
            self._driver = None if self._code is None else self._bound(self._code)
        return self._driver

    def _bound(self, code: SplitCode) -> Callable[..., Any]:
        free: dict[str, object] = {code.helper: self._helpers}
        for segment in code.segments:
            if segment.key not in self.segments:
                self.segments[segment.key] = self._segment(segment)
            free[segment.name] = self.segments[segment.key]
        driver = instantiate(code.code, self.function, free)
        driver.__defaults__ = self.function.__defaults__
        return driver

    def _segment(self, segment: SegmentCode) -> StaticFunction:
        native = instantiate(segment.code, self.function, {})
        native.__kwdefaults__ = None
        return self._make(native, self.record)

    @property
    def code(self) -> SplitCode | None:
        """The driver and segments as they are now."""
        self.driver()
        return self._code


MakeSegment = Callable[[FunctionType, Callable[[Exception], None]], "StaticFunction"]


def _reason(err: Exception) -> str:
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


class DriverHelpers:
    """What the Python statements of a driver call: functions of the user's are compiled on their own."""

    def __init__(self, make: Callable[..., StaticFunction]) -> None:
        self._make = make
        self._functions: BoundedCache[FunctionType, StaticFunction] = BoundedCache("functions_of_drivers", 1024)

    def convert_call(self, function: Any) -> Any:
        """`function`, compiled if it is the user's own and will be met again."""
        if isinstance(function, FunctionType):
            # A nested function is made anew each time: compiling it would not pay.
            lasts = "<locals>" not in function.__qualname__ and _is_convertible(function)
            return self._functions.get_or_build(function, lambda: self._make(function)) if lasts else function
        if isinstance(function, MethodType):
            return self._method(function)
        if isinstance(function, Layer) and isinstance(function.forward, MethodType):
            forward = self._method(function.forward)
            return function if forward is function.forward else function.calling(forward)
        return function

    def _method(self, method: MethodType) -> Any:
        fn, owner = method.__func__, method.__self__
        if not (isinstance(fn, FunctionType) and isinstance(owner, Layer)):
            return method
        held = owner.__dict__.setdefault(COMPILED, {})
        if fn not in held:
            pays = _is_convertible(fn) or (fn.__name__ == "forward" and _holds_user_code(owner))
            held[fn] = self._make(fn, instance=owner) if pays else None
        return held[fn] or method


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

    def __init__(self, split: Split, instance: Any) -> None:
        self._split = split
        self._instance = instance

    def current_inputs(self) -> Sequence[Any]:
        """Nothing can make it outdated."""
        return ()

    def call(self, tensors: Sequence[Any], captured: Sequence[Any], arguments: Arguments, eager: Any) -> Any:
        """The driver's result; the function's own where there is nothing to compile in it."""
        driver = self._split.driver()
        if driver is None:
            return eager(*arguments[0], **arguments[1])
        first = () if self._instance is None else (self._instance,)
        return driver(*first, *arguments[0], **arguments[1])


class _Eager:
    """Takes the place of a program where the function runs as it is."""

    captured: Sequence[Any] = ()

    def current_inputs(self) -> Sequence[Any]:
        """Nothing can make it outdated."""
        return ()

    def call(self, tensors: Sequence[Any], captured: Sequence[Any], arguments: Arguments, eager: Any) -> Any:
        """The function's own result."""
        return eager(*arguments[0], **arguments[1])


EAGER = _Eager()
