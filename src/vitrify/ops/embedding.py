"""Rows of a table, looked up by integer ids."""

from __future__ import annotations

from typing import Any

from ..core.alias import aliased
from ..core.dtype import float32
from ..core.errors import ArgumentError, DTypeError, IndexRangeError, ShapeError
from ..core.meta import UNKNOWN, Meta
from ..core.modes import grad_enabled, scoped
from .accumulate import add_rows
from .arguments import rank_of
from .like import cast, constant
from .registry import NoGradient, OpDef, define_op
from .sizes import size_of
from .softmax import straight_through_op


def _lookup_kernel(xp: Any, x: Any, weight: Any, *, padding_idx: int | None) -> Any:
    _check_range(x, weight.shape[0])
    out = weight.take(x.reshape(-1), axis=0).reshape(*x.shape, weight.shape[1])
    if padding_idx is not None:
        out[x == padding_idx] = 0
    return out


def _check_range(x: Any, rows: int) -> None:
    if x.size and not (int(x.min()) >= 0 and int(x.max()) < rows):
        bad = int(x.min()) if int(x.min()) < 0 else int(x.max())
        raise IndexRangeError(f"embedding: id {bad} is outside the table of {rows} rows")


def _lookup_meta(x: Meta, weight: Meta, *, padding_idx: int | None) -> Meta:
    if not x.dtype.is_integer:
        raise DTypeError(f"embedding: x is {x}, expected integers")
    if weight.ndim != 2:
        raise ShapeError(f"embedding: weight is {weight}, expected 2 dimensions")
    return weight.with_shape((*x.shape, weight.shape[1]))


def _table_grad_kernel(xp: Any, ct: Any, x: Any, weight: Any, *, padding_idx: int | None) -> Any:
    out = xp.zeros(weight.shape, ct.dtype)
    add_rows(xp, out, x.reshape(-1), ct.reshape(x.size, weight.shape[1]))
    if padding_idx is not None:
        out[padding_idx] = 0
    return out


embedding_op: OpDef = define_op(
    "embedding",
    kernel=_lookup_kernel,
    meta=_lookup_meta,
    vjp={
        "weight": lambda ct, *, x, weight_like, padding_idx: embedding_grad_op(
            ct, x, weight_like, padding_idx=padding_idx
        )
    },
    maps={"onnx": "Gather", "paddle": "lookup_table_v2"},
    native=lambda n, x, weight, *, padding_idx: n.take(weight, x, zeros=padding_idx),
)
embedding_grad_op: OpDef = define_op(
    "embedding_grad",
    kernel=_table_grad_kernel,
    meta=lambda ct, x, weight, *, padding_idx: weight.with_dtype(ct.dtype),
    vjp={"ct": lambda g, *, x, padding_idx: embedding_op(x, g, padding_idx=padding_idx)},
    native=lambda n, ct, x, weight, *, padding_idx: n.add_rows(ct, x, weight.shape, without=padding_idx),
    shape_only=["weight"],
)


def _by_frequency_kernel(xp: Any, x: Any, weight: Any, *, padding_idx: int | None) -> Any:
    counts = xp.bincount(x.reshape(-1), minlength=1)
    return _lookup_kernel(xp, x, weight, padding_idx=padding_idx), (1 / counts[x])[..., None].astype(weight.dtype)


def _by_frequency_meta(x: Meta, weight: Meta, *, padding_idx: int | None) -> tuple[Meta, Meta]:
    return _lookup_meta(x, weight, padding_idx=padding_idx), weight.with_shape((*x.shape, 1))


by_frequency_op: OpDef = define_op(
    "embedding_by_frequency",
    kernel=_by_frequency_kernel,
    meta=_by_frequency_meta,
    vjp={
        "weight": lambda cts, *, x, weight_like, share, padding_idx: embedding_grad_op(
            cts[0] * share, x, weight_like, padding_idx=padding_idx
        )
    },
    outputs=("out", "share"),
)


