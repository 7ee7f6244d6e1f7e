"""Gradients of eager operators on large arrays in machine code: vjp rules are several ops, and each goes over memory.

A rule whose ops a program would make one group is one group here, too, once calls of its kind have paid for it; else
the rule is called, and its ops are computed one by one (`eager_kernels`).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.cache import BoundedCache
from ..core.errors import VitrifyError
from ..core.lazy import lazy_module
from ..core.meta import Meta
from ..core.modes import amp_state, grad_enabled, recorder, scoped
from ..core.setting import WATCH
from ..eager.recording import SCALAR_TYPES
from ..eager.tape import GradNode
from ..eager.tensor import Tensor, wrap
from ..ops.expression_size import steps_of
from ..ops.failure import metas_of
from .eager_kernels import EAGER_KERNELS, ELEMENT_MS, EagerKernels

if TYPE_CHECKING:
    from ..ir.program import Block
    from ..ir.ssa import Graph

_builder, _program = lazy_module("vitrify.ir.builder"), lazy_module("vitrify.ir.program")
_ssa_blocks, _pipeline = lazy_module("vitrify.ir.ssa_blocks"), lazy_module("vitrify.passes.pipeline")
_fuse, _fused_op = lazy_module("vitrify.passes.fuse"), lazy_module("vitrify.ops.fused")
_fused, _options = lazy_module("vitrify.runtime.fused"), lazy_module("vitrify.runtime.options")
_native = lazy_module("vitrify.codegen.native")
# How many times as many steps as an op its rule has, by estimate.
_RULES_STEPS = 2
_ndarray = np.ndarray

Runner = Callable[[list[Any]], Sequence[Any] | None]


class EagerRules:
    """What computes vjp rules of ops on large arrays. Threads may share it."""

    def __init__(self, kernels: EagerKernels) -> None:
        self._kernels = kernels
        self._kinds: BoundedCache[Hashable, _Kind] = BoundedCache("eager rules", limit=1024)

    def run(self, node: GradNode, ct: Tensor, kept: Mapping[str, Any]) -> Sequence[Any] | None:
        """The cotangents of the op's named inputs; None where its rules are to be called."""
        op = node.op
        is_one = op.scalar is not None or op.decompose is not None or op.combiner is not None
        if not is_one or op.variadic or grad_enabled.get() or WATCH.on:
            return None
        if recorder.get() is not None or amp_state.get() is not None:
            return None
        key = _key(node, ct, kept)
        if key is None:
            return None
        kind = self._kinds.get_or_build(key, lambda: _Kind(node, ct))
        if kind.run is None:
            if kind.has_none or not self._kernels.is_worth_it(kind):
                return None
            kind.run = _runner(node, ct, kept)
            if kind.run is None:
                kind.has_none = True
                return None
        arrays = [ct._data, *[value._data for value in kept.values() if isinstance(value, Tensor)]]
        found = kind.run(arrays)
        return None if found is None else [None if array is None else wrap(array) for array in found]


class _Kind:
    """Calls that are alike. cost: of one, in milliseconds; price: that of their code."""

    __slots__ = ("cost", "has_none", "price", "run", "spent")

    def __init__(self, node: GradNode, ct: Tensor) -> None:
        steps = _RULES_STEPS * steps_of(node.op, len(node.op.inputs), node.attrs)
        self.cost = steps * ELEMENT_MS * ct._data.size
        self.price = 1.0
        self.spent = 0.0
        self.run: Runner | None = None
        self.has_none = False


def _key(node: GradNode, ct: Tensor, kept: Mapping[str, Any]) -> Hashable:
    """What tells calls of one kind; None where something is neither an array of the host nor a number."""
    given: list[Hashable] = []
    for value in (ct, *kept.values()):
        if isinstance(value, Tensor):
            array = value._data
            if array.__class__ is not _ndarray:
                return None
            given += (array.dtype, array.shape)
        elif value is None or value.__class__ in SCALAR_TYPES:
            given.append(repr(value))
        else:
            return None
    attrs = node.attrs
    try:
        hash(tuple(attrs.values()))
    except TypeError:
        return None
    return (node.op, node.plan.needs, repr(attrs) if attrs else "", *given)


def _runner(node: GradNode, ct: Tensor, kept: Mapping[str, Any]) -> Runner | None:
    """What computes such rules from the arrays of the cotangent and of what they keep; None where that is no group."""
    graph = _graph(node, ct, kept)
    if graph is None:
        return None
    fused = _fuse.fuse(_pipeline.steps_of(graph, _pipeline.CLEANING)[-1].graph)
    if len(fused.ops) != 1 or fused.ops[0].op is not _fused_op.fused_op:
        return None
    (group,) = fused.ops
    numbers = [fused.inputs.index(value) for value in group.inputs]
    made = {value: i for i, value in enumerate(group.outputs)}
    found = fused.outputs[: -len(fused.inputs)]
    if any(value is not None and value not in made for value in found):
        return None
    places = [None if value is None else made[value] for value in found]
    body: Block = _ssa_blocks.block_of(group.attrs["body"])
    if len(body.ops) < 2 or _native.native_kernel(body) is None:
        return None
    compute = _fused.runner(body, _Refused(), _options.ExecutionOptions(native=_options.ALWAYS, inplace=False))

    def run(arrays: list[Any]) -> Sequence[Any] | None:
        results = compute([arrays[number] for number in numbers])
        return [None if place is None else results[place] for place in places] if results else None

    return run


class _Refused:
    """What stands for a group where arrays do not suit its machine code."""

    def consume(self, arrays: list[Any]) -> Sequence[Any]:
        """Nothing: the rules are called."""
        return ()


def _graph(node: GradNode, ct: Tensor, kept: Mapping[str, Any]) -> Graph | None:
    """The rules as a graph of the cotangent and the tensors kept; None where they refuse."""
    program = _program.Program()
    block = program.global_block()

    def given(value: Any) -> Any:
        if not isinstance(value, Tensor):
            return value
        (meta,) = metas_of([value._data])
        assert isinstance(meta, Meta)
        return block.add_input(meta)

    of_ct, residuals = given(ct), {name: given(value) for name, value in kept.items()}
    builder = _builder.Builder(program)
    builder.locs = ()
    with _builder.building(builder), scoped(amp_state, None), scoped(grad_enabled, False):
        try:
            found = node.by_rules(of_ct, residuals)
        except VitrifyError:  # eager mode says what is wrong
            return None
    if any(value is not None and not isinstance(value, _program.Variable) for value in found):
        return None
    # The inputs are results, too: they outlive the rules, so no group is too large for what would be free by then.
    graph: Graph = _ssa_blocks.graph_of(block, list(block.inputs), [*found, *block.inputs])
    return graph


EAGER_RULES = EagerRules(EAGER_KERNELS)
"""What the whole process shares."""

__all__ = ["EAGER_RULES", "EagerRules"]
