"""Eager operators on large arrays in machine code: NumPy goes over an array once for each step of gelu, or of a norm.

What calls of one kind (op, attributes, shapes and dtypes) have cost, by estimate, is summed up until compiling costs no
more, as for the groups of programs (`runtime/fused.py`): an operator that would be a group by itself in a program is
one here, too. Where it is none, or arrays do not suit, NumPy's functions compute what they always did.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from ..core.cache import BoundedCache
from ..core.config import NATIVE, NATIVE_AFTER_MS, kernel_threads
from ..core.errors import VitrifyError
from ..core.lazy import lazy_module
from ..core.meta import Meta
from ..core.modes import amp_state, grad_enabled, scoped
from ..eager.kernels import on_numpy
from ..ops.expression_size import primitives_of, steps_of
from ..ops.failure import metas_of
from ..ops.registry import OpDef
from ..ops.work import arithmetic, windows_ms

if TYPE_CHECKING:
    from ..ir.ssa import Graph, Op

# Few programs have operators that pay for machine code.
_builder, _program = lazy_module("vitrify.ir.builder"), lazy_module("vitrify.ir.program")
_rows, _ssa_blocks, _fuse = (
    lazy_module("vitrify.ir.rows"),
    lazy_module("vitrify.ir.ssa_blocks"),
    lazy_module("vitrify.passes.fuse"),
)
_unfold = lazy_module("vitrify.passes.unfold")
_fused, _options = lazy_module("vitrify.runtime.fused"), lazy_module("vitrify.runtime.options")
_native, _whole = lazy_module("vitrify.codegen.native"), lazy_module("vitrify.runtime.whole")
# What a step on one element costs, and how many times as much as a kernel the compiler does, which is yet to be loaded.
ELEMENT_MS = 1e-6
_LOADING = 6.0
# Bytes of the floats that BLAS has no products of.
_SHORT = 2
# How often operators with a native form of their own go over an array, and what an operation of a product costs; how
# many times as much as a group their code does, and that of products and convolutions.
_PASSES, _ARITHMETIC_MS = 3, 2e-8
_PROGRAMS_PRICE, _PRODUCTS_PRICE = 4, 20
_ndarray = np.ndarray
# What NumPy computes in less time by functions of its own, in vectors or down the columns.
_NUMPYS = frozenset({"pow"})


class EagerKernels:
    """What computes ops on large arrays. Threads may share it."""

    def __init__(self) -> None:
        self._kinds: BoundedCache[Hashable, _Kind] = BoundedCache("eager kernels", limit=1024)
        self._spent = 0.0

    def run(self, op: OpDef, arrays: list[Any], attrs: Mapping[str, Any]) -> Any:
        """What the op's kernel gives for arrays of the host, one of which is large."""
        if op.scalar is None and op.decompose is None and op.combiner is None and not _is_native_alone(op, arrays):
            return on_numpy(op, arrays, attrs)
        key = _key(op, arrays, attrs)
        if key is None:
            return on_numpy(op, arrays, attrs)
        kind = self._kinds.get_or_build(key, lambda: _Kind(op, arrays, attrs))
        run = kind.run
        if run is None:
            if kind.has_none or not self.is_worth_it(kind):
                return on_numpy(op, arrays, attrs)
            run = kind.run = _runner(op, arrays, attrs)
            if run is None:
                kind.has_none = True
                return on_numpy(op, arrays, attrs)
        found = run([a for a in arrays if a.__class__ is _ndarray])
        return tuple(found) if op.multiple else found[0]

    def is_worth_it(self, kind: Spending) -> bool:
        """Whether such calls have cost as much as compiling will; this one counts as one more."""
        wanted = NATIVE_AFTER_MS.value
        if not NATIVE.value:
            return False
        is_paid = kind.spent >= wanted * kind.price
        if is_paid and (_native.is_ready() or self._spent >= _LOADING * wanted):
            return True
        kind.spent += kind.cost
        self._spent += kind.cost
        return False


class Spending(Protocol):
    """What calls of one kind cost, in milliseconds: one, all so far, and what their code is worth."""

    cost: float
    price: float
    spent: float


class _Kind:
    """Calls that are alike. cost: of one, in milliseconds; price: that of their code, groups have 1."""

    __slots__ = ("cost", "has_none", "price", "run", "spent")

    def __init__(self, op: OpDef, arrays: Sequence[Any], attrs: Mapping[str, Any]) -> None:
        self.cost = (
            steps_of(op, len(arrays), attrs) * ELEMENT_MS * max(a.size for a in arrays if a.__class__ is _ndarray)
        )
        self.price = 1.0
        if _is_native_alone(op, arrays):
            metas = [m if isinstance(m, Meta) else None for m in metas_of(arrays)]
            self.cost = self.cost * _PASSES + arithmetic(op, metas, attrs) * _ARITHMETIC_MS
            self.cost += windows_ms(op, [*metas, *_results_of(op, metas, attrs)])
            self.price = _PROGRAMS_PRICE if op.work is None else _PRODUCTS_PRICE
        self.spent = 0.0
        self.run: Callable[[list[Any]], Sequence[Any]] | None = None
        self.has_none = False


