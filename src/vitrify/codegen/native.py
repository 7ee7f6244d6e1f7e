"""Native kernels of fused groups: `native_kernel(body)`, and `why_not(body)` where there is none."""

from __future__ import annotations

import functools
import re
from collections.abc import Hashable, Mapping, Sequence
from sys import getrefcount
from typing import Any

import numpy as np

from ..core.cache import BoundedCache
from ..core.config import NATIVE
from ..core.dump import dump, is_dumped
from ..core.meta import Meta
from ..ir.decompose import expanded
from ..ir.program import Block, Variable
from ..ir.ssa_blocks import block_of, graph_of
from .disk_cache import cached_code
from .elements import Pointwise
from .emit import Dtype
from .errors import NoNativeForm
from .harness import FOR_NUMPY, ROWS_FOR_NUMPY, description, for_numpy_ir, harness_ir
from .llvm import COMPILER, Loaded, Target, host, load, object_code
from .pointwise import Signature, needed_by, pointwise_ir, structure
from .row_form import RowForm
from .row_kernel import Prepared, RowKernel
from .row_plan import RowPlan
from .row_steps import RowLoop
from .rows import RowSignature, rows_ir
from .ufunc import keep, make_ufunc

# A result takes the place of an input from this size on; memory for smaller ones costs less than asking.
_LARGE_BYTES = 1 << 16
_COMMENT = re.compile(r"^ *;.*\n", re.MULTILINE)


class NativeKernel:
    """Machine code for one group of operators. Threads may share it; it runs without Python's lock.

    It is for arrays of the dtypes that the group was recorded with, of any sizes.
    """

    __slots__ = ("_cones", "_donors", "_dtypes", "_reads", "_reads_all", "_single", "_ufunc")

    def __init__(
        self,
        ufunc: np.ufunc,
        reads: tuple[int, ...],
        count: int,
        cones: tuple[tuple[int, ...], ...],
        donors: tuple[int, ...],
        dtypes: tuple[Dtype, ...],
    ) -> None:
        self._ufunc = ufunc
        self._reads = reads
        self._reads_all = reads == tuple(range(count))
        # For each output the inputs that it depends on, where their shapes may be smaller than that of all.
        self._cones = cones
        self._donors = donors
        self._dtypes = dtypes
        self._single = ufunc.nout == 1

    def __call__(self, *arrays: Any) -> tuple[Any, ...] | None:
        """The group's outputs; None where these arrays do not suit, and its operators must be run one by one."""
        return self.run(list(arrays), may_overwrite=False)

    def run(self, arrays: list[Any], may_overwrite: bool = True) -> tuple[Any, ...] | None:
        """As a call; what only the list refers to may be overwritten."""
        # Before another list refers to them, for then they would not be ours alone.
        out = self._donated(arrays) if may_overwrite and self._donors and self._is_large(arrays) else None
        given = arrays if self._reads_all else [arrays[i] for i in self._reads]
        try:
            if out is None:
                found = self._ufunc(*given, casting="no")
            else:
                found = self._ufunc(*given, out=out, casting="no")
        except (TypeError, ValueError, MemoryError):  # the operators themselves raise it, with the user's line
            return None
        outputs = (found,) if self._single else found
        return outputs if not self._cones or self._fits(arrays, outputs) else None

    def prepared(self, arrays: list[Any], may_overwrite: bool) -> Prepared | None:
        """The arrays that are read, and new ones for the results, so that who calls may cut both into parts.

        None where the arrays do not lie in the order of their elements, or do not fit each other.
        """
        donated = self._donated(arrays) if may_overwrite else None
        given = [arrays[i] for i in self._reads]
        if any(a.dtype != d or (a.size > 1 and not a.flags.c_contiguous) for a, d in zip(given, self._dtypes)):
            return None
        try:
            shape = np.broadcast_shapes(*[a.shape for a in given])
            outputs = [np.empty(shape, d) for d in self._dtypes[len(given) :]] if donated is None else [donated]
        except (ValueError, MemoryError):
            return None
        fits = outputs[0].shape == shape and (not self._cones or self._fits(arrays, outputs))
        return Prepared(given, outputs, outputs) if fits else None

    whole = 0
    """How many of the last dimensions may not be cut."""

    def write(self, arrays: Sequence[Any], outputs: Sequence[Any]) -> list[Any]:
        """Compute parts of what was `prepared`; gives what `finish` takes of each."""
        self._ufunc(*arrays, out=tuple(outputs), casting="no")
        return []

    def finish(self, prepared: Prepared, parts: Sequence[list[Any]]) -> Sequence[Any]:
        """The results, once all parts are written."""
        return prepared.results

    def _is_large(self, arrays: list[Any]) -> bool:
        return any(arrays[i].nbytes >= _LARGE_BYTES for i in self._donors)

    def _donated(self, arrays: list[Any]) -> Any:
        """An array that the only output may be written into, None if there is none."""
        for i in self._donors:
            array = arrays[i]
            if (
                getrefcount(array) == _ALONE and array.__class__ is np.ndarray and array.base is None
                and array.flags.carray and all(arrays[j].size <= array.size for j in self._reads)
            ):  # fmt: skip
                return array
        return None

    def _fits(self, arrays: list[Any], outputs: Sequence[Any]) -> bool:
        """Whether each output has the shape of what it depends on."""
        for cone, out in zip(self._cones, outputs):
            shapes = [arrays[i].shape for i in cone]
            if out.shape not in shapes and np.broadcast_shapes(*shapes) != out.shape:
                return False
        return True


