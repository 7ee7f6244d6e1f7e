"""Elementwise ops and their public functions from one line each: unary(...) and binary(...)."""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from textwrap import indent
from typing import Any

from ..core.alias import aliased, first_names
from ..core.errors import DTypeError, ShapeError
from ..core.lazy import lazy_module
from ..core.meta import UNKNOWN, Meta
from .arguments import finish, is_tensor
from .like import as_float
from .meta_rules import Predicate, any_dtype, elementwise, floating
from .registry import define_elementwise

_same_sizes = lazy_module("vitrify.ops.same_sizes")
_SOURCE = re.compile(r"Source: (paddle[\w.]*\w)")
_EXAMPLE = "\n    Example:\n        >>> import vitrify as paddle\n"
# A call in an example, `paddle.f(x, ...)` whose x is a name or a call with parentheses inside, and what is shown of it.
_CALL = re.compile(
    r">>> paddle\.(?:nn\.functional\.)?\w+\((?P<x>paddle\.\w+\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)|x)"
    r"(?:, )?(?P<rest>.*)\)\.(?P<shown>tolist\(\)|shape)$",
    re.MULTILINE,
)


def only(op: str, accepts: Predicate, name: str = "x") -> Callable[[Any], Any]:
    """The check that a tensor has a dtype that `accepts` lets pass; gives the tensor. It raises DTypeError."""

    def check(value: Any) -> Any:
        if is_tensor(value) and not accepts(value.dtype):
            found = Meta(tuple(value.shape), value.dtype)
            raise DTypeError(f"{op}: {name} is {found}, expected {(accepts.__doc__ or '').rstrip('.').lower()}")
        return value

    return check


def _same(value: Any) -> Any:
    return value


def unary(
    name: str,
    *,
    scalar: Any,
    vjp: Any,
    doc: str,
    example: tuple[str, str],
    accepts: Predicate = floating,
    result: Any = None,
    meta: Any = None,
    input: str = "x",
    out: bool = True,
    out_second: bool = False,
    onnx: str | None = None,
    paddle: str | None = None,
    where: str = "",
    amp: str | None = None,
) -> Callable[..., Any]:
    """The public function of a new op of one tensor.

    accepts: which dtypes the op computes in; where that is `floating`, integer tensors are cast to float32 first.
    result: the output's dtype if it is not the input's. example: the argument and the result, as `tolist()` shows it.
    out: whether Paddle's signature has it; out_second: before `name`.
    paddle: the op's name in Paddle programs, if another than `name`.
    where: the namespace of the public function, such as "nn.functional.".
    """
    op = define_elementwise(
        name,
        scalar=scalar,
        meta=meta or elementwise(name, (input,), accepts, result),
        vjp=vjp,
        amp=amp,
        maps=_maps(onnx, paddle or name),
    )
    convert = as_float if accepts is floating else _same

    def call(x: Any, name: str | None = None) -> Any:
        return op(convert(x))

    def call_out(x: Any, name: str | None = None, *, out: Any = None) -> Any:
        return finish(op.name, op(convert(x)), out)

    def call_out_second(x: Any, out: Any = None, name: str | None = None) -> Any:
        return finish(op.name, op(convert(x)), out)

    public = where + name
    text = f"paddle.{public}(paddle.to_tensor({example[0]}))"
    published = call_out_second if out_second else call_out if out else call
    facts = _facts(accepts, result, accepts is floating) if meta is None else "x: any shape -> the same shape."
    return aliased(x="input")(_published(published, public, doc, text, example[1], facts))


def binary(
    name: str,
    *,
    scalar: Any,
    vjp: Any,
    doc: str,
    example: tuple[str, str, str],
    accepts: Predicate = any_dtype,
    result: Any = None,
    to_float: bool = False,
    out: bool = False,
    out_third: bool = False,
    weak_0d: bool | None = True,
    onnx: str | None = None,
    paddle: str | None = None,
) -> Callable[..., Any]:
    """The public function of a new op of two tensors that broadcast; see `unary`. to_float: integers become float32.

    out_third: Paddle's signature has `out` before `name`. weak_0d: see `OpDef`.
    """
    op = define_elementwise(
        name,
        scalar=scalar,
        meta=elementwise(name, ("x", "y"), accepts, result),
        vjp=vjp,
        weak_0d=weak_0d,
        maps=_maps(onnx, paddle or name),
    )
    convert = as_float if to_float else _same

    def call(x: Any, y: Any, name: str | None = None) -> Any:
        return op(convert(x), convert(y))

    def call_out(x: Any, y: Any, name: str | None = None, *, out: Any = None) -> Any:
        return finish(op.name, op(convert(x), convert(y)), out)

    def call_out_third(x: Any, y: Any, out: Any = None, name: str | None = None) -> Any:
        return finish(op.name, op(convert(x), convert(y)), out)

    published = call_out_third if out_third else call_out if out else call
    text = f"paddle.{name}(paddle.to_tensor({example[0]}), paddle.to_tensor({example[1]}))"
    facts = _facts(accepts, result, to_float, several=True)
    return aliased(x="input", y="other")(_published(published, name, doc, text, example[2], facts))


def _maps(onnx: str | None, paddle: str) -> Mapping[str, str]:
    return {"paddle": paddle} if onnx is None else {"onnx": onnx, "paddle": paddle}


