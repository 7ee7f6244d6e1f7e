"""Paddle's forms of our ops: arithmetic, reductions, products, shapes, indices."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.dtype import DType, bool_, complex64, complex128, float32, float64, from_np, int64
from ..core.errors import UnsupportedError
from ..core.meta import UNKNOWN, Meta
from ..core.sequences import as_list, as_list_if_given
from ..ops.like import IN_FILES_THE_SAME
from .emitter import FORMS, Emitter, Value, known

# -- elementwise -------------------------------------------------------------------------------------------------------

_SAME = (
    "acos acosh asin asinh atan atanh bitwise_not ceil cos cosh digamma erf erfinv exp expm1 floor isfinite isinf "
    "isnan lgamma log log10 log1p log2 logical_not logsigmoid reciprocal relu6 rsqrt sigmoid sign silu sin sinh "
    "softsign sqrt tan tanh tanh_shrink trunc"
)
_ARITHMETIC = {
    "add": "add", "subtract": "subtract", "multiply": "multiply", "maximum": "maximum",
    "minimum": "minimum", "mod": "remainder", "floor_divide": "floor_divide", "pow": "elementwise_pow",
    "fmax": "fmax", "fmin": "fmin",
}  # fmt: skip
_NOT_OF_ONEDNN = frozenset((float64, complex64, complex128))
_COMPARISONS = ("equal", "not_equal", "less_than", "less_equal", "greater_than", "greater_equal")
_BITS = ("logical_and", "logical_or", "logical_xor", "bitwise_and", "bitwise_or", "bitwise_xor")


def _unary(name: str) -> None:
    def form(g: Emitter, x: Value) -> Value:
        out = g.metas[0]
        x = g.cast(x, out.dtype) if out.dtype.is_floating and not x.dtype.is_complex else x
        return g.op(name, x, meta=out)

    FORMS(name)(form)


@FORMS("abs")
def abs_(g: Emitter, x: Value) -> Value:
    """abs; of whole numbers the larger of x and -x, for oneDNN forgets the abs of a product of these."""
    out = g.metas[0]
    if not x.dtype.is_integer:
        return g.op("abs", x, meta=out)
    return g.op("maximum", x, g.op("scale", x, -1.0, bias=0.0, bias_after_scale=True), meta=out)


@FORMS("relu")
def relu(g: Emitter, x: Value) -> Value:
    """relu; of whole numbers, which Paddle's takes not, the larger of x and 0."""
    out = g.metas[0]
    return g.op("maximum", x, g.full(0, x.dtype), meta=out) if x.dtype.is_integer else g.op("relu", x, meta=out)


@FORMS("square")
def square(g: Emitter, x: Value) -> Value:
    """square; in `.json` programs x times x: beside oneDNN, PaddlePaddle squares in place what is read again."""
    out = g.metas[0]
    x = g.cast(x, out.dtype) if out.dtype.is_floating else x
    return g.op("square", x, meta=out) if g.old else g.op("multiply", x, x, meta=out)


def _binary(ours: str, theirs: str, like_output: bool) -> None:
    def form(g: Emitter, x: Value, y: Value) -> Value:
        out = g.metas[0]
        common = out.dtype if like_output else _common(x, y)
        a, b = g.cast(x, common), g.cast(y, common)
        return _by_number(g, theirs, a, b) or g.op(theirs, g.vector(a, b), g.vector(b, a), meta=out)

    FORMS(ours)(form)


def _by_number(g: Emitter, name: str, x: Value, y: Value) -> Value | None:
    """Adding and multiplying by a number as scale, the way Paddle writes it; None where that is not exact."""
    if name == "multiply" and y.dtype is float32 and g.number(x) is not None:
        x, y = y, x
    number = g.number(y)
    if number is None or y.dtype is not float32 or g.metas[0].shape != x.shape or name not in _SCALED:
        return None
    factor, shift = _SCALED[name](float(number))
    return g.op("scale", x, factor, meta=g.metas[0], bias=shift, bias_after_scale=True)


_SCALED: dict[str, Callable[[float], tuple[float, float]]] = {
    "multiply": lambda number: (number, 0.0),
    "add": lambda number: (1.0, number),
    "subtract": lambda number: (1.0, -number),
}


