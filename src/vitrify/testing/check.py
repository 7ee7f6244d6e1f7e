"""check_case: one call against NumPy, against finite differences, in other dtypes and layouts, and as a program."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..core.dtype import as_dtype, from_np
from ..core.meta import UNKNOWN, Meta
from ..eager.tensor import to_tensor
from .case import Array, Case
from .paths import (
    Call,
    eager_second_vjp,
    eager_values,
    eager_vjp,
    is_inexact,
    metas_of,
    record,
    tensors_of,
)

STEP = 1e-6
DTYPES = ("bool", "int8", "int32", "int64", "float16", "bfloat16", "float32", "float64", "complex64")
LOOSE = {"float32": 2e-4, "float16": 2e-2, "bfloat16": 1e-1}


def check_case(case: Case) -> None:
    """Assert everything that `case` says; see `Case`."""
    call = Call(case)
    arrays = call.arrays
    values = eager_values(call, arrays)
    _check_reference(call, values)
    if case.layouts:
        _check_layouts(call, values)
    if any(a.dtype == np.float64 for a in arrays):
        for dtype in case.dtypes:
            _check_dtype(call, dtype)
    cts = [_random(case, v) for v in values if is_inexact(v)] if case.grad else []
    if cts and any(map(is_inexact, arrays)):
        _check_gradients(call, cts)
        if case.second:
            _check_second(call, cts)
    if case.static:
        for unknown in (False, True) if case.dynamic else (False,):
            _check_program(call, values, cts, unknown)


def _random(case: Case, array: Array, salt: int = 0) -> Array:
    """Numbers like `array`'s, drawn anew for each case."""
    rng = np.random.default_rng([zlib.crc32(case.name.encode()), salt, *array.shape])
    drawn: Any = rng.uniform(-1, 1, array.shape)
    if array.dtype.kind == "c":
        drawn = drawn + 1j * rng.uniform(-1, 1, array.shape)
    return np.asarray(drawn).astype(array.dtype)


def _close(found: Any, wanted: Any, rtol: float, atol: float, what: str) -> None:
    a, b = np.asarray(found), np.asarray(wanted)
    assert a.shape == b.shape, f"{what}: shape {list(a.shape)}, expected {list(b.shape)}"
    kind = np.complex128 if "c" in (a.dtype.kind, b.dtype.kind) else np.float64
    np.testing.assert_allclose(a.astype(kind), b.astype(kind), rtol=rtol, atol=atol, err_msg=what)


# -- values ----------------------------------------------------------------------------------------------------------


def _check_reference(call: Call, values: Sequence[Array]) -> None:
    case, expected = call.case, call.reference()
    if expected is None:
        return
    assert len(values) == len(expected), f"{case}: {len(values)} outputs, expected {len(expected)}"
    for found, wanted in zip(values, expected):
        _close(found, wanted, case.rtol, case.atol, f"{case}: eager")


def _strided(array: Array) -> Array:
    """The same numbers in memory that is neither contiguous nor in order."""
    if array.ndim == 0:
        return array.copy()
    wide = np.zeros((*array.shape[:0:-1], 2 * array.shape[0]), array.dtype)
    view = wide.T[1::2][::-1]
    view[...] = array
    return view


def _check_layouts(call: Call, values: Sequence[Array]) -> None:
    """Inputs that are not contiguous give the same, and are left as they were."""
    strided = [_strided(a) for a in call.arrays]
    tensors = [to_tensor(a) for a in strided]
    for tensor, array in zip(tensors, strided):
        tensor._data = array  # to_tensor copies into order
    for found, wanted in zip(tensors_of(call.on(tensors)), values):
        _close(found.numpy(), wanted, 1e-9, 1e-12, f"{call.case}: strided input")
    for array, kept in zip(strided, call.arrays):
        np.testing.assert_array_equal(array, kept, err_msg=f"{call.case} changed its input")


def _check_dtype(call: Call, dtype: str) -> None:
    """In another floating type the result is near, and of the dtype that the meta rule says."""
    case = call.case
    arrays = [a.astype(as_dtype(dtype).np) if a.dtype == np.float64 else a for a in call.arrays]
    found = tensors_of(call.on([to_tensor(a) for a in arrays]))
    if case.static:
        for tensor, variable in zip(found, record(call.on, metas_of(arrays)).outputs):
            assert tensor.dtype is variable.dtype, f"{case}: {dtype} gives {tensor.dtype}, its meta is {variable.meta}"
    widened = [a.astype(np.float64) if from_np(a.dtype).is_floating else a for a in arrays]
    for tensor, wanted in zip(found, eager_values(call, widened)):
        if is_inexact(tensor):
            _close(tensor.numpy(), wanted, LOOSE[dtype], LOOSE[dtype], f"{case}: in {dtype}")


# -- derivatives -----------------------------------------------------------------------------------------------------


def _dot(a: Sequence[Array], b: Sequence[Array]) -> float:
    return float(sum(np.sum(np.real(np.conj(x) * y)) for x, y in zip(a, b)))


def _slope(fn: Callable[[Sequence[Array]], float], arrays: Sequence[Array], directions: Sequence[Array]) -> float:
    """The derivative of `fn` along `directions` (one for each inexact array), by a central difference."""

    def at(step: float) -> float:
        moves = iter(directions)
        return fn([np.asarray(a + step * next(moves)) if is_inexact(a) else a for a in arrays])

    return (at(STEP) - at(-STEP)) / (2 * STEP)


def _directions(call: Call) -> list[Array]:
    return [_random(call.case, a, i + 1) for i, a in enumerate(filter(is_inexact, call.arrays))]