def _references() -> int:
    """What getrefcount says of an array that one list holds and a local variable names."""
    arrays = [object()]
    array = arrays[0]
    return getrefcount(array)


_ALONE = _references()
_KERNELS: BoundedCache[tuple[str, Signature | RowSignature], np.ufunc] = BoundedCache("native kernels", limit=4096)


_DESCRIPTIONS: BoundedCache[tuple[str, Signature], np.ndarray] = BoundedCache("descriptions of kernels", limit=4096)
# Programs repeat themselves: writing the same text again to find its code takes longer than looking at the operators.
_POINTWISE: BoundedCache[Hashable, Pointwise | RowLoop] = BoundedCache("kernels by structure", limit=4096)
_ROWS: BoundedCache[str, int] = BoundedCache("functions of rows", limit=4096)


def is_ready() -> bool:
    """Whether the compiler is loaded: the first kernel of a process waits for that, too."""
    return host.cache_info().currsize > 0


def native_kernel(body: Block) -> NativeKernel | RowKernel | None:
    """The machine code of a group of operators, compiled if no equal group was before; None if it has no native form.

    Its sizes play no part: groups that differ in them alone share their code.
    """
    try:
        return compiled(body)
    except NoNativeForm:
        return None


def why_not(body: Block) -> str:
    """Why a group of operators has no native form; empty if it has one. Compiles nothing."""
    try:
        _checked(body)
    except NoNativeForm as reason:
        return str(reason)
    return ""


def _checked(body: Block) -> tuple[str, Signature] | tuple[str, RowSignature, RowPlan]:
    if not NATIVE.value:
        raise NoNativeForm("the flag `native` is off")
    return ir_of(body, host())


def ir_of(body: Block, target: Target) -> tuple[str, Signature] | tuple[str, RowSignature, RowPlan]:
    """The LLVM IR of a group of operators for a target, and what it takes. Raises NoNativeForm."""
    if all(op.op.decompose is None and op.op.combiner is None for op in body.ops):
        return pointwise_ir(body, target)
    graph = expanded(graph_of(body))
    if any(op.op.combiner is not None for op in graph.ops):
        return rows_ir(graph, target)
    return pointwise_ir(block_of(graph), target)


def compiled(body: Block) -> NativeKernel | RowKernel:
    """`native_kernel` that raises NoNativeForm."""
    text, signature, *plans = _checked(body)
    code = _COMMENT.sub("", text)
    ufunc = _KERNELS.get_or_build((code, signature), lambda: _build(text, code, signature))
    if isinstance(signature, RowSignature):
        return RowKernel(ufunc, RowForm(signature, plans[0]))
    cones, donors = _cones(body, signature), _donors(body, signature)
    return NativeKernel(ufunc, signature.reads, len(body.inputs), cones, donors, signature.dtypes)


