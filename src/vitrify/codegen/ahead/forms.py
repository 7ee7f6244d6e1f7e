"""The steps of a block for arrays of certain sizes: each operator by its native form; errors name the user's line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...core.dtype import from_np
from ...core.errors import UnsupportedError
from ...core.meta import UNKNOWN, Meta, Ref, numel
from ...ir.decompose import simpler
from ...ir.program import Block, Literal, Operator, Variable
from ...ir.uses import times_read
from ...ops.elementwise import add_op, divide_op, multiply_op, neg_op, subtract_op
from ...ops.fused import fused_op
from ...ops.like import cast_op
from ...ops.number import NUMBER_OPS
from ...ops.registry import get_op
from ..elements import Pointwise
from ..emit import SHORT_FLOATS, Dtype
from ..errors import NoNativeForm
from ..harness import description
from ..llvm import Target
from ..native import ir_of
from ..operands import Operand
from ..pointwise import Signature, needed_by
from ..row_form import RowForm
from ..row_steps import RowLoop
from ..rows import RowSignature
from ..single import alone
from .assembler import AheadAssembler, Symbol
from .layout import Known
from .refusals import refusal

# Results of operators on constants may be as large as these, and so much larger.
_FEW_BYTES = 1 << 16
_FEW = 1 << 12
_FEW_SIZES = 8
_LISTED = 64
_ARITHMETIC = {add_op, subtract_op, multiply_op, divide_op, neg_op, cast_op}
_ELEMENTWISE = {number: op for op, number in NUMBER_OPS.items()}
"""So many numbers are looked at one by one, whether they are what sizes say."""


@dataclass
class Kernels:
    """The kernels of a program: each text once, with the name that it has in the module."""

    target: Target
    modules: dict[str, str] = field(default_factory=dict)
    descriptions: dict[str, list[int | Symbol]] = field(default_factory=dict)
    _found: dict[Block, Pointwise | RowLoop | NoNativeForm] = field(default_factory=dict)
    _names: dict[tuple[str, Signature | RowSignature], str] = field(default_factory=dict)

    def of(self, body: Block) -> Pointwise | RowLoop:
        """The kernel of a group of operators. Raises NoNativeForm."""
        if body not in self._found:
            try:
                self._found[body] = self._made(body)
            except NoNativeForm as reason:
                self._found[body] = reason
        found = self._found[body]
        if isinstance(found, NoNativeForm):
            raise found
        return found

    def _made(self, body: Block) -> Pointwise | RowLoop:
        text, signature, *plans = ir_of(body, self.target)
        code = "\n".join(line for line in text.splitlines() if not line.lstrip().startswith(";"))
        name = self._names.setdefault((code, signature), f"kernel{len(self._names)}")
        self.modules[name] = code
        if isinstance(signature, RowSignature):
            return RowLoop(RowForm(signature, plans[0]), Symbol(f"{name}.rows"))
        functions = [Symbol(f"{name}.compute{i}") for i in range(len(signature.variants))]
        self.descriptions[name] = described(signature, self.target.lanes, functions)
        cones = tuple(needed_by(body, [v])[1] for v in body.outputs)
        return Pointwise(signature, Symbol(name), cones)


def described(signature: Signature, lanes: int, functions: Sequence[Symbol]) -> list[int | Symbol]:
    """What the harness knows of a kernel, with names for the functions."""
    words: list[int | Symbol] = [int(n) for n in description(signature, lanes, [0] * len(functions))]
    words[4], words[5] = functions[0], functions[-1]
    return words


class Forms:
    """Runs blocks on operands. Raises UnsupportedError for what has no native form."""

    def __init__(self, kernels: Kernels, where: str) -> None:
        self.kernels = kernels
        self._where = where
        self.packed: dict[Any, Any] = {}  # matrices in the order of products, for all samples
        self._of_sizes: set[Variable] = set()
        self._same: dict[Operator, Operator] = {}
        self._alone: dict[Operator, Block] = {}
        self._simple: dict[Block, Block | None] = {}
        self.shapes: list[tuple[int, ...]] = []  # of all that was made since somebody emptied the list
        self.numbers: list[Known] = []  # likewise, of what is known now

    def assembler(self, is_sample: bool) -> AheadAssembler:
        """One that runs blocks by these forms."""
        return AheadAssembler(self.kernels.of, self._run_block, self.kernels.target, is_sample)

    def run(self, assembler: AheadAssembler, block: Block, values: Sequence[Any]) -> list[Any]:
        """The outputs of a block for these values, whose steps are added."""
        found: dict[Variable, Any] = dict(zip(block.inputs, values))
        once = _read_once(block)
        for operator in block.ops:
            assembler.is_read_once = bool(operator.inputs) and operator.inputs[0] in once
            assembler.has_open_places = assembler.is_sample and _has_open_places(operator)
            given = [_value(assembler, found, v) for v in operator.inputs]
            self._note_sizes(operator)
            made = self._made(assembler, operator, given)
            for variable, value in zip(operator.outputs, made):
                _check(operator, variable, value)
                found[variable] = value
                self.shapes.append(value.shape)
        return [_value(assembler, found, v) for v in block.outputs]

    def _run_block(
        self, assembler: AheadAssembler, block: Block, values: Sequence[Any], in_simple_ops: bool
    ) -> list[Any]:
        return self.run(assembler, self._simpler(block) if in_simple_ops else block, values)

    def _made(self, assembler: AheadAssembler, operator: Operator, values: list[Any]) -> tuple[Any, ...]:
        """What the operator's form makes of these values."""
        before = len(assembler.steps)
        try:
            made = self._form(assembler, operator, values)
        except NoNativeForm as reason:
            del assembler.steps[before:]
            made = self._by_wider(assembler, operator, values, reason)
        return made if isinstance(made, tuple) else (made,)

    def _by_wider(
        self, assembler: AheadAssembler, operator: Operator, values: list[Any], reason: NoNativeForm
    ) -> tuple[Any, ...]:
        """What the form makes of 16-bit floats by way of float32, rounded once: kernels compute so, too."""
        if not any(isinstance(x, Operand) and x.dtype in SHORT_FLOATS for x in values):
            raise refusal(self._where, operator, str(reason)) from None
        try:
            made = self._form(assembler, operator, [_cast(assembler, x, np.dtype(np.float32)) for x in values])
        except NoNativeForm:
            raise refusal(self._where, operator, str(reason)) from None
        several = made if isinstance(made, tuple) else (made,)
        return tuple([_cast_to(assembler, x, _dtype(v)) for x, v in zip(several, operator.outputs)])

    def _form(self, assembler: AheadAssembler, operator: Operator, values: list[Any]) -> Any:
        op, attrs = operator.op, dict(operator.attrs)
        if op.random or (op.effect and op.ahead is None):
            raise NoNativeForm("it does more than compute its outputs")
        if operator.ref_count:
            attrs = {k: _filled(assembler, v, values, op.ahead_places) for k, v in attrs.items()}
            values = values[: len(values) - operator.ref_count]
        form = op.ahead or op.native
        is_of_numbers = op is fused_op and assembler.is_sample and _is_arithmetic(operator)
        if is_of_numbers and all(assembler.known(v) is not None for v in values):
            return tuple(self.run(assembler, attrs["body"], values))
        if op.effect and form is not None:
            return form(assembler, *values, **attrs)
        has_own = form is not None and (operator.ref_count or op.raises)
        if op.view and len(values) == 1 and op.scalar is None and not has_own:
            return assembler.view(lambda x: op.on_numpy(x, **attrs), values[0])
        # A constant made as large as a size that is open is none: the form makes it when the program runs.
        is_sized = assembler.is_sample and operator.ref_count and form is not None
        is_known = bool(values) or _is_small_constant(operator)
        if form is None or (is_known and not (is_sized and _is_open(operator))):
            has_form = bool(form or op.scalar or op.decompose)
            found = _known_result(assembler, operator, values, attrs, has_form, self.numbers)
            if found is not None:
                return self._at_run_time(assembler, operator, values, found)
        if form is not None:
            return form(assembler, *values, **attrs)
        if op.scalar is None and op.decompose is None:
            raise NoNativeForm("it has no native form")
        return self._group(assembler, operator, values)

    def _group(self, assembler: AheadAssembler, operator: Operator, values: Sequence[Any]) -> tuple[Operand, ...]:
        """The operator as a kernel of its own."""
        body = self._alone_of(operator)
        given = [v for k, v in {k: v for k, v in zip(operator.inputs, values) if isinstance(k, Variable)}.items()]
        return assembler.elementwise(body, given) if operator.op.scalar is not None else assembler.group(body, given)

    def _at_run_time(
        self, assembler: AheadAssembler, operator: Operator, values: Sequence[Any], found: tuple[Operand, ...]
    ) -> tuple[Operand, ...]:
        """What was computed of sizes: fractions, which are no polynomials of these, are computed again by the run."""
        op, variable = operator.op, operator.outputs[0]
        is_fraction = isinstance(variable.meta, Meta) and variable.meta.dtype.is_floating
        if op is cast_op and is_fraction:
            is_fraction = values[0].buffer in assembler.also_known
        own_op = op if op.scalar is not None else _ELEMENTWISE.get(op)
        if not (assembler.is_sample and is_fraction and own_op is not None and variable in self._of_sizes):
            return found
        if own_op is not op:
            same = Operator(own_op, operator.inputs, operator.outputs, operator.attrs, operator.locs)
            operator = self._same.setdefault(operator, same)
        made = self._group(assembler, operator, values)
        assembler.also_known.update({own.buffer: known.buffer for known, own in zip(found, made)})
        return made

    def _note_sizes(self, operator: Operator) -> None:
        """Note what is computed of open sizes."""
        op = operator.op
        names = (*op.inputs, *op.inputs[-1:] * len(operator.inputs))
        for name, v in zip(names, operator.inputs):
            if isinstance(v, Variable) and (v in self._of_sizes or (name in op.shape_only and _is_open_variable(v))):
                self._of_sizes.update(operator.outputs)

    def _alone_of(self, operator: Operator) -> Block:
        found = self._alone.get(operator)
        if found is None:
            found = self._alone[operator] = alone(operator)
        return found

    def _simpler(self, body: Block) -> Block:
        """The block written in simpler operators. Raises NoNativeForm where it has none."""
        if body not in self._simple:
            self._simple[body] = simpler(body)
        found = self._simple[body]
        if found is None:
            raise NoNativeForm("it has no native form")
        return found


