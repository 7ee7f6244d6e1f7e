"""Ops with an effect on the host, in their place in a program's order: print, assert, raise, calls of functions."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from functools import partial
from typing import Any

import numpy as np

from ..core.dtype import from_np
from ..core.errors import RAISED_BY_PROGRAM, ArgumentError, add_note
from ..core.meta import Meta
from ..core.place import current_place
from ..ops.registry import NoGradient, define_op
from .arrays import to_array
from .host_expr import FUNCTIONS, SAID, Expression, evaluate, prepared, said
from .tensor import Tensor

EFFECT = NoGradient("it has an effect and no value")


def _noted(cls: type[NameError], message: str, *notes: str) -> NameError:
    """What Python raises for a variable that is not set, with notes of where other paths set it."""
    err = cls(message)
    for note in notes:
        add_note(err, note)
    return err


UNSET_ERRORS = {"unset_local": partial(_noted, UnboundLocalError), "unset_free": partial(_noted, NameError)}
"""By what they are called in expressions: of a variable of the function itself, and of one around it."""

FUNCTIONS |= UNSET_ERRORS
SAID |= {"unset_local": "UnboundLocalError", "unset_free": "NameError"}


PRINTED: ContextVar[Counter[str] | None] = ContextVar("printed", default=None)
"""How many characters the run in progress printed, by "stdout" and "stderr"; None where nobody counts."""


def _bound_print(text: Expression, file: Expression, flush: bool) -> Callable[..., tuple[Any, ...]]:
    """file: None for the standard output of the moment, "stderr", or an object with `write`."""
    find, show = prepared(file), prepared(text)

    def run(*values: Any) -> tuple[Any, ...]:
        found, shown = find(values), show(values)
        print(shown, end="", file=sys.stderr if found == "stderr" else found, flush=flush)
        printed = PRINTED.get()
        if printed is not None and found in (None, "stderr"):
            printed[found or "stdout"] += len(shown)
        return ()

    return run


def _print_kernel(xp: Any, *values: Any, text: Expression, file: Expression, flush: bool) -> tuple[Any, ...]:
    return _bound_print(text, file, flush)(*values)


def always_called(n: Any, call: Callable[..., tuple[Any, ...]], /, *values: Any, **attrs: Any) -> tuple[Any, ...]:
    """How a native program calls a kernel that needs Python: `OpDef.called_back`."""
    return call()


print_op = define_op(
    "print",
    kernel=_print_kernel,
    bound=_bound_print,
    called_back=always_called,
    meta=lambda *values, text, file, flush: (),
    vjp=EFFECT,
    outputs=("*outs",),
    effect=True,
)


def _seed_kernel(xp: Any, *, key: Any, seed: Any) -> tuple[Any, ...]:
    """Start the stream of a seed; key: the generator of the run."""
    key.manual_seed(int(seed))
    return ()


seed_op = define_op(
    "seed",
    kernel=_seed_kernel,
    meta=lambda *, seed: (),
    vjp=EFFECT,
    outputs=("*outs",),
    dynamic=("seed",),
    random=True,
    effect=True,
)


def _raised(err: Any) -> BaseException:
    """The exception to raise for `err`, an exception or a class of one, marked as the program's own."""
    found: BaseException = err() if isinstance(err, type) else err
    setattr(found, RAISED_BY_PROGRAM, True)
    return found


def _assert_kernel(xp: Any, condition: Any, *values: Any, error: Expression) -> tuple[Any, ...]:
    """error: the exception that a false condition raises; made only then."""
    if not bool(condition.all()):
        raise _raised(evaluate(error, values))
    return ()


def _said(error: Expression) -> str | None:
    """What a program without Python says of an exception; None where only Python can make it."""
    try:
        return said(error)
    except (KeyError, TypeError):
        return None


def _asserted(
    n: Any, call: Callable[..., tuple[Any, ...]], condition: Any, *values: Any, error: Expression
) -> tuple[Any, ...]:
    """The call only where one truth value is false."""
    if condition.size != 1:
        return call(raises_only=True)
    n.choose(n.reshape(condition, ()), tuple, lambda: call(raises_only=True))
    return ()