def _renorm_kernel(xp: Any, x: Any, weight: Any, *, max_norm: float, norm_type: float) -> Any:
    _check_range(x, weight.shape[0])
    out = weight.copy()
    rows = xp.unique(x)
    lengths = xp.linalg.norm(weight[rows], ord=norm_type, axis=1, keepdims=True)
    out[rows] *= xp.where(lengths > max_norm, max_norm / (lengths + 1e-7), 1).astype(weight.dtype)
    return out


renorm_rows_op = define_op(
    "embedding_renorm",
    kernel=_renorm_kernel,
    meta=lambda x, weight, *, max_norm, norm_type: weight,
    vjp=NoGradient("the table is changed in place, apart from the gradient"),
)


@aliased(x="input")
def embedding(
    x: Any, weight: Any, padding_idx: int | None = None, max_norm: float | None = None, norm_type: float = 2.0,
    sparse: bool = False, scale_grad_by_freq: bool = False, name: str | None = None,
) -> Any:  # fmt: skip
    """The rows of weight at the ids x; zeros, and no gradient, where an id is padding_idx.

    x: [*s] integers in [0, rows), weight: [rows, size] -> [*s, size] of weight's dtype. max_norm: rows that are used
    and longer than this in the norm_type norm are shortened to it in place first. scale_grad_by_freq divides the
    gradient of a row by how often it is used. `sparse` is accepted and has no effect. Raises IndexRangeError for ids
    outside the table, DTypeError unless x holds integers. Source: paddle.nn.functional.embedding.

    Example:
        >>> import vitrify as paddle
        >>> table = paddle.to_tensor([[1.0, 2.0], [3.0, 4.0]])
        >>> paddle.nn.functional.embedding(paddle.to_tensor([1, 0]), table).tolist()
        [[3.0, 4.0], [1.0, 2.0]]
    """
    if padding_idx is not None:
        rank_of("embedding", weight, "weight")
        rows = weight.shape[0]
        if rows == UNKNOWN and padding_idx < 0:
            raise ArgumentError(f"embedding: padding_idx {padding_idx} counts from the end of weight of unknown size")
        if rows != UNKNOWN and not -rows <= padding_idx < rows:
            raise ArgumentError(f"embedding: padding_idx must lie in [{-rows}, {rows}), got {padding_idx}")
        padding_idx = int(padding_idx) % rows if rows != UNKNOWN else int(padding_idx)
    if max_norm is not None:
        with scoped(grad_enabled, False):
            shortened = renorm_rows_op(x, weight, max_norm=float(max_norm), norm_type=float(norm_type))
        held, weight = weight, straight_through_op(shortened, weight)  # the gradient is that of the table as it was
        with scoped(grad_enabled, False):
            held._become(shortened)
    if scale_grad_by_freq:
        return by_frequency_op(x, weight, padding_idx=padding_idx)[0]
    return embedding_op(x, weight, padding_idx=padding_idx)


def label_smooth(label: Any, prior_dist: Any = None, epsilon: float = 0.1, name: str | None = None) -> Any:
    """(1 - epsilon) * label + epsilon * prior_dist, the prior being uniform over the last dimension by default.

    label: [*, classes], prior_dist: [1, classes]. Raises ArgumentError unless epsilon lies in [0, 1].
    Source: paddle.nn.functional.label_smooth.

    Example:
        >>> import vitrify as paddle
        >>> paddle.nn.functional.label_smooth(paddle.to_tensor([[0.0, 1.0]]), epsilon=0.5).tolist()
        [[0.25, 0.75]]
    """
    if not 0 <= epsilon <= 1:
        raise ArgumentError(f"label_smooth: epsilon must lie in [0, 1], got {epsilon}")
    rank_of("label_smooth", label, "label")
    if not label.dtype.is_floating:
        label = cast(label, float32)
    prior = _uniform(label) if prior_dist is None else constant(prior_dist)
    return label * (1 - epsilon) + prior * epsilon


def _uniform(label: Any) -> Any:
    """One over the number of classes, which may be known only when the program runs."""
    classes = size_of(label, -1)
    return 1.0 / (max(classes, 1) if isinstance(classes, int) else cast(classes, label.dtype))


__all__ = ["embedding", "label_smooth"]