def _cast(assembler: AheadAssembler, x: Any, dtype: Dtype) -> Any:
    """A 16-bit float in another dtype; anything else as it is."""
    return _cast_to(assembler, x, dtype) if isinstance(x, Operand) and x.dtype in SHORT_FLOATS else x


def _cast_to(assembler: AheadAssembler, x: Operand, dtype: Dtype) -> Operand:
    return x if x.dtype == dtype else assembler.apply(get_op("cast"), x, dtype=from_np(dtype))


def _is_arithmetic(operator: Operator) -> bool:
    """Whether a group computes single numbers without comparing: what sizes decide, the run decides."""
    ops = {own.op for own in operator.attrs["body"].ops}
    return ops <= _ARITHMETIC and all(isinstance(v.meta, Meta) and v.meta.shape == () for v in operator.outputs)


def _is_open(operator: Operator) -> bool:
    return any(map(_is_open_variable, operator.outputs))


def _is_open_variable(v: Variable) -> bool:
    return isinstance(v.meta, Meta) and UNKNOWN in v.meta.shape


def _has_open_places(operator: Operator) -> bool:
    """Whether an array that it reads or makes has open sizes behind the first."""
    variables = [v for v in (*operator.inputs, *operator.outputs) if isinstance(v, Variable)]
    return any(isinstance(v.meta, Meta) and UNKNOWN in v.meta.shape[1:] for v in variables)


