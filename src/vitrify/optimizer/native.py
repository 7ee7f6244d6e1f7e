"""The updates of many parameters as one native call.

A rule's arithmetic is run once on stand-ins that note what it does: so it becomes a block of elementwise operators,
whose kernel then works on every parameter, in the memory that it has.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from typing import Any

import numpy as np

from ..codegen.assembler import Assembler
from ..codegen.errors import NoNativeForm
from ..codegen.llvm import why_not_here
from ..codegen.native import pointwise
from ..codegen.objects import layout_is_known
from ..codegen.operands import INPUT, Buffer, Operand
from ..codegen.plan import Planned, plan_of
from ..codegen.team import team
from ..core.cache import BoundedCache
from ..core.config import NATIVE, NATIVE_AFTER_MS
from ..core.dtype import as_dtype
from ..core.meta import UNKNOWN, Meta
from ..ir.program import Block, Literal, Operator, Program, Variable
from ..ops.registry import get_op

# NumPy's functions that rules use: the ops that compute the same.
_OPS = {
    "add": "add", "subtract": "subtract", "multiply": "multiply", "divide": "divide", "sqrt": "sqrt", "sign": "sign",
    "maximum": "maximum", "absolute": "abs",
}  # fmt: skip
_DTYPES = (np.dtype(np.float32), np.dtype(np.float64))
# What NumPy takes for a parameter and for each of its elements, and what planning takes for one, in milliseconds.
_RUN_MS, _ELEMENT_MS, _PLAN_MS = 5e-3, 1e-6, 0.2
Apply = Callable[..., None]


class _Cell:
    """An array of a rule's, while it is noted what becomes of it."""

    def __init__(self, notes: _Notes, value: Variable) -> None:
        self.notes = notes
        self.value = value


def _operator(op: str, is_reflected: bool) -> Callable[..., Any]:
    def method(x: _Cell, y: Any) -> _Cell:
        return x.notes.noted(op, y, x) if is_reflected else x.notes.noted(op, x, y)

    return method


def _refuse(*operands: Any) -> Any:
    raise NoNativeForm("an update has no native form of what its rule does")


for _name, _op in {"add": "add", "sub": "subtract", "mul": "multiply", "truediv": "divide"}.items():
    setattr(_Cell, f"__{_name}__", _operator(_op, is_reflected=False))
    setattr(_Cell, f"__r{_name}__", _operator(_op, is_reflected=True))
for _name in ("lt", "le", "gt", "ge", "and", "or", "invert", "neg", "pow", "getitem", "setitem", "int", "bool"):
    setattr(_Cell, f"__{_name}__", _refuse)


class _Notes:
    """NumPy's functions as a rule calls them, with where to write as the last argument: the operators that do it."""

    def __init__(self, block: Block, dtype: Any) -> None:
        self.block = block
        self.dtype = as_dtype(dtype)

    def input(self, shape: tuple[int, ...]) -> _Cell:
        """One more input."""
        return _Cell(self, self.block.add_input(Meta(shape, self.dtype)))

    def __getattr__(self, name: str) -> Callable[..., _Cell]:
        op = _OPS.get(name)
        if op is None:
            raise NoNativeForm(f"{name} has no native form in updates")

        count = len(get_op(op).inputs)

        def call(*operands: Any, out: _Cell | None = None) -> _Cell:
            found, target = self.noted(op, *operands[:count]), operands[count] if len(operands) > count else out
            if target is None:
                return found
            target.value = found.value
            return target

        return call

    def noted(self, op: str, *operands: Any) -> _Cell:
        """The result of an op."""
        values = [x.value if isinstance(x, _Cell) else Literal(float(x), self.dtype) for x in operands]
        definition = get_op(op)
        found = self.block.create_var(definition.meta(*[v.meta for v in values]))
        self.block.ops.append(Operator(definition, tuple(values), (found,), {}))
        return _Cell(self, found)


def _block(apply: Apply, decayed: Callable[..., Any], dtype: Any, counts: tuple[int, int], decay: Any) -> Block:
    """What a rule does to a parameter: from coefficients, the parameter, its gradient and state to their new values."""
    block = Program().global_block()
    notes = _Notes(block, dtype)
    coefs = [notes.input(()) for _ in range(counts[0])]
    param, grad, *state = (notes.input((UNKNOWN,)) for _ in range(2 + counts[1]))
    scratch, room = _Cell(notes, param.value), _Cell(notes, param.value)
    grad = decayed(notes, decay, room, param, grad)
    apply(notes, coefs, scratch, param, grad, *state)
    block.outputs = [param.value, *[cell.value for cell in state]]
    return block


_BLOCKS: BoundedCache[Any, Block] = BoundedCache("native updates", limit=64)


