"""Cross entropy of logits or probabilities with class labels, hard or soft."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ..core.alias import aliased
from ..core.dtype import DType, int64
from ..core.errors import ArgumentError, DTypeError, IndexRangeError, ShapeError
from ..core.meta import UNKNOWN, Meta, normalize_axis
from .arguments import rank_of, static_int
from .compare import isfinite, logical_and, logical_or, not_equal
from .creation import one_hot
from .elementwise import multiply_op, neg
from .embedding import label_smooth
from .gather import gather_nd, take_along_axis
from .like import cast, constant, full_like, zeros_like
from .matmul import matmul
from .reduce import max_op, mean, sum, sum_op
from .reduction import check_reduction, given, reduced
from .registry import OpDef, define_op
from .select import where
from .shape import squeeze, unsqueeze
from .sizes import size_of
from .softmax import softmax
from .tensor_methods import TensorMethods
from .transpose import moveaxis
from .unary import exp, log
from .within import classes

# Elements that one step works on, so that they stay in the cache.
_BLOCK = 1 << 16
# Stands for a label to ignore where that is a tensor: no class has this number, and every label's dtype holds it.
_NO_CLASS = -(1 << 31)

# --- kernels ---------------------------------------------------------------------------------------------------------


def _rows(xp: Any, x: Any, axis: int) -> Any:
    """x as contiguous rows along `axis`, in float32 at least."""
    dtype = x.dtype if x.dtype.itemsize > 2 else np.dtype(np.float32)
    moved = _with_last(xp, x, axis)
    return xp.ascontiguousarray(moved, dtype=dtype).reshape(math.prod(moved.shape[:-1]), moved.shape[-1])


def _with_last(xp: Any, x: Any, axis: int) -> Any:
    """x with `axis` at the end."""
    return x if axis == x.ndim - 1 else xp.moveaxis(x, axis, -1)


def _unrows(xp: Any, rows: Any, like: Any, axis: int) -> Any:
    """Rows back in the shape and dtype of `like`."""
    found = rows.reshape((*like.shape[:axis], *like.shape[axis + 1 :], rows.shape[-1]))
    return (found if axis == like.ndim - 1 else xp.moveaxis(found, -1, axis)).astype(like.dtype, copy=False)


def _blocks(xp: Any, rows: Any) -> Iterator[slice]:
    step = max(1, _BLOCK // max(rows.shape[1], 1)) if xp is np else max(rows.shape[0], 1)
    for start in range(0, rows.shape[0] if rows.size else 0, step):
        yield slice(start, start + step)


def _safe(xp: Any, label: Any, classes: int, ignore_index: int) -> tuple[Any, Any]:
    """One label a row, those to ignore replaced by 0, and which rows count; None where all do."""
    flat = label.reshape(-1)
    flat = flat.astype(xp.int64) if flat.dtype.kind == "b" else flat  # as an index it would be a mask
    low, high = (int(flat.min()), int(flat.max())) if flat.size else (0, -1)
    valid = None
    if low <= ignore_index <= high:
        valid = flat != ignore_index
        flat = xp.where(valid, flat, 0)
        low, high = int(flat.min()), int(flat.max())
    if not (low >= 0 and high < classes):
        raise IndexRangeError(
            f"cross_entropy: label {low if low < 0 else high} is outside [0, {classes}) and not "
            f"ignore_index={ignore_index}"
        )
    return flat, valid


def _forward(xp: Any, logits: Any, label: Any, *, axis: int, soft_label: bool, ignore_index: int) -> tuple[Any, Any]:
    rows = _rows(xp, logits, axis)
    probs, loss = xp.empty_like(rows), (xp.empty if rows.size else xp.zeros)((rows.shape[0], 1), rows.dtype)
    if soft_label:
        target, valid = _rows(xp, label, axis), None
    else:
        target, valid = _safe(xp, _with_last(xp, label, axis), rows.shape[1], ignore_index)
    for block in _blocks(xp, rows):
        shifted = rows[block] - rows[block].max(axis=1, keepdims=True)
        part = xp.exp(shifted, out=probs[block])
        total = part.sum(axis=1, keepdims=True)
        part /= total
        if soft_label:
            shifted -= xp.log(total)
            loss[block] = -(target[block] * shifted).sum(axis=1, keepdims=True)
        else:
            picked = shifted[xp.arange(len(shifted)), target[block]]
            loss[block, 0] = xp.log(total[:, 0]) - picked
            if valid is not None:
                loss[block, 0] *= valid[block]
    return _unrows(xp, loss, logits, axis), _unrows(xp, probs, logits, axis)


def _backward(
    xp: Any, ct: Any, logits: Any, softmax: Any, label: Any, *, axis: int, soft_label: bool, ignore_index: int
) -> Any:
    probs, flow = _rows(xp, softmax, axis), _rows(xp, ct, axis)
    out = xp.empty_like(probs)
    if soft_label:
        xp.subtract(probs, _rows(xp, label, axis), out=out)
        out *= flow
    else:
        target, valid = _safe(xp, _with_last(xp, label, axis), probs.shape[1], ignore_index)
        if valid is not None:
            flow = flow * valid[:, None]
        xp.multiply(probs, flow, out=out)
        out[xp.arange(len(out)), target] -= flow[:, 0]
    return _unrows(xp, out, logits, axis)


# --- ops -------------------------------------------------------------------------------------------------------------


def _forward_meta(logits: Meta, label: Meta, *, axis: int, soft_label: bool, ignore_index: int) -> tuple[Meta, Meta]:
    if not logits.dtype.is_floating:
        raise DTypeError(f"cross_entropy: input is {logits}, expected a floating dtype")
    if soft_label != label.dtype.is_floating or label.dtype.is_complex:
        kind = "floating (soft_label=True)" if soft_label else "integer (soft_label=False)"
        raise DTypeError(f"cross_entropy: label is {label}, expected a {kind} dtype")
    wanted = list(logits.shape)
    if not soft_label:
        wanted[axis] = 1
    if label.ndim != logits.ndim or any(map(_differ, label.shape, wanted)):
        raise ShapeError(f"cross_entropy: input is {logits}, label is {label}, expected label [{_listed(wanted)}]")
    shape = [1 if i == axis else d for i, d in enumerate(logits.shape)]
    return logits.with_shape(shape), logits


def _differ(a: int, b: int) -> bool:
    """Whether two sizes are known to differ."""
    return a != b and UNKNOWN not in (a, b)


def _listed(sizes: Sequence[int]) -> str:
    return ", ".join("?" if s == UNKNOWN else str(s) for s in sizes)


def _forward_vjp(
    cts: Any, *, logits: Any, softmax: Any, label: Any, needs: Any, axis: Any, soft_label: Any, ignore_index: Any
) -> dict[str, Any]:
    if "logits" not in needs:
        return {}
    return {
        "logits": softmax_cross_entropy_grad_op(
            cts[0], logits, softmax, label, axis=axis, soft_label=soft_label, ignore_index=ignore_index
        )
    }


def _backward_vjp(
    g: Any, *, ct: Any, logits: Any, label: Any, needs: Any, axis: Any, soft_label: Any, ignore_index: Any
) -> dict[str, Any]:
    """The first op's gradient is (p - label) * ct, with p the softmax of the logits.

    That is the derivative where soft labels add up to 1, and what PaddlePaddle takes for it where they do not.
    """
    p = softmax(logits, axis)
    along = sum(p * g, axis, keepdim=True)
    if soft_label:
        return {"ct": along - sum(label * g, axis, keepdim=True), "logits": ct * p * (g - along)}
    valid = not_equal(label, ignore_index)
    chosen = take_along_axis(g, where(valid, label, zeros_like(label)), axis, broadcast=False)
    return {
        "ct": where(valid, along - chosen, zeros_like(along)),
        "logits": where(valid, ct, zeros_like(ct)) * p * (g - along),
    }


def _rows_native(n: Any, logits: Any, label: Any, axis: int, soft_label: bool) -> Any:
    """The logits and labels as rows, where that is how they lie."""
    if soft_label or axis != logits.ndim - 1 or label.dtype != np.int64:
        n.refuse("soft labels and classes that are not the last dimension have no native form")
    if label.shape != (*logits.shape[:-1], 1) or not logits.size:
        n.refuse("labels and logits do not fit")
    return n.reshape(logits, (-1, logits.shape[-1])), n.contiguous(label)


def _forward_native(
    n: Any, logits: Any, label: Any, *, axis: int, soft_label: bool, ignore_index: int
) -> tuple[Any, Any]:
    rows, label = _rows_native(n, logits, label, axis, soft_label)
    probs, top, total = n.over_rows(_statistics, rows)
    chosen, weight = n.picked(rows, label, ignore_index)
    n.compute_into([chosen], _loss_of_rows, top, total, chosen, weight)
    return n.reshape(chosen, (*logits.shape[:-1], 1)), n.reshape(probs, logits.shape)


def _statistics(rows: Any) -> tuple[Any, Any, Any]:
    """The softmax of rows, the largest element of each, and the logarithm of what its powers add up to."""
    top = max_op(rows, axis=(1,), keepdim=True)
    powers = exp(rows - top)
    total = sum_op(powers, axis=(1,), keepdim=True)
    return powers / total, top, log(total)


def _loss_of_rows(top: Any, total: Any, chosen: Any, weight: Any) -> tuple[Any]:
    return ((total - (chosen - top)) * weight,)


def _backward_native(
    n: Any, ct: Any, logits: Any, softmax: Any, label: Any, *, axis: int, soft_label: bool, ignore_index: int
) -> Any:
    probs, label = _rows_native(n, softmax, label, axis, soft_label)
    flow = n.apply(multiply_op, n.reshape(ct, (-1, 1)), n.weights(label, ignore_index, probs))
    out = n.apply(multiply_op, probs, flow)
    n.lower_at(out, flow, label, ignore_index)
    return n.reshape(out, logits.shape)


softmax_cross_entropy_op: OpDef = define_op(
    "softmax_cross_entropy",
    kernel=_forward,
    meta=_forward_meta,
    vjp=_forward_vjp,
    outputs=("loss", "softmax"),
    amp="deny",
    maps={"onnx": "SoftmaxCrossEntropyLoss", "paddle": "softmax_with_cross_entropy"},
    native=_forward_native,
    native_alone=True,
)
softmax_cross_entropy_grad_op: OpDef = define_op(
    "softmax_cross_entropy_grad",
    kernel=_backward,
    meta=lambda ct, logits, softmax, label, **attrs: logits,
    vjp=_backward_vjp,
    amp="deny",
    native=_backward_native,
    native_alone=True,
)

# --- public ----------------------------------------------------------------------------------------------------------


def softmax_with_cross_entropy(
    logits: Any, label: Any, soft_label: bool = False, ignore_index: int = -100, numeric_stable_mode: bool = True,
    return_softmax: bool = False, axis: int = -1,
) -> Any:  # fmt: skip
    """The cross entropy of softmax(logits) with label, one value a row, and with return_softmax the softmax too.

    logits: [*, c, *], label: the same with 1 in place of c (or, if soft, the same) -> [*, 1, *]. Rows whose label is
    ignore_index give 0. numeric_stable_mode has no effect: it is always stable. No gradient flows from the softmax
    returned. Raises IndexRangeError for other labels outside [0, c).
    Source: paddle.nn.functional.softmax_with_cross_entropy.

    Example:
        >>> import vitrify as paddle
        >>> logits = paddle.to_tensor([[0.0, 0.0]])
        >>> round(paddle.nn.functional.softmax_with_cross_entropy(logits, paddle.to_tensor([[1]])).item(), 4)
        0.6931
    """
    place = normalize_axis("softmax_with_cross_entropy", axis, rank_of("softmax_with_cross_entropy", logits, "logits"))
    rank_of("softmax_with_cross_entropy", label, "label")
    if not soft_label and label.dtype.is_floating:
        label = cast(label, int64)
    if isinstance(ignore_index, TensorMethods):  # such as paddle.shape(x)[1]: no number yet while a program is built
        label = cast(label, int64)
        label, ignore_index = where(label == ignore_index, full_like(label, _NO_CLASS), label), _NO_CLASS
    loss, probs = softmax_cross_entropy_op(
        logits, given(label), axis=place, soft_label=bool(soft_label), ignore_index=int(ignore_index)
    )
    return (loss, probs) if return_softmax else loss


@aliased(label="target")
def cross_entropy(
    input: Any, label: Any, weight: Any = None, ignore_index: int = -100, reduction: str = "mean",
    soft_label: bool = False, axis: int = -1, use_softmax: bool = True, label_smoothing: float = 0.0,
    name: str | None = None,
) -> Any:  # fmt: skip
    """The cross entropy of input with label.

    input: [*, c, *] logits (probabilities if use_softmax=False); label: [*, *] or [*, 1, *] class numbers, or [*, c, *]
    class probabilities if soft_label; weight: [c], one factor a class. reduction: "none" (hard labels: label's shape;
    soft ones: [*, 1, *]), "sum", or "mean": over all rows, over those not ignored if ignore_index >= 0, or weighted.
    label_smoothing mixes the labels with the uniform distribution. Raises IndexRangeError for labels outside [0, c)
    that are not ignore_index, ShapeError when shapes do not fit, ArgumentError on bad values.
    Source: paddle.nn.functional.cross_entropy.

    Example:
        >>> import vitrify as paddle
        >>> loss = paddle.nn.functional.cross_entropy(paddle.to_tensor([[0.0, 0.0]]), paddle.to_tensor([1]))
        >>> round(loss.item(), 4)
        0.6931
    """
    check_reduction("cross_entropy", reduction)
    if not 0 <= label_smoothing <= 1:
        raise ArgumentError(f"cross_entropy: label_smoothing must lie in [0, 1], got {label_smoothing}")
    if soft_label and ignore_index != -100:
        raise ArgumentError(f"cross_entropy: ignore_index has no meaning with soft labels, got {ignore_index}")
    if rank_of("cross_entropy", input) == 0:
        raise ShapeError("cross_entropy: input has no dimension of classes")
    place = normalize_axis("cross_entropy", axis, input.ndim)
    if soft_label:
        smoothed = label if label_smoothing == 0 else _smoothed(label, label_smoothing, place)
        return _soft(input, smoothed, weight, reduction, place, use_softmax)
    if label_smoothing and _one_a_class(input, label, place):
        return _soft(input, _smoothed(label, label_smoothing, place), weight, reduction, place, use_softmax)
    given = rank_of("cross_entropy", label, "label")
    hard = label if given == input.ndim else unsqueeze(label, place) if given == input.ndim - 1 else None
    if hard is None:
        raise ShapeError(
            f"cross_entropy: label has {given} dimensions, expected {input.ndim - 1} or {input.ndim} for input "
            f"{list(input.shape)}"
        )
    if hard.dtype.is_floating:
        hard = cast(hard, int64)
    if label_smoothing:
        return _smoothed_hard(input, hard, weight, ignore_index, reduction, place, use_softmax, label_smoothing)
    loss = _hard_loss(input, hard, ignore_index, place, use_softmax)
    return _reduce_hard(loss, hard, weight, ignore_index, reduction, place, keep=given == input.ndim)


def _one_a_class(input: Any, label: Any, axis: int) -> bool:
    """Whether label has a probability for each class; where sizes are not known yet, class numbers are integers."""
    if label.ndim != input.ndim:
        return False
    sizes = label.shape[axis], input.shape[axis]
    return bool(label.dtype.is_floating if UNKNOWN in sizes else sizes[0] == sizes[1] != 1)


def _hard_loss(input: Any, label: Any, ignore_index: int, axis: int, use_softmax: bool) -> Any:
    if use_softmax:
        return softmax_with_cross_entropy(input, label, False, ignore_index, axis=axis)
    valid = not_equal(label, ignore_index)
    chosen = take_along_axis(input, where(valid, label, zeros_like(label)), axis, broadcast=False)
    return where(valid, neg(log(chosen)), zeros_like(chosen))


def _soft_loss(input: Any, label: Any, axis: int, use_softmax: bool) -> Any:
    if use_softmax:
        return softmax_with_cross_entropy(input, label, True, axis=axis)
    return neg(sum(given(label) * log(input), axis, keepdim=True))


def _class_weights(weight: Any, label: Any, ignore_index: int) -> Any:
    """The weight of each hard label, 0 where it is ignored; label's shape."""
    valid = not_equal(label, ignore_index)
    chosen = gather_nd(weight, unsqueeze(where(valid, label, zeros_like(label)), -1))
    return chosen * cast(valid, chosen.dtype)