def _is_small_constant(operator: Operator) -> bool:
    """Whether an operator without inputs makes few elements."""
    metas = [v.meta for v in operator.outputs if isinstance(v.meta, Meta) and v.meta.is_static]
    return not operator.inputs and len(metas) == len(operator.outputs) and sum(numel(m.shape) for m in metas) <= _FEW


def _read_once(block: Block) -> set[Any]:
    """The variables that operators other than views make, and one place reads."""
    reads = times_read(block.ops, block.outputs)
    made = {v for operator in block.ops if not operator.op.view for v in operator.outputs}
    return {v for v in made if reads[v] == 1}


def _filled(assembler: AheadAssembler, value: Any, values: Sequence[Any], takes_places: bool = False) -> Any:
    """An attribute with numbers in place of operands, which must be known now, unless the form takes those of the run.

    Raises NoNativeForm.
    """
    if isinstance(value, Ref):
        array = assembler.known(values[value.index])
        if array is None and takes_places and value.item is None and values[value.index].size == 1:
            return values[value.index]
        if array is None:
            raise NoNativeForm("a size or place among its attributes is known only when the program runs")
        return array.item() if value.item is None else array[value.item].item()
    if isinstance(value, slice):
        return slice(*(_filled(assembler, v, values) for v in (value.start, value.stop, value.step)))
    if isinstance(value, (list, tuple)):
        return type(value)(_filled(assembler, v, values, takes_places) for v in value)
    return value


