"""Products with Jacobians, and whole Jacobians and Hessians of functions. Source: paddle.incubate.autograd."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..autograd.matrices import Jacobian as _Matrix
from ..autograd.matrices import hessian
from ..core.errors import ShapeError
from ..core.sequences import as_list
from ..eager.autograd import grad as _grad
from ..eager.grad_mode import enable_grad
from ..eager.tensor import Tensor
from ..ops.join import concat
from ..ops.like import ones_like, zeros_like

Tensors = Tensor | Sequence[Tensor]


def vjp(func: Callable[..., Any], xs: Tensors, v: Tensors | None = None) -> tuple[Any, Any]:
    """`func(*xs)`, and the product of `v` with its Jacobian: what backward from `v` gives for each of xs.

    v: like the outputs, ones by default. An input that the outputs don't depend on gets zeros. Raises ShapeError where
    v differs from the outputs. Source: paddle.incubate.autograd.vjp.

    Example:
        >>> import vitrify as paddle
        >>> ys, products = paddle.incubate.autograd.vjp(lambda x: x * x, paddle.to_tensor([1.0, 2.0]))
        >>> products.tolist()
        [2.0, 4.0]
    """
    leaves, ys = _run(func, xs)
    ends = as_list(ys)
    found = _filled(_grad(ends, leaves, _cotangents("vjp", v, ends), allow_unused=True), leaves)
    return ys, _like(xs, found)


def jvp(func: Callable[..., Any], xs: Tensors, v: Tensors | None = None) -> tuple[Any, Any]:
    """`func(*xs)`, and the product of its Jacobian with `v`: how the outputs change when xs change by `v`.

    v: like xs, ones by default. Computed by differentiating a backward pass, so every operator that has a gradient
    has this. Raises ShapeError where v differs from xs. Source: paddle.incubate.autograd.jvp.

    Example:
        >>> import vitrify as paddle
        >>> x = paddle.to_tensor([1.0, 2.0])
        >>> paddle.incubate.autograd.jvp(lambda x: x * x * x, x, paddle.to_tensor([1.0, 0.0]))[1].tolist()
        [3.0, 0.0]
    """
    leaves, ys = _run(func, xs)
    ends = as_list(ys)
    tangents = _cotangents("jvp", v, leaves)
    with enable_grad():
        seeds = [zeros_like(y, requires_grad=True) for y in ends]
        products = _filled(_grad(ends, leaves, seeds, create_graph=True, allow_unused=True), leaves)
        used = [(product, t) for product, t in zip(products, tangents) if not product.stop_gradient]
        found: Sequence[Any] = [None] * len(seeds)
        if used:
            found = _grad([p for p, _ in used], seeds, [t for _, t in used], allow_unused=True)
    return ys, _like(ys, _filled(found, ends))


class Jacobian:
    """The Jacobian of `func` at xs, whose rows are computed when indexed; several inputs or outputs in one matrix.

    xs: Tensors; each is flattened, with is_batched all dimensions but the first, and so are the outputs.
    Source: paddle.incubate.autograd.Jacobian.

    Example:
        >>> import vitrify as paddle
        >>> matrix = paddle.incubate.autograd.Jacobian(lambda x: x * x, paddle.to_tensor([1.0, 3.0]))
        >>> matrix.shape, matrix[:].tolist()
        ((2, 2), [[2.0, 0.0], [0.0, 6.0]])
    """

    def __init__(self, func: Callable[..., Any], xs: Tensors, is_batched: bool = False) -> None:
        flat, function = _flat(func, xs, is_batched)
        self._found: Any = _Matrix(function(flat), flat, is_batched)

    @property
    def shape(self) -> tuple[int, ...]:
        """[outputs, inputs], with the batch in front."""
        return tuple(self._found.shape)

    def __getitem__(self, index: Any) -> Any:
        return self._found[index]


class Hessian(Jacobian):
    """The second derivatives of `func`, which gives one number (or one for each of a batch), at xs.

    Source: paddle.incubate.autograd.Hessian.

    Example:
        >>> import vitrify as paddle
        >>> paddle.incubate.autograd.Hessian(lambda x: (x * x * x).sum(), paddle.to_tensor([1.0, 2.0]))[:].tolist()
        [[6.0, 0.0], [0.0, 12.0]]
    """

    def __init__(self, func: Callable[..., Any], xs: Tensors, is_batched: bool = False) -> None:
        flat, function = _flat(func, xs, is_batched)
        self._found = hessian(function(flat), flat, 0 if is_batched else None)


def grad(outputs: Tensors, inputs: Tensors, grad_outputs: Tensors | None = None) -> Any:
    """The gradients of `outputs` for each of `inputs`, themselves differentiable; one Tensor for one input.

    Source: paddle.incubate.autograd.grad.

    Example:
        >>> import vitrify as paddle
        >>> x = paddle.to_tensor(3.0, stop_gradient=False)
        >>> paddle.incubate.autograd.grad(x * x, x).item()
        6.0
    """
    return _like(inputs, _grad(outputs, inputs, grad_outputs, create_graph=True))


def _run(func: Callable[..., Any], xs: Tensors) -> tuple[list[Tensor], Any]:
    """New leaves with the values of xs, and what the function gives for them."""
    leaves = [x.detach() for x in as_list(xs)]
    for leaf in leaves:
        leaf.stop_gradient = False
    with enable_grad():
        return leaves, func(*leaves)


def _flat(func: Callable[..., Any], xs: Tensors, is_batched: bool) -> tuple[Tensor, Callable[[Tensor], Any]]:
    """All of xs in one leaf, [N] or [B, N], and the function of it, which gives [M] or [B, M]."""
    parts = as_list(xs)
    lead = [parts[0].shape[0], -1] if is_batched else [-1]
    joined = _join([x.detach().reshape(lead) for x in parts])
    joined.stop_gradient = False

    def function(x: Tensor) -> Any:
        sizes = [_count(part.shape[len(lead) - 1 :]) for part in parts]
        pieces = x.split(sizes, -1) if len(parts) > 1 else [x]
        with enable_grad():
            ys = func(*(piece.reshape(part.shape) for piece, part in zip(pieces, parts)))
            return _join([y.reshape(lead) for y in as_list(ys)])

    return joined, function


def _join(parts: Sequence[Any]) -> Any:
    return parts[0] if len(parts) == 1 else concat(list(parts), -1)


def _count(sizes: Sequence[int]) -> int:
    count = 1
    for size in sizes:
        count *= size
    return count


def _like(xs: Any, found: Sequence[Any]) -> Any:
    """One Tensor where there was one, else a tuple."""
    return tuple(found) if isinstance(xs, (list, tuple)) else found[0]


def _filled(found: Sequence[Any], like: Sequence[Tensor]) -> list[Any]:
    return [zeros_like(x) if value is None else value for value, x in zip(found, like)]


def _cotangents(op: str, v: Any, like: Sequence[Tensor]) -> list[Any]:
    given = [ones_like(x) for x in like] if v is None else as_list(v)
    shapes, expected = [[*t.shape] for t in given], [[*x.shape] for x in like]
    if shapes != expected:
        raise ShapeError(f"{op}: v has shapes {shapes}, expected {expected}")
    return given


__all__ = ["Hessian", "Jacobian", "grad", "jvp", "vjp"]
