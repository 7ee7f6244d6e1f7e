"""Converting a callable: the converted function, cached by code object, bound like the original."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import partial
from types import BuiltinFunctionType, CodeType, FunctionType, MethodDescriptorType, MethodType
from typing import Any

from ..core.bound import unbound
from ..core.cache import BoundedCache
from ..core.config import CODE_LEVEL
from ..core.errors import UnsupportedError
from ..eager.layer import Layer
from ..ir.builder import current_builder
from ..transformers import ConvertedCode, convert_code, is_converted, refuse_generator, stage_sources
from ..transformers import source_of as source_of_function
from .calls.call import CallConverter
from .calls.generators import WATCHED
from .calls.library import looks_around, of_library
from .calls.open_axes import for_axes
from .calls.optional_arguments import for_either
from .calls.starred import StarredCalls
from .control.attempts import raised, raising_form, tried
from .control.raise_ import convert_raise, is_raised_by_user
from .control.recursion import entered
from .guards.observe import current_observer
from .helpers import VitrifyHelpers
from .state.cells import outer_globals
from .state.journal import note_write
from .values.handlers import deep_tries
from .values.one_of import GraphOneOf, each_option, for_options
from .values.user_code import is_ours, is_user_code, passes_on
from .values.user_errors import without_frames

Converted = Callable[..., Any]

_CODES: BoundedCache[tuple[str, CodeType, tuple[bool, bool], frozenset[int]], ConvertedCode]
_CODES = BoundedCache("converted_code", 4096)
_ONLY_NATIVE: BoundedCache[tuple[str, CodeType], bool] = BoundedCache("generators left to Python", 4096)


def convert_plain(fn: FunctionType) -> FunctionType:
    """One Python function converted; its AST work is done once per code object."""
    if is_converted(fn, HELPERS):
        _note_globals(fn)
        return fn
    record = _record(fn)
    _observe(fn, record)
    return record.bind(fn, HELPERS)


def _convert_raising(fn: FunctionType) -> FunctionType:
    """One Python function converted such that it gives what it returns or raises as a pair."""
    record = _record(fn, raising=True)
    _observe(fn, record)
    return record.bind(fn, HELPERS)


def _convert_pushing(fn: FunctionType) -> Any:
    """A generator function converted such that it gives what it yields to a sink; None where that cannot be."""
    key = fn.__code__.co_filename, fn.__code__
    if key in _ONLY_NATIVE:
        return None
    try:
        record = _record(fn, pushing=True)
    except UnsupportedError:
        _ONLY_NATIVE.put(key, True)
        return None
    _observe(fn, record)
    form = entered(record.bind(fn, HELPERS))
    setattr(form, WATCHED, record.is_watched)
    return form


def _observe(fn: FunctionType, record: ConvertedCode) -> None:
    """Tell who watches the trace that a function from outside is about to run; those made inside read what it made."""
    observer, build = current_observer(), current_builder()
    if is_converted(fn, HELPERS):
        _note_globals(fn)
    elif observer is not None:
        observer.function(fn, record.only_changed)
    if build is not None and record.catches:
        build.catches = True


def _note_globals(fn: FunctionType) -> None:
    """Tell the journals that a function made inside writes global variables, which no region around its call names."""
    for place in outer_globals(fn):
        note_write(place)


def _record(fn: FunctionType, raising: bool = False, pushing: bool = False) -> ConvertedCode:
    name = fn.__code__.co_filename
    tries = deep_tries(name)
    key = name, fn.__code__, (raising, pushing), tries  # code objects of equal text in two files are equal
    record = _CODES.get(key)
    if record is None:
        record = convert_code(fn, raising=raising, pushing=pushing, deep_tries=tries)
        _CODES.put(key, record)
        _show(fn)
    return record


def observe_function(function: Callable[..., Any]) -> None:
    """Tell who watches the trace in progress that the user's `function` is about to run in its converted form."""
    plain = unbound(function)
    observer = current_observer()
    if observer is not None and isinstance(plain, FunctionType) and is_user_code(plain):
        observer.stays(plain)
        _observe(plain, _record(plain))


