"""Jacobian and Hessian matrices, computed row by row when they are indexed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.errors import ArgumentError, ShapeError
from ..eager.autograd import grad
from ..eager.tensor import Tensor
from ..ops.creation import zeros
from ..ops.join import stack


class Jacobian:
    """The derivatives of one tensor with respect to another; indexing computes the rows asked for, once.

    Shape [M, N] for ys [M] and xs [N], without what is 0-D; [B, M, N] for batches, row by row of M.
    """

    def __init__(self, ys: Tensor, xs: Tensor, is_batched: bool = False) -> None:
        limit = 2 if is_batched else 1
        for name, tensor in (("ys", ys), ("xs", xs)):
            if tensor.ndim > limit or (is_batched and tensor.ndim == 0):
                raise ShapeError(
                    f"jacobian: {name} has shape {list(tensor.shape)}, expected at most {limit} dimensions"
                )
        self._ys = ys
        self._xs = xs
        self._is_batched = is_batched
        self._rows: dict[int, Tensor] = {}

    @property
    def shape(self) -> list[int]:
        """The sizes of the whole matrix."""
        batch = self._ys.shape[:1] if self._is_batched else []
        return [*batch, *self._ys.shape[len(batch) :], *self._xs.shape[len(batch) :]]

    def _row(self, i: int) -> Tensor:
        """The derivatives of ys[i], or of ys[:, i]: like xs."""
        if i not in self._rows:
            flat = self._ys.ndim == int(self._is_batched)
            y = self._ys if flat else self._ys[:, i] if self._is_batched else self._ys[i]
            (found,) = grad(y.sum(), self._xs, create_graph=True, allow_unused=True)
            self._rows[i] = zeros(self._xs.shape, self._xs.dtype) if found is None else found
        return self._rows[i]

    def __getitem__(self, index: Any) -> Tensor:
        row_axis = int(self._is_batched)
        parts = _split_index(index, len(self.shape))
        if self._ys.ndim == row_axis:  # no rows: ys is 0-D, once for each batch
            only: Tensor = self._row(0)[tuple(parts)]
            return only
        wanted = np.arange(self._ys.shape[row_axis])[parts[row_axis]]
        if wanted.ndim == 0:
            parts.pop(row_axis)
            row = self._row(int(wanted))
            return row[tuple(parts)] if parts else row
        parts[row_axis] = slice(None)
        rows: Tensor = stack([self._row(int(i)) for i in wanted], axis=row_axis)
        picked: Tensor = rows[tuple(parts)]
        return picked

    def __getattr__(self, name: str) -> Any:  # everything else a Tensor does, done by the whole matrix
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self[...], name)


def _split_index(index: Any, ndim: int) -> list[Any]:
    """One entry for each dimension."""
    parts = list(index) if isinstance(index, tuple) else [index]
    if Ellipsis in [p for p in parts if p is Ellipsis]:
        at = next(i for i, p in enumerate(parts) if p is Ellipsis)
        parts[at : at + 1] = [slice(None)] * (ndim - len(parts) + 1)
    return parts + [slice(None)] * (ndim - len(parts))


def _check_batch_axis(what: str, batch_axis: int | None) -> bool:
    if batch_axis not in (None, 0):
        raise ArgumentError(f"{what}: batch_axis must be None or 0, got {batch_axis!r}")
    return batch_axis == 0


def jacobian(ys: Tensor | Sequence[Tensor], xs: Tensor | Sequence[Tensor], batch_axis: int | None = None) -> Any:
    """The Jacobian of `ys` with respect to `xs`, computed when indexed; a tuple for each of them that is one.

    ys: [M] or []; xs: [N] or []; with batch_axis=0 [B, M] and [B, N]. Raises ShapeError for more dimensions.
    Source: paddle.autograd.jacobian.

    Example:
        >>> import vitrify as paddle
        >>> x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
        >>> paddle.autograd.jacobian(x * x, x)[:].tolist()
        [[2.0, 0.0], [0.0, 4.0]]
    """
    is_batched = _check_batch_axis("jacobian", batch_axis)
    if isinstance(ys, (list, tuple)):
        return tuple(jacobian(y, xs, batch_axis) for y in ys)
    if isinstance(xs, (list, tuple)):
        return tuple(Jacobian(ys, x, is_batched) for x in xs)  # type: ignore[arg-type]
    return Jacobian(ys, xs, is_batched)  # type: ignore[arg-type]


def hessian(ys: Tensor, xs: Tensor | Sequence[Tensor], batch_axis: int | None = None) -> Any:
    """The Hessian of `ys` with respect to `xs`, computed when indexed; a tuple of tuples for a tuple `xs`.

    ys: one element, or [B] with batch_axis=0; xs: [N], or [B, N]. Source: paddle.autograd.hessian.

    Example:
        >>> import vitrify as paddle
        >>> x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
        >>> paddle.autograd.hessian((x * x * x).sum(), x)[:].tolist()
        [[6.0, 0.0], [0.0, 12.0]]
    """
    is_batched = _check_batch_axis("hessian", batch_axis)
    if ys.ndim > int(is_batched) and ys.shape[int(is_batched) :] != [1]:
        wanted = f"one element{' a batch' if is_batched else ''}"
        raise ShapeError(f"hessian: ys has shape {list(ys.shape)}, expected {wanted}")
    y = ys.reshape(ys.shape[:1] if is_batched else [])
    firsts = jacobian(y, xs, batch_axis)
    if isinstance(firsts, tuple):
        return tuple(jacobian(first[...], xs, batch_axis) for first in firsts)
    return jacobian(firsts[...], xs, batch_axis)


__all__ = ["Jacobian", "hessian", "jacobian"]