def _agree(case: Case, found: float, wanted: float, what: str) -> None:
    limit = case.grad_tol * (1 + abs(wanted))
    assert abs(found - wanted) <= limit, f"{case}: the {what} is {found}, finite differences give {wanted}"


def _check_gradients(call: Call, cts: Sequence[Array]) -> None:
    """The vjp along a random direction of each input equals the central difference along it."""
    case, directions = call.case, _directions(call)
    found = eager_vjp(call, call.arrays, cts)
    for got, array in zip(found, filter(is_inexact, call.arrays)):
        same = got.shape == array.shape and got.dtype == array.dtype
        assert same, f"{case}: cotangent {got.dtype}{list(got.shape)} of an input {array.dtype}{list(array.shape)}"

    def loss(arrays: Sequence[Array]) -> float:
        return _dot(cts, [v for v in eager_values(call, arrays) if is_inexact(v)])

    for i, direction in enumerate(directions):
        alone = [d if j == i else np.zeros_like(d) for j, d in enumerate(directions)]
        _agree(case, _dot([found[i]], [direction]), _slope(loss, call.arrays, alone), f"vjp of input {i}")


def _check_second(call: Call, cts: Sequence[Array]) -> None:
    """The gradient of (vjp · u) along v equals the central difference of the vjp."""
    inner = [_random(call.case, a, -i - 1 + 2**20) for i, a in enumerate(filter(is_inexact, call.arrays))]
    found = eager_second_vjp(call, call.arrays, cts, inner)
    directions = _directions(call)

    def loss(arrays: Sequence[Array]) -> float:
        return _dot(inner, eager_vjp(call, arrays, cts))

    _agree(call.case, _dot(found, directions), _slope(loss, call.arrays, directions), "second vjp")


# -- programs --------------------------------------------------------------------------------------------------------


def _check_program(call: Call, values: Sequence[Array], cts: Sequence[Array], unknown: bool) -> None:
    """The recorded call has the metas it should, and gives the eager call's results and cotangents."""
    recorded = record(call.on, metas_of(call.arrays, unknown), bool(cts))
    what = f"{call.case}: as a program{' of unknown sizes' if unknown else ''}"
    assert len(recorded.outputs) == len(values), f"{what}: {len(recorded.outputs)} outputs, eager has {len(values)}"
    for variable, value in zip(recorded.outputs, values):
        _check_meta(variable.meta, value, what)
    inexact = [v for v in recorded.outputs if is_inexact(v)]
    flowing = [ct for v, ct in zip(inexact, cts) if not v.stop_gradient] if recorded.cts else []
    found, grads = recorded.run(call.arrays, flowing)
    for got, wanted in zip(found, values):
        assert got.dtype == wanted.dtype, f"{what}: gives {got.dtype}, eager {wanted.dtype}"
        _close(got, wanted, 1e-10, 1e-12, what)
    if recorded.grads:
        for ct, wanted in zip(grads, eager_vjp(call, call.arrays, cts)):
            _close(np.zeros_like(wanted) if ct is None else ct, wanted, 1e-9, 1e-10, f"{what}: vjp")


def _check_meta(meta: Any, value: Array, what: str) -> None:
    assert isinstance(meta, Meta)
    fits = len(meta.shape) == value.ndim and all(d in (UNKNOWN, s) for d, s in zip(meta.shape, value.shape))
    assert fits and meta.dtype.np == value.dtype, f"{what}: meta {meta}, result {value.dtype}{list(value.shape)}"


# -- errors ----------------------------------------------------------------------------------------------------------


def check_error(fn: Callable[..., Any], args: Sequence[Any], error: type[BaseException], *parts: str) -> None:
    """Assert that the call raises `error` with all `parts` in its message, when eager and when recorded alike."""
    call = Call(Case("error", fn, tuple(args)))

    def eagerly() -> None:
        call.on([to_tensor(a) for a in call.arrays])

    def recording() -> None:
        record(call.on, metas_of(call.arrays))

    for run in (eagerly, recording):
        try:
            run()
        except error as err:
            missing = [part for part in parts if part not in str(err)]
            assert not missing, f"{missing} not in the message of {run.__name__}: {err}"
        else:
            raise AssertionError(f"{run.__name__}: no {error.__name__} was raised")


def check_dtypes(case: Case) -> None:
    """Assert that a program takes the dtypes that eager code takes: of all arrays in each dtype, and of each array
    alone. Both give the same dtypes or raise TypeError; what the values make eager code raise says nothing.
    """
    call = Call(case)
    if not case.static:
        return
    for name in DTYPES:
        other = [a.astype(as_dtype(name).np) for a in call.arrays]
        alone = [[*call.arrays[:i], a, *call.arrays[i + 1 :]] for i, a in enumerate(other)] if len(other) > 1 else []
        for arrays in (other, *alone):
            eager = _dtypes_of(lambda given: call.on([to_tensor(a) for a in given]), arrays)
            recorded = _dtypes_of(lambda given: record(call.on, metas_of(given)).outputs, arrays)
            same = eager is None or eager == recorded
            names = [a.dtype.name for a in arrays]
            assert same, f"{case}: of {names} eager code gives {eager}, a program {recorded}"


def _dtypes_of(run: Callable[[Sequence[Array]], Any], arrays: Sequence[Array]) -> Any:
    """The names of the dtypes of what `run` gives for arrays; TypeError where it raises that, None for other errors."""
    try:
        return [tensor.dtype.name for tensor in tensors_of(run(arrays))]
    except TypeError:
        return TypeError
    except (ValueError, ArithmeticError, LookupError):
        return None
