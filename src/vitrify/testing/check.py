"""check_case: one mechanism for every op. Values against NumPy, gradients against finite differences, eager = static."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..core.pytree import flatten, map_leaves, unflatten
from ..eager.autograd import grad
from ..eager.tensor import Tensor, to_tensor
from ..jit import to_static
from .case import Array, Case

STEP = 1e-6
GRADIENT_TOLERANCE = 1e-5


class _Call:
    """A case's call as a function of its array leaves alone."""

    def __init__(self, case: Case) -> None:
        self.case = case
        leaves: list[Any] = []
        self.tree = flatten((case.args, dict(case.kwargs)), leaves)
        self.leaves = leaves
        self.arrays: list[Array] = [leaf for leaf in leaves if isinstance(leaf, np.ndarray)]

    def on(self, values: Sequence[Any]) -> Any:
        """The function's result with `values` in place of the arrays."""
        source = iter(values)
        leaves = [next(source) if isinstance(leaf, np.ndarray) else leaf for leaf in self.leaves]
        args, kwargs = unflatten(self.tree, iter(leaves))
        return self.case.fn(*args, **kwargs)

    def reference(self) -> Any:
        """What the case expects, None when it says nothing."""
        ref = self.case.ref
        if not callable(ref):
            return ref
        takes = inspect.signature(ref).parameters if not isinstance(ref, np.ufunc) else {}
        named = {k: v for k, v in self.case.kwargs.items() if k in takes}
        return ref(*self.case.args, **named)


def check_case(case: Case) -> None:
    """Assert everything that `case` says; see `Case`."""
    call = _Call(case)
    results = _outputs(call.on([to_tensor(a) for a in call.arrays]))
    _check_values(case, call, results)
    _check_layouts(case, call, results)
    if case.grad:
        _check_gradients(case, call)
    if case.static:
        _check_static(case, call)


def _outputs(result: Any) -> list[Tensor]:
    leaves: list[Any] = []
    flatten(result, leaves)
    return [leaf for leaf in leaves if isinstance(leaf, Tensor)]


def _check_values(case: Case, call: _Call, results: Sequence[Tensor]) -> None:
    expected = call.reference()
    if expected is None:
        return
    wanted: list[Any] = []
    flatten(expected, wanted)
    if isinstance(expected, list) and len(results) == 1:
        wanted = [np.asarray(expected)]
    assert len(results) == len(wanted), f"{case.name}: {len(results)} outputs, expected {len(wanted)}"
    for got, want in zip(results, wanted):
        want = np.asarray(want)
        assert tuple(got.shape) == want.shape, f"{case.name}: shape {got.shape}, expected {list(want.shape)}"
        np.testing.assert_allclose(got.numpy(), want, rtol=case.rtol, atol=case.atol, err_msg=case.name)


def _check_layouts(case: Case, call: _Call, results: Sequence[Tensor]) -> None:
    """Inputs that are not contiguous give the same, and are left as they were."""
    strided = [_strided(a) for a in call.arrays]
    tensors = [to_tensor(a) for a in strided]
    for tensor, array in zip(tensors, strided):
        tensor._data = array
    again = _outputs(call.on(tensors))
    for a, b in zip(results, again):
        np.testing.assert_allclose(b.numpy(), a.numpy(), rtol=1e-9, atol=1e-12, err_msg=f"{case.name}: strided input")
    for array, kept in zip(strided, call.arrays):
        np.testing.assert_array_equal(array, kept, err_msg=f"{case.name} changed its input")


def _strided(array: Array) -> Array:
    if array.ndim == 0:
        return array.copy()
    wide = np.repeat(array, 2, axis=-1)
    return wide[..., ::2]


def _wants(array: Array) -> bool:
    return array.dtype.kind in "fc"


def _loss(results: Sequence[Tensor], weights: Sequence[Array]) -> Any:
    """A number that depends on every floating output, in float64."""
    total: Any = None
    for out, weight in zip([r for r in results if _wants(r._data)], weights):
        part = (out * to_tensor(weight.astype(out._data.dtype))).sum()
        part = part.real() if out._data.dtype.kind == "c" else part
        total = part if total is None else total + part
    return total


def _weights(results: Sequence[Tensor]) -> list[Array]:
    generator = np.random.default_rng(7)
    return [generator.standard_normal(r._data.shape) for r in results if _wants(r._data)]


def _gradients(fn: Callable[[Sequence[Any]], Any], arrays: Sequence[Array], weights: Sequence[Array]) -> list[Any]:
    tensors = [to_tensor(a, stop_gradient=not _wants(a)) for a in arrays]
    loss = _loss(_outputs(fn(tensors)), weights)
    loss.backward()
    return [None if t.grad is None else t.grad.numpy() for t in tensors]