class NativeStep:
    """The update of the same parameters again and again, by one rule. Kept in an optimizer's scratch."""

    def __init__(self, count: int, elements: int) -> None:
        self._size = count, elements
        self._spent = 0.0
        self._cost = count * _RUN_MS + elements * _ELEMENT_MS
        self._limit = NATIVE_AFTER_MS.value + count * _PLAN_MS if NATIVE_AFTER_MS.value else 0.0
        self._function: Callable[..., Any] | None = None
        self._coefs = np.empty(0)
        self.is_none = False

    def __reduce__(self) -> tuple[Any, ...]:
        return NativeStep, self._size  # copies and other processes plan anew

    def run(
        self, key: tuple[Any, ...], build: tuple[Apply, Callable[..., Any]], floats: Sequence[float],
        columns: Sequence[Sequence[Any]],
    ) -> bool:  # fmt: skip
        """Whether it was done. key: (rule, dtype, decay); columns: parameters, gradients, each of the state."""
        if self.is_none or not self._is_due():
            return False
        flat = [*chain.from_iterable(columns)]
        if self._function is not None and self.again(floats, flat):
            return True
        planned = self._planned(key, build, floats, columns)
        if planned is None:
            self.is_none = True
            return False
        self._function = planned.function
        self._spent = 0.0  # other arrays next time must be worth another plan
        return planned.function(self._coefs, *flat) is not None

    def again(self, floats: Sequence[float], arrays: Iterable[Any]) -> bool:
        """Whether the plan that there is fits the arrays, and has updated them; else they are as they were."""
        coefs = self._coefs
        for number, value in enumerate(floats):  # one by one: NumPy takes longer to look at a tuple
            coefs[number] = value
        return self._function is not None and self._function(coefs, *arrays) is not None

    def _is_due(self) -> bool:
        if self._function is not None:
            return True
        self._spent += self._cost
        return NATIVE.value and self._spent >= self._limit

    def _planned(self, key: Any, build: Any, floats: Sequence[float], columns: Any) -> Planned | None:
        (_, dtype, decay), (apply, decayed) = key, build
        if dtype not in _DTYPES or why_not_here() or not layout_is_known():
            return None
        counts = len(floats), len(columns) - 2
        self._coefs = np.array(floats, dtype)
        try:
            block = _BLOCKS.get_or_build(key, lambda: _block(apply, decayed, dtype, counts, decay))
            return _plan(block, self._coefs, columns)
        except NoNativeForm:
            return None


def _plan(block: Block, coefs: Any, columns: Sequence[Sequence[Any]]) -> Planned:
    kernel = pointwise(block)
    assembler = Assembler(lambda body: kernel, _no_block, team=team())
    inputs = [_operand(0, coefs)]
    inputs += [_operand(1 + i, array) for i, array in enumerate(chain.from_iterable(columns))]
    count = len(columns[0])
    _add_steps(assembler, block, inputs[0], [inputs[1 + number :: count] for number in range(count)])
    return plan_of(assembler, inputs, [])


def _add_steps(assembler: Any, block: Block, coefs: Operand, calls: Iterable[Sequence[Operand]]) -> None:
    numbers = [Operand(coefs.buffer, i * coefs.dtype.itemsize, (), (), coefs.dtype) for i in range(coefs.size)]
    for param, grad, *state in calls:
        given = [param, grad, *state]
        if not all(x.is_contiguous for x in given):
            raise NoNativeForm("the elements do not lie side by side")
        assembler.elementwise(block, [*numbers, *given], into=[param, *state])


def add_update(
    assembler: Any, key: tuple[Any, Any], build: tuple[Apply, Callable[..., Any]], coefs: Operand,
    columns: Sequence[Sequence[Operand]],
) -> None:  # fmt: skip
    """Add the update of parameters to a native program. key: (rule, decay); columns: as for `NativeStep.run`.

    Raises NoNativeForm.
    """
    (rule, decay), (apply, decayed), dtype = key, build, columns[0][0].dtype
    if dtype not in _DTYPES or coefs.dtype != dtype:
        raise NoNativeForm(f"an update of {dtype} has no native form")
    counts = coefs.size, len(columns) - 2
    block = _BLOCKS.get_or_build((rule, dtype, decay), lambda: _block(apply, decayed, dtype, counts, decay))
    _add_steps(assembler, block, coefs, zip(*columns))


def _operand(number: int, array: Any) -> Operand:
    return Operand(Buffer(INPUT, array.nbytes, number), 0, array.shape, array.strides, array.dtype)


def _no_block(assembler: Assembler, block: Block, values: Sequence[Any], in_simple_ops: bool) -> list[Any]:
    raise NoNativeForm("an update has no blocks inside")


__all__ = ["NativeStep", "add_update"]
