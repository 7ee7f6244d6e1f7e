"""Calls of the library that wait for the run, because they need Python numbers which only a run knows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from types import FunctionType
from typing import Any

from ..core.errors import ArgumentError, ShapeError
from ..core.meta import Meta
from ..core.modes import amp_state, grad_enabled, recorder, scoped
from ..core.pytree import flatten
from ..ops.like import zeros_like
from ..ops.registry import OpDef, define_op
from .backward import grad
from .host_expr import FUNCTIONS, Expression, evaluate
from .host_ops import fits
from .tensor import Tensor, wrap

Level = tuple[int, tuple[int, ...], tuple[int, ...]]
"""A gradient: how many of the inputs are the values it is taken at, which of those want one, which results have one."""
_OPS = define_op.__module__.rpartition(".")[0]
_OF_NO_OP = frozenset({"registry", "define"})


def library_name(function: Any) -> str | None:
    """The name by which `library_function` knows a function that changes nothing; None for any other function."""
    module, name = getattr(function, "__module__", None), getattr(function, "__name__", "")
    if not isinstance(module, str) or not module.startswith(f"{_OPS}.") or name.endswith("_"):
        return None
    found = f"{module[len(_OPS) + 1 :]}.{name}"
    return found if _function_or_none(found) is function else None


def library_function(name: str) -> Callable[..., Any]:
    """The function of the library of that name, such as "sort.kthvalue"; raises ArgumentError where there is none.

    Those alone that modules of `ops` define, from tensors to tensors: a file that names one can ask for nothing else.
    """
    found = _function_or_none(name)
    if found is None:
        raise ArgumentError(f"late_call: {name!r} is no function of the library", hint="save the program anew")
    return found


def _function_or_none(name: str) -> Callable[..., Any] | None:
    module, _, attribute = name.partition(".")
    if not (module.isidentifier() and attribute.isidentifier()) or attribute.startswith("_") or module in _OF_NO_OP:
        return None
    try:
        held = import_module(f"{_OPS}.{module}")
    except ImportError:
        return None
    found = held.__dict__.get(attribute)
    return found if isinstance(found, FunctionType) and found.__module__ == held.__name__ else None


FUNCTIONS["library"] = lambda name, *args, **kwargs: library_function(name)(*args, **kwargs)


def tensors_of(result: Any) -> list[Tensor]:
    """The tensors in what a function gave, in order."""
    leaves: list[Any] = []
    flatten(result, leaves)
    return [leaf for leaf in leaves if isinstance(leaf, Tensor)]


def _results(call: Expression, levels: Sequence[Level], tensors: Sequence[Tensor]) -> list[Tensor]:
    """What the call gives for the tensors; with levels, the gradients of what the levels below give."""
    if not levels:
        return tensors_of(evaluate(call, tensors))
    *below, (count, wanted, given) = levels
    values, cotangents = tensors[:count], tensors[count:]
    with scoped(grad_enabled, True):
        outs = _results(call, below, values)
        pairs = [(outs[i], ct) for i, ct in zip(given, cotangents) if not outs[i].stop_gradient]
        inputs = [values[i] for i in wanted]
        found: Sequence[Tensor | None] = [None] * len(inputs)
        if pairs:
            ends, cts = zip(*pairs)
            found = grad(ends, inputs, cts, retain_graph=True, create_graph=True, allow_unused=True, no_grad_vars=())
    return [zeros_like(t) if ct is None else ct for t, ct in zip(inputs, found)]


def _kernel(xp: Any, *values: Any, call: Expression, levels: Sequence[Level], out: Sequence[Meta]) -> list[Any]:
    tensors = [wrap(value) for value in values]
    for tensor in tensors:
        tensor.stop_gradient = not (levels and tensor.dtype.is_inexact)
    with scoped(recorder, None), scoped(amp_state, None), scoped(grad_enabled, False):
        found = _results(call, levels, tensors)
    return [_checked(tensor, meta, values) for tensor, meta in zip(found, out)]


def _checked(tensor: Tensor, meta: Meta, values: Sequence[Any]) -> Any:
    """The array of a tensor, with memory of its own; raises ShapeError where it is not what the program says."""
    array = tensor._data
    if tensor.dtype is not meta.dtype or not fits(array.shape, meta.shape):
        raise ShapeError(
            f"late_call: this gave {Meta(tuple(array.shape), tensor.dtype)}, where the program was built for {meta}",
            hint="leave the function out with @paddle.jit.not_to_static, or convert it with full_graph=False",
        )
    is_own = array.base is None and not any(array is value for value in values)
    return array if is_own else array.copy()


def _vjp(cts: Sequence[Any], *, values: Sequence[Any], call: Any, levels: Any, out: Any) -> dict[str, Any]:
    """The gradients as one more such call."""
    given = tuple([i for i, ct in enumerate(cts) if ct is not None])
    wanted = tuple([i for i, v in enumerate(values) if v.dtype.is_inexact])
    found: list[Any] = [None] * len(values)
    if given and wanted:
        level = (len(values), wanted, given)
        metas = tuple([Meta(tuple(values[i].shape), values[i].dtype) for i in wanted])
        pulled = late_call_op(*values, *[cts[i] for i in given], call=call, levels=(*levels, level), out=metas)
        for place, ct in zip(wanted, pulled):
            found[place] = ct
    return {"values": found}


late_call_op: OpDef = define_op(
    "late_call",
    kernel=_kernel,
    meta=lambda *values, call, levels, out: list(out),
    vjp=_vjp,
    outputs=("*outs",),
    amp="keep",
)
"""What a function of the library gives, called by eager code's means with the numbers of the run. call: an expression
of `host_expr`; out: what its tensors are, -1 for sizes that differ from run to run.
"""
