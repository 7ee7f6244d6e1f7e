"""Beam search: whole sequences from the ids and parents of each step."""

from __future__ import annotations

from typing import Any

from ..core.errors import ShapeError
from ..core.meta import Meta
from .gather import need_integers
from .registry import NoGradient, define_op


def _kernel(xp: Any, ids: Any, parents: Any) -> Any:
    out = ids.copy()
    beam = xp.broadcast_to(xp.arange(ids.shape[2]), ids.shape[1:])
    for step in range(len(ids) - 1, -1, -1):
        out[step] = xp.take_along_axis(ids[step], beam, axis=1)
        beam = xp.take_along_axis(parents[step], beam, axis=1)
    return out


def _meta(ids: Meta, parents: Meta) -> Meta:
    if ids.ndim != 3 or parents.ndim != 3:
        raise ShapeError(f"gather_tree: ids is {ids}, parents is {parents}, expected [time, batch, beam] each")
    need_integers("gather_tree", ids, "ids")
    need_integers("gather_tree", parents, "parents")
    return ids


gather_tree_op = define_op(
    "gather_tree", kernel=_kernel, meta=_meta, vjp=NoGradient("ids are integers"), maps={"paddle": "gather_tree"}
)


def gather_tree(ids: Any, parents: Any) -> Any:
    """The sequence that ends in each beam: ids read back from the last step along `parents`.

    ids, parents: [time, batch, beam] integers -> the same. Source: paddle.nn.functional.gather_tree.

    Example:
        >>> import vitrify as paddle
        >>> ids, parents = paddle.to_tensor([[[2, 2]], [[3, 9]]]), paddle.to_tensor([[[0, 0]], [[1, 0]]])
        >>> paddle.nn.functional.gather_tree(ids, parents).tolist()
        [[[2, 2]], [[3, 9]]]
    """
    return gather_tree_op(ids, parents)


__all__ = ["gather_tree"]