def _check_gradients(case: Case, call: _Call) -> None:
    """The gradient along a random direction equals the central difference along it, for all inputs together."""
    results = _outputs(call.on([to_tensor(a) for a in call.arrays]))
    weights = _weights(results)
    found = _gradients(call.on, call.arrays, weights)
    generator = np.random.default_rng(11)
    for index, array in enumerate(call.arrays):
        if not _wants(array) or array.size == 0:
            continue
        direction = generator.standard_normal(array.shape)
        slope = _slope(call, weights, index, direction)
        got = 0.0 if found[index] is None else float(np.real(np.sum(found[index] * direction)))
        np.testing.assert_allclose(
            got, slope, rtol=GRADIENT_TOLERANCE, atol=GRADIENT_TOLERANCE, err_msg=f"{case.name}: gradient of input {index}"
        )
    if case.second:
        _check_second(case, call)


def _slope(call: _Call, weights: Sequence[Array], index: int, direction: Array) -> float:
    def at(step: float) -> float:
        arrays = list(call.arrays)
        arrays[index] = arrays[index] + step * direction
        return float(_loss(_outputs(call.on([to_tensor(a) for a in arrays])), weights).item())

    return (at(STEP) - at(-STEP)) / (2 * STEP)


def _check_second(case: Case, call: _Call) -> None:
    """The gradient of (gradient · v) along u equals the central difference of the gradient."""
    results = _outputs(call.on([to_tensor(a) for a in call.arrays]))
    weights = _weights(results)
    generator = np.random.default_rng(13)
    wanted = [i for i, a in enumerate(call.arrays) if _wants(a) and a.size]
    inner = {i: generator.standard_normal(call.arrays[i].shape) for i in wanted}
    outer = {i: generator.standard_normal(call.arrays[i].shape) for i in wanted}

    def directional(arrays: Sequence[Array], tape: bool) -> tuple[Any, list[Tensor]]:
        tensors = [to_tensor(a, stop_gradient=not _wants(a)) for a in arrays]
        inputs = [tensors[i] for i in wanted]
        loss = _loss(_outputs(call.on(tensors)), weights)
        grads = grad(loss, inputs, create_graph=tape, allow_unused=True)
        total = sum(((g * to_tensor(inner[i])).sum() for i, g in zip(wanted, grads) if g is not None), to_tensor(0.0, "float64"))
        return total, inputs

    total, inputs = directional(call.arrays, True)
    got = 0.0
    if not total.stop_gradient:
        seconds = grad(total, inputs, allow_unused=True)
        got = sum(float((g.numpy() * outer[i]).sum()) for i, g in zip(wanted, seconds) if g is not None)
    step = 1e-5

    def moved(sign: float) -> float:
        arrays = [a + sign * step * outer[i] if i in outer else a for i, a in enumerate(call.arrays)]
        return float(directional(arrays, False)[0].item())

    slope = (moved(1.0) - moved(-1.0)) / (2 * step)
    np.testing.assert_allclose(got, slope, rtol=1e-4, atol=1e-4, err_msg=f"{case.name}: second derivative")


def _check_static(case: Case, call: _Call) -> None:
    """The compiled function gives the eager one's outputs and gradients, on the first and on a repeated call."""
    compiled = to_static(lambda tensors: call.on(tensors))
    eager = call.on([to_tensor(a) for a in call.arrays])
    weights = _weights(_outputs(eager))
    for _ in range(2):
        static = compiled([to_tensor(a) for a in call.arrays])
        _same_structure(case, eager, static)
        for a, b in zip(_outputs(eager), _outputs(static)):
            assert a.dtype == b.dtype, f"{case.name}: eager gives {a.dtype}, static {b.dtype}"
            assert a.shape == b.shape, f"{case.name}: eager gives {a.shape}, static {b.shape}"
            np.testing.assert_allclose(b.numpy(), a.numpy(), rtol=1e-10, atol=1e-12, err_msg=f"{case.name}: static")
    if case.grad:
        wanted = _gradients(call.on, call.arrays, weights)
        found = _gradients(compiled, call.arrays, weights)
        for x, y in zip(wanted, found):
            if x is None and y is None:
                continue
            zeros = np.zeros_like(x if x is not None else y)
            np.testing.assert_allclose(
                zeros if y is None else y, zeros if x is None else x, rtol=1e-9, atol=1e-12, err_msg=f"{case.name}: static gradient"
            )


def _same_structure(case: Case, eager: Any, static: Any) -> None:
    kinds = [map_leaves(lambda leaf: isinstance(leaf, Tensor), value) for value in (eager, static)]
    assert kinds[0] == kinds[1], f"{case.name}: eager and static return different structures"


def check_error(fn: Callable[..., Any], args: Sequence[Any], error: type[BaseException], *parts: str) -> None:
    """Assert that the call raises `error` with all `parts` in its message, eagerly and when compiled alike."""
    for run in (fn, to_static(lambda *values: fn(*values))):
        tensors = [to_tensor(a) if isinstance(a, np.ndarray) else a for a in args]
        try:
            run(*tensors)
        except error as err:
            missing = [part for part in parts if part not in str(err)]
            assert not missing, f"{missing} not in message: {err}"
        else:
            raise AssertionError(f"no {error.__name__} was raised")
