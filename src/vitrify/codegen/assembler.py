"""A plan in the making: the steps of a program for arrays of certain sizes, and what they work on.

Native forms of ops (`OpDef.native`) are written with its methods, as kernels are written with NumPy's functions. What
they handle are `Operand`s: parts of buffers with sizes and steps. Views cost nothing, as they are such parts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from math import prod
from typing import Any, NoReturn

import numpy as np

from ..core.dtype import as_dtype
from ..core.errors import VitrifyError
from ..ir.program import Block
from ..ops.registry import OpDef, get_op
from . import blas, draws, norm_steps, pool_steps, tables, window_steps
from .calls import Functions, like_either
from .column_steps import LEAST_COLUMNS, add_columns
from .elements import Pointwise, in_memory_order, over, turned
from .emit import BFLOAT16, SHORT_FLOATS, Dtype
from .entry import part
from .errors import NoNativeForm
from .inner_loops import REDUCED
from .loops import loop, need_flag
from .missing import chosen, known_flag
from .native import harness
from .operands import ARENA, CONSTANT, Buffer, Edge, Operand, Shape, Step, broadcast, dense, expanded
from .own_products import any_gemm
from .products import add_onto, add_products, add_windows
from .row_steps import RowLoop, row_outputs
from .sharing import over_elements
from .single import of_matrix, of_rows, single, together
from .steps import BRANCH
from .team import Team
from .winograd_steps import Weights, add_winograd

# Rows below so many elements are short; what is repeated is written out for arrays up to so many.
_SHORT_ROW, _FEW = 96, 1 << 14
# Elements from which on reading what is repeated one by one would take longer than compiling another kernel.
_MANY = 1 << 9
_CODES = {dtype: code for code, dtype in REDUCED.items()}


class Assembler:
    """Collects steps. Raises NoNativeForm for what they cannot do."""

    merges_images = True
    """Whether forms may take the images of a batch together, by how many there are."""
    chooses_by_size = True
    """Whether it matters how large arrays are; sizes that stand for others must not."""
    has_open_places = False
    """Whether the operator at work has to do with open sizes behind the first one: the run then makes its tables."""
    makes_objects = True
    """Whether steps may make objects of Python's."""

    def __init__(
        self,
        kernels: Callable[[Block], Pointwise | RowLoop],
        run_block: Callable[[Assembler, Block, Sequence[Any], bool], list[Any]],
        key: Operand | None = None,
        team: Team | None = None,
    ) -> None:
        self.steps: list[Step] = []
        self.team = team  # which large steps are shared among
        self._kernel_of = kernels
        self._run_block = run_block
        self.bytes = 0  # written by all steps, those of loops once
        self.has_loops = self.has_objects = False  # objects of Python's need its lock
        self.has_windows = False  # products with windows of an array
        self.is_inside = False  # a branch or loop, whose steps run no or several times
        self.key = key  # where the seed and the place of random numbers lie
        self.words = 0  # of them that a run draws, as far as is known before it
        self.counted: Any = None  # what counts the others (`draws`), if there are any
        self.written: set[Buffer] = set()  # inputs that are changed
        self.functions = Functions()  # that are called
        self.operator: Any = None  # whose steps are added
        self.host: Any = None  # who runs what only Python can, if anybody
        self.calls_host = False
        self.objects: list[Any] = []  # that steps name by their addresses

    def refuse(self, reason: str) -> NoReturn:
        """Give up, for this reason."""
        raise NoNativeForm(reason)

    def note(self, *sizes: int) -> None:
        """Say sizes beside those of results, for programs whose sizes are open; others do not ask."""

    def held(self, value: Any) -> Any:
        """An object of Python's, which lives as long as the plan."""
        self.objects.append(value)
        return value

    # -- memory --------------------------------------------------------------------------------------------------------

    def new(self, shape: Iterable[int], dtype: Dtype) -> Operand:
        """An array in the arena."""
        shape = tuple(shape)
        size = prod(shape) * dtype.itemsize
        self.bytes += size
        return Operand(Buffer(ARENA, size), 0, shape, dense(shape, dtype.itemsize), dtype)

    def _like(self, given: Sequence[Operand], shape: Shape, dtype: Dtype) -> Operand:
        """An array in the arena, whose dimensions lie in memory in the order of the first operand of its shape."""
        like = next((x for x in given if x.shape == shape), None)
        if like is None or like.is_contiguous:
            return self.new(shape, dtype)
        order = sorted(range(len(shape)), key=lambda d: -abs(like.strides[d]))
        made = self.new([shape[d] for d in order], dtype)
        found: Operand = self.view(lambda a: a.transpose([order.index(d) for d in range(len(shape))]), made)
        return found

    def full(self, shape: Iterable[int], value: Any, dtype: Dtype) -> Operand:
        """One number everywhere, which takes no memory."""
        shape = tuple(shape)
        number = np.array(value).astype(dtype)
        return Operand(Buffer(CONSTANT, dtype.itemsize, number.tobytes()), 0, shape, (0,) * len(shape), dtype)

    def constant(self, array: Any) -> Operand:
        """An array that is known now, which the plan holds."""
        array = np.ascontiguousarray(array)
        buffer = Buffer(CONSTANT, array.nbytes, array.tobytes())
        return Operand(buffer, 0, array.shape, dense(array.shape, array.dtype.itemsize), array.dtype)

    def view(self, function: Callable[[Any], Any], x: Operand) -> Any:
        """What the function, which only makes views, makes of x: an Operand, or several."""
        for source in self._ways_to_lie(x):
            stand_in, memory = _stand_in(source)
            try:
                made = function(stand_in)
            except (VitrifyError, ValueError, TypeError, IndexError) as err:  # the operator raises it for the user
                raise NoNativeForm(str(err)) from err
            several = isinstance(made, (tuple, list))
            if all(_is_inside(a, memory) for a in (made if several else [made])):
                found = [_seen_as(source, stand_in, a) for a in (made if several else [made])]
                return tuple(found) if several else found[0]
        raise NoNativeForm("what should be a view is none")

    def _ways_to_lie(self, x: Operand) -> Iterator[Operand]:
        """x, and where that does not do a copy with its elements side by side."""
        yield x
        if not x.is_contiguous:
            yield self.copy(x)

    def reshape(self, x: Operand, shape: Sequence[int]) -> Operand:
        """x with its elements in another shape."""
        found: Operand = self.view(lambda a: a.reshape(tuple(shape)), x)
        return found

    def swapped(self, x: Operand) -> Operand:
        """x with its last two dimensions exchanged."""
        found: Operand = self.view(lambda a: a.swapaxes(-1, -2), x)
        return found

    def contiguous(self, x: Operand) -> Operand:
        """x with its elements side by side."""
        return x if x.is_contiguous else self.copy(x)

    def copy(self, x: Operand, into: Operand | None = None) -> Operand:
        """The elements of x in memory of their own, or in that of another array of its shape."""
        target = self.new(x.shape, x.dtype) if into is None else into
        if target.shape != x.shape or target.dtype != x.dtype:
            raise NoNativeForm(f"{x.dtype}{x.shape} cannot be copied into {target.dtype}{target.shape}")
        if x.dtype.itemsize not in (1, 2, 4, 8):
            raise NoNativeForm(f"{x.dtype} has no native form")
        across = turned(x, target)
        if across is not None:
            self._over(self.part("turned4"), across.data, (across.source, across.target), across.source.shape)
        else:
            self._over(self.part(f"copy{x.dtype.itemsize}"), 0, (x, target), x.shape)
        return target

    def part(self, name: str) -> Any:
        """The word that names a fixed part: its address."""
        return harness()[name] if name == "loop" else part(name)

    # -- computing -----------------------------------------------------------------------------------------------------

    def add(self, function: str, words: Sequence[Any], blocks: tuple[list[Step], ...] = ()) -> None:
        """One more step."""
        touched = [w.buffer for w in words if isinstance(w, Operand)]
        self.steps.append(Step(function, list(words), blocks, touched, operator=self.operator))

    def _over(self, loop: Any, data: Any, operands: Sequence[Operand], shape: Shape) -> None:
        """An inner loop over all elements of operands that broadcast to a shape."""
        over_elements(self, loop, data, operands, shape)

    def elementwise(
        self, body: Block, operands: Sequence[Any], into: Sequence[Operand] | None = None
    ) -> tuple[Operand, ...]:
        """The outputs of a block of elementwise operators; in the memory of other operands where that is given."""
        kernel = self._kernel_of(body)
        if not isinstance(kernel, Pointwise):
            raise NoNativeForm("a group has reductions")
        return self._elementwise(kernel, operands, into)

    def _elementwise(
        self, kernel: Pointwise, operands: Sequence[Any], into: Sequence[Operand] | None = None
    ) -> tuple[Operand, ...]:
        given = [operands[i] for i in kernel.signature.reads]
        if any(x is None for x in given) or tuple(x.dtype for x in given) != kernel.signature.inputs:
            raise NoNativeForm("the operands are not those that the kernel is for")
        shape = broadcast([x.shape for x in given])
        cones = [broadcast([operands[i].shape for i in cone]) for cone in kernel.cones]
        if any(cone != shape for cone in cones):
            raise NoNativeForm("the outputs of a group have several shapes")
        if into is None:
            outputs = tuple(self._like(given, shape, d) for d in kernel.signature.outputs)
        else:
            outputs = tuple(into)
            if [(x.shape, x.dtype) for x in outputs] != [(shape, d) for d in kernel.signature.outputs]:
                raise NoNativeForm("the results do not fit where they are wanted")
            self.written.update(x.buffer for x in outputs)
            self.bytes += sum(x.buffer.size for x in outputs)
        if self._is_in_short_rows([*given, *outputs], shape):
            given = [self._beside(outputs[0], x, shape) for x in given]
        self._over(self.part("loop"), kernel.address, (*given, *outputs), shape)
        return outputs

    def _beside(self, out: Operand, x: Operand, shape: Shape) -> Operand:
        """x, broadcast, in the memory order of a result."""
        if x.shape == shape and x.strides == tuple(s // out.dtype.itemsize * x.dtype.itemsize for s in out.strides):
            return x
        wide = expanded(x, shape)
        return self.copy(wide, self._like([out], shape, x.dtype))

    def _is_in_short_rows(self, operands: Sequence[Operand], shape: Shape) -> bool:
        """Whether a kernel would go by rows so short that writing out what is repeated takes less time."""
        words = over(0, 0, *in_memory_order(operands, shape))
        if words is None or prod(shape) > _FEW:
            return False
        _, _, _, inner, dims, *_ = words
        return bool(dims) and bool(inner < _SHORT_ROW)

    def apply(self, op: OpDef, *operands: Operand, **attrs: Any) -> Operand:
        """The result of one elementwise op."""
        return self.elementwise(self._single(op, operands, attrs), operands)[0]

    def apply_into(self, out: Operand, op: OpDef, *operands: Operand, **attrs: Any) -> None:
        """Put the result of one elementwise op where an array of its shape is, which may be one of the operands."""
        self.elementwise(self._single(op, operands, attrs), operands, into=[out])

    def _single(self, op: OpDef, operands: Sequence[Operand], attrs: dict[str, Any]) -> Block:
        """A block of one op; of large arrays one that knows which of them are repeated along the last dimension."""
        return single(op, [x.dtype for x in operands], attrs, self._fixed(operands))

    def _fixed(self, operands: Sequence[Operand]) -> Sequence[bool]:
        """Which of large operands are repeated along the last dimension; none where that makes no difference."""
        fixed = [not x.ndim or x.shape[-1] == 1 for x in operands]
        is_large = self.chooses_by_size and max(x.size for x in operands) >= _MANY
        return fixed if is_large and not all(fixed) else ()

    def compute_into(self, outs: Sequence[Operand], fn: Callable[..., Any], *operands: Operand) -> None:
        """Put what a function, written in elementwise ops, gives for operands of one shape where arrays of it are."""
        self.elementwise(together(fn, [x.dtype for x in operands], self._fixed(operands)), operands, into=outs)

    def over_rows(self, fn: Callable[..., Any], x: Operand) -> tuple[Operand, ...]:
        """What a function, written in ops, gives for a matrix of whose rows it computes something."""
        return self.group(of_matrix(fn, x.dtype), [x])

    def matmul(self, x: Operand, y: Operand, bias: Operand | None = None, onto: Operand | None = None) -> Operand:
        """The product of stacks of matrices of one dtype, plus a number for each column or one for all.

        16-bit floats are summed in float32 and rounded once. onto: an array to which the product may be added in
        place; it is the result where that was done.
        """
        if x.dtype != y.dtype or x.ndim < 2 or y.ndim < 2:
            raise NoNativeForm(f"products of {x.dtype}{x.shape} and {y.dtype}{y.shape} have no native form")
        if y.ndim == 2 and x.ndim > 2 and x.is_contiguous:
            rows = self.matmul(self.reshape(x, (prod(x.shape[:-1]), x.shape[-1])), y, bias)
            return self.reshape(rows, (*x.shape[:-1], y.shape[-1]))
        if x.shape[-1] != y.shape[-2]:
            raise NoNativeForm("the inner sizes differ")
        if onto is not None and bias is None and add_onto(self, x, y, onto):
            return onto
        if x.dtype in SHORT_FLOATS and not self._multiplies(x.dtype):
            return self._by_wider_products(x, y, bias)
        if not self._multiplies(x.dtype):
            raise NoNativeForm(f"products of {x.dtype} have no native form")
        batch = broadcast([x.shape[:-2], y.shape[:-2]])
        out = self.new((*batch, x.shape[-2], y.shape[-1]), x.dtype)
        if out.size and x.shape[-1]:
            self._products(x, y, out, batch, bias)
        elif out.size:
            zero = self.full((), 0, out.dtype)
            self.copy(expanded(zero if bias is None else bias, out.shape), out)
        return out

    def _multiplies(self, dtype: Dtype) -> bool:
        """Whether there are products of this dtype."""
        return dtype in blas.DTYPES or (dtype == BFLOAT16 and any_gemm(dtype) is not None)

    def _by_wider_products(self, x: Operand, y: Operand, bias: Operand | None) -> Operand:
        """A product of 16-bit floats by way of float32."""
        cast, wide = get_op("cast"), as_dtype("float32")
        out = self.matmul(self.apply(cast, x, dtype=wide), self.apply(cast, y, dtype=wide))
        if bias is not None:
            self.apply_into(out, get_op("add"), out, self.apply(cast, bias, dtype=wide))
        return self.apply(cast, out, dtype=as_dtype(x.dtype))

    def _products(self, x: Operand, y: Operand, out: Operand, batch: Shape, bias: Operand | None) -> None:
        add_products(self, x, y, out, batch, bias)

    def windows_product(
        self, weight: Operand, x: Operand, out: Operand, koffsets: Any, joffsets: Any, bias: Operand | None
    ) -> None:
        """out = weight times windows of x, plus a number for each row: [images, groups, rows, inner or columns] each.

        Row p of window j lies at koffsets[p] + joffsets[j].
        """
        self.has_windows = True
        add_windows(self, weight, x, out, koffsets, joffsets, bias)

    def lanes(self, dtype: Dtype) -> int:
        """Elements of a vector, for products with windows in place. Raises NoNativeForm."""
        return window_steps.lanes_of(dtype)

    def pieces(self, b: Any, c: Any, each: int, dtype: Dtype, may_spread: bool = False) -> Any:
        """[pieces, 4]: columns that come `each` side by side at these offsets, in pieces of at most a vector: where
        they begin in b and in c, how many they are, and in which lanes of b's memory, as bits.

        may_spread: whether other elements of b may lie between the columns of a piece.
        """
        return window_steps.fewest_pieces(b, c, each, dtype.itemsize, self.lanes(dtype), may_spread)

    def product_in_place(
        self, a: tuple[Any, ...], rows: int, b: tuple[Any, ...], c: tuple[Any, ...], pieces: Any,
        bias: Operand | None, groups: int = 1,
    ) -> None:  # fmt: skip
        """c = a b, plus a number for each row, for each group: each an array, its step from row to row, the offsets of
        its inner size, and its step from group to group; columns come in pieces.
        """
        self.has_windows = True
        matrices = [window_steps.Matrix(*m) for m in (a, b, c)]
        window_steps.add_product(self, matrices[0], rows, matrices[1], matrices[2], pieces, bias, groups)

    def tiles_product(
        self, x: Operand, weights: tuple[Any, ...], out: Operand, pads: Sequence[int], bias: Operand | None,
        pieces: int, otherwise: Callable[[], object],
    ) -> None:  # fmt: skip
        """out = the convolution of x with 3 x 3 filters, both [channels, height, width, images] as windows lie: by
        Winograd's tiles where that pays, but for a run whose values are too large for it; else what `otherwise` adds.

        weights: an array, its rows and channels, the steps between them, and whether filters are reversed.
        """
        if not add_winograd(self, x, Weights(*weights), out, pads, bias, pieces, otherwise):
            otherwise()

    def dots_in_place(
        self, a: tuple[Any, ...], rows: int, b: tuple[Any, ...], c: tuple[Any, ...], pieces: Any, groups: int = 1
    ) -> None:
        """c[r, p] = the sum over the columns of a[r] b[p], for each group; `pieces` has their places in b and in a."""
        self.has_windows = True
        matrices = [window_steps.Matrix(*m) for m in (a, b, c)]
        window_steps.add_dots(self, matrices[0], rows, matrices[1], matrices[2], pieces, groups)

    def pool_max(self, x: Operand, out: Operand, places: tuple[Any, ...], least: Any) -> None:
        """out = the largest element of each window of x, both [images, channels, ...] with images innermost.

        places: where windows begin in x and in out, which part of a list of offsets each reads, and the list.
        """
        begins, taps, offsets = places
        pool_steps.add_max(self, x, out, begins, taps, offsets, least)

    def pool_rows(self, x: Operand, out: Operand, windows: Sequence[Sequence[int]], least: Any) -> None:
        """The same for [images, channels, height, width] whose rows lie side by side, windows of a row at a time, which
        are one or two columns apart: of rows and of columns the size of windows, their stride, and places before x.
        """
        pool_steps.add_rows(self, x, out, windows, least)

    def pool_max_grad(
        self, dx: Operand, x: Operand, out: Operand, ct: Operand, places: tuple[Any, ...], overlap: bool
    ) -> None:
        """Write ct where the first maximum of each window is, or add it to what is there where windows overlap."""
        begins, taps, offsets = places
        pool_steps.add_max_grad(self, dx, x, out, ct, begins, taps, offsets, overlap)

    def normalize_rows(
        self, x: Operand, out: Operand, params: Sequence[Any], stats: Sequence[Operand], epsilon: float, momentum: float
    ) -> None:
        """out = the rows of x [rows, columns] normalized. params: a scale and a shift a row, or None; stats, one number
        a row: mean, rstd, the running mean and variance, and those to come.
        """
        norm_steps.add_norm(self, x, out, params, stats, epsilon, momentum)

    def normalize_rows_grad(
        self, ct: Operand, x: Operand, dx: Operand, given: Sequence[Any], made: Sequence[Any]
    ) -> None:
        """dx = the cotangent of x. given: scale or None, mean, rstd; made: cotangents of scale and shift, or None."""
        norm_steps.add_norm_grad(self, ct, x, dx, given, made)

    def reduces(self, name: str, dtype: Dtype) -> bool:
        """Whether there is a loop for this reduction of such elements."""
        return name in ("sum", "max", "min") and dtype in _CODES

    def reduce(self, name: str, x: Operand, axis: Shape, keepdim: bool) -> Operand:
        """The sum, max or min over some axes, in the dtype of x."""
        code = _CODES.get(x.dtype)
        if code is None or 0 in (*x.shape,):
            raise NoNativeForm(f"{name} of {x.dtype}{x.shape} has no native form")
        kept = [i for i in range(x.ndim) if i not in axis]
        out = self.new([x.shape[i] for i in kept], x.dtype)
        if not axis:
            out = self.copy(x, out)
        else:
            self._reduced(name, code, x, axis, out)
        return self.reshape(out, [1 if i in axis else n for i, n in enumerate(x.shape)]) if keepdim else out

    def _reduced(self, name: str, code: str, x: Operand, axis: Shape, out: Operand) -> None:
        """Row by row where there are columns; else one call of the inner loop for each element of the result, over one
        dimension that the reduced ones make.
        """
        kept = [i for i in range(x.ndim) if i not in axis]
        first, end = min(axis), max(axis) + 1
        is_block = self.chooses_by_size and x.is_contiguous and end - first == len(axis)
        if is_block and prod(x.shape[end:]) >= LEAST_COLUMNS:
            add_columns(self, name, code, x, (first, end), out)
            return
        loop = self.part(f"{name}_{code}")
        order = [*kept, *sorted(axis, key=lambda i: -abs(x.strides[i]))]  # as they lie: most then need no copy
        moved = self.view(lambda a: a.transpose(order), x)
        if len(axis) != 1:
            moved = self.reshape(moved, (*(x.shape[i] for i in kept), prod(x.shape[i] for i in axis)))
        target = replace(out, shape=(*out.shape, moved.shape[-1]), strides=(*out.strides, 0))
        over_elements(self, loop, 0, (moved, target), moved.shape, keep_last=True)

    def combine(self, op: OpDef, x: Operand, axis: Shape, keepdim: bool) -> Operand:
        """What a reduction with a combiner gives over some axes."""
        if not x.size or not axis:
            raise NoNativeForm(f"{op.name} of {x.shape} over {axis} has no native form")
        kept = [i for i in range(x.ndim) if i not in axis]
        last = self.view(lambda a: a.transpose([*kept, *axis]), x)
        rows = self.reshape(last, (prod(x.shape[i] for i in kept), prod(x.shape[i] for i in axis)))
        kernel = self._kernel_of(of_rows(op, x.dtype))
        assert isinstance(kernel, RowLoop)
        (out,) = row_outputs(self, kernel, [rows])
        return self.reshape(out, [1 if i in axis else n for i, n in enumerate(x.shape) if keepdim or i not in axis])

    # -- rows of tables ------------------------------------------------------------------------------------------------

    def take(
        self, table: Operand, ids: Operand, axis: int = 0, *, wraps: bool = False, zeros: int | None = None
    ) -> Operand:
        """The slices of a table along an axis that integers name, `zeros` for that one; others outside end the run.

        wraps: whether negative ones count from the end.
        """
        return tables.taken(self, table, ids, axis, wraps, zeros)

    def add_rows(
        self, x: Operand, ids: Operand, shape: Shape, axis: int = 0, *, wraps: bool = False, without: int | None = None
    ) -> Operand:
        """Zeros of a shape with slices of x added along an axis where integers say, in their order.

        Slices `without` are left out; integers outside, but as of `take`, end the run.
        """
        return tables.added(self, x, ids, shape, axis, wraps, without)

    # -- random numbers ------------------------------------------------------------------------------------------------

    def draw_below(self, shape: Iterable[int], p: float) -> Operand:
        """Booleans, true with probability p."""
        return draws.drawn_below(self, tuple(shape), p)

    def draw_below_each(self, p: Operand) -> Operand:
        """Booleans, each true with its own probability, of float64; one outside of [0, 1] ends the run."""
        return draws.drawn_below_each(self, p)

    def draw_units(self, shape: Iterable[int], bits: int, seed: int = 0) -> Operand:
        """Numbers in float32 made of integers below 2**bits, over 2**bits; of a fixed seed unless that is 0."""
        return draws.drawn_units(self, tuple(shape), bits, seed)

    def draw_wide_units(self, shape: Iterable[int], seed: int = 0) -> Operand:
        """Numbers from [0, 1) in float64, multiples of 2**-53."""
        return draws.drawn_wide_units(self, tuple(shape), seed)

    def draw_integers(self, shape: Iterable[int], low: int, high: int, is_wide: bool) -> Operand:
        """Integers from [low, high) as int64; is_wide: of two words each, as those of 8 bytes are."""
        return draws.drawn_integers(self, tuple(shape), low, high, is_wide)

    # -- class labels --------------------------------------------------------------------------------------------------

    def picked(self, x: Operand, labels: Operand, ignored: int) -> tuple[Operand, Operand]:
        """Of each row of x the element that its label names, and 1; 0 as the second where the label is `ignored`.

        Columns of one element a row. Other labels outside the row end the run.
        """
        rows, classes = x.shape
        out, weight = self.new((rows, 1), x.dtype), self.new((rows, 1), x.dtype)
        self._labelled("picked", x.dtype, [out, weight, x, labels, rows, classes, ignored])
        return out, weight

    def weights(self, labels: Operand, ignored: int, x: Operand) -> Operand:
        """The second of what `picked` gives."""
        rows, classes = x.shape
        weight = self.new((rows, 1), x.dtype)
        self._labelled("weights", x.dtype, [weight, labels, rows, classes, ignored])
        return weight

    def lower_at(self, x: Operand, by: Operand, labels: Operand, ignored: int) -> None:
        """Take from the element of each row of x that its label names."""
        self._labelled("lowered", x.dtype, [x, by, labels, *x.shape, ignored])

    def _labelled(self, name: str, dtype: Dtype, words: Sequence[Any]) -> None:
        if dtype not in blas.DTYPES or not all(w.is_contiguous for w in words if isinstance(w, Operand)):
            raise NoNativeForm(f"rows of {dtype} with labels have no native form")
        self.add(f"{name}_{'float' if dtype.itemsize == 4 else 'double'}", words)

    # -- control flow --------------------------------------------------------------------------------------------------

    def block(self, block: Block, values: Sequence[Any]) -> list[Any]:
        """The outputs of a block for these values, by the native forms of its operators."""
        return self._run_block(self, block, values, False)

    def group(self, body: Block, values: Sequence[Any]) -> tuple[Any, ...]:
        """The outputs of a group of operators: by one kernel, or where that is not for these arrays one by one."""
        try:
            kernel = self._kernel_of(body)
            if isinstance(kernel, RowLoop):
                return row_outputs(self, kernel, values)
            return self._elementwise(kernel, values)
        except NoNativeForm:
            return tuple(self._run_block(self, body, values, True))

    def within(self, build: Callable[[], Any]) -> tuple[list[Step], Any]:
        """The steps that building something adds, and what was built."""
        outer, self.steps, was_inside, self.is_inside = self.steps, [], self.is_inside, True
        try:
            return self.steps, build()
        finally:
            self.steps, self.is_inside = outer, was_inside

    def onto(self, steps: list[Step], build: Callable[[], Any]) -> Any:
        """What was built, whose steps are added to others than those at the end."""
        outer, self.steps = self.steps, steps
        try:
            return build()
        finally:
            self.steps = outer

    def branch(self, pred: Operand, then: Block, orelse: Block, values: Sequence[Any]) -> tuple[Any, ...]:
        """The outputs of one of two blocks, which give arrays of the same sizes."""
        need_flag(pred)
        paths = [lambda block=b: self.block(block, values) for b in (then, orelse)]
        if self.functions.is_trial and known_flag(pred) is None:
            return like_either(self, paths)
        return chosen(self, pred, *paths)

    def add_branch(self, pred: Operand, paths: Sequence[list[Step]]) -> None:
        """The step that runs one of two."""
        self.add(BRANCH, [pred, Edge(0, False), Edge(0, True), Edge(1, False), Edge(1, True)], tuple(paths))

    def loop(
        self, until: Block | Operand, body: Block, carried: Sequence[Any], captured: Sequence[Any],
        read: Sequence[Any] = (), reverse: bool = False,
    ) -> tuple[Any, ...]:  # fmt: skip
        """What a loop makes of carried values, how many iterations it ran, and the lists that it wrote.

        until: the block that says whether there is one more, or how many there are; read: lists of which each iteration
        is given an item, from the last on if `reverse`.
        """
        return loop(self, until, body, carried, captured, read, reverse)


def _stand_in(x: Operand) -> tuple[Any, Any]:
    """An array that lies as x does, in memory that nobody touches, and that memory."""
    reach = [(n - 1) * s for n, s in zip(x.shape, x.strides) if n > 0]
    low = sum(r for r in reach if r < 0)
    memory = np.empty(sum(r for r in reach if r > 0) - low + x.dtype.itemsize, np.uint8)
    return np.ndarray(x.shape, x.dtype, memory, -low, x.strides), memory


def _address(array: Any) -> int:
    found: int = array.__array_interface__["data"][0]
    return found


def _is_inside(array: Any, memory: Any) -> bool:
    if not array.size:
        return True
    offset = _address(array) - _address(memory)
    return isinstance(array, np.ndarray) and 0 <= offset < memory.nbytes and np.may_share_memory(array, memory)


def _seen_as(x: Operand, stand_in: Any, view: Any) -> Operand:
    """x as a view of its stand-in shows it."""
    offset = _address(view) - _address(stand_in) if view.size else 0
    return Operand(x.buffer, x.offset + offset, view.shape, view.strides, view.dtype)
