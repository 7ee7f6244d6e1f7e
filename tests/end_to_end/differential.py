"""Eager against static: outputs, gradients, mutated arguments, prints, exceptions, on the first and repeated call."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import vitrify as paddle
from vitrify.core.pytree import all_leaves


@dataclass
class Outcome:
    """What one call did."""

    outputs: list[Any]
    gradients: list[np.ndarray | None]
    arguments: list[np.ndarray]
    printed: str
    error: type[BaseException] | None


def tensors(args: tuple[Any, ...]) -> list[Any]:
    """Fresh tensors for lists and arrays among `args`; anything else as it is."""
    made = []
    for arg in args:
        if isinstance(arg, (list, np.ndarray)):
            array = np.asarray(arg)
            array = array.astype("float32") if array.dtype == np.float64 else array
            made.append(paddle.to_tensor(array, stop_gradient=array.dtype.kind != "f"))
        else:
            made.append(arg)
    return made


def run(fn: Callable[..., Any], args: tuple[Any, ...]) -> Outcome:
    """One call on fresh tensors, with backward of the sum of squares of its float outputs."""
    given = tensors(args)
    out = io.StringIO()
    try:
        with contextlib.redirect_stdout(out):
            result = fn(*given)
    except Exception as err:  # noqa: BLE001 - its class is what is compared
        return Outcome([], [], [], out.getvalue(), type(err))
    leaves = list(all_leaves(result))
    loss = None
    for leaf in leaves:
        if isinstance(leaf, paddle.Tensor) and leaf.dtype.is_floating and not leaf.stop_gradient:
            loss = (leaf * leaf).sum() if loss is None else loss + (leaf * leaf).sum()
    if loss is not None:
        loss.backward()
    inputs = [t for t in given if isinstance(t, paddle.Tensor)]
    return Outcome(
        [leaf.numpy() if isinstance(leaf, paddle.Tensor) else leaf for leaf in leaves],
        [None if t.grad is None else t.grad.numpy() for t in inputs],
        [t.numpy() for t in inputs],
        out.getvalue(),
        None,
    )


def same(a: Outcome, b: Outcome) -> None:
    """Assert that two outcomes are equal within float tolerance."""
    assert a.error is b.error or (a.error and b.error and issubclass(b.error, a.error)), f"{a.error} != {b.error}"
    assert a.printed == b.printed
    assert len(a.outputs) == len(b.outputs), f"{a.outputs} != {b.outputs}"
    for x, y in zip(a.outputs, b.outputs):
        _close(x, y)
    for x, y in zip(a.arguments, b.arguments):
        np.testing.assert_allclose(y, x, rtol=1e-5, atol=1e-6)
    for x, y in zip(a.gradients, b.gradients):
        zero = np.zeros_like(x if x is not None else y if y is not None else 0.0)
        np.testing.assert_allclose(zero if y is None else y, zero if x is None else x, rtol=1e-4, atol=1e-5)


def _close(x: Any, y: Any) -> None:
    if isinstance(x, (np.ndarray, int, float, np.generic)) and not isinstance(x, bool):
        np.testing.assert_allclose(np.asarray(y, dtype=np.asarray(x).dtype), x, rtol=1e-5, atol=1e-6)
        assert np.shape(x) == np.shape(y)
    else:
        assert (y.item() if isinstance(y, np.ndarray) else y) == x


def compare(fn: Callable[..., Any], *calls: tuple[Any, ...]) -> Any:
    """Check `to_static(fn)` against `fn` for each argument tuple, twice each; returns the static function."""
    static = paddle.jit.to_static(fn, full_graph=True)
    for _ in range(2):
        for args in calls:
            same(run(fn, args), run(static, args))
    return static