def _reduce_hard(
    loss: Any, label: Any, weight: Any, ignore_index: int, reduction: str, axis: int, *, keep: bool
) -> Any:
    total = None
    if weight is not None:
        factors = _class_weights(weight, label, ignore_index)
        loss = loss * factors
        total = factors
    else:
        total = _counted(label, ignore_index, loss.dtype)
    if reduction == "mean" and total is not None:
        return _share(sum(loss), sum(total))
    if reduction == "none":
        return loss if keep else squeeze(loss, axis)
    return reduced(loss, reduction)


def _counted(label: Any, ignore_index: Any, dtype: DType) -> Any:
    """1 for each label that the mean counts and 0 for others; None if it counts all, as for a negative ignore_index."""
    if isinstance(ignore_index, TensorMethods):
        return cast(logical_or(not_equal(label, ignore_index), ignore_index < 0), dtype)
    return cast(not_equal(label, ignore_index), dtype) if ignore_index >= 0 else None


def _share(loss: Any, total: Any) -> Any:
    """loss / total, and 0 where nothing counts."""
    return loss / where(total == 0, total + 1, total)


def _smoothed(label: Any, epsilon: float, axis: int) -> Any:
    """Soft labels mixed with the uniform distribution over `axis`."""
    if axis == label.ndim - 1:
        return label_smooth(label, epsilon=epsilon)
    return moveaxis(label_smooth(moveaxis(label, axis, -1), epsilon=epsilon), -1, axis)