@FORMS("divide")
def divide(g: Emitter, x: Value, y: Value) -> Value:
    """divide."""
    out = g.metas[0]
    return divided(g, g.cast(x, out.dtype), g.cast(y, out.dtype), out)


def divided(g: Emitter, x: Value, y: Value, out: Meta) -> Value:
    """x divided by y.

    In `.pdmodel` programs x gets y's shape first where it may have fewer elements: oneDNN, which PaddlePaddle uses for
    these on CPUs, takes the larger operand of the two first and divides y by x.
    """
    if g.old and y.dtype is float32 and _may_be_smaller(x.shape, y.shape):
        number = g.number(x)
        like = g.op("full_like", y, 1.0 if number is None else float(number), dtype=y.dtype)
        x = like if number is not None else g.op("multiply", like, g.vector(x, y), meta=out)
    return g.op("divide", g.vector(x, y), g.vector(y, x), meta=out)


def _may_be_smaller(shape: tuple[int, ...], other: tuple[int, ...]) -> bool:
    """Whether something of this shape may be repeated to fit the other one."""
    if any(size != 1 for size in other[: max(len(other) - len(shape), 0)]):
        return True
    pairs = zip(reversed(shape), reversed(other))
    return any(b != 1 and a in (1, UNKNOWN) and (a, b) != (1, 1) for a, b in pairs)


def _common(x: Value, y: Value) -> DType:
    return x.dtype if x.dtype is y.dtype else from_np(np.promote_types(x.dtype.np, y.dtype.np))


for _name in _SAME.split():
    _unary(_name)
for _ours, _theirs in _ARITHMETIC.items():
    _binary(_ours, _theirs, True)
for _name in (*_COMPARISONS, *_BITS):
    _binary(_name, _name, False)


def _with_attrs(ours: str, theirs: str, **names: str) -> None:
    """Let an op of one tensor be an operator whose attributes are called otherwise."""

    def form(g: Emitter, x: Value, **attrs: Any) -> Value:
        out = g.metas[0]
        given = {theirs_: known(attrs[ours_]) for ours_, theirs_ in names.items()}
        return g.op(theirs, g.cast(x, out.dtype), meta=out, **given)

    FORMS(ours)(form)


_with_attrs("elu", "elu", alpha="alpha")
_with_attrs("celu", "celu", alpha="alpha")
_with_attrs("selu", "selu", scale="scale", alpha="alpha")
_with_attrs("gelu", "gelu", approximate="approximate")
_with_attrs("leaky_relu", "leaky_relu", alpha="negative_slope")
_with_attrs("hard_sigmoid", "hardsigmoid", slope="slope", offset="offset")
_with_attrs("hard_tanh", "hardtanh", low="t_min", high="t_max")
_with_attrs("hard_shrink", "hardshrink", threshold="threshold")
_with_attrs("softshrink", "softshrink", threshold="threshold")
_with_attrs("thresholded_relu", "thresholded_relu", threshold="threshold", value="value")
_with_attrs("softplus", "softplus", beta="beta", threshold="threshold")
_with_attrs("hard_swish", "hardswish")
_with_attrs("softmax", "softmax", axis="axis")
_with_attrs("log_softmax", "log_softmax", axis="axis")


@FORMS("mish")
def mish(g: Emitter, x: Value) -> Value:
    """mish."""
    return g.op("mish", x, meta=g.metas[0], **{"lambda": 20.0})


@FORMS("round")
def round_(g: Emitter, x: Value) -> Value:
    """round to whole numbers."""
    return g.op("round", x, decimals=0)


@FORMS("neg")
def neg(g: Emitter, x: Value) -> Value:
    """scale by -1."""
    return g.op("scale", x, -1.0, bias=0.0, bias_after_scale=True)


@FORMS("scale")
def scale(g: Emitter, x: Value, *, scale: Any, bias: Any, bias_after_scale: bool) -> Value:
    """scale."""
    if isinstance(scale, Value) or isinstance(bias, Value):
        raise UnsupportedError("a scale that only the run knows has no form in Paddle's programs")
    return g.op("scale", g.cast(x, g.metas[0].dtype), float(scale), bias=float(bias), bias_after_scale=bias_after_scale)