class _OnNumPy:
    """What computes an op where its machine code does not: as `runtime.fused.runner` takes it."""

    def __init__(self, op: OpDef, arrays: Sequence[Any], attrs: Mapping[str, Any]) -> None:
        self._op = op
        self._attrs = attrs
        self._given = [None if a.__class__ is _ndarray else a for a in arrays]
        self._places = [i for i, a in enumerate(arrays) if a.__class__ is _ndarray]

    def consume(self, arrays: list[Any]) -> Sequence[Any]:
        """The op's results from the arrays among what it is given."""
        given = [*self._given]
        for place, array in zip(self._places, arrays, strict=True):
            given[place] = array
        found = on_numpy(self._op, given, self._attrs)
        return found if self._op.multiple else (found,)


def _results_of(op: OpDef, metas: Sequence[Any], attrs: Mapping[str, Any]) -> Sequence[Any]:
    found = op.meta(*metas, **attrs) if op.native_windows else ()
    return found if isinstance(found, tuple) else (found,)


def _key(op: OpDef, arrays: Sequence[Any], attrs: Mapping[str, Any]) -> Hashable:
    """What tells calls of one kind; None where attributes have no hash. Numbers count as they are written: 1, 1.0 and
    True are equal, and so are zeros of either sign.
    """
    given = [(a.dtype, a.shape) if a.__class__ is _ndarray else repr(a) for a in arrays]
    if not attrs:
        return (op, *given)
    try:
        hash(tuple(attrs.values()))
    except TypeError:
        return None
    return (op, *given, repr(attrs))


def _is_native_alone(op: OpDef, arrays: Sequence[Any]) -> bool:
    """Whether an operator by itself is worth a native call: as in a program, but for products that NumPy's BLAS knows.

    On several threads those are, too: BLAS's wait for each other, which takes many times as long on a busy machine.
    """
    if not op.native_alone or op.random:
        return False
    return op.work is None or op.native_windows or arrays[0].dtype.itemsize <= _SHORT or kernel_threads() > 1


def _runner(op: OpDef, arrays: Sequence[Any], attrs: Mapping[str, Any]) -> Callable[[list[Any]], Sequence[Any]] | None:
    """What computes such calls by machine code; None where an operator alone is worth none."""
    graph = _graph(op, arrays, attrs)
    if graph is None:
        return None
    body, plain = _ssa_blocks.block_of(graph), _OnNumPy(op, arrays, attrs)
    if _is_group(graph) and _native.native_kernel(body) is not None:
        options = _options.ExecutionOptions(native=_options.ALWAYS, inplace=False)
        made: Callable[[list[Any]], Sequence[Any]] = _fused.runner(body, plain, options)
        return made
    if not _is_native_alone(op, arrays):
        return None
    body = _ssa_blocks.block_of(_fuse.fuse(_unfold.unfolded(graph)))
    whole = _whole.Whole(body.inputs, body.ops, body.outputs, is_always=True, is_part=True)

    def run(arrays: list[Any]) -> Sequence[Any]:
        found = None if whole.is_none else whole.run(arrays)
        return plain.consume(arrays) if found is None else found

    return run


def _graph(op: OpDef, arrays: Sequence[Any], attrs: Mapping[str, Any]) -> Graph | None:
    """This operator in a graph of its own; None where calls are refused."""
    program = _program.Program()
    block = program.global_block()
    metas = iter(metas_of([a for a in arrays if a.__class__ is _ndarray]))
    inputs = [block.add_input(next(metas)) if a.__class__ is _ndarray else a for a in arrays]
    builder = _builder.Builder(program)
    builder.locs = ()
    with _builder.building(builder), scoped(amp_state, None), scoped(grad_enabled, False):
        try:
            found = op(*inputs, **attrs)
        except VitrifyError:  # eager mode says what is wrong
            return None
    graph: Graph = _ssa_blocks.graph_of(block, list(block.inputs), list(found) if op.multiple else [found])
    return graph if len(graph.ops) == 1 else None


def _is_group(graph: Graph) -> bool:
    """Whether a program would make a group of the operator, and NumPy is not the faster one all the same."""
    (op,), ops = graph.ops, _fuse.fuse(graph).ops
    return ops[0].op is not op.op and not _is_numpys(op)


def _is_numpys(op: Op) -> bool:
    """Whether NumPy is the faster one at what machine code is worth where it spares a program other passes."""
    if op.op.scalar is not None:
        return primitives_of(op.op.scalar, len(op.inputs), op.attrs) <= _NUMPYS
    return bool(_rows.column_rank(op))


EAGER_KERNELS = EagerKernels()
"""What the whole process shares."""

__all__ = ["EAGER_KERNELS", "EagerKernels"]