def _smoothed_hard(
    input: Any, label: Any, weight: Any, ignore_index: int, reduction: str, axis: int, use_softmax: bool, epsilon: float
) -> Any:
    valid = not_equal(label, ignore_index)
    if use_softmax and weight is None:
        loss = _smoothed_loss(input, label, valid, ignore_index, axis, epsilon)
        counted = _counted(label, ignore_index, loss.dtype) if reduction == "mean" else None
        return reduced(loss, reduction) if counted is None else _share(sum(loss), sum(counted))
    classes = one_hot(squeeze(where(valid, label, zeros_like(label)), axis), size_of(input, axis))
    soft = label_smooth(cast(classes, input.dtype), epsilon=epsilon)
    if axis != input.ndim - 1:
        soft = moveaxis(soft, -1, axis)
    mask = cast(valid, input.dtype)
    input = where(valid, input, constant(input))  # else rows of no label get a gradient, that of labels of sum 1
    counted = _counted(label, ignore_index, input.dtype) if weight is None and reduction == "mean" else None
    if counted is not None:
        return _share(sum(_soft_loss(input, soft * mask, axis, use_softmax)), sum(counted))
    return _soft(input, soft * mask, weight, reduction, axis, use_softmax)


def _smoothed_loss(input: Any, label: Any, valid: Any, ignore_index: int, axis: int, epsilon: float) -> Any:
    """The loss of smoothed labels, one value a row, without writing them: that of the label itself, and epsilon times
    what its logit is above the mean.
    """
    loss = softmax_with_cross_entropy(input, label, False, ignore_index, axis=axis)
    logits = cast(input, loss.dtype)
    chosen = take_along_axis(logits, where(valid, label, zeros_like(label)), axis, broadcast=False)
    above = (chosen - mean(logits, axis, keepdim=True)) * epsilon
    return loss + where(logical_and(valid, isfinite(loss)), above, zeros_like(above))