@FORMS("clip")
def clip(g: Emitter, x: Value, low: Value | None, high: Value | None) -> Value:
    """maximum, then minimum."""
    for name, bound in (("maximum", low), ("minimum", high)):
        if bound is not None:
            x = g.op(name, x, g.cast(bound, x.dtype), meta=g.metas[0])
    return x


@FORMS("cast")
def cast(g: Emitter, x: Value, *, dtype: DType) -> Value:
    """cast."""
    return g.op("cast", x, meta=g.metas[0], dtype=dtype)


@FORMS("where")
def where(g: Emitter, condition: Value, x: Value, y: Value) -> Value:
    """where, of three tensors of one shape."""
    out = g.metas[0]
    given = [g.cast(condition, bool_), g.cast(x, out.dtype), g.cast(y, out.dtype)]
    flag, a, b = _alike(g, given, out.shape)
    return g.op("where", flag, a, b, meta=out)


def _alike(g: Emitter, values: list[Value], shape: tuple[int, ...]) -> list[Value]:
    """Values that broadcast to a shape, in that shape; where it is not known, in one that the program works out."""
    if UNKNOWN not in shape or all(v.shape == shape for v in values):
        return [_spread(g, v, shape) for v in values]
    whole = None
    for value in values:
        mark = g.op("full_like", value, 0.0, meta=Meta(value.shape, bool_), dtype=bool_)
        whole = mark if whole is None else g.op("logical_or", whole, mark, meta=Meta(shape, bool_))
    assert whole is not None
    sizes = g.shape(whole)
    return [g.expand(v, sizes, shape) for v in values]


def _spread(g: Emitter, x: Value, shape: tuple[int, ...]) -> Value:
    return x if x.shape == shape else g.expand(x, list(shape), shape)


@FORMS("atan2")
def atan2(g: Emitter, x: Value, y: Value) -> Value:
    """atan2, of two tensors of one shape."""
    out = g.metas[0]
    a, b = _alike(g, [g.cast(v, out.dtype) for v in (x, y)], out.shape)
    return g.op("atan2", a, b, meta=out)


@FORMS(*IN_FILES_THE_SAME)
def assign(g: Emitter, x: Value, *_: Any, **__: Any) -> Value:
    """assign."""
    return g.op("assign", x)


@FORMS("one_element")
def one_element(g: Emitter, x: Value, *, what: str) -> Value:
    """reshape."""
    return g.reshape(x, [], g.metas[0])


@FORMS("with_gradient")
def with_gradient(g: Emitter, *values: Value, backward: Any, count: int) -> list[Value]:
    """assign each."""
    return [g.op("assign", value) for value in values[:count]]


# -- reductions --------------------------------------------------------------------------------------------------------


def _axes(axis: Any) -> list[int]:
    return as_list_if_given(axis)


@FORMS("sum")
def sum_(g: Emitter, x: Value, *, axis: Any, keepdim: bool) -> Value:
    """sum; of bool and small integers as int64."""
    out = g.metas[0]
    return g.op(
        "sum", g.cast(x, out.dtype), _axes(axis), meta=out, keepdim=keepdim, dtype=None, reduce_all=not _axes(axis)
    )


def _reduction(name: str, **more: Any) -> None:
    def form(g: Emitter, x: Value, *, axis: Any, keepdim: bool) -> Value:
        given = {**more, "reduce_all": not _axes(axis)}
        x = g.cast(x, g.metas[0].dtype) if name == "mean" else x
        return g.op(name, x, _axes(axis), meta=g.metas[0], keepdim=keepdim, **given)

    FORMS(name)(form)


def _attr_reduction(name: str) -> None:
    def form(g: Emitter, x: Value, *, axis: Any, keepdim: bool) -> Value:
        return g.op(name, x, meta=g.metas[0], axis=_axes(axis), keepdim=keepdim, reduce_all=not _axes(axis))

    FORMS(name)(form)


for _name in ("mean", "max", "min", "prod"):
    _reduction(_name)
for _name in ("all", "any", "logsumexp"):
    _attr_reduction(_name)


