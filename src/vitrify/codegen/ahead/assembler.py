"""The assembler of programs compiled ahead of time: its words are names where those of the other are addresses."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import inf, prod
from typing import Any

import numpy as np

from ...ir.program import Block
from ...ops.registry import get_op
from .. import gemm
from ..emit import INT64, Dtype
from ..errors import NoNativeForm
from ..llvm import Target
from ..operands import CONSTANT, Buffer, Operand, Shape, Step, dense, expanded
from ..ordering import OrderingAssembler

DATA = "data"
"""A buffer of constants: `number` is the array."""


# Constants of so many bytes are looked for among those that there are.
_SMALL = 1 << 12
# Words of a product: the step from row to row of A, A, C, and what rows begin with.
_ROW, _A, _C, _BIAS = 3, 9, 11, 16


@dataclass(frozen=True)
class Symbol:
    """A word that is the address of a function or of a constant."""

    name: str


class AheadAssembler(OrderingAssembler):
    """Collects the steps of a program for a target. Raises NoNativeForm.

    is_sample: sizes stand for others, so nothing may be chosen by how large they are.
    """

    merges_images = chooses_by_size = makes_objects = False
    longest_order = longest_values = inf

    def __init__(
        self, kernels: Callable[[Block], Any], run_block: Callable[..., list[Any]], target: Target, is_sample: bool
    ) -> None:
        super().__init__(kernels, run_block)
        self._target = target
        self.is_sample = is_sample
        self._constants: dict[Any, Buffer] = {}
        self._weights: list[tuple[Step, Operand]] = []  # matrices of products that are known now
        self.noted: list[tuple[int, ...]] = []
        self.also_known: dict[Buffer, Buffer] = {}  # what a run computes, though its values are known now
        self.is_read_once = False  # whether only the operator at work reads its first input, which no view made

    def call(self, function: Block, values: Sequence[Any]) -> tuple[Operand, ...]:
        """Refused: arrays of calls would need more memory than is known before."""
        self.refuse("native programs have no calls")

    def note(self, *sizes: int) -> None:
        """Say sizes beside those of results: at sizes where they are not as expected the program must not be run."""
        self.noted.append(sizes)

    def part(self, name: str) -> Any:
        """The word that names a fixed part."""
        return Symbol(name)

    def constant(self, array: Any) -> Operand:
        """An array that is known now."""
        array = np.ascontiguousarray(array)
        buffer = Buffer(DATA, array.nbytes, array)
        if array.nbytes <= _SMALL:
            buffer = self._constants.setdefault((array.dtype, array.shape, array.tobytes()), buffer)
        return Operand(buffer, 0, array.shape, dense(array.shape, array.dtype.itemsize), array.dtype)

    def known(self, x: Operand) -> Any:
        """The values of x where they are known now, as an array that nobody may change; else None."""
        if x.buffer in self.also_known:
            x = replace(x, buffer=self.also_known[x.buffer])
        if x.buffer.kind == CONSTANT:
            return np.broadcast_to(np.frombuffer(x.buffer.number, x.dtype)[0], x.shape)
        if not x.size and not self.is_sample:
            return np.empty(x.shape, x.dtype)
        if x.buffer.kind != DATA:
            return None
        return np.lib.stride_tricks.as_strided(_raw(x), x.shape, x.strides, writeable=False)

    def _is_in_short_rows(self, operands: Sequence[Operand], shape: Shape) -> bool:
        return not self.is_sample and super()._is_in_short_rows(operands, shape)

    def pooled(self, name: str, x: Operand, dims: Sequence[Sequence[int]], empty: Any) -> Operand:
        """The "max" or "sum" of each window of x, whose first two dimensions are those of images and channels.

        dims: for each other one how many windows, their size, step, and how much lies before the first element. What is
        outside does not count; `empty` is what windows of nothing give.
        """
        x, each = self._windowed(x, dims)
        out = self.new((*x.shape[:2], *(d[0] for d in dims)), x.dtype)
        none = np.array(empty, x.dtype).view(f"i{x.dtype.itemsize}").item()
        if out.size:
            words = [out, x, x.shape[0] * x.shape[1], x.strides[1], *each, none]
            self.add(f"pooled_{name}_{'float' if x.dtype.itemsize == 4 else 'double'}", words)
        return out

    def pool_places(self, x: Operand, dims: Sequence[Sequence[int]], values: Operand) -> Operand:
        """The place in its plane of the first element of each window that has a value, int32; -1 where none has it."""
        x, each = self._windowed(x, dims)
        out = self.new(values.shape, np.dtype(np.int32))
        if out.size:
            words = [out, x, x.shape[0] * x.shape[1], x.strides[1], *each, self.contiguous(values)]
            self.add(f"pool_places_{'float' if x.dtype.itemsize == 4 else 'double'}", words)
        return out

    def _windowed(self, x: Operand, dims: Sequence[Sequence[int]]) -> tuple[Operand, list[int]]:
        """x, its elements side by side, and what steps over windows are told of three dimensions."""
        if x.dtype not in gemm.DTYPES or len(dims) > 3:
            raise NoNativeForm(f"pooling of {x.dtype} over {len(dims)} dimensions has no native form")
        x = self.contiguous(x)
        each = [[1, 1, 1, 1, 0, 0]] * (3 - len(dims))
        each += [[n, size, k, s, low, step] for (n, k, s, low), size, step in zip(dims, x.shape[2:], x.strides[2:])]
        return x, [v for d in each for v in d]

    def binned(self, name: str, x: Operand, counts: Sequence[int]) -> Operand:
        """The "max" or "mean" of each of so many bins of x's dimensions behind those of images and channels."""
        if x.dtype not in gemm.DTYPES or len(counts) > 3:
            raise NoNativeForm(f"pooling of {x.dtype} over {len(counts)} dimensions has no native form")
        x = self.contiguous(x)
        out = self.new((*x.shape[:2], *counts), x.dtype)
        each = [[1, 1, 0]] * (3 - len(counts))
        each += [[n, size, step] for n, size, step in zip(counts, x.shape[2:], x.strides[2:])]
        words = [out, x, x.shape[0] * x.shape[1], x.strides[1], *[v for d in each for v in d]]
        self.add(f"binned_{name}_{'float' if x.dtype.itemsize == 4 else 'double'}", words)
        return out

    def offsets(self, dims: Sequence[tuple[int, int]]) -> Operand:
        """The offsets of places in at most four dimensions of (size, step), the last one fastest, as the run counts."""
        out = self.new((prod(size for size, _ in dims),), INT64)
        self.add("offsets", [out, *[n for dim in [(1, 0)] * (4 - len(dims)) + [*dims] for n in dim]])
        return out

    def asserted(self, condition: Operand | None, text: str | None) -> tuple[()]:
        """Let a run end with the text where an element of the condition is false; always where there is none."""
        if text is None:
            raise NoNativeForm("a function of Python makes its exception")
        flags = self.contiguous(self.constant(np.zeros(1, np.bool_)) if condition is None else condition)
        if flags.dtype.itemsize != 1:
            raise NoNativeForm(f"a condition of {flags.dtype} has no native form")
        words = self.constant(np.frombuffer(text.encode() + b"\0", np.uint8))
        self.add("asserted", [flags, flags.size, words])
        return ()

    # -- products ------------------------------------------------------------------------------------------------------

    def _multiplies(self, dtype: Dtype) -> bool:
        return dtype in gemm.DTYPES or dtype.kind in "iu"

    def _products(self, x: Operand, y: Operand, out: Operand, batch: Shape, bias: Operand | None) -> None:
        x, y = (expanded(v, (*batch, *v.shape[-2:])) for v in (x, y))
        if x.dtype.kind in "iu":
            words = [out, self.contiguous(x), self.contiguous(y), prod(batch), *out.shape[-2:], x.shape[-1]]
            self.add(f"products_of_i{8 * x.dtype.itemsize}", words)
            return
        y = self._known_in_rows(y)
        m, n, k = out.shape[-2], out.shape[-1], x.shape[-1]
        self._multiply(x, y, out, (m, n, k), [*x.strides[-2:], *y.strides[-2:]], None)
        if bias is not None:
            self.apply_into(out, get_op("add"), out, bias)

    def _known_in_rows(self, y: Operand) -> Operand:
        """y; its rows side by side where it is known now."""
        size = y.dtype.itemsize
        if y.buffer.kind != DATA or y.strides[-1] == size or y.ndim != 2:
            return y
        return self.constant(self.known(y))

    def _multiply(
        self, x: Operand, y: Operand, out: Operand, sizes: Sequence[int], steps: Sequence[int], tables: Any
    ) -> None:
        """Products of stacks; in steps those of x's and y's rows and columns."""
        shape = gemm.shape_of(out.dtype, self._target)
        m, n, k = (gemm.ROWS, gemm.COLUMNS, gemm.INNER) if self.is_sample else sizes
        scratch = self.new((gemm.scratch_bytes(m, n, k, shape),), np.dtype(np.uint8))
        batch = out.shape[:-2]
        stacks = [v.strides[: len(batch)] for v in (x, y, out)]
        words = [
            *sizes, *steps, out.strides[-2], scratch, x, y, out, len(batch), int(np.prod(batch, dtype=np.int64)),
            *(tables or (-1, -1, -1)), *batch, *[s for own in stacks for s in own],
        ]  # fmt: skip
        self.add(f"multiply_{shape.type}", words)

    def windows_product(
        self, weight: Operand, x: Operand, out: Operand, koffsets: Any, joffsets: Any, bias: Operand | None
    ) -> None:
        """out = weight times windows of x, plus a number for each row, for stacks of images.

        Row p of window j lies at koffsets[p] + joffsets[j].
        """
        tables: list[Any] = [
            t if isinstance(t, Operand) else self.constant(np.asarray(t, INT64)) for t in (koffsets, joffsets)
        ]
        sizes = (weight.shape[-2], tables[1].size, tables[0].size)
        tables.append(-1 if bias is None else self.contiguous(bias))
        self._multiply(weight, x, out, sizes, [*weight.strides[-2:], 0, 0], tables)
        if self.known(weight) is not None and weight.shape[1] == 1:
            self._weights.append((self.steps[-1], weight))

    def scale_rows(self, x: Operand, scale: Any, shift: Any) -> bool:
        """Let the product that has just made x, and that nobody else reads, give scale * x + shift in each row.

        False where x is none of matrices for images (its first dimension), with constant weights, in one group.
        """
        step = self.steps[-1] if self.is_read_once and self.steps else None
        if step is None or not step.function.startswith("multiply_") or step.words[_C].buffer is not x.buffer:
            return False
        weight, out, bias = step.words[_A], step.words[_C], step.words[_BIAS]
        known = self.known(weight)
        old = 0.0 if bias == -1 else self.known(bias)
        is_alike = x.is_contiguous and x.offset == 0 and x.ndim > 1 and x.size == out.size
        if known is None or old is None or not is_alike or out.shape[1] != 1 or x.shape[:2] != out.shape[::2][:2]:
            return False
        made = self.constant(known[0, 0] * scale[:, None].astype(weight.dtype))
        step.words[_A] = replace(made, shape=weight.shape, strides=(0, 0, *made.strides))
        self._weights = [(s, step.words[_A] if s is step else w) for s, w in self._weights]
        step.words[_BIAS] = self.constant((old * scale + shift).astype(weight.dtype))
        step.touched[:] = [w.buffer for w in step.words if isinstance(w, Operand)]
        return True

    def pack_weights(self, kept: dict[Any, Any]) -> None:
        """Put matrices that are known into the order in which products read them; kept: those of other samples."""
        for number, (step, weight) in enumerate(self._weights):
            shape = gemm.shape_of(weight.dtype, self._target)
            if number not in kept:
                kept[number] = gemm.packed(self.known(weight)[0, 0], shape)
            made = self.constant(kept[number])
            step.words[_A] = replace(made, shape=weight.shape, strides=(0,) * 4)
            step.words[_ROW] = -1
            step.touched[:] = [w.buffer for w in step.words if isinstance(w, Operand)]


def _raw(x: Operand) -> Any:
    """The constant's own array from the operand's first element on."""
    flat = x.buffer.number.reshape(-1).view(np.uint8)[x.offset :]
    return flat[: flat.size // x.dtype.itemsize * x.dtype.itemsize].view(x.dtype)
