"""Paddle's forms of counting, of what repeats, and of elements that are chosen."""

from __future__ import annotations

from typing import Any

from ..core.dtype import DType, bool_, int32, int64
from ..core.errors import UnsupportedError
from ..core.meta import UNKNOWN, Meta
from .emitter import FORMS, Emitter, Value, known


@FORMS("histogram")
def histogram(g: Emitter, x: Value, weight: Value | None, *, bins: int, min: float, max: float, density: bool) -> Value:
    """histogram."""
    return g.op("histogram", x, weight, meta=g.metas[0], bins=bins, min=min, max=max, density=density)


@FORMS("repeat_interleave")
def repeat_interleave(g: Emitter, x: Value, repeats: Value | None, *, times: Any, axis: int) -> Value:
    """repeat_interleave, by one number or by one for each element."""
    if repeats is not None:
        return g.op("repeat_interleave_with_tensor_index", x, repeats, meta=g.metas[0], axis=axis)
    # Another dimension that is repeated: the operator of one number has no gradient in PaddlePaddle's older programs.
    wide = g.unsqueeze(x, [axis + 1])
    sizes = [known(times) if i == axis + 1 else -1 for i in range(wide.ndim)]
    shape = (*x.shape[: axis + 1], sizes[axis + 1], *x.shape[axis + 1 :])
    sides = [g.size(x, i) if i != axis else -1 for i in range(x.ndim)]
    return g.reshape(g.expand(wide, sizes, shape), sides, g.metas[0])


@FORMS("unique")
def unique(
    g: Emitter, x: Value, *, axis: int, index: bool, inverse: bool, counts: bool, dtype: DType
) -> list[Value | None]:
    """unique; what is not asked for is made all the same."""
    side = [Meta((UNKNOWN,), dtype)] * 3
    out, *found = g.ops(
        "unique", [x], [g.metas[0], *side], return_index=True, return_inverse=True, return_counts=True,
        axis=[] if x.ndim == 1 else [axis], dtype=dtype, is_sorted=True,
    )  # fmt: skip
    return [out, *[v if is_wanted else None for v, is_wanted in zip(found, (index, inverse, counts))]]


@FORMS("unique_consecutive")
def unique_consecutive(
    g: Emitter, x: Value, *, axis: int, inverse: bool, counts: bool, dtype: DType
) -> list[Value | None]:
    """unique_consecutive; what is not asked for is made all the same."""
    side = [Meta((UNKNOWN,), dtype)] * 2
    out, *found = g.ops(
        "unique_consecutive", [x], [g.metas[0], *side], return_inverse=True, return_counts=True,
        axis=[] if x.ndim == 1 else [axis], dtype=dtype,
    )  # fmt: skip
    return [out, *[v if is_wanted else None for v, is_wanted in zip(found, (inverse, counts))]]


@FORMS("gather_tree")
def gather_tree(g: Emitter, ids: Value, parents: Value) -> Value:
    """gather_tree."""
    return g.op("gather_tree", ids, parents, meta=g.metas[0])


@FORMS("cummax_index", "cummin_index")
def index_of_extreme(g: Emitter, x: Value, *, axis: int, dtype: DType) -> Value:
    """cummax or cummin, which give what is there, too."""
    name = g.op_name.removesuffix("_index")
    return g.ops(name, [x], [x.meta, g.metas[0]], axis=axis, dtype=dtype)[1]


@FORMS("diagonal_scatter")
def diagonal_scatter(g: Emitter, x: Value, y: Value, *, offset: int, axis1: int, axis2: int) -> Value:
    """fill_diagonal_tensor."""
    return g.op("fill_diagonal_tensor", x, y, meta=x.meta, offset=offset, dim1=axis1, dim2=axis2)