@FORMS("p_norm")
def p_norm(g: Emitter, x: Value, *, p: float, axis: Any, keepdim: bool) -> Value:
    """p_norm along one axis or of all elements."""
    axes = _axes(axis)
    if len(axes) > 1 and len(axes) != x.ndim:
        rest = [i for i in range(x.ndim) if i not in axes]
        kept = [g.size(x, i) for i in rest]
        count = math.prod(x.shape[i] for i in axes) if all(x.shape[i] != UNKNOWN for i in axes) else UNKNOWN
        flat = Meta((*[x.shape[i] for i in rest], count), x.dtype)
        merged = g.reshape(g.transpose(x, [*rest, *axes]), [*kept, -1], flat)
        attrs = {"porder": float(p), "axis": -1, "epsilon": 1e-12, "keepdim": False, "asvector": False}
        found = g.op("p_norm", merged, meta=Meta(flat.shape[:-1], x.dtype), **attrs)
        return g.unsqueeze(found, sorted(axes)) if keepdim else found
    all_ = len(axes) != 1
    return g.op(
        "p_norm", x, meta=g.metas[0], porder=float(p), axis=-1 if all_ else axes[0], epsilon=1e-12, keepdim=keepdim,
        asvector=all_,
    )  # fmt: skip


@FORMS("argmax", "argmin")
def argmax(g: Emitter, x: Value, *, axis: Any, keepdim: bool, dtype: DType) -> Value:
    """argmax, argmin."""
    return g.op(
        g.op_name, x, 0 if axis is None else axis, meta=g.metas[0], keepdims=keepdim, flatten=axis is None, dtype=dtype
    )


@FORMS("sort")
def sort(g: Emitter, x: Value, *, axis: int, descending: bool) -> list[Value]:
    """argsort, whose first output are the values."""
    return g.ops("argsort", [x], g.metas, axis=axis, descending=descending, stable=True)


@FORMS("sort_values")
def sort_values(g: Emitter, x: Value, *, axis: int, descending: bool) -> Value:
    """The values of argsort."""
    both = [g.metas[0], g.metas[0].with_dtype(int64)]
    return g.ops("argsort", [x], both, axis=axis, descending=descending, stable=True)[0]


@FORMS("topk")
def topk(g: Emitter, x: Value, *, k: Any, axis: int, largest: bool) -> list[Value]:
    """topk."""
    return g.ops("topk", [x, known(k)], g.metas, axis=axis, largest=largest, sorted=True)


@FORMS("cumsum")
def cumsum(g: Emitter, x: Value, *, axis: int, reverse: bool) -> Value:
    """cumsum."""
    return g.op("cumsum", x, axis, flatten=False, exclusive=False, reverse=reverse)


@FORMS("cumprod")
def cumprod(g: Emitter, x: Value, *, axis: int, reverse: bool) -> Value:
    """cumprod."""
    return g.op("cumprod", x, dim=axis, exclusive=False, reverse=reverse)


# -- products ----------------------------------------------------------------------------------------------------------


@FORMS("matmul")
def matmul(g: Emitter, x: Value, y: Value, *, transpose_x: bool, transpose_y: bool) -> Value:
    """matmul."""
    return _product(g, x, y, g.metas[0], transpose_x, transpose_y)


@FORMS("linear")
def linear(g: Emitter, x: Value, weight: Value, bias: Value | None) -> Value:
    """matmul, then add."""
    out = _product(g, x, weight, g.metas[0])
    return out if bias is None else g.op("add", out, bias)


def _product(g: Emitter, x: Value, y: Value, out: Meta, transpose_x: bool = False, transpose_y: bool = False) -> Value:
    """matmul, apart from what stands around it where oneDNN has no product of the dtype.

    PaddlePaddle makes one operator of oneDNN's of them whatever the dtype is, and then does not find it.
    """
    is_apart = x.dtype in _NOT_OF_ONEDNN and not (g.old and x.dtype is float64)
    if is_apart:
        x, y = (g.op("assign", v) for v in (x, y))
    found = g.op("matmul", x, y, meta=out, transpose_x=transpose_x, transpose_y=transpose_y)
    return g.op("assign", found) if is_apart else found


