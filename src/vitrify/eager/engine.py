"""Running one op now: promotion, kernel, and a place on the tape when a gradient is wanted.

This is the hottest Python in the package: every attribute lookup on it is paid by each eager op call.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..core.dispatch import EAGER
from ..core.errors import VitrifyError, add_note, call_chain
from ..core.meta import Meta
from ..core.modes import amp_state, grad_enabled
from ..core.setting import WATCH
from ..core.source import user_frames
from ..ops.amp_policy import cast_for_amp
from ..ops.failure import (
    describe_inputs,
    known_failure,
    metas_of,
    missing_tensor,
    need_given,
    need_integers,
    need_vector,
    no_tensor,
)
from ..ops.promote import SCALARS, fitted_numbers, promote_inputs, with_numpy_numbers
from ..ops.registry import OpDef
from .kernels import LARGE, check_dtype, check_inputs, run_kernel
from .recording import SCALAR_TYPES, record, record_many, record_pair
from .tensor import Tensor, as_tensor, wrap
from .views import note_view
from .watched import Check, Run, apply_watched

_grad_enabled = grad_enabled.get
_amp = amp_state.get
_watch = WATCH
_ndarray = np.ndarray
_MIXED = object()


def apply(op: OpDef, inputs: Sequence[Any], attrs: Mapping[str, Any]) -> Any:
    """The outputs of `op` as Tensors, on the tape when an input wants a gradient."""
    if _amp() is not None:
        inputs = cast_for_amp(op, inputs)
    arrays: list[Any] = []
    dtype: Any = None
    wanted = scalars = False
    for value in inputs:
        if isinstance(value, Tensor):
            array = value._data
            arrays.append(array)
            if dtype is not array.dtype:
                dtype = array.dtype if dtype is None else _MIXED
            if not value.stop_gradient:
                wanted = True
        elif value is None:
            need_given(op, inputs)
            arrays.append(None)
        elif value.__class__ in SCALAR_TYPES:
            arrays.append(value)
            scalars = True
        else:
            return apply(op, [_as_input(op, v) for v in with_numpy_numbers(op, inputs)], attrs)
    if scalars and dtype is None and op.elementwise:
        return apply(op, [v if v is None else as_tensor(v) for v in inputs], attrs)
    if op.promote and (dtype is _MIXED or (scalars and not _keeps(dtype, arrays))):
        inputs, arrays, dtype = _promoted(op, inputs)
    try:
        if dtype not in op.passed and op.is_plain:
            check_dtype(op, arrays, attrs, dtype)
        if _watch.on:
            return apply_watched(_apply_general, op, inputs, arrays, attrs, wanted)
        if op.is_plain and arrays[0].__class__ is _ndarray:
            is_large = arrays[0].size >= LARGE
            result = wrap(EAGER.large(op, arrays, attrs) if is_large else op.on_numpy(*arrays, **attrs))
        else:
            return _apply_general(op, inputs, arrays, attrs, wanted)
    except Exception as err:
        known = fitted_numbers(op, inputs, err) if scalars else None
        if known is not None:
            return apply(op, known, attrs)
        _explain(op, arrays, attrs, err)
        raise
    if wanted and _grad_enabled():
        record(op, inputs, attrs, result)
    return result


def binary(op: OpDef, x: Any, y: Any) -> Any:
    """`apply` for two operands and no attributes, where both are tensors of one dtype and nothing else is asked for."""
    if isinstance(x, Tensor) and isinstance(y, Tensor):
        a, b = x._data, y._data
        is_plain = a.__class__ is _ndarray and b.__class__ is _ndarray and a.dtype is b.dtype and a.dtype in op.passed
        if is_plain and _amp() is None and not _watch.on:
            try:
                out = wrap(op.on_numpy(a, b))
            except Exception as err:
                _explain(op, (a, b), {}, err)
                raise
            if not (x.stop_gradient and y.stop_gradient) and _grad_enabled():
                record_pair(op, x, y, out)
            return out
    return apply(op, (x, y), {})


def _apply_general(
    op: OpDef,
    inputs: Sequence[Any],
    arrays: list[Any],
    attrs: Mapping[str, Any],
    wanted: bool,
    check: Check = check_inputs,
    run: Run = run_kernel,
) -> Any:
    """`apply` from where the arrays are known, for ops that are more than elementwise.

    The meta rule runs first, once for each signature, unless the kernel knows bad shapes and the dtype has passed.
    """
    if op.dynamic:
        attrs = {k: _concrete(op, k, v) if k in op.dynamic else v for k, v in attrs.items()}
    if not op.is_plain:
        check(op, arrays, attrs)
    out = run(op, arrays, attrs)
    if op.multiple:
        results = [wrap(a) for a in out]
        if wanted and _grad_enabled():
            record_many(op, inputs, attrs, results)
        return results
    result = wrap(out)
    if wanted and _grad_enabled():
        record(op, inputs, attrs, result)
    if op.view and out.base is not None:
        result._cell = inputs[0].version_cell()
        if _grad_enabled():
            note_view(op, inputs, attrs, result)
    return result


# -- inputs ----------------------------------------------------------------------------------------------------------


def _keeps(dtype: Any, arrays: list[Any]) -> bool:
    """Whether NumPy keeps the arrays' common dtype when it meets the Python scalars among them, as Paddle does."""
    kind = None if dtype is None else dtype.kind
    for array in arrays:  # noqa: SIM110  (a generator costs twice as much here)
        if array.__class__ in SCALAR_TYPES and (kind, array.__class__) not in _KEEPS:
            return False
    return True


