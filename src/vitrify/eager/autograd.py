"""Asking for gradients: `grad` returns them, `backward` accumulates them into `.grad`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..core.errors import ArgumentError, DTypeError
from ..core.sequences import as_list
from ..ops.methods import TensorMethods
from .backward import refuse_dump
from .gradients import gradients
from .tensor import Tensor


def _as_list(value: Any, what: str) -> list[Any]:
    items = as_list(value)
    for item in items:
        if not isinstance(item, gradients().kind):
            hint = "a program being built has no gradients yet: use paddle.static.gradients"
            is_variable = isinstance(item, TensorMethods)
            raise DTypeError(
                f"{what} must be a Tensor or a list of Tensors, got {type(item).__name__}",
                hint=hint if is_variable else None,
            )
    return items


def _cotangents(given: Any, outputs: Sequence[Tensor], what: str) -> list[Tensor | None]:
    """One cotangent for each output; None stands for ones."""
    if given is None:
        return [None] * len(outputs)
    items = as_list(given)
    if len(items) != len(outputs):
        raise ArgumentError(f"{what} has {len(items)} entries, there are {len(outputs)} outputs")
    _as_list([item for item in items if item is not None], what)
    return items


def grad(
    outputs: Tensor | Sequence[Tensor],
    inputs: Tensor | Sequence[Tensor],
    grad_outputs: Tensor | Sequence[Tensor | None] | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    only_inputs: bool = True,
    allow_unused: bool = False,
    no_grad_vars: Tensor | Sequence[Tensor] | None = None,
    *,
    dump_backward_graph_path: str | None = None,
) -> list[Any]:
    """The gradients of `outputs` with respect to each of `inputs`; every `.grad` stays as it is.

    grad_outputs: the cotangents of the outputs, None for ones. create_graph: make the gradients differentiable.
    retain_graph: keep the graph for another pass, as create_graph does by default. allow_unused: give None for inputs
    that the outputs don't depend on, instead of raising ArgumentError. no_grad_vars: tensors that stop gradients.
    dump_backward_graph_path: must be None. Source: paddle.grad.

    Example:
        >>> import vitrify as paddle
        >>> x = paddle.to_tensor(3.0, stop_gradient=False)
        >>> (dx,) = paddle.grad(x * x * x, x, create_graph=True)
        >>> paddle.grad(dx, x)[0].item()
        18.0
    """
    refuse_dump("grad", dump_backward_graph_path)
    if not only_inputs:
        raise ArgumentError("grad: only_inputs=False is not supported", hint="call backward() to fill every .grad")
    ends = _as_list(outputs, "grad: outputs")
    return gradients().grad(
        ends,
        _as_list(inputs, "grad: inputs"),
        _cotangents(grad_outputs, ends, "grad: grad_outputs"),
        retain_graph=create_graph if retain_graph is None else retain_graph,
        create_graph=create_graph,
        allow_unused=allow_unused,
        no_grad_vars=[] if no_grad_vars is None else _as_list(no_grad_vars, "grad: no_grad_vars"),
    )


def backward(
    tensors: Tensor | Sequence[Tensor],
    grad_tensors: Tensor | Sequence[Tensor | None] | None = None,
    retain_graph: bool = False,
    *,
    dump_backward_graph_path: str | None = None,
) -> None:
    """Accumulate the gradients of several tensors at once into the `.grad` of every leaf they depend on.

    grad_tensors: their cotangents, None for ones. dump_backward_graph_path: must be None.
    Source: paddle.autograd.backward.

    Example:
        >>> import vitrify as paddle
        >>> x = paddle.to_tensor(2.0, stop_gradient=False)
        >>> paddle.autograd.backward([x * x, x * 3])
        >>> x.grad.item()
        7.0
    """
    refuse_dump("backward", dump_backward_graph_path)
    ends = _as_list(tensors, "backward: tensors")
    cotangents = _cotangents(grad_tensors, ends, "backward: grad_tensors")
    gradients().backward(ends, cotangents, retain_graph)


__all__ = ["backward", "grad"]
