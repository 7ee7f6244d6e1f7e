"""static_pylayer: a part of a program whose gradient is written by hand."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...core.dispatch import in_dynamic_mode
from ...core.errors import ArgumentError, DTypeError, ShapeError, UnsupportedError
from ...core.modes import grad_enabled, scoped
from ...core.pytree import flatten, unflatten
from ...core.sequences import as_list
from ...ir.program import Variable
from ...ops.hand_gradient import with_gradient_op


def _of_inputs(backward_fn: Callable[..., Any], count: int) -> Callable[..., list[Any]]:
    """The form of backward_fn that `with_gradient` calls: it gets the forward values too, `count` outputs first."""

    def backward(cts: Sequence[Any], values: Sequence[Any]) -> list[Any]:
        found = backward_fn(*cts)
        grads = as_list(found)
        inputs = values[count:]
        if len(grads) != len(inputs):
            raise ArgumentError(
                f"static_pylayer: backward_fn gives {len(grads)} values, forward_fn takes {len(inputs)} Variables",
                hint="give one gradient for each input, in their order",
            )
        for i, (ct, value) in enumerate(zip(grads, inputs)):
            _check_gradient(i, ct, value)
        return grads

    return backward


def _check_gradient(i: int, ct: Any, value: Any) -> None:
    if ct is None:
        return
    if not isinstance(ct, Variable):
        raise DTypeError(f"static_pylayer: gradient {i} must be a Variable, but received {type(ct).__name__}")
    if len(ct.shape) != len(value.shape) or any(-1 not in (a, b) and a != b for a, b in zip(ct.shape, value.shape)):
        raise ShapeError(f"static_pylayer: gradient {i} has shape {list(ct.shape)}, its input {list(value.shape)}")


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
    given = as_list(inputs)
    with scoped(grad_enabled, False):
        made = forward_fn(*given)
    leaves: list[Any] = []
    tree = flatten(made, leaves)
    _check_variables("an input", given)
    _check_variables("what forward_fn gives", leaves)
    if backward_fn is None or not leaves:
        return made
    count = len(leaves)
    outs = with_gradient_op(*leaves, *given, backward=_of_inputs(backward_fn, count), count=count)
    return unflatten(tree, iter(outs))


def _check_variables(what: str, values: Sequence[Any]) -> None:
    for value in values:
        if not isinstance(value, Variable):
            raise DTypeError(f"static_pylayer: {what} must be a Variable, but received {type(value).__name__}")


__all__ = ["static_pylayer"]
