"""static_pylayer: a part of a program whose gradient is written by hand."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...core.dispatch import in_dynamic_mode
from ...core.errors import ArgumentError, DTypeError, ShapeError, UnsupportedError
from ...core.meta import Meta
from ...core.modes import grad_enabled, scoped
from ...core.pytree import flatten, unflatten
from ...ir.program import Variable
from ...ops.registry import Instead, OpDef, define_op


def _given_vjp(cts: Any, *, values: Sequence[Any], backward: Any, count: int) -> dict[str, Any]:
    """Cotangents of the inputs by the user's function; the forward values, which stand before them, have none."""
    if backward is None:
        raise UnsupportedError(
            "static_pylayer: its backward_fn is Python, which programs that were saved or cloned for testing lack",
            hint="take gradients in the program that it was written in",
        )
    found = backward(*cts)
    grads = list(found) if isinstance(found, (list, tuple)) else [found]
    inputs = values[count:]
    if len(grads) != len(inputs):
        raise ArgumentError(
            f"static_pylayer: backward_fn gives {len(grads)} values, forward_fn takes {len(inputs)} Variables",
            hint="give one gradient for each input, in their order",
        )
    for i, (ct, value) in enumerate(zip(grads, inputs)):
        _check_gradient(i, ct, value)
    return {"values": [*[None] * count, *grads]}


def _check_gradient(i: int, ct: Any, value: Any) -> None:
    if ct is None:
        return
    if not isinstance(ct, Variable):
        raise DTypeError(f"static_pylayer: gradient {i} must be a Variable, but received {type(ct).__name__}")
    if len(ct.shape) != len(value.shape) or any(-1 not in (a, b) and a != b for a, b in zip(ct.shape, value.shape)):
        raise ShapeError(f"static_pylayer: gradient {i} has shape {list(ct.shape)}, its input {list(value.shape)}")


def _meta(*values: Meta, backward: Any, count: int) -> list[Meta]:
    return list(values[:count])


with_gradient_op: OpDef = define_op(
    "with_gradient",
    kernel=lambda xp, *values, backward, count: list(values[:count]),
    meta=_meta,
    vjp=_given_vjp,
    outputs=("*outs",),
    evaluation=lambda *, backward, count: Instead(with_gradient_op, ("*values",), {"backward": None, "count": count}),
)
"""The first `count` of its inputs; backward(*cotangents) gives the cotangents of the others. None in saved programs."""


def static_pylayer(
    forward_fn: Callable[..., Any],
    inputs: Sequence[Any],
    backward_fn: Callable[..., Any] | None = None,
    name: str | None = None,
) -> Any:
    """What `forward_fn(*inputs)` gives, with the gradient that `backward_fn` gives for those of its results.

    Both record operators; forward_fn gives Variables, alone or in lists and tuples, backward_fn takes a gradient for
    each and gives one for each of `inputs`, or None. Without backward_fn no gradient flows. Programs that were saved or
    cloned for testing compute forward alone. Raises DTypeError for arguments of other kinds, ArgumentError for another
    number of gradients, ShapeError for gradients of other shapes, UnsupportedError in dynamic mode.
    Source: paddle.static.nn.static_pylayer.

    Example:
        >>> import vitrify as paddle
        >>> main = paddle.static.Program()
        >>> with paddle.static.program_guard(main):
        ...     x = paddle.static.data("x", [2])
        ...     x.stop_gradient = False
        ...     y = paddle.static.nn.static_pylayer(lambda x: x * x, [x], lambda dy: dy * 10)
        ...     (slope,) = paddle.static.gradients([y], [x])
        >>> [v.tolist() for v in paddle.static.Executor().run(main, feed={"x": [1.0, 3.0]}, fetch_list=[y, slope])]
        [[1.0, 9.0], [10.0, 10.0]]
    """
    if in_dynamic_mode():
        raise UnsupportedError("static_pylayer is for programs", hint="subclass paddle.autograd.PyLayer")
    for what, fn in (("forward_fn", forward_fn), ("backward_fn", backward_fn)):
        if not callable(fn) and not (fn is None and what == "backward_fn"):
            raise DTypeError(f"static_pylayer: {what} must be callable, but received {type(fn).__name__}")
    given = list(inputs) if isinstance(inputs, (list, tuple)) else [inputs]
    with scoped(grad_enabled, False):
        made = forward_fn(*given)
    leaves: list[Any] = []
    tree = flatten(made, leaves)
    _check_variables("an input", given)
    _check_variables("what forward_fn gives", leaves)
    if backward_fn is None or not leaves:
        return made
    outs = with_gradient_op(*leaves, *given, backward=backward_fn, count=len(leaves))
    return unflatten(tree, iter(outs))


def _check_variables(what: str, values: Sequence[Any]) -> None:
    for value in values:
        if not isinstance(value, Variable):
            raise DTypeError(f"static_pylayer: {what} must be a Variable, but received {type(value).__name__}")


__all__ = ["static_pylayer"]