def for_steps(body: Block) -> Pointwise | RowLoop:
    """The machine code of a group of operators for what calls it without NumPy. Raises NoNativeForm."""
    key = structure(body) if NATIVE.value else None
    return _for_steps(body) if key is None else _POINTWISE.get_or_build(key, lambda: _for_steps(body))


def _for_steps(body: Block) -> Pointwise | RowLoop:
    text, signature, *plans = _checked(body)
    code = _COMMENT.sub("", text)
    if isinstance(signature, RowSignature):
        return RowLoop(RowForm(signature, plans[0]), _rows(text, code))
    data = _DESCRIPTIONS.get_or_build((code, signature), lambda: _description(text, code, signature))
    return Pointwise(signature, data.ctypes.data, tuple(needed_by(body, [v])[1] for v in body.outputs))


def pointwise(body: Block) -> Pointwise:
    """`for_steps` of a group of elementwise operators."""
    found = for_steps(body)
    if not isinstance(found, Pointwise):
        raise NoNativeForm("a group has reductions")
    return found


def _build(text: str, code: str, signature: Signature | RowSignature) -> np.ufunc:
    if not isinstance(signature, RowSignature):
        data = _DESCRIPTIONS.get_or_build((code, signature), lambda: _description(text, code, signature))
        return make_ufunc(harness()[FOR_NUMPY], data, signature.inputs, signature.outputs)
    inputs = [*signature.inputs, *[np.dtype(np.uint8)] * len(signature.scratch), *signature.columns]
    outputs = signature.outputs or (np.dtype(np.uint8),)
    data = np.array([_rows(text, code)], np.int64)
    return make_ufunc(harness()[ROWS_FOR_NUMPY], data, inputs, outputs, signature.text)


def _rows(text: str, code: str) -> int:
    """Where the function `rows` of this IR lies."""
    return _ROWS.get_or_build(code, lambda: _loaded_rows(text, code))


def _loaded_rows(text: str, code: str) -> int:
    if is_dumped("kernels"):
        dump("kernels", "ll", text)
    return loaded(code, ("rows",)).addresses["rows"]


def _description(text: str, code: str, signature: Signature) -> np.ndarray:
    if is_dumped("kernels"):
        dump("kernels", "ll", text)
    names = tuple(f"compute{i}" for i in range(len(signature.variants)))
    addresses = loaded(code, names).addresses
    return keep(description(signature, host().lanes, [addresses[name] for name in names]))


def loaded(ir: str, names: tuple[str, ...]) -> Loaded:
    """The functions of this IR in memory, by way of the disk."""
    made_from = f"{host().identity}\n{COMPILER}\n{ir}"
    return load(cached_code(made_from, lambda: object_code(ir)), names)


@functools.lru_cache(maxsize=1)
def harness() -> Mapping[str, int]:
    """The addresses of the loop that calls all kernels, and of those for NumPy."""
    return loaded(harness_ir() + for_numpy_ir(host().is_x86), ("loop", FOR_NUMPY, ROWS_FOR_NUMPY)).addresses


def _meta(value: Any) -> Meta:
    assert isinstance(value, Variable) and isinstance(value.meta, Meta)
    return value.meta


def _cones(body: Block, signature: Signature) -> tuple[tuple[int, ...], ...]:
    """For each output the inputs it depends on; nothing where all outputs have the shape of all inputs together."""
    metas = [_meta(v) for v in body.outputs]
    known = all(m.is_static for m in (*metas, *[_meta(body.inputs[i]) for i in signature.reads]))
    if known and len({m.shape for m in metas}) == 1:
        return ()
    cones = tuple(needed_by(body, [v])[1] for v in body.outputs)
    return () if all(cone == signature.reads for cone in cones) else cones


def _donors(body: Block, signature: Signature) -> tuple[int, ...]:
    """The inputs whose memory the output may take: those like it, if there is but one output."""
    if len(body.outputs) > 1:
        return ()
    out = _meta(body.outputs[0])
    metas = {i: _meta(body.inputs[i]) for i in signature.reads}
    return tuple(i for i, m in metas.items() if m.dtype is out.dtype and m.shape == out.shape and m.shape)


__all__ = ["NativeKernel", "RowKernel", "for_steps", "is_ready", "native_kernel", "pointwise", "why_not"]