@FORMS("mul")
def mul(g: Emitter, x: Value, y: Value, *, x_num_col_dims: int) -> Value:
    """mul; a product of what is reshaped in `.json` programs, which have no such operator."""
    if g.old:
        return g.op("mul", x, y, meta=g.metas[0], x_num_col_dims=x_num_col_dims, y_num_col_dims=1)
    if x_num_col_dims < len(x.shape) - 1:
        whole = Meta((*x.shape[:x_num_col_dims], y.shape[0]), x.dtype)
        x = g.reshape(x, [*[0] * x_num_col_dims, y.shape[0]], whole)
    return g.op("matmul", x, y, meta=g.metas[0], transpose_x=False, transpose_y=False)


@FORMS("contract")
def contract(g: Emitter, x: Value, y: Value, *, left: Any, right: Any, out: Any) -> Value:
    """einsum."""
    letters = {label: chr(ord("a") + i) for i, label in enumerate(dict.fromkeys([*left, *right, *out]))}
    terms = ["".join(letters[label] for label in labels) for labels in (left, right, out)]
    equation = f"{terms[0]},{terms[1]}->{terms[2]}"
    return g.op("einsum", [x, y], meta=g.metas[0], equation=equation)


# -- shapes ------------------------------------------------------------------------------------------------------------


@FORMS("reshape")
def reshape(g: Emitter, x: Value, *, shape: Any) -> Value:
    """reshape; a 0 keeps a size."""
    known = g.metas[0].shape
    return g.reshape(x, list(known) if known.count(UNKNOWN) < 2 and 0 not in known else shape, g.metas[0])


@FORMS("flatten")
def flatten(g: Emitter, x: Value, *, start_axis: int, stop_axis: int) -> Value:
    """flatten."""
    if not x.ndim:
        return g.reshape(x, [1], g.metas[0])
    return g.op("flatten", x, meta=g.metas[0], start_axis=start_axis, stop_axis=stop_axis)


@FORMS("unflatten")
def unflatten(g: Emitter, x: Value, *, axis: int, shape: Any) -> Value:
    """reshape."""
    parts = as_list(shape)
    sizes = [g.size(x, i) for i in range(x.ndim)]
    return g.reshape(x, [*sizes[:axis], *parts, *sizes[axis + 1 :]], g.metas[0])


@FORMS("squeeze")
def squeeze(g: Emitter, x: Value, *, axes: Any) -> Value:
    """squeeze."""
    return g.op("squeeze", x, list(axes), meta=g.metas[0]) if axes else g.op("assign", x)


@FORMS("unsqueeze")
def unsqueeze(g: Emitter, x: Value, *, axes: Any) -> Value:
    """unsqueeze."""
    return g.op("unsqueeze", x, list(axes), meta=g.metas[0]) if axes else g.op("assign", x)


@FORMS("transpose")
def transpose(g: Emitter, x: Value, *, perm: Any) -> Value:
    """transpose."""
    return g.op("transpose", x, meta=g.metas[0], perm=list(perm))


@FORMS("concat")
def concat(g: Emitter, *xs: Value, axis: int) -> Value:
    """concat."""
    return g.op("concat", [g.cast(x, g.metas[0].dtype) for x in xs], axis, meta=g.metas[0])


@FORMS("stack")
def stack(g: Emitter, *xs: Value, axis: int) -> Value:
    """stack."""
    return g.op("stack", [g.cast(x, g.metas[0].dtype) for x in xs], meta=g.metas[0], axis=axis)


@FORMS("split")
def split(g: Emitter, x: Value, *, sections: Any, axis: int) -> list[Value]:
    """split."""
    if not isinstance(sections, (list, tuple)):
        return g.list_op("split_with_num", [x, axis], g.metas, num=len(g.metas))
    if any(isinstance(s, Value) for s in sections):
        raise UnsupportedError("a split whose sizes only the run knows has no form in Paddle's programs")
    return g.list_op("split", [x, list(sections), axis], g.metas)


@FORMS("unstack")
def unstack(g: Emitter, x: Value, *, axis: int, num: Any) -> list[Value]:
    """unbind."""
    return g.list_op("unbind", [x], g.metas, axis=axis)


@FORMS("expand", "expand_view")
def expand(g: Emitter, x: Value, *, shape: Any) -> Value:
    """expand; -1 keeps a size."""
    return g.expand(x, g.sizes(shape), g.metas[0].shape)


