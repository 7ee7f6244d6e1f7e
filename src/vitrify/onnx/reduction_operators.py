"""What the ONNX operators of reductions, orders and products mean here."""

from __future__ import annotations

from typing import Any

from ..core.dtype import int64
from ..core.lazy import lazy_module
from ..ir.known_values import as_tensor, known_ints, sizes_argument
from ..ops import functions as F
from ..ops.like import cast
from ..ops.registry import get_op
from .node import Node, axis_in
from .older_forms import along_axis
from .operator_table import operator
from .sizes import extent

_einsum = lazy_module("vitrify.ops.einsum")

# -- reductions --------------------------------------------------------------------------------------------------------

_REDUCTIONS = {
    "ReduceSum": "sum", "ReduceMean": "mean", "ReduceMax": "max", "ReduceMin": "min", "ReduceProd": "prod",
    "ReduceLogSumExp": "logsumexp", "ReduceL1": "sum", "ReduceSumSquare": "sum", "ReduceLogSum": "sum",
}  # fmt: skip
# What happens before and after a reduction that is another one of something.
_BEFORE: dict[str, Any] = {
    "ReduceL1": lambda x: F.abs(x), "ReduceL2": lambda x: F.abs(x), "ReduceSumSquare": lambda x: x * x,
}  # fmt: skip
_AFTER: dict[str, Any] = {"ReduceLogSum": lambda x: F.log(x)}


def _itself(x: Any) -> Any:
    return x


@operator(*_REDUCTIONS, "ReduceL2")
def reduction(node: Node, x: Any, axes: Any = None) -> Any:
    """A reduction, of all dimensions where none is named."""
    found = as_tensor(x)
    given = node.ints("axes", []) if axes is None else known_ints(axes)
    before, after = _BEFORE.get(node.type, _itself), _AFTER.get(node.type, _itself)
    if not given and node.number("noop_with_empty_axes", 0):
        return after(before(found))
    places = tuple(sorted(axis_in(a, found.ndim) for a in given)) if given else tuple(range(found.ndim))
    keepdim = bool(node.number("keepdims", 1))
    if node.type == "ReduceL2":
        return get_op("p_norm")(found, p=2.0, axis=places, keepdim=keepdim)
    out = get_op(_REDUCTIONS[node.type])(before(found), axis=places, keepdim=keepdim)
    return cast(after(out), found.dtype)


@operator("ArgMax", "ArgMin")
def arg(node: Node, x: Any) -> Any:
    """The first place of the largest or smallest, or the last one."""
    found = as_tensor(x)
    axis = axis_in(node.number("axis", 0), found.ndim)
    last = bool(node.number("select_last_index", 0))
    place = get_op("argmax" if node.type == "ArgMax" else "argmin")(
        F.flip(found, axis) if last else found, axis=axis, keepdim=bool(node.number("keepdims", 1)), dtype=int64
    )
    return extent(found, axis) - 1 - place if last else place


@operator("CumSum")
def cumsum(node: Node, x: Any, axis: Any) -> Any:
    """Running sums, without the element itself where they are exclusive."""
    found = as_tensor(x)
    place, reverse = axis_in(known_ints(axis)[0], found.ndim), bool(node.number("reverse", 0))
    sums = get_op("cumsum")(found, axis=place, reverse=reverse)
    if not node.number("exclusive", 0):
        return sums
    before = (slice(None),) * place
    nothing = F.zeros_like(sums[(*before, slice(0, 1))])
    kept = sums[(*before, slice(1, None) if reverse else slice(0, -1))]
    return F.concat([kept, nothing] if reverse else [nothing, kept], place)


@operator("Hardmax")
def hardmax(node: Node, x: Any) -> Any:
    """1 at the first of the largest elements, 0 elsewhere."""
    return along_axis(node, as_tensor(x), _first_largest)


def _first_largest(x: Any, axis: int) -> Any:
    places = F.reshape(F.arange(extent(x, axis), dtype="int64"), [-1, *[1] * (x.ndim - axis - 1)])
    return cast(F.argmax(x, axis, keepdim=True) == places, x.dtype)


@operator("TopK")
def topk(node: Node, x: Any, k: Any) -> Any:
    """The largest or smallest in order, and their places."""
    found = as_tensor(x)
    axis, largest = axis_in(node.number("axis", -1), found.ndim), bool(node.number("largest", 1))
    return list(get_op("topk")(found, k=sizes_argument(k)[0], axis=axis, largest=largest))


# -- products ----------------------------------------------------------------------------------------------------------


@operator("MatMul")
def matmul(node: Node, x: Any, y: Any) -> Any:
    """The matrix product."""
    return F.matmul(as_tensor(x), as_tensor(y))


@operator("Gemm")
def gemm(node: Node, x: Any, y: Any, bias: Any = None) -> Any:
    """alpha * x @ y + beta * bias."""
    flags = {"transpose_x": bool(node.number("transA", 0)), "transpose_y": bool(node.number("transB", 0))}
    out = get_op("matmul")(as_tensor(x), as_tensor(y), **flags)
    alpha, beta = node.real("alpha", 1.0), node.real("beta", 1.0)
    out = out if alpha == 1 else out * alpha
    if bias is None:
        return out
    shift = as_tensor(bias)
    return out + (shift if beta == 1 else shift * beta)


@operator("Einsum")
def einsum(node: Node, *xs: Any) -> Any:
    """Sums of products over labelled dimensions."""
    return _einsum.einsum(node.text("equation"), *map(as_tensor, xs))


@operator("Det")
def det(node: Node, x: Any) -> Any:
    """The determinant."""
    return get_op("det")(as_tensor(x))
