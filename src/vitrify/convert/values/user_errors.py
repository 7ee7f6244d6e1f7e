"""Errors that conversion finds and that eager code raises, too."""

from __future__ import annotations

import ast
import inspect
import linecache
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from types import CodeType, FrameType, TracebackType
from typing import Any, TypeVar

from ...core.bound import bound_to
from ...core.dtype import DType
from ...core.errors import InternalError, VitrifyError
from ...core.pytree import is_open
from ...core.source import Loc, is_user_file, is_user_frame, user_locs
from ...ir.builder import current_builder
from ...ir.graph_tensor import is_number
from ...ops.promote import SCALARS
from .base import Undefined, builder, is_tensor
from .deferred import holds_deferred

F = TypeVar("F", bound=Callable[..., Any])
E = TypeVar("E", bound=BaseException)
_FOR_USER: set[CodeType] = set()
_PARAMETERS = re.compile(r"\blambda\b[^:]*:")
_NAME = re.compile(r"(?<![\w.])[^\W\d]\w*(?:\.[^\W\d]\w*)*")
_CALL = {"function", "args", "kwargs"}
_VARARGS, _VARKEYWORDS = 0x04, 0x08


def note_user_error(err: Exception) -> Exception:
    """`err`, known to be one that eager code raises at this place: on a path, only if that is taken."""
    builder().errors[id(err)] = (err, None, True)
    return err


def thrown(args: tuple[Any, ...]) -> tuple[Any, ...]:
    """What `throw` of a generator is given; an exception alone, or its class, as one that eager code raises there."""
    if len(args) == 1 and isinstance(args[0], type) and issubclass(args[0], Exception):
        args = (args[0](),)
    if len(args) == 1 and isinstance(args[0], Exception) and current_builder() is not None:
        note_user_error(args[0])
    return args


def is_users(err: BaseException) -> bool:
    """Whether it was noted so."""
    return id(err) in builder().errors and builder().errors[id(err)][2]


def told(err: BaseException) -> str | None:
    """All that an error tells; None where that is more than plain arguments."""
    is_plain = not vars(err) and err.__cause__ is None and all(isinstance(arg, (*SCALARS, str)) for arg in err.args)
    return repr(err.args) if is_plain else None


def without_frames(err: E) -> E:
    """`err`, it and what it came of without tracebacks: their frames would keep objects and iterators of a path alive.

    One frame is enough for that: it refers to those that called it.
    """
    left: list[BaseException | None] = [err]
    seen: set[int] = set()
    while left:
        error = left.pop()
        if error is not None and id(error) not in seen:
            seen.add(id(error))
            left += [error.with_traceback(None).__context__, error.__cause__]
    return err


def for_user(function: F) -> F:
    """`function`, in whose own frame Python does what a statement of the user's says: errors there are the user's."""
    _FOR_USER.add(function.__code__)
    return function


def is_for_user(code: CodeType) -> bool:
    """Whether errors in frames of this code are the user's."""
    return is_user_file(code.co_filename) or code in _FOR_USER


def is_internal(err: BaseException) -> bool:
    """Whether a function of ours raised it, and not to say what is wrong with the user's code."""
    tb = err.__traceback__
    while tb is not None and tb.tb_next is not None:
        tb = tb.tb_next
    if tb is None or (isinstance(err, VitrifyError) and not isinstance(err, InternalError)):
        return False
    frame = tb.tb_frame
    return frame.f_globals.get("__name__", "").partition(".")[0] == "vitrify" and not is_for_user(frame.f_code)


def is_of_plain_values(err: BaseException) -> bool:
    """Whether the error came up where nothing of the program was concerned, so that eager code meets it as well."""
    frame: TracebackType | None = None
    below: list[FrameType] = []
    tb = err.__traceback__
    while tb is not None:
        if is_user_frame(tb.tb_frame):
            frame, below = tb, []
        else:
            below.append(tb.tb_frame)
        tb = tb.tb_next
    if below or frame is None:  # a path of ours between the user's frame and the error has none of the user's
        return any(map(_is_given_plain_values, below))
    loc = next(iter(user_locs(frame)), None)
    if loc is None:
        return False
    return _is_wrong_call(loc, frame.tb_frame) or not any(map(_is_of_program, named(loc, frame.tb_frame)))


_OF_TENSORS = frozenset({"ops", "tensor", "nn", "linalg", "fft", "signal", "geometric", "sparse", "vision", "audio"})
"""The packages whose functions eager code and programs call alike."""


