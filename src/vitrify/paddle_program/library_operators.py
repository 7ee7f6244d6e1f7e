"""Paddle's operators that are algorithms of their own, in our ops: linear algebra, searching, counting, boxes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .. import linalg
from ..core.dtype import as_dtype
from ..core.errors import UnsupportedError
from ..ir.known_values import as_tensor
from ..ops import scatter as scatter_family
from ..ops.registry import get_op
from .operator_table import known_number, reads


def _same(theirs: str, ours: str, *attrs: str, outputs: Sequence[int] | None = None) -> None:
    """Let an operator be our op, with the attributes of these names; `outputs`: which of ours its outputs are."""

    def read(*inputs: Any, **given: Any) -> Any:
        found = get_op(ours)(*map(as_tensor, inputs), **given)
        return found if outputs is None else [found[i] for i in outputs]

    reads.enter(theirs, read, attrs)


for _name in ("inverse", "det", "solve", "scatter_nd_add"):
    _same(_name, _name)
_same("cholesky", "cholesky", "upper")
_same("svd", "svd", "full_matrices")
_same("eigh", "eigh", "UPLO")
_same("triangular_solve", "triangular_solve", "upper", "transpose", "unitriangular")
_same("diagonal", "diagonal", "offset", "axis1", "axis2")


@reads("qr")
def qr(x: Any, *, mode: str = "reduced") -> Any:
    """The factors q and r."""
    if mode not in ("reduced", "complete"):
        raise UnsupportedError(f"qr in mode {mode!r} cannot be read")
    return linalg.qr(as_tensor(x), mode)


@reads("diag_embed")
def diag_embed(x: Any, *, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Any:
    """Matrices with x on a diagonal."""
    x = as_tensor(x)
    rank = x.ndim + 1
    return get_op("diag_embed")(x, offset=offset, dim1=dim1 % rank, dim2=dim2 % rank, padding_value=0)


@reads("logcumsumexp")
def logcumsumexp(
    x: Any, *, axis: int = -1, flatten: bool = False, exclusive: bool = False, reverse: bool = False
) -> Any:
    """The logarithm of the running sum of exponentials."""
    if exclusive or flatten:
        raise UnsupportedError("logcumsumexp of what comes before, or of a flattened tensor, cannot be read")
    x = as_tensor(x)
    return get_op("logcumsumexp")(x, axis=axis % x.ndim, reverse=reverse)


def _selection(name: str) -> Any:
    def read(x: Any, *, axis: int = -1, keepdim: bool = False, **given: Any) -> Any:
        x = as_tensor(x)
        return get_op(name)(x, axis=axis % x.ndim, keepdim=keepdim, **given)

    return read


reads.enter("kthvalue", _selection("kthvalue"), ("k", "axis", "keepdim"))
reads.enter("mode", _selection("mode"), ("axis", "keepdim"))


@reads("searchsorted")
def searchsorted(sequence: Any, values: Any, *, out_int32: bool = False, right: bool = False) -> Any:
    """Where the values belong in a sorted sequence."""
    dtype = "int32" if out_int32 else "int64"
    found = get_op("searchsorted")(as_tensor(sequence), as_tensor(values), right=right, dtype=as_dtype(dtype))
    return found


@reads("bincount")
def bincount(x: Any, weights: Any, minlength: Any) -> Any:
    """How often each number occurs."""
    given = None if weights is None else as_tensor(weights)
    return get_op("bincount")(as_tensor(x), given, minlength=int(known_number(minlength)))


@reads("index_add")
def index_add(x: Any, index: Any, value: Any, *, axis: int = 0) -> Any:
    """x with slices added."""
    x = as_tensor(x)
    return get_op("index_add")(x, as_tensor(index), as_tensor(value), axis=axis % x.ndim)


@reads("index_put")
def index_put(x: Any, indices: Sequence[Any], value: Any, *, accumulate: bool = False) -> Any:
    """x with elements written or added at indices."""
    return scatter_family.index_put(as_tensor(x), tuple(map(as_tensor, indices)), as_tensor(value), accumulate)


@reads("broadcast_tensors")
def broadcast_tensors(xs: Sequence[Any]) -> Any:
    """Tensors in the shape that they broadcast to."""
    return [list(get_op("broadcast_tensors")(*map(as_tensor, xs)))]


@reads("nms")
def nms(boxes: Any, *, threshold: float) -> Any:
    """The places of the boxes that overlap no better one."""
    return get_op("nms")(as_tensor(boxes), None, None, threshold=threshold, allowed=None, top_k=None)


@reads("yolo_box")
def yolo_box(
    x: Any, size: Any, *, anchors: list[int], class_num: int, conf_thresh: float, downsample_ratio: int,
    clip_bbox: bool = True, scale_x_y: float = 1.0, iou_aware: bool = False, iou_aware_factor: float = 0.5,
) -> Any:  # fmt: skip
    """Boxes and scores of a YOLO network."""
    pairs = tuple(zip(anchors[::2], anchors[1::2]))
    return get_op("yolo_box")(
        as_tensor(x), as_tensor(size), anchors=pairs, classes=class_num, threshold=conf_thresh, cell=downsample_ratio,
        clip=clip_bbox, scale=scale_x_y, aware=iou_aware_factor if iou_aware else None,
    )  # fmt: skip
