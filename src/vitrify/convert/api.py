"""Converting a callable: the converted function, cached by code object, bound like the original."""

from __future__ import annotations

from collections.abc import Callable
from types import CodeType, FunctionType, MethodType
from typing import Any

from ..core.cache import BoundedCache
from ..core.config import CODE_LEVEL
from ..transformers import ConvertedCode, convert_code, is_converted, stage_sources
from ..transformers import source_of as source_of_function
from .calls import CallConverter
from .helpers import VitrifyHelpers

Converted = Callable[..., Any]

_CODES: BoundedCache[CodeType, ConvertedCode] = BoundedCache("converted_code", 4096)


def convert_plain(fn: FunctionType) -> FunctionType:
    """One Python function converted; its AST work is done once per code object."""
    if is_converted(fn, HELPERS):
        return fn
    record = _CODES.get(fn.__code__)
    if record is None:
        record = convert_code(fn)
        _CODES[fn.__code__] = record
        _show(fn, record)
    return record.bind(fn, HELPERS)


def _show(fn: FunctionType, record: ConvertedCode) -> None:
    """Print the converted code when set_code_level asks for it."""
    level = CODE_LEVEL.value
    if level <= 0:
        return
    stages = list(stage_sources(fn))
    name, text = stages[min(level, len(stages)) - 1]
    print(f"# {fn.__qualname__} after transformer {min(level, len(stages))} ({name})\n{text}")


convert_call = CallConverter(convert_plain)
HELPERS = VitrifyHelpers(convert_call)


def convert(function: Callable[..., Any]) -> Converted:
    """`function` with its control flow and calls converted; raises UnsupportedError where that cannot be done."""
    if isinstance(function, MethodType) and isinstance(function.__func__, FunctionType):
        return MethodType(convert_plain(function.__func__), function.__self__)
    if isinstance(function, FunctionType):
        return convert_plain(function)
    return convert_call(function)  # type: ignore[no-any-return]


def source_of(converted: Converted) -> str:
    """The converted source text, for reading."""
    return source_of_function(getattr(converted, "__func__", converted))  # type: ignore[arg-type]