def _soft(input: Any, label: Any, weight: Any, reduction: str, axis: int, use_softmax: bool) -> Any:
    loss = _soft_loss(input, label, axis, use_softmax)
    if weight is None:
        return reduced(loss, reduction)
    last = label if axis == label.ndim - 1 else moveaxis(label, axis, -1)
    factors = unsqueeze(matmul(last, cast(weight, label.dtype)), axis)
    if reduction == "mean":
        return _share(sum(loss * factors), sum(factors))
    return reduced(loss * factors, reduction)


def _without_one(input: Any, label: Any) -> Any:
    """Labels [n, 1], [n, 1, d] or [n, d, 1] without the dimension of size 1, which PaddlePaddle takes, too."""
    if rank_of("nll_loss", label, "label") != input.ndim or input.ndim not in (2, 3):
        return label
    at = next((i for i in range(1, label.ndim) if label.shape[i] == 1), None)
    return label if at is None else squeeze(label, at)


def nll_loss(
    input: Any, label: Any, weight: Any = None, ignore_index: int = -100, reduction: str = "mean",
    name: str | None = None,
) -> Any:  # fmt: skip
    """The negative log likelihood: -input at each row's label, times weight[label].

    input: [n, c, *s] log probabilities; label: [n, *s] integers, or with one more
    dimension of size 1 for up to three dimensions; weight: [c]. Labels equal to ignore_index give 0 and
    do not count in the weighted mean. Raises ShapeError when shapes do not fit, IndexRangeError for other labels
    outside [0, c). Source: paddle.nn.functional.nll_loss.

    Example:
        >>> import vitrify as paddle
        >>> paddle.nn.functional.nll_loss(paddle.to_tensor([[-1.0, -2.0]]), paddle.to_tensor([1])).item()
        2.0
    """
    check_reduction("nll_loss", reduction)
    ignore_index = static_int("nll_loss", ignore_index, "ignore_index")
    rank_of("nll_loss", input)
    rows = [size for i, size in enumerate(input.shape) if i != 1]
    label = _without_one(input, label)
    if input.ndim < 2 or rank_of("nll_loss", label, "label") != len(rows) or any(map(_differ, label.shape, rows)):
        raise ShapeError(
            f"nll_loss: input has shape {list(input.shape)}, label {list(label.shape)}, expected [n, c, *] and [n, *]"
        )
    where_label = unsqueeze(classes("nll_loss: a label", label, size_of(input, 1), ignore_index), 1)
    valid = not_equal(where_label, ignore_index)
    chosen = take_along_axis(input, where(valid, where_label, zeros_like(where_label)), 1, broadcast=False)
    factors = (
        cast(valid, input.dtype) if weight is None else _class_weights(constant(weight), where_label, ignore_index)
    )
    loss = neg(chosen * factors)
    if reduction == "mean":
        return _share(sum(loss), sum(factors))
    return squeeze(loss, 1) if reduction == "none" else sum(loss)


__all__ = ["cross_entropy", "nll_loss", "softmax_with_cross_entropy"]
