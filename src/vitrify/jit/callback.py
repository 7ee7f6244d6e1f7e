"""host_callback: a Python function on arrays in the middle of eager code or of a program, with a vjp if wanted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from ..core.errors import ArgumentError, ShapeError
from ..core.meta import Meta
from ..core.place import CPUPlace
from ..device.api import put
from ..eager.arrays import to_array
from ..ir.input_spec import InputSpec
from ..ops.registry import NoGradient, OpDef, define_op

_CPU = CPUPlace()


def host_callback(
    function: Callable[..., Any],
    *tensors: Any,
    out: InputSpec | Sequence[InputSpec],
    vjp: Callable[..., Any] | None = None,
) -> Any:
    """What `function` gives for the tensors' arrays, as a tensor, or a list of tensors when `out` is a list.

    The function is called once for each run, in its place among prints and other effects, with read-only NumPy
    arrays; it gives one array, or as many as `out` has InputSpecs. Their None sizes may vary. (It may run again when
    gradients of gradients are taken.) Programs that hold one cannot be saved.

    vjp: `vjp(*arrays, *cotangents)` gives the cotangent of each tensor, None for zeros; without it no gradient flows.
    Raises ShapeError when the function gives other shapes or dtypes than `out` says.

    Example:
        >>> import numpy as np
        >>> import vitrify as paddle
        >>> x = paddle.to_tensor([1.0, 2.0])
        >>> spec = paddle.static.InputSpec([None], "float32")
        >>> paddle.jit.host_callback(np.square, x, out=spec).tolist()
        [1.0, 4.0]
    """
    specs = [out] if isinstance(out, InputSpec) else list(out)
    if not all(isinstance(spec, InputSpec) for spec in specs):
        raise ArgumentError("host_callback: out must be an InputSpec or a list of them")
    metas = tuple([spec.meta for spec in specs])
    if vjp is None:
        found = callback_op(*tensors, function=function, out=metas)
    else:
        found = differentiable_callback_op(*tensors, function=function, out=metas, vjp=vjp)
    return found[0] if isinstance(out, InputSpec) else list(found)


def _run(function: Callable[..., Any], values: Sequence[Any], out: Sequence[Meta]) -> tuple[Any, ...]:
    found = function(*map(_read_only, values))
    results = found if isinstance(found, (list, tuple)) else [found]
    if len(results) != len(out):
        raise ShapeError(f"host_callback: the function gave {len(results)} values, out says {len(out)}")
    return tuple([_checked(value, meta) for value, meta in zip(results, out)])


def _read_only(value: Any) -> Any:
    array = np.asarray(put(value, _CPU)).view()
    array.flags.writeable = False
    return array


def _checked(value: Any, meta: Meta) -> Any:
    array = np.asarray(value)
    fits = len(array.shape) == len(meta.shape) and all(b in (-1, a) for a, b in zip(array.shape, meta.shape))
    if not fits or array.dtype != meta.dtype.np:
        raise ShapeError(f"host_callback: the function gave {array.dtype}{list(array.shape)}, out says {meta}")
    return to_array(array, meta.dtype, None)


def _pulled(vjp: Callable[..., Any], count: int, *arrays: Any) -> list[Any]:
    """The cotangents of the first `count` arrays, zeros for those that `vjp` leaves out."""
    found = vjp(*arrays)
    found = list(found) if isinstance(found, (list, tuple)) else [found]
    if len(found) != count:
        raise ShapeError(f"host_callback: vjp gave {len(found)} cotangents for {count} tensors")
    return [np.zeros_like(a) if ct is None else ct for ct, a in zip(found, arrays)]


def _callback_vjp(cts: Sequence[Any], *, values: Sequence[Any], function: Any, out: Any, vjp: Any) -> dict[str, Any]:
    wanted = tuple([Meta(tuple(v.shape), v.dtype) for v in values])
    pulled = partial(_pulled, vjp, len(wanted))
    return {"values": list(callback_op(*values, *cts, function=pulled, out=wanted))}


callback_op: OpDef = define_op(
    "host_callback",
    kernel=lambda xp, *values, function, out: _run(function, values, out),
    meta=lambda *values, function, out: out,
    vjp=NoGradient("a Python function computed it, without a vjp"),
    outputs=("*outs",),
    effect=True,
)
differentiable_callback_op: OpDef = define_op(
    "differentiable_host_callback",
    kernel=lambda xp, *values, function, out, vjp: _run(function, values, out),
    meta=lambda *values, function, out, vjp: out,
    vjp=_callback_vjp,
    outputs=("*outs",),
    effect=True,
)
