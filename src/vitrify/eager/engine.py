"""Running one op now: promotion, kernel, and a GradNode when a gradient is wanted.

This is the hottest Python in the package: every attribute lookup on it is paid by each eager op call.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from ..core.dispatch import EAGER
from ..core.dtype import from_np
from ..core.errors import DTypeError, VitrifyError, add_note, call_chain
from ..core.meta import Meta
from ..core.modes import amp_state, grad_enabled
from ..core.rng import default_generator
from ..core.source import user_frames
from ..ops.amp_policy import cast_for_amp
from ..ops.promote import SCALARS, promote_inputs
from ..ops.registry import VARIADIC_OUTPUTS, OpDef, Vjp
from .packing import save_input, save_output
from .tape import Edge, GradNode
from .tensor import Tensor, as_tensor, namespace_of, wrap

_grad_enabled = grad_enabled.get
_amp = amp_state.get
_ndarray = np.ndarray


def apply(op: OpDef, inputs: Sequence[Any], attrs: Mapping[str, Any]) -> Any:
    """The outputs of `op` as Tensors, on the tape when an input wants a gradient."""
    if _amp() is not None:
        inputs = cast_for_amp(op, inputs)
    inputs, arrays = _arrays(op, inputs)
    if op.dynamic:
        attrs = {k: _concrete(v) if k in op.dynamic else v for k, v in attrs.items()}
    out = _run_kernel(op, inputs, arrays, attrs)
    if op.multiple:
        results: Any = [wrap(a) for a in out]
    else:
        results = wrap(out)
    if _grad_enabled():
        for value in inputs:
            if value.__class__ not in _NOT_TENSORS and not value.stop_gradient:
                _record(op, inputs, attrs, results)
                break
    if op.view and out.base is not None:
        results._cell = inputs[0].version_cell()
    return results


_NOT_TENSORS = frozenset({type(None), bool, int, float, complex})


def _arrays(op: OpDef, inputs: Sequence[Any]) -> tuple[Sequence[Any], list[Any]]:
    """Inputs as Tensors, scalars or None, with dtypes promoted, and the arrays behind them."""
    arrays: list[Any] = []
    dtype = None
    uniform = True
    for value in inputs:
        if isinstance(value, Tensor):
            array = value._data
            if dtype is None:
                dtype = array.dtype
            elif array.dtype is not dtype and array.dtype != dtype:
                uniform = False
            arrays.append(array)
        elif value.__class__ in _NOT_TENSORS:
            arrays.append(value)
            if value is not None and (dtype is None or not _weak(dtype, value)):
                uniform = False
        else:
            return _arrays(op, [_as_input(op, v) for v in inputs])
    if uniform or not op.promote:
        return inputs, arrays
    inputs = promote_inputs(op, inputs)
    arrays = [v._data if isinstance(v, Tensor) else v for v in inputs]
    return inputs, _with_narrow_scalars(arrays)


def _with_narrow_scalars(arrays: list[Any]) -> list[Any]:
    """`arrays` with Python floats beside a bfloat16 array made bfloat16 too: NumPy would widen the array for them."""
    narrow = next((a.dtype for a in arrays if hasattr(a, "dtype") and a.dtype.kind == "V"), None)
    if narrow is None:
        return arrays
    return [np.asarray(a, narrow) if isinstance(a, float) else a for a in arrays]


@lru_cache(maxsize=256)
def _weak_kind(kind: str, scalar: type) -> bool:
    order = {"b": 0, "i": 1, "u": 1, "V": 1, "f": 2, "c": 3}
    return {bool: 0, int: 1, float: 2, complex: 3}[scalar] <= order.get(kind, 2)


def _weak(dtype: np.dtype[Any], value: Any) -> bool:
    """Whether NumPy keeps `dtype` when it meets this Python scalar, as Paddle does."""
    return _weak_kind(dtype.kind, value.__class__)


def _as_input(op: OpDef, value: Any) -> Any:
    if value is None or isinstance(value, (Tensor, *SCALARS)):
        return value.item() if isinstance(value, np.generic) else value
    if isinstance(value, (np.ndarray, np.generic, list, tuple)):
        return as_tensor(value)
    raise DTypeError(f"{op.name}: expects tensors, got {type(value).__name__}")


def _concrete(value: Any) -> Any:
    """A dynamic attribute with the tensors inside replaced by their values."""
    if isinstance(value, Tensor):
        return value.item() if value._data.ndim == 0 or value._data.size == 1 else tuple(value.tolist())
    if isinstance(value, (list, tuple)):
        return tuple(_concrete(v) for v in value)
    return value


def _run_kernel(op: OpDef, inputs: Sequence[Any], arrays: list[Any], attrs: Mapping[str, Any]) -> Any:
    try:
        xp = namespace_of(arrays)
        if not op.elementwise:
            op.meta(*_metas(arrays), **attrs)
        if op.random:
            return op.kernel(xp, *arrays, key=default_generator(), **attrs)
        return op.on_numpy(*arrays, **attrs) if xp is np else op.kernel(xp, *arrays, **attrs)
    except Exception as err:
        _explain(op, inputs, arrays, attrs, err)
        raise


def _metas(arrays: Sequence[Any]) -> list[Any]:
    return [Meta(a.shape, from_np(a.dtype)) if hasattr(a, "shape") else a for a in arrays]


def _explain(op: OpDef, inputs: Sequence[Any], arrays: Sequence[Any], attrs: Mapping[str, Any], err: Exception) -> None:
    """Raise the meta rule's error in place of NumPy's where it has one; otherwise note op, inputs and place."""
    if not isinstance(err, VitrifyError):
        try:
            op.meta(*_metas(arrays), **attrs)
        except VitrifyError as better:
            _locate(better)
            raise better from None
        listed = ", ".join(str(m) if isinstance(m, Meta) else repr(m) for m in _metas(arrays))
        add_note(err, f"{op.name} failed on ({listed})\n" + call_chain(user_frames(2)))
        return
    _locate(err)


def _locate(err: VitrifyError) -> None:
    if err.loc is None:
        frames = user_frames(2, limit=1)
        err.loc = frames[0] if frames else None


def _record(op: OpDef, inputs: Sequence[Any], attrs: Mapping[str, Any], results: Any) -> None:
    """Put the call on the tape: which inputs want cotangents, and what their rules keep."""
    rules = op.vjp
    if not isinstance(rules, Vjp):
        return
    able = rules.differentiable
    needs: set[str] = set()
    edges: list[Edge | None] = []
    last = len(op.inputs) - 1
    for i, value in enumerate(inputs):
        name = op.inputs[i if i < last else last]
        if value.__class__ in _NOT_TENSORS or value.stop_gradient or (able is not None and name not in able):
            edges.append(None)
            continue
        needs.add(name)
        node = value._node
        edges.append(Edge(None, -1, value) if node is None else Edge(node, value._index, None))
    outs = results if op.multiple else (results,)
    if not needs or not any(_differentiable_dtype(t) for t in outs):
        return
    need_set = frozenset(needs)
    shape = outs[0]._data.shape
    reduce = _reductions(inputs, shape) if op.broadcast else None
    metas = tuple((t._data.shape, t._data.dtype) for t in outs)
    saved = _residuals(op, rules, need_set, inputs, outs)
    node_ = GradNode(op, attrs, edges, need_set, saved, reduce, metas)
    for index, tensor in enumerate(outs):
        if _differentiable_dtype(tensor):
            tensor._node = node_
            tensor._index = index
            tensor.stop_gradient = False


def _differentiable_dtype(tensor: Tensor) -> bool:
    return tensor._data.dtype.kind in "fcV"


def _reductions(inputs: Sequence[Any], shape: tuple[int, ...]) -> list[tuple[int, ...] | None] | None:
    out: list[tuple[int, ...] | None] | None = None
    for i, value in enumerate(inputs):
        if isinstance(value, Tensor) and value._data.shape != shape:
            if out is None:
                out = [None] * len(inputs)
            out[i] = value._data.shape
    return out


def _residuals(
    op: OpDef, rules: Vjp, needs: frozenset[str], inputs: Sequence[Any], outs: Sequence[Tensor]
) -> dict[str, Any]:
    saved: dict[str, Any] = {}
    for name in rules.residual_names(needs):
        if name in op.attrs or name == "needs" or name in saved:
            continue
        base = name[:-5] if name.endswith("_like") else name
        like = base != name
        if base in op.inputs:
            index = op.inputs.index(base)
            if op.variadic and index == len(op.inputs) - 1:
                saved[name] = tuple(_keep(v, like) for v in inputs[index:])
            else:
                saved[name] = _keep(inputs[index], like) if index < len(inputs) else None
        elif op.outputs == VARIADIC_OUTPUTS:
            saved[name] = tuple(_keep_output(t, i, like) for i, t in enumerate(outs))
        else:
            index = op.outputs.index(base)
            saved[name] = _keep_output(outs[index], index, like)
    return saved


def _keep(value: Any, like: bool) -> Any:
    if not isinstance(value, Tensor):
        return value
    return stand_in(value) if like else save_input(value)


def _keep_output(tensor: Tensor, index: int, like: bool) -> Any:
    return stand_in(tensor) if like else save_output(tensor, index)


def stand_in(tensor: Tensor) -> Tensor:
    """A tensor of the same shape and dtype that holds no memory, for residuals that only give a shape."""
    array = tensor._data
    xp = namespace_of((array,))
    return wrap(xp.broadcast_to(xp.zeros((), array.dtype), array.shape))


EAGER.apply = apply
