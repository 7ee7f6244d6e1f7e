"""py_func: a Python function on arrays as an operator of a program written by hand."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from ..core.dispatch import in_dynamic_mode
from ..core.errors import DTypeError, UnsupportedError
from ..core.meta import Meta
from ..core.modes import recorder
from ..core.sequences import as_list
from ..eager.callback import callback_op, run_callback
from ..ir.program import Variable, position
from ..ops.registry import define_op


def _backward(backward: Callable[..., Any], kept: tuple[bool, ...], count: int, *arrays: Any) -> list[Any]:
    """The cotangents of the first `count` arrays: `backward` of inputs, outputs and cotangents, but those not kept."""
    found = backward(*[a for a, wanted in zip(arrays, kept) if wanted])
    return as_list(found)


def _py_func_vjp(
    cts: Sequence[Any], *, values: Sequence[Any], outs: Sequence[Any], backward: Any, kept: tuple[bool, ...]
) -> dict[str, Any]:
    given = [*values, *outs, *cts]
    wanted = tuple([Meta(tuple(v.shape), v.dtype) for v in values])
    called = partial(_backward, backward, kept + (True,) * len(cts), len(values))
    return {"values": list(callback_op(*given, function=called, out=wanted))}


py_func_op = define_op(
    "py_func",
    kernel=lambda xp, *values, function, out, backward, kept: run_callback(function, values, out),
    meta=lambda *values, function, out, backward, kept: out,
    vjp=_py_func_vjp,
    outputs=("*outs",),
    effect=True,
)


def py_func(
    func: Callable[..., Any],
    x: Any,
    out: Any,
    backward_func: Callable[..., Any] | None = None,
    skip_vars_in_backward_input: Any = None,
) -> Any:
    """`out`, which holds what `func` gives for the arrays of `x` each time the program runs.

    x: a Variable or a list of them. out: a Variable or a list of them, made by `create_var` with shape and dtype, or
    None for a function without results. func takes read-only NumPy arrays and gives arrays of those dtypes.
    backward_func: takes the inputs, the outputs and the gradients of the outputs, but for those in
    skip_vars_in_backward_input, and gives the gradient of each input; without it none flows. Programs that hold
    Python functions cannot be saved. Raises DTypeError for arguments of other kinds, UnsupportedError in dynamic mode.
    Source: paddle.static.py_func.

    Example:
        >>> import numpy as np, vitrify as paddle
        >>> main = paddle.static.Program()
        >>> with paddle.static.program_guard(main):
        ...     x = paddle.static.data("x", [None, 2])
        ...     y = main.current_block().create_var(name="y", shape=[None, 2], dtype="float32")
        ...     y = paddle.static.py_func(np.square, x, y)
        >>> paddle.static.Executor().run(main, feed={"x": [[1.0, 3.0]]}, fetch_list=[y])[0].tolist()
        [[1.0, 9.0]]
    """
    if in_dynamic_mode():
        raise UnsupportedError("py_func is for programs", hint="call the function, or use paddle.jit.host_callback")
    for what, fn in (("func", func), ("backward_func", backward_func)):
        if not callable(fn) and not (fn is None and what == "backward_func"):
            raise DTypeError(f"py_func: {what} must be callable, but received {type(fn).__name__}")
    values, outs = _variables("x", x), _variables("out", out)
    metas = tuple([v.meta for v in outs])
    if backward_func is None:
        found = callback_op(*values, function=_none_as_nothing(func, len(outs)), out=metas)
    else:
        skipped = _variables("skip_vars_in_backward_input", skip_vars_in_backward_input)
        kept = tuple([position(skipped, v) < 0 for v in (*values, *outs)])
        found = py_func_op(*values, function=func, out=metas, backward=backward_func, kept=kept)
    for var, value in zip(outs, found):
        recorder.get().assign(var, value)
    return out


def _none_as_nothing(func: Callable[..., Any], count: int) -> Callable[..., Any]:
    """`func`, whose None counts as no results where none are wanted."""

    def called(*arrays: Any) -> Any:
        found = func(*arrays)
        return () if found is None and count == 0 else found

    return called


def _variables(what: str, value: Any) -> list[Variable]:
    found = [] if value is None else list(value) if isinstance(value, (list, tuple, set)) else [value]
    for item in found:
        if not isinstance(item, Variable):
            raise DTypeError(f"py_func: {what} takes Variables, but received {type(item).__name__}")
    return found


__all__ = ["py_func"]
