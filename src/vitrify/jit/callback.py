"""host_callback: a Python function on arrays in the middle of eager code or of a program, with a vjp if wanted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..core.errors import ArgumentError
from ..eager.callback import callback_op, differentiable_callback_op
from ..ir.input_spec import InputSpec


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
