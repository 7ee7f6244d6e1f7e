"""Values of a program that its building can foresee: those made of known sizes and of constants alone.

`paddle.shape(x)[0] * 2` is a tensor of the program also where x's size is known. As a size of another tensor it is
better a number: what is made of it has a known shape. And where only Python's numbers will do, `paddle.to_tensor(1)` is
one.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.meta import Meta, numel
from .operator import Operator
from .variable import Literal, Variable

MOST_STEPS = 64
"""So many operators are gone back through for one value."""
MOST_ELEMENTS = 16
"""Values of more elements are no sizes, nor settings."""

Array = np.ndarray[Any, Any]


class Foreseen:
    """The operators of a program being built that may make sizes and settings, and what they give."""

    def __init__(self) -> None:
        self._makers: dict[Variable, Operator] = {}
        self._made: dict[int, tuple[Any, Array]] = {}  # eager tensors by id, kept so that no other takes it
        self._constants: dict[Variable, Array] = {}

    def note_made(self, tensor: Any) -> None:
        """Take an eager tensor made of Python data while the program is built: each run makes the same."""
        array = tensor._data
        if isinstance(array, np.ndarray) and array.size <= MOST_ELEMENTS and array.dtype.kind != "c":
            self._made[id(tensor)] = (tensor, array.copy())

    def note_lifted(self, tensor: Any, var: Variable) -> None:
        """Take the variable that stands for an eager tensor, as it was made, from now on."""
        found = self._made.get(id(tensor))
        if found is not None:
            self._constants[var] = found[1]

    def note(self, maker: Operator) -> None:
        """Take an operator that was recorded, if such values may come of it."""
        out = maker.outputs[0] if len(maker.outputs) == 1 else None
        if out is not None and _is_small(out.meta) and _is_sure(maker):
            self._makers[out] = maker

    def value(self, var: Any) -> Array | None:
        """What `var` holds in every run; None where a run may find another value, or finding it takes long."""
        return self._value(var, [MOST_STEPS])

    def _value(self, var: Any, left: list[int]) -> Array | None:
        if isinstance(var, Literal):
            return np.asarray(var.value, var.dtype.np)
        constant = self._constants.get(var)
        if constant is not None:
            return constant
        maker = self._makers.get(var)
        left[0] -= 1
        if maker is None or left[0] < 0:
            return None
        given = [self._given(maker, place, value, left) for place, value in enumerate(maker.inputs)]
        if any(value is None for value in given):
            return None
        try:
            return np.asarray(maker.op.kernel(np, *given, **maker.attrs))
        except Exception:  # noqa: BLE001 - each run says so, at its line
            return None

    def _given(self, maker: Operator, place: int, value: Any, left: list[int]) -> Array | None:
        if not (maker.op.asks_shape(place) and isinstance(value, Variable)):
            return self._value(value, left)
        meta = value.meta
        if not isinstance(meta, Meta) or not meta.is_static:
            return None
        return np.broadcast_to(np.zeros((), meta.dtype.np), meta.shape)


def _is_small(meta: Any) -> bool:
    if not isinstance(meta, Meta) or meta.dtype.is_complex or not meta.is_static:
        return False
    return numel(meta.shape) <= MOST_ELEMENTS


def _is_sure(maker: Operator) -> bool:
    """Whether an operator gives one value, the same in every run for the same inputs, and does nothing else."""
    op = maker.op
    return not (op.random or op.effect or op.multiple or maker.blocks or maker.ref_count)