def _show(fn: FunctionType) -> None:
    """Print the converted code when set_code_level asks for it."""
    level = CODE_LEVEL.value
    if level <= 0:
        return
    stages = list(stage_sources(fn))
    name, text = stages[min(level, len(stages)) - 1]
    print(f"# {fn.__qualname__} after transformer {min(level, len(stages))} ({name})\n{text}")


convert_call = CallConverter(convert_plain, _convert_pushing)


def _called(function: Any) -> Any:
    """What a visible call of `function` calls."""
    if isinstance(function, GraphOneOf):
        return partial(_call_option, function)
    found = convert_call(function)
    if found is function and isinstance(function, _LIBRARY):
        found = of_library(function)
    if found is function:
        found = for_either(found) if isinstance(function, _WITH_OPTIONS) else found
    elif isinstance(function, FunctionType) and is_ours(function):
        found = for_axes(found)  # the form for lists of a function of ours, such as `stack`
    is_left = current_builder() is None or passes_on(function) or (found is function and looks_around(function))
    return found if is_left else for_options(found, is_ours(function))


def _call_option(function: GraphOneOf, *args: Any, **kwargs: Any) -> Any:
    return each_option(function, lambda option: _called(option)(*args, **kwargs))


def attempt(function: Any, /, *args: Any, **kwargs: Any) -> Any:
    """`(None, function(*args, **kwargs))`, or what a function of the user's raises, and nothing."""
    if isinstance(function, GraphOneOf):
        return each_option(function, lambda option: attempt(option, *args, **kwargs))
    form = raising_form(function, _convert_raising) if current_builder() is not None else None
    if form is not None:
        return form(*args, **kwargs)
    return tried(lambda: _called(function)(*args, **kwargs), (*args, *kwargs.values()))


def attempt_starred(function: Any, /, *args: Any, **kwargs: Any) -> Any:
    """As `attempt`, of a call with stars."""
    if isinstance(function, GraphOneOf):
        return each_option(function, lambda option: attempt_starred(option, *args, **kwargs))
    if current_builder() is not None and raising_form(function, _convert_raising) is not None:
        return _ATTEMPTED(function)(*args, **kwargs)
    return tried(lambda: _STARRED(function)(*args, **kwargs), (*args, *kwargs.values()))


def _attempt_that_fits(function: Any, *args: Any, **kwargs: Any) -> Any:
    """`attempt`, which sees that the arguments do not fit, too."""
    try:
        return attempt(function, *args, **kwargs)
    except TypeError as err:
        if not is_raised_by_user(err):
            raise
        return raised(convert_raise(without_frames(err)))


def _raise(err: BaseException) -> Any:
    raise err


_STARRED = StarredCalls(_called, convert_plain, _raise)
_ATTEMPTED = StarredCalls(
    lambda function: partial(_attempt_that_fits, function),
    lambda plain: raising_form(plain, _convert_raising),
    raised,
    _called,
)
_LIBRARY = (FunctionType, MethodType, BuiltinFunctionType, MethodDescriptorType, type)
_WITH_OPTIONS = (FunctionType, MethodType, Layer)
HELPERS = VitrifyHelpers(_called, _STARRED, attempt, attempt_starred)


def convert(function: Callable[..., Any]) -> Converted:
    """`function` with its control flow and calls converted; raises UnsupportedError where that cannot be done."""
    plain = function.__func__ if isinstance(function, MethodType) else function
    if not isinstance(plain, FunctionType) or not is_user_code(plain):
        called: Converted = convert_call(function)
        return called
    refuse_generator(plain)
    converted = convert_plain(plain)
    return MethodType(converted, function.__self__) if isinstance(function, MethodType) else converted


def source_of(converted: Converted) -> str:
    """The converted source text, for reading; the source itself of what was left as it is."""
    plain = unbound(converted)
    if isinstance(plain, FunctionType) and is_converted(plain, HELPERS):
        return source_of_function(plain)
    return inspect.getsource(plain)