@FORMS("masked_scatter")
def masked_scatter(g: Emitter, x: Value, mask: Value, value: Value) -> Value:
    """Where the mask is, the element of the value that as many true elements stand before."""
    whole = g.expand(mask, g.sizes([g.size(x, i) for i in range(x.ndim)]), x.shape) if x.ndim else mask
    flat = g.reshape(g.cast(whole, int64), [-1], Meta((UNKNOWN,), int64))
    until = g.op("cumsum", flat, 0, meta=flat.meta, flatten=False, exclusive=False, reverse=False)
    last = g.op("scale", until, 1.0, meta=flat.meta, bias=-1.0, bias_after_scale=True)
    place = g.op("maximum", last, g.full(0, int64, [1]), meta=flat.meta)
    items = g.reshape(value, [-1], Meta((UNKNOWN,), value.dtype))
    chosen = g.op("gather", items, place, 0, meta=Meta((UNKNOWN,), value.dtype))
    placed = g.reshape(chosen, [g.size(x, i) for i in range(x.ndim)], Meta(x.shape, value.dtype))
    return g.op("where", g.cast(whole, bool_), g.cast(placed, x.dtype), x, meta=x.meta)


# -- losses and linear algebra -----------------------------------------------------------------------------------------


@FORMS("ctc")
def ctc(
    g: Emitter, log_probs: Value, labels: Value, input_lengths: Value, label_lengths: Value, *, blank: int,
    by_times: bool, zero_infinity: bool,
) -> list[Value | None]:  # fmt: skip
    """warpctc: it takes a softmax once more, which changes nothing."""
    if zero_infinity:
        raise UnsupportedError("losses without what is infinite have no form in Paddle's programs")
    out, kind = g.metas[0], log_probs.dtype
    given = [log_probs, g.cast(labels, int32), g.cast(input_lengths, int64), g.cast(label_lengths, int64)]
    metas = [Meta((*out.shape, 1), kind), log_probs.meta]
    loss, _ = g.ops("warpctc", given, metas, blank=blank, norm_by_times=by_times)
    return [g.op("squeeze", loss, [1], meta=Meta(out.shape, kind)), None]


@FORMS("lu")
def lu(g: Emitter, x: Value) -> list[Value]:
    """lu."""
    return g.ops("lu", [x], [g.metas[0], *[Meta(m.shape, int32) for m in g.metas[1:]]], pivot=True)


@FORMS("slogdet_parts")
def slogdet_parts(g: Emitter, x: Value) -> list[Value]:
    """slogdet, whose two results are one tensor."""
    sign, logarithm = g.metas
    both = g.op("slogdet", x, meta=Meta((2, *sign.shape), sign.dtype))
    return [
        # PaddlePaddle says that the results of one matrix have a dimension, and by its passes they do.
        g.reshape(_part(g, both, i, meta), [g.size(x, d) for d in range(x.ndim - 2)], meta)
        for i, meta in enumerate((sign, logarithm))
    ]


def _part(g: Emitter, x: Value, at: int, meta: Meta) -> Value:
    return g.op("slice", x, [at], [at + 1], meta=meta, axes=[0], infer_flags=[1], decrease_axis=[0])


@FORMS("i0", "i0e", "i1", "i1e", "gammaincc", "nextafter")
def special(g: Emitter, *xs: Value) -> Value:
    """The operator of the same name."""
    out = g.metas[0]
    return g.op(g.op_name, *[g.cast(x, out.dtype) for x in xs], meta=out)


@FORMS("gammainc")
def gammainc(g: Emitter, x: Value, y: Value) -> Value:
    """What gammaincc leaves of 1."""
    out = g.metas[0]
    rest = g.op("gammaincc", g.cast(x, out.dtype), g.cast(y, out.dtype), meta=out)
    return g.op("scale", rest, -1.0, bias=1.0, bias_after_scale=True)


@FORMS("polygamma")
def polygamma(g: Emitter, x: Value, *, n: int) -> Value:
    """polygamma."""
    return g.op("polygamma", g.cast(x, g.metas[0].dtype), meta=g.metas[0], n=n)