@FORMS("expand_like")
def expand_like(g: Emitter, x: Value, y: Value) -> Value:
    """expand to the shape of y."""
    return g.expand(x, list(y.shape) if UNKNOWN not in y.shape else g.shape(y), g.metas[0].shape)


@FORMS("tile")
def tile(g: Emitter, x: Value, *, repeat_times: Any) -> Value:
    """tile."""
    return g.op("tile", x, g.sizes(repeat_times), meta=g.metas[0])


@FORMS("flip")
def flip(g: Emitter, x: Value, *, axis: Any) -> Value:
    """flip."""
    return g.op("flip", x, axis=_axes(axis))


@FORMS("roll")
def roll(g: Emitter, x: Value, *, shifts: Any, axis: Any) -> Value:
    """roll."""
    moves = as_list(shifts)
    return g.op("roll", x, g.sizes(moves), axis=_axes(axis))


@FORMS("tril", "triu")
def triangle(g: Emitter, x: Value, *, diagonal: int) -> Value:
    """tril, triu."""
    return g.op(g.op_name, x, diagonal=diagonal)


@FORMS("shape")
def shape_(g: Emitter, x: Value) -> Value:
    """The sizes."""
    return g.cast(g.shape(x), g.metas[0].dtype)


@FORMS("dim_size")
def dim_size(g: Emitter, x: Value, *, axis: int) -> Value:
    """One of the sizes."""
    size = g.size(x, axis)
    return size if isinstance(size, Value) else g.full(size, int64)


@FORMS("numel")
def numel(g: Emitter, x: Value) -> Value:
    """numel."""
    return g.op("numel", x, meta=g.metas[0])


# -- made of attributes ------------------------------------------------------------------------------------------------


@FORMS("full")
def full(g: Emitter, *, shape: Any, fill_value: Any, dtype: DType) -> Value:
    """full; expand where only the run knows something."""
    parts = list(shape) if isinstance(shape, (list, tuple)) else shape
    if isinstance(fill_value, Value):
        return g.expand(g.cast(fill_value, dtype), g.sizes(parts), g.metas[0].shape)
    if isinstance(parts, list) and not any(isinstance(p, Value) for p in parts):
        return g.full(fill_value, dtype, parts)
    return g.expand(g.full(fill_value, dtype), g.sizes(parts), g.metas[0].shape)


@FORMS("full_like")
def full_like(g: Emitter, x: Value, *, fill_value: Any, dtype: DType) -> Value:
    """full_like."""
    return g.op("full_like", x, float(known(fill_value)), meta=g.metas[0], dtype=dtype)


@FORMS("assign_value")
def assign_value(g: Emitter, *, values: Any, shape: Any, dtype: DType) -> Value:
    """A constant."""
    return g.constant(np.asarray(values, dtype.np).reshape(shape))


@FORMS("arange")
def arange(g: Emitter, *, start: Any, end: Any, step: Any, dtype: DType) -> Value:
    """arange."""
    if not any(isinstance(v, Value) for v in (start, end, step)):
        count = max(math.ceil((end - start) / step), 0)
        return g.constant((start + np.arange(count) * step).astype(dtype.np))
    kind = dtype if dtype is int64 or dtype.is_floating else int64
    parts = [g.cast(v, kind) if isinstance(v, Value) else g.full(v, kind) for v in (start, end, step)]
    parts = [p if not p.shape else g.reshape(p, []) for p in parts]
    return g.cast(g.op("arange", *parts, meta=Meta(g.metas[0].shape, kind), dtype=kind), dtype)


@FORMS("causal_mask")
def causal_mask(g: Emitter, x: Value, *, fill: float) -> Value:
    """x below the diagonal, `fill` above it."""
    ones = g.op("triu", g.op("full_like", x, 1.0, dtype=float32, meta=Meta(x.shape, float32)), diagonal=1)
    above = g.op("greater_than", ones, g.full(0.5, float32), meta=Meta(x.shape, bool_))
    filled = g.op("full_like", x, float(fill), dtype=x.dtype)
    return g.op("where", above, filled, x, meta=x.meta)