def _known_result(
    assembler: AheadAssembler, operator: Operator, values: Sequence[Any], attrs: Mapping[str, Any], has_form: bool,
    numbers: list[Known],
) -> Any:  # fmt: skip
    """What an operator gives where all that it reads is known now, as constants; else None. `numbers` gets what it is.

    What is one number everywhere, perhaps for a size that is left open, is no reason for a large constant.
    """
    op = operator.op
    if any(isinstance(v, Block) for v in attrs.values()):
        return None
    arrays = []
    for name, x in zip((*op.inputs, *op.inputs[-1:] * len(values)), values):
        array = None
        if isinstance(x, Operand):
            array = np.broadcast_to(np.zeros((), x.dtype), x.shape) if name in op.shape_only else assembler.known(x)
        if x is not None and array is None:
            return None
        arrays.append(array)
    is_even = any(a is not None and a.size > 1 and not any(a.strides) for a in arrays)
    if is_even and has_form and op.scalar is None:
        return None
    with np.errstate(all="ignore"):
        found = _of_one_number(operator, arrays, attrs) if is_even else None
        try:
            found = op.on_numpy(*arrays, **attrs) if found is None else found
        except ZeroDivisionError as err:  # of Python's numbers, at a size where eager mode raises, too
            raise NoNativeForm(str(err)) from None
    several = found if isinstance(found, tuple) else (found,)
    room = sum(_bytes(a) for a in arrays if a is not None) + _FEW_BYTES
    if not all(isinstance(a, (np.ndarray, np.generic)) for a in several) or sum(map(_bytes, several)) > room:
        return None
    numbers.append((operator, [_numbers_in(a) for a in several]))
    return tuple(_constant(assembler, a, v) for a, v in zip(several, operator.outputs))


def _of_one_number(operator: Operator, arrays: Sequence[Any], attrs: Mapping[str, Any]) -> Any:
    """What an elementwise operator gives for arrays of one number each, which takes no memory; None for others."""
    if operator.op.scalar is None or len(operator.outputs) != 1:
        return None
    if any(a is None or a.size == 0 or any(s for n, s in zip(a.shape, a.strides) if n > 1) for a in arrays):
        return None
    one = operator.op.on_numpy(*[a.reshape(-1)[:1] if a.size == 1 else a[(0,) * a.ndim][None] for a in arrays], **attrs)
    return np.broadcast_to(one[0], np.broadcast_shapes(*[a.shape for a in arrays]))


def _bytes(array: Any) -> int:
    """How much memory an array takes: none, where it is one number."""
    return array.nbytes if array.size == 1 or any(array.strides) else 0


def _numbers_in(array: Any) -> tuple[Any, ...] | None:
    """The elements of an array; of many one where all are the same, else None."""
    array = np.asarray(array)
    if array.size > _LISTED and not any(array.strides):
        return (array[(0,) * array.ndim].item(),)
    flat = array.reshape(-1)
    if flat.size > _LISTED and not (flat != flat[0]).any():
        flat = flat[:1]
    return tuple(flat.tolist()) if flat.size <= _LISTED else None


def _dtype(variable: Variable) -> Dtype:
    if not isinstance(variable.meta, Meta):
        raise NoNativeForm("lists and frames have no native form")
    return variable.meta.dtype.np


def _is_even(array: Any) -> bool:
    """Whether all elements are the same, to the bit."""
    return not any(array.strides) or bool(array.tobytes() == array.flat[0].tobytes() * array.size)


def _constant(assembler: AheadAssembler, array: Any, variable: Variable) -> Operand:
    """A constant; one number where all elements are the same, but for a few in a sample: those may be sizes, a height
    and a width, which are equal there by chance.
    """
    array = np.asarray(array).astype(_dtype(variable), copy=False)
    may_be_sizes = assembler.is_sample and 1 < array.size <= _FEW_SIZES and not _is_open_variable(variable)
    if array.size and not may_be_sizes and _is_even(array):
        return assembler.full(array.shape, array.flat[0], array.dtype)
    return assembler.constant(array)


def _value(assembler: AheadAssembler, found: dict[Variable, Any], value: Any) -> Any:
    if isinstance(value, Literal):
        return assembler.full((), value.value, value.dtype.np)
    return None if value is None else found[value]


def _check(operator: Operator, variable: Variable, value: Any) -> None:
    """The form gives what the program says of the variable."""
    meta = variable.meta
    if not isinstance(meta, Meta) or not isinstance(value, Operand):
        raise UnsupportedError(
            f"{operator.op.name} gives something else than an array", loc=operator.locs[0] if operator.locs else None
        )
    fits = len(meta.shape) == value.ndim and all(m in (UNKNOWN, n) for m, n in zip(meta.shape, value.shape))
    assert fits and meta.dtype.np == value.dtype, f"{operator.op.name} gives {value.dtype}{value.shape}, not {meta}"