def _promoted(op: OpDef, inputs: Sequence[Any]) -> tuple[Sequence[Any], list[Any], Any]:
    """Inputs brought to their common dtype, their arrays, and the dtype of the first of these."""
    inputs = promote_inputs(op, inputs)
    arrays = [v._data if isinstance(v, Tensor) else v for v in inputs]
    return inputs, _with_narrow_scalars(arrays), next(v._data.dtype for v in inputs if isinstance(v, Tensor))


# (kind of array, type of scalar) where that is so. bfloat16 ("V") is an exception among the floats: NumPy does not know
# it and would compute with a Python float in float32.
_KEEPS = frozenset(
    [("b", bool), ("V", bool), ("V", int), ("f", bool), ("f", int), ("f", float)]
    + [(kind, scalar) for kind in "iu" for scalar in (bool, int)]
    + [("c", scalar) for scalar in SCALAR_TYPES]
)


def _with_narrow_scalars(arrays: list[Any]) -> list[Any]:
    """`arrays` with Python floats beside a bfloat16 array made bfloat16 too: NumPy would widen the array for them."""
    narrow = next((a.dtype for a in arrays if hasattr(a, "dtype") and a.dtype.kind == "V"), None)
    if narrow is None:
        return arrays
    return [np.asarray(a, narrow) if isinstance(a, float) else a for a in arrays]


def _as_input(op: OpDef, value: Any) -> Any:
    if value is None or isinstance(value, Tensor):
        return value
    if isinstance(value, SCALARS):
        return value.item() if isinstance(value, np.generic) else _plain_number(value)
    if isinstance(value, (np.ndarray, np.generic, list, tuple)) and not _holds_tensor(value):
        return as_tensor(value)
    raise no_tensor(op, None, value)


def _holds_tensor(value: Any) -> bool:
    """Whether a list has tensors in it, whose gradients a tensor made of their values would lose."""
    return isinstance(value, Tensor) or (isinstance(value, (list, tuple)) and any(map(_holds_tensor, value)))


def _plain_number(value: Any) -> Any:
    """A number as one of Python's own types: members of an IntEnum are numbers, too."""
    kinds: tuple[Any, ...] = (bool, int, float, complex)
    return next(kind(value) for kind in kinds if isinstance(value, kind))


_is_plain = frozenset({int, type(None), str, bool}).__contains__


def _concrete(op: OpDef, name: str, value: Any, is_item: bool = False) -> Any:
    """A dynamic attribute with the tensors inside replaced by their values."""
    if isinstance(value, Tensor):
        need_integers(op, name, Meta(tuple(value.shape), value.dtype))
        if value._data.size == 1:
            return value.item() if name in op.fractions else int(value.item())
        need_vector(op, name, Meta(tuple(value.shape), value.dtype), is_item)
        return tuple(value.tolist())
    if value.__class__ is tuple and all(map(_is_plain, map(type, value))):
        return value
    return tuple([_concrete(op, name, v, True) for v in value]) if isinstance(value, (list, tuple)) else value


def _explain(op: OpDef, arrays: Sequence[Any], attrs: Mapping[str, Any], err: Exception) -> None:
    """Raise the meta rule's error in place of NumPy's if it has one; otherwise note op, inputs and place on `err`."""
    if isinstance(err, VitrifyError):
        _locate(err)
        return
    try:
        op.meta(*metas_of(arrays), **attrs)
    except VitrifyError as better:
        _locate(better)
        raise better from None
    except AttributeError:  # the rule asked something of None
        missing = missing_tensor(op, arrays)
        if missing is not None:
            raise missing from None
    known = known_failure(op, arrays, attrs, err)
    if known is not None:
        _locate(known)
        raise known from None
    add_note(err, f"{op.name} failed on ({describe_inputs(arrays)})\n" + call_chain(user_frames(2)))


def _locate(err: VitrifyError) -> None:
    if err.loc is None:
        frames = user_frames(2, limit=1)
        err.loc = frames[0] if frames else None


EAGER.apply = apply
EAGER.binary = EAGER.pair = binary
