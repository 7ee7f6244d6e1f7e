"""The paths that a case runs on: eager on the tape, and as a recorded program, each with its derivatives."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..autodiff.append import gradients
from ..core.dtype import from_np
from ..core.meta import UNKNOWN, Meta
from ..core.pytree import all_leaves, flatten, unflatten
from ..eager.autograd import grad
from ..eager.tensor import Tensor, to_tensor
from ..ir.builder import Builder, building
from ..ir.program import Program, Variable
from ..ops.arguments import is_tensor
from ..runtime.lowering import lower
from .case import Array, Case


def is_inexact(value: Any) -> bool:
    """Whether an array's or tensor's elements can be differentiated."""
    return from_np(value.dtype).kind > 1 if isinstance(value, np.ndarray) else value.dtype.kind > 1


class Call:
    """A case's call as a function of its array leaves alone."""

    def __init__(self, case: Case) -> None:
        self.case = case
        self.leaves: list[Any] = []
        self.tree = flatten((case.args, dict(case.kwargs)), self.leaves)
        self.arrays: list[Array] = [leaf for leaf in self.leaves if isinstance(leaf, np.ndarray)]

    def on(self, values: Sequence[Any]) -> Any:
        """The function's result with `values` in place of the arrays."""
        source = iter(values)
        leaves = [next(source) if isinstance(leaf, np.ndarray) else leaf for leaf in self.leaves]
        args, kwargs = unflatten(self.tree, iter(leaves))
        return self.case.fn(*args, **kwargs)

    def reference(self) -> list[Array] | None:
        """What the case expects, None when it says nothing."""
        ref = self.case.ref
        if callable(ref):
            takes = _parameters(ref)
            ref = ref(*self.case.args, **{k: v for k, v in self.case.kwargs.items() if k in takes})
        if ref is None:
            return None
        return [np.asarray(leaf) for leaf in ref] if isinstance(ref, tuple) else _arrays_of(ref)


def _parameters(ref: Any) -> Collection[str]:
    """Names of the parameters of a reference; none for functions of NumPy that don't tell."""
    try:
        return inspect.signature(ref).parameters
    except ValueError:
        return ()


def _arrays_of(ref: Any) -> list[Array]:
    """A list of arrays as it is; a nested list of numbers as one array."""
    if isinstance(ref, list) and ref and all(isinstance(leaf, np.ndarray) for leaf in ref):
        return ref
    return [np.asarray(ref)]


def tensors_of(result: Any) -> list[Any]:
    """The tensors or variables in a result, in order."""
    return [leaf for leaf in all_leaves(result) if is_tensor(leaf)]


# -- eager -----------------------------------------------------------------------------------------------------------


def eager_values(call: Call, arrays: Sequence[Array]) -> list[Array]:
    """The results of an eager call."""
    return [t.numpy() for t in tensors_of(call.on([to_tensor(a) for a in arrays]))]


def eager_vjp(call: Call, arrays: Sequence[Array], cts: Sequence[Array]) -> list[Array]:
    """The cotangents of the inexact inputs, given those of the inexact outputs."""
    leaves = _leaves(arrays)
    outs = [t for t in tensors_of(call.on(leaves)) if is_inexact(t)]
    found = _grads(outs, leaves, [to_tensor(c) for c in cts], create_graph=False)
    return [_numpy(g, a) for g, a in zip(found, filter(is_inexact, arrays))]


def eager_second_vjp(
    call: Call, arrays: Sequence[Array], cts: Sequence[Array], directions: Sequence[Array]
) -> list[Array]:
    """The cotangents of the inexact inputs of the function <vjp, directions>."""
    leaves = _leaves(arrays)
    outs = [t for t in tensors_of(call.on(leaves)) if is_inexact(t)]
    first = _grads(outs, leaves, [to_tensor(c) for c in cts], create_graph=True)
    pairs = [(g, to_tensor(d)) for g, d in zip(first, directions) if g is not None]
    found = _grads([g for g, _ in pairs], leaves, [d for _, d in pairs], create_graph=False)
    return [_numpy(g, a) for g, a in zip(found, filter(is_inexact, arrays))]


def _leaves(arrays: Sequence[Array]) -> list[Tensor]:
    return [to_tensor(a, stop_gradient=not is_inexact(a)) for a in arrays]


def _grads(outs: Sequence[Any], leaves: Sequence[Tensor], cts: Sequence[Any], create_graph: bool) -> list[Any]:
    inputs = [t for t in leaves if not t.stop_gradient]
    pairs = [(o, c) for o, c in zip(outs, cts) if not o.stop_gradient]
    if not pairs:
        return [None] * len(inputs)
    outs, cts = [o for o, _ in pairs], [c for _, c in pairs]
    return list(grad(outs, inputs, cts, create_graph=create_graph, allow_unused=True))


def _numpy(value: Tensor | None, like: Array) -> Array:
    return np.zeros_like(like) if value is None else value.numpy()


# -- programs --------------------------------------------------------------------------------------------------------


@dataclass
class Recorded:
    """A call as a program: its inputs, results, cotangent inputs, and the cotangents of the inexact inputs."""

    program: Program
    inputs: list[Variable]
    outputs: list[Variable]
    cts: list[Variable]
    grads: list[Variable | None]

    def run(self, arrays: Sequence[Array], cts: Sequence[Array]) -> tuple[list[Array], list[Array | None]]:
        """Results and cotangents (None where none flows)."""
        wanted = [*self.outputs, *[g for g in self.grads if g is not None]]
        core = lower(self.program.global_block(), [*self.inputs, *self.cts], wanted)
        found = [np.asarray(v) for v in core(*arrays, *cts)]
        flowing = iter(found[len(self.outputs) :])
        return found[: len(self.outputs)], [None if g is None else next(flowing) for g in self.grads]


def metas_of(arrays: Sequence[Array], unknown: bool = False) -> list[Meta]:
    """The metas of arrays; with all sizes -1 if `unknown`."""
    return [Meta((UNKNOWN,) * a.ndim if unknown else a.shape, from_np(a.dtype)) for a in arrays]


def record(fn: Callable[[Sequence[Any]], Any], metas: Sequence[Meta], differentiate: bool = False) -> Recorded:
    """fn(variables) recorded on inputs of these metas, with its derivative if asked for."""
    program = Program()
    block = program.global_block()
    inputs = [block.add_input(m, stop_gradient=m.dtype.kind < 2) for m in metas]
    with building(Builder(program)):
        outputs = tensors_of(fn(inputs))
    outs = [v for v in outputs if is_inexact(v) and not v.stop_gradient]
    wrt = [v for v in inputs if is_inexact(v)]
    if not (differentiate and outs and wrt):
        return Recorded(program, inputs, outputs, [], [])
    cts = [block.add_input(v.meta) for v in outs]
    return Recorded(program, inputs, outputs, cts, gradients(outs, wrt, cts))


def ops_of(case: Case) -> set[str]:
    """The names of the ops in the program of a case and of its gradient."""
    if not case.static:
        return set()
    call = Call(case)
    programs = [record(call.on, metas_of(call.arrays, unknown), case.grad) for unknown in {False, case.dynamic}]
    return {op.op.name for recorded in programs for block in recorded.program.blocks for op in block.ops}