def _facts(accepts: Predicate, result: Any, to_float: bool, several: bool = False) -> str:
    """What the docstring of a function says of shapes, dtypes and errors."""
    what = "x, y: shapes that broadcast together" if several else "x: any shape"
    dtypes = "any dtype" if accepts is any_dtype else (accepts.__doc__ or "").rstrip(".").lower()
    given = f"{what}, {dtypes}{'; integers and bool become float32' if to_float else ''}"
    dtype = f"{result.name}" if result else "of their common dtype" if several else "of x's dtype"
    errors = ["ShapeError for shapes that do not broadcast"] if several else []
    takes_all = accepts is any_dtype or (to_float and accepts is floating)
    errors += [] if takes_all else ["DTypeError for other dtypes"]
    raised = f"\n    Raises {', '.join(errors)}." if errors else ""
    return f"{given} -> {'that' if several else 'the same'} shape, {dtype}.{raised}"


def _published(fn: Callable[..., Any], name: str, doc: str, call: str, result: str, facts: str) -> Callable[..., Any]:
    """`fn` under its public name, in the module that defines the op, with a docstring."""
    fn.__name__ = fn.__qualname__ = name.rpartition(".")[2]
    fn.__module__ = sys._getframe(2).f_globals["__name__"]
    fn.__doc__ = (
        f"{doc}, elementwise. Source: paddle.{name}.\n\n    {facts}\n{_EXAMPLE}"
        f"        >>> {call}.tolist()\n        {result}\n    "
    )
    return fn


def _fits(shape: Sequence[int], found: Sequence[int]) -> bool:
    return len(shape) == len(found) and all(a == b or -1 in (a, b) for a, b in zip(shape, found))


def become(name: str, x: Any, result: Any, keeps_shape: bool, others: Iterable[Any] = ()) -> Any:
    """x with the content of `result`, which function `name` made of x and `others`.

    Raises ShapeError where a shape kept differs; where only a run knows the sizes of others, that run does.
    """
    if keeps_shape and not _fits(x.shape, result.shape):
        raise ShapeError(f"{name}_: the result has the shape {list(result.shape)}, which x {list(x.shape)} cannot hold")
    if keeps_shape and UNKNOWN in result.shape and any(UNKNOWN in getattr(y, "shape", ()) for y in others):
        result = _same_sizes.same_sizes(f"{name}_: x cannot hold a result of another shape", x, result)
    return x._become(result)


def _in_place_doc(fn: Callable[..., Any], keeps_shape: bool, room: str) -> str:
    """What the docstring of `fn` becomes for its variant that changes x."""
    doc = indent(inspect.cleandoc(fn.__doc__ or ""), "    ")  # from Python 3.13 on docstrings come without indentation
    source = _SOURCE.search(doc)
    return (
        f"`{fn.__name__}` in place: x takes the result as its content and is returned; see `{fn.__name__}`.\n\n"
        + ("    Raises ShapeError for a result of another shape than x has. " if keeps_shape else "    ")
        + f"Raises DTypeError if x is no tensor.{'' if source is None else f' Source: {source[1]}_.'}\n"
        + _in_place_example(fn.__name__, room, doc.partition(_EXAMPLE)[2])
        + "    "
    )


def _in_place_example(name: str, room: str, lines: str) -> str:
    """The example of a function, as one of its variant that changes x; empty where it has none of that kind.

    room: where the variant is, if it is no method.
    """
    call = _CALL.search(lines)
    if call is not None:
        made = "" if call["x"] == "x" else f">>> x = {call['x']}\n        "
        start = f"{room}{name}_(x{', ' if call['rest'] else ''}" if room else f"x.{name}_("
        changed = f">>> _ = {start}{call['rest']})\n        >>> x.{call['shown']}"
        return f"{_EXAMPLE}{lines[: call.start()]}{made}{changed}{lines[call.end() :].rstrip()}\n"
    changed = lines.replace(f"paddle.{name}(x, ", f"x.{name}_(").replace(f"x.{name}(", f"x.{name}_(")
    return f"{_EXAMPLE}{changed.rstrip()}\n" if f".{name}_(" in changed else ""


def _taken(name: str, first: tuple[str, ...], kwargs: dict[str, Any]) -> Any:
    """The tensor to change, which stands among the keyword arguments by one of its names."""
    for known in first:
        if known in kwargs:
            return kwargs.pop(known)
    raise TypeError(f"{name}_() missing 1 required positional argument: {first[0]!r}")


def in_place(
    fn: Callable[..., Any], keeps_shape: bool = False, shows_out: bool = False, room: str = ""
) -> Callable[..., Any]:
    """The variant of `fn(x, ...)` that puts the result into x and returns x; its name gets an underscore.

    With `keeps_shape` it raises ShapeError if broadcasting gave the result another shape than x has. Its signature is
    that of `fn`, without `out` unless `shows_out`. room: where it is, if it is no method:
    "paddle.nn.functional.".

    Example:
        >>> import vitrify as paddle
        >>> in_place(paddle.abs)(paddle.to_tensor([-1.0])).tolist()
        [1.0]
    """

    first = first_names(fn)

    def call(*args: Any, **kwargs: Any) -> Any:
        x, args = (args[0], args[1:]) if args else (_taken(fn.__name__, first, kwargs), args)
        if not hasattr(x, "_become"):
            raise DTypeError(f"{fn.__name__}_: x must be a tensor, got {type(x).__name__}")
        return become(fn.__name__, x, fn(x, *args, **kwargs), keeps_shape, (*args, *kwargs.values()))

    call.__name__ = call.__qualname__ = fn.__name__ + "_"
    call.__doc__ = _in_place_doc(fn, keeps_shape, room)
    shown = inspect.signature(fn)
    kept = [p for p in shown.parameters.values() if shows_out or p.name != "out"]
    call.__dict__["__signature__"] = shown.replace(parameters=kept)
    return call