assert_op = define_op(
    "assert",
    kernel=_assert_kernel,
    called_back=_asserted,
    meta=lambda condition, *values, error: (),
    vjp=EFFECT,
    outputs=("*outs",),
    effect=True,
    ahead=lambda n, condition, *values, error: n.asserted(condition, _said(error)),
)


def _raise_kernel(xp: Any, *values: Any, error: Expression, cause: Expression, chained: bool) -> tuple[Any, ...]:
    """chained: whether `raise ... from cause` was written."""
    err = _raised(evaluate(error, values))
    if chained:
        raise err from evaluate(cause, values)
    raise err


def _raises(n: Any, call: Callable[..., tuple[Any, ...]], /, *values: Any, **attrs: Any) -> tuple[Any, ...]:
    return call(raises_only=True)


raise_op = define_op(
    "raise",
    kernel=_raise_kernel,
    called_back=_raises,
    meta=lambda *values, error, cause, chained: (),
    vjp=EFFECT,
    outputs=("*outs",),
    effect=True,
    ahead=lambda n, *values, error, cause, chained: n.asserted(None, _said(error)),
)


def _effect_kernel(xp: Any, *values: Any, call: Expression) -> tuple[Any, ...]:
    evaluate(call, values)
    return ()


effect_op = define_op(
    "host_effect",
    kernel=_effect_kernel,
    meta=lambda *values, call: (),
    vjp=EFFECT,
    outputs=("*outs",),
    effect=True,
)


def _bound_host_value(call: Expression, meta: Meta) -> Callable[..., tuple[Any, ...]]:
    compute, dtype, shape = prepared(call), meta.dtype.np, tuple(meta.shape)

    def run(*values: Any) -> tuple[Any, ...]:
        value = compute(values)
        array = value._data if value.__class__ is Tensor else value
        is_plain = array.__class__ is np.ndarray and array.dtype == dtype and array.shape == shape
        if is_plain and current_place().kind == "cpu":
            return (array.copy(),)  # whoever made it may keep it
        return (_as_promised(value, meta),)

    return run


def _host_value_kernel(xp: Any, *values: Any, call: Expression, meta: Meta) -> tuple[Any, ...]:
    return _bound_host_value(call, meta)(*values)


def _as_promised(value: Any, meta: Meta) -> Any:
    """The array of a value that Python code gave; raises ArgumentError where the program was built for another."""
    found = to_array(value, None, None)
    if found.dtype != meta.dtype.np and isinstance(value, (float, list)):
        found = to_array(value, meta.dtype, None)  # Python floats, wanted in full
    known = Meta(tuple(found.shape), from_np(found.dtype))
    if known.dtype is not meta.dtype or not fits(known.shape, meta.shape):
        raise ArgumentError(
            f"Python code in the middle of a program gave {known}; when the program was built it gave {meta}",
            hint="wrap it in paddle.jit.host_callback and say what it gives, with None for sizes that vary",
        )
    return found


def fits(shape: Sequence[int], wanted: Sequence[int]) -> bool:
    """Whether a shape is as wanted; -1 stands for any size."""
    return len(shape) == len(wanted) and all(b in (-1, a) for a, b in zip(shape, wanted))


host_value_op = define_op(
    "host_value",
    kernel=_host_value_kernel,
    bound=_bound_host_value,
    called_back=always_called,
    meta=lambda *values, call, meta: (meta,),
    vjp=NoGradient("Python code computed it"),
    outputs=("*outs",),
    on_host=True,
)

draw_op = define_op(
    "host_draw",
    kernel=_host_value_kernel,
    bound=_bound_host_value,
    called_back=always_called,
    meta=lambda *values, call, meta: (meta,),
    vjp=NoGradient("it is drawn at random"),
    outputs=("*outs",),
    effect=True,
)
"""What a generator of Python's or NumPy's gives: as `host_value`, but a call changes the generator."""