def is_of_known_tensors(err: BaseException) -> bool:
    """Whether a function of tensors found fault with what it was given, of which all is known that eager code knows.

    It is given tensors of known shapes and plain values of Python, and finds the same fault in both modes then.
    """
    called: list[FrameType] = []
    package = ""
    tb = err.__traceback__
    while tb is not None:
        package = _package_of(tb.tb_frame)
        if is_user_frame(tb.tb_frame):
            called = []
        elif package in _OF_TENSORS:
            called.append(tb.tb_frame)
        tb = tb.tb_next
    return package in _OF_TENSORS and bool(called) and all(map(_is_known, _arguments(called[0])))


def _package_of(frame: FrameType) -> str:
    name: str = frame.f_globals.get("__name__", "")
    return name.split(".")[1] if name.startswith("vitrify.") else ""


def _is_known(value: Any) -> bool:
    """Whether it is a tensor of known shape, or a plain value of Python's, or a sequence of such."""
    if is_tensor(value):
        return not is_number(value) and all(type(size) is int and size >= 0 for size in value.shape)
    if isinstance(value, (list, tuple)):
        return not is_open(value) and all(map(_is_known, value))
    return isinstance(value, (*SCALARS, str, DType, type(None)))


def _is_given_plain_values(frame: FrameType) -> bool:
    if frame.f_code not in _FOR_USER:
        return False
    held = frame.f_locals
    if _CALL.issubset(held) and not _fits(held["function"], held["args"], held["kwargs"]):
        return True
    return not any(map(_is_of_program, _arguments(frame)))


def _is_wrong_call(loc: Loc, frame: FrameType) -> bool:
    """Whether the expression at `loc` calls, by its name, what cannot be called at all or not with such arguments."""
    return any(isinstance(call.func, ast.Name) and _cannot_be(call, call.func.id, frame) for call in _calls(loc))


def _calls(loc: Loc) -> list[ast.Call]:
    """The call that the expression at `loc` is; all in its line where the columns are not known, as on Python 3.10."""
    text = linecache.getline(loc.file, loc.line)[loc.col : loc.end_col].strip()
    try:
        tree = ast.parse(f"{text} pass" if text.endswith(":") else text)
    except SyntaxError:
        return []
    if loc.col is None:
        return [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    (only,) = tree.body if len(tree.body) == 1 else (None,)
    return [only.value] if isinstance(only, ast.Expr) and isinstance(only.value, ast.Call) else []


def _cannot_be(call: ast.Call, name: str, frame: FrameType) -> bool:
    held = (names[name] for names in (frame.f_locals, frame.f_globals) if name in names)
    function = next(held, None)
    if function is None or _is_of_program(function):
        return False
    keywords: list[Any] = []
    for keyword in call.keywords:
        keywords += [keyword.arg] if keyword.arg is not None else _keys(keyword.value, frame)
    if None in keywords or any(isinstance(arg, ast.Starred) for arg in call.args):
        return not callable(function)
    return not _fits(function, call.args, keywords)


def _keys(mapping: ast.expr, frame: FrameType) -> list[Any]:
    """The keys of what stands behind `**`, as far as a look without calls tells: None for those that are not known."""
    if isinstance(mapping, ast.Dict):
        return [key.value if isinstance(key, ast.Constant) else None for key in mapping.keys]
    held = frame.f_locals.get(mapping.id) if isinstance(mapping, ast.Name) else None
    return list(dict.keys(held)) if isinstance(held, dict) else [None]


def _fits(function: Any, args: Sequence[Any], keywords: Iterable[str]) -> bool:
    """Whether a call has the arguments that the function takes, as far as that is known."""
    if not callable(function):
        return False
    kwargs = dict.fromkeys(keywords)
    if len(kwargs) < len(list(keywords)):
        return False
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return True
    try:
        signature.bind(*args, **kwargs)
    except TypeError:
        return False
    return True


def _is_of_program(value: Any) -> bool:
    return isinstance(value, Undefined) or holds_deferred(value) or holds_deferred(bound_to(value))


def _arguments(frame: FrameType) -> Iterator[Any]:
    """What the parameters of a running function hold."""
    code = frame.f_code
    count = code.co_argcount + code.co_kwonlyargcount
    count += bool(code.co_flags & _VARARGS) + bool(code.co_flags & _VARKEYWORDS)
    return (frame.f_locals.get(name) for name in code.co_varnames[:count])


def named(loc: Loc, frame: FrameType) -> Iterator[Any]:
    """What the names and dotted names in the expression at `loc` stand for, as far as a look without calls tells."""
    line = linecache.getline(loc.file, loc.line)
    # Python 3.10 knows no columns: the whole line counts then, but for the parameters of a lambda.
    text = line[loc.col : loc.end_col] if loc.col is not None else _PARAMETERS.sub("", line)
    for name in _NAME.findall(text):
        first, *rest = name.split(".")
        value = frame.f_locals.get(first, frame.f_globals.get(first))
        yield value
        for attribute in rest:
            value = getattr(value, "__dict__", {}).get(attribute)
            yield value
