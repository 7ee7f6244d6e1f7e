"""Operators with tensors, Python numbers and arrays; items and slices, read and written."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from tests.conformance.spec import EVERY, FLOATS, T, each, literal, row, t, together

NUMBERS = (2, 3, 2.5, True, 1 + 2j, np.float32(1.5), np.float64(1.5), np.int64(2), np.array([1.0, 2.0], "float32"), np.array([1, 2]), "text", None, [1.0, 2.0])
LEFT = "int8 int16 int32 int64 uint8 bool float16 bfloat16 float32 float64 complex64 complex128".split()
VALUES = "nonzero"


def applied(name: str) -> Any:
    """Return a call of an operator by name."""
    function = getattr(operator, name)

    def apply(paddle: Any, x: Any, y: Any) -> Any:
        return function(x, y)

    return apply


def reflected(name: str) -> Any:
    """Return a call of an operator with its arguments exchanged."""
    function = getattr(operator, name)

    def apply_reflected(paddle: Any, x: Any, y: Any) -> Any:
        return function(y, x)

    return apply_reflected


def rows_of(name: str) -> list[Any]:
    """Return the rows of an operator: with numbers on each side, with tensors of each pair of dtypes, in place."""
    api = f"Tensor.__{name.rstrip('_')}__"
    tensors = [t(2, dtype=right, values=VALUES, seed=2) for right in LEFT] + [t(dtype=right, values=VALUES, seed=3) for right in LEFT]
    pairs = together(*((t(2, values=VALUES), other) for other in (*NUMBERS, *tensors)))
    scalars = together(*((t(values=VALUES), other) for other in (*NUMBERS[:8], *tensors[len(LEFT) :])))
    found = [row(api, each_side).through(applied(name)) for each_side in (pairs, scalars)]
    found.append(row(f"Tensor.__r{name.rstrip('_')}__", together(*((t(2, values=VALUES), other) for other in NUMBERS))).through(reflected(name)))
    return [wide(one) for one in found]


def wide(one: Any) -> Any:
    """Return a row for each left dtype with every choice."""
    return [row(one.api, *(retyped(arg, dtype) for arg in one.args)).through(one.call).limited_to(100) for dtype in LEFT]


def retyped(choice: Any, dtype: str) -> Any:
    """Return pairs with the first tensor of a dtype."""
    return together(*((t(*first.shape, dtype=dtype, values=VALUES), second) for first, second in choice.options))


def inplace(name: str) -> Any:
    """Return a call of an augmented assignment."""
    function = getattr(operator, "i" + name.rstrip("_"))

    def assign(paddle: Any, x: Any, y: Any) -> Any:
        return function(x, y)

    return assign


ARITHMETIC = "add sub mul truediv floordiv mod pow".split()
OTHERS = "eq ne lt le gt ge and_ or_ xor lshift rshift matmul".split()
ROWS: list[Any] = [one for name in ARITHMETIC for rows in rows_of(name) for one in rows]
ROWS += [
    row(f"Tensor.__{name.rstrip('_')}__", together(*((t(2, values="nonzero"), other) for other in (*NUMBERS, t(2, dtype="float64"), t(2, dtype="int32", values="positive"), t(dtype="int64", values="positive"), t(2, dtype="bool"))))).over(*EVERY).limited_to(40).through(applied(name))
    for name in OTHERS
]
ROWS += [
    row(f"Tensor.__i{name}__", together(*((t(2, values="nonzero"), other) for other in (2, 2.5, True, t(2, values="nonzero", seed=5), t(values="nonzero"), t(2, dtype="float64", values="nonzero"), t(2, dtype="int64", values="nonzero"), t(3, 2, values="nonzero"))))).over(*EVERY).in_place().through(inplace(name))
    for name in ARITHMETIC
]


def got(paddle: Any, x: Any, key: Any) -> Any:
    """Return an item."""
    return x[key]


def set_(paddle: Any, x: Any, key: Any, value: Any) -> Any:
    """Return a tensor after an item was set."""
    x[key] = value
    return x


def ix(*values: Any, dtype: str = "int64") -> T:
    """Return a stand-in for a tensor of indices."""
    return literal(list(values), dtype)


S = slice
KEYS = (
    0, -1, 5, S(None), S(1, None), S(None, None, 2), S(None, None, -1), S(-2, None), S(5, 2), S(0, 100), S(2, 0, -1), None, Ellipsis, True, False,
    (0, 1), (S(None), 1), (Ellipsis, 0), (None, 0), (0, None, S(1, 3)), (S(None), None), (S(None), S(None, None, 2)), (0, 1, 2), (0, 1, 2, 3),
    (Ellipsis, Ellipsis), [0, 1], [0, -1], [True, False, True], [0], [], (0, [1, 0]), ([0, 1], [1, 2]), ([0, 1], S(None), [1, 2]),
    (S(None), [0, 2]), ([[0, 1], [1, 0]],), [[0, 1], [1, 0]], ([0], None), (None, [0, 1]), ix(0, 1), ix(2, dtype="int32"), ix(7), ix(-1),
    literal(1, "int64"), literal([[0, 1], [2, 0]], "int64"), literal([True, False, True], "bool"), t(3, 4, dtype="bool"), t(3, 4, 2, dtype="bool"),
    literal(True, "bool"), literal(False, "bool"), (literal([True, False, True], "bool"), 1), (S(None), literal([True, False, True, False], "bool")),
    (ix(0, 1), ix(1, 2)), (ix(0, 1), S(None), ix(1, 0)), (S(literal(0, "int64"), literal(2, "int64")),), np.array([0, 2]), np.array([True, False, True]),
    (S(None), np.array([0, 1])), 1.5, "a", np.int64(1), (ix(0, 1), 1), (1, ix(0, 1)), (1, S(None), ix(0, 1)), (S(1, 3), ix(0, 1)), ([True, False, True], [0, 1]),
    literal([1.0], "float32"), literal([], "int64"), (S(0, 0),), (S(None), S(None), S(None), S(None)), t(4, dtype="bool"), t(0, dtype="bool"),
)  # fmt: skip
ROWS += [
    row("Tensor.__getitem__", t(3, 4, 2), each(*KEYS)).limited_to(200).through(got).over("float32", "int64", "bool", "complex64", "bfloat16"),
    row("Tensor.__getitem__", each(t(), t(0, 3), t(1)), each(*KEYS)).limited_to(300).through(got),
    row("Tensor.__setitem__", t(3, 4, 2), each(*KEYS), each(1.5, t(), 2, True)).limited_to(300).through(set_).in_place(),
    row("Tensor.__setitem__", t(3, 4, 2), each(0, S(1, None), (S(None), 1), ix(0, 1), t(3, 4, dtype="bool"), [0, 2], Ellipsis, literal([True, False, True], "bool"), (ix(0, 1), ix(1, 1))),
        each(1, 2.5, t(2), t(4, 2), t(1), t(3, 2), np.ones(2, "float32"), [1.0, 2.0], t(dtype="float64"), t(dtype="int64"), t(2, dtype="bool"), 1j, None)).limited_to(150).through(set_).in_place().over(*FLOATS, "int64", "bool", "complex64"),
    row("Tensor.__setitem__", each(t(), t(0, 3), t(1)), each(*KEYS), each(1.5, t())).limited_to(200).through(set_).in_place(),
    row("Tensor.__setitem__", t(4, 5), each([1, 1, 3], ix(2, 0, 2), (ix(1, 1), ix(2, 2)), (S(None), [0, 0]), (ix(1, 1), S(1, 3)), (0, ix(1, 1))), each(t(), t(1))).through(set_).in_place(),
]
