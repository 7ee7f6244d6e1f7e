"""Typed LLVM instructions as text. Each value is one lane (a scalar) or `lanes` of them side by side (a vector)."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np

from .errors import NoNativeForm

Dtype = np.dtype[Any]
BOOL, FLOAT16, FLOAT32, FLOAT64 = (np.dtype(t) for t in ("bool", "float16", "float32", "float64"))
BFLOAT16: Dtype = np.dtype(ml_dtypes.bfloat16)
INT64 = np.dtype("int64")
SHORT_FLOATS = (FLOAT16, BFLOAT16)
# dtype -> its type in registers; 16-bit floats are computed in float32 and rounded after each operator, as NumPy does.
_REGISTER: dict[Dtype, str] = {
    BOOL: "i1", FLOAT16: "float", BFLOAT16: "float", FLOAT32: "float", FLOAT64: "double",
    **{np.dtype(f"{sign}{size}"): f"i{8 * size}" for size in (1, 2, 4, 8) for sign in "iu"},
}  # fmt: skip
_MEMORY: dict[Dtype, str] = _REGISTER | {BOOL: "i8", FLOAT16: "half", BFLOAT16: "i16"}


def is_float(dtype: Dtype) -> bool:
    """Whether it is real floating point, bfloat16 included."""
    return dtype.kind == "f" or dtype == BFLOAT16


def register_type(dtype: Dtype) -> str:
    """The LLVM type of one value in a register. Raises NoNativeForm for complex numbers."""
    found = _REGISTER.get(dtype)
    if found is None:
        raise NoNativeForm(f"{dtype} has no native form")
    return found


def memory_type(dtype: Dtype) -> str:
    """The LLVM type of one value in memory."""
    register_type(dtype)
    return _MEMORY[dtype]


def constant(value: Any, dtype: Dtype) -> str:
    """A number as LLVM writes it. Raises NoNativeForm where the dtype cannot hold it."""
    try:
        held = np.asarray(value).astype(dtype) if isinstance(value, float) else np.array(value, dtype)
    except (OverflowError, TypeError, ValueError) as err:
        raise NoNativeForm(f"{value!r} is no {dtype}") from err
    if dtype == BOOL:
        return "true" if held else "false"
    if is_float(dtype):
        return f"0x{struct.unpack('<Q', struct.pack('<d', float(held)))[0]:016X}"
    return str(int(held))


@dataclass(frozen=True, slots=True)
class Register:
    """A value: its LLVM element type, how it is written, and how many lanes it has."""

    type: str
    text: str
    lanes: int

    @property
    def is_constant(self) -> bool:
        """Whether it is written as a literal."""
        return not self.text.startswith("%")

    @property
    def full_type(self) -> str:
        """The LLVM type with the lanes."""
        return f"<{self.lanes} x {self.type}>" if self.lanes > 1 else self.type


class Emitter:
    """The instructions of one function as they are made, and the declarations they need.

    Equal instructions within one basic block are made once.
    """

    def __init__(self, lanes: int) -> None:
        self.lanes = lanes
        self.lines: list[str] = []
        self.declarations: dict[str, str] = {}
        self._known: dict[str, Register] = {}
        self._count = 0

    def fresh(self, prefix: str = "v") -> str:
        """A name that no other value has."""
        self._count += 1
        return f"%{prefix}{self._count}"

    def line(self, text: str) -> None:
        """Add one line as it is."""
        self.lines.append(f"  {text}")

    def comment(self, text: str) -> None:
        """Add a remark for readers."""
        self.lines.append(f"  ; {text}".replace("\n", " "))

    def label(self, name: str) -> None:
        """Begin a basic block; what was computed before is not looked up any more."""
        self.lines.append(f"{name}:")
        self._known.clear()

    def value(self, instruction: str, type: str, lanes: int) -> Register:
        """The result of a pure instruction; the same one is not made twice in a block."""
        found = self._known.get(instruction)
        if found is None:
            found = self._known[instruction] = Register(type, self.fresh(), lanes)
            self.line(f"{found.text} = {instruction}")
        return found

    def spread(self, x: Register, lanes: int) -> Register:
        """A scalar in each lane; what has the lanes already as it is."""
        if x.lanes == lanes:
            return x
        if x.is_constant:
            return Register(x.type, f"splat ({x.type} {x.text})", lanes)
        full = f"<{lanes} x {x.type}>"
        first = self.value(f"insertelement {full} poison, {x.type} {x.text}, i64 0", x.type, lanes)
        zeros = f"<{lanes} x i32> zeroinitializer"
        return self.value(f"shufflevector {full} {first.text}, {full} poison, {zeros}", x.type, lanes)

    def alike(self, *operands: Register) -> list[Register]:
        """The operands with the lanes of the widest."""
        lanes = max(x.lanes for x in operands)
        return [self.spread(x, lanes) for x in operands]

    def binary(self, opcode: str, x: Register, y: Register) -> Register:
        """`opcode` of two values of one type."""
        x, y = self.alike(x, y)
        return self.value(f"{opcode} {x.full_type} {x.text}, {y.text}", x.type, x.lanes)

    def compare(self, predicate: str, x: Register, y: Register) -> Register:
        """A comparison: i1. `predicate` begins with icmp or fcmp."""
        x, y = self.alike(x, y)
        return self.value(f"{predicate} {x.full_type} {x.text}, {y.text}", "i1", x.lanes)

    def select(self, condition: Register, x: Register, y: Register) -> Register:
        """x where the condition holds, else y."""
        c, x, y = self.alike(condition, x, y)
        return self.value(
            f"select {c.full_type} {c.text}, {x.full_type} {x.text}, {y.full_type} {y.text}", x.type, x.lanes
        )

    def unary(self, opcode: str, x: Register) -> Register:
        """An instruction of one value, of its own type."""
        return self.value(f"{opcode} {x.full_type} {x.text}", x.type, x.lanes)

    def convert(self, opcode: str, x: Register, type: str) -> Register:
        """A conversion instruction (`zext`, `fptosi`, `bitcast`, ...) to another element type."""
        wanted = f"<{x.lanes} x {type}>" if x.lanes > 1 else type
        return self.value(f"{opcode} {x.full_type} {x.text} to {wanted}", type, x.lanes)

    def intrinsic(self, name: str, *operands: Register) -> Register:
        """One of LLVM's own functions, `llvm.<name>`, which takes and gives one type."""
        operands = tuple(self.alike(*operands))
        first = operands[0]
        suffix = {"float": "f32", "double": "f64"}.get(first.type, first.type)
        symbol = f"@llvm.{name}.{f'v{first.lanes}' if first.lanes > 1 else ''}{suffix}"
        return self.call(symbol, first.full_type, operands, first.type, first.lanes)

    def call(self, symbol: str, returns: str, operands: tuple[Register, ...], type: str, lanes: int) -> Register:
        """A call of a function without effects, declared here."""
        self.declarations[symbol] = f"declare {returns} {symbol}({', '.join(x.full_type for x in operands)}) #0"
        given = ", ".join(f"{x.full_type} {x.text}" for x in operands)
        return self.value(f"call {returns} {symbol}({given}) #0", type, lanes)

    def element(self, x: Register, index: int) -> Register:
        """One lane of a vector."""
        return self.value(f"extractelement {x.full_type} {x.text}, i64 {index}", x.type, 1)

    def part(self, x: Register, first: int, count: int) -> Register:
        """`count` neighbouring lanes."""
        if count == x.lanes:
            return x
        mask = ", ".join(f"i32 {i}" for i in range(first, first + count))
        return self.value(
            f"shufflevector {x.full_type} {x.text}, {x.full_type} poison, <{count} x i32> <{mask}>", x.type, count
        )

    def joined(self, parts: list[Register]) -> Register:
        """Vectors of equal lanes (a power of two of them) behind each other."""
        while len(parts) > 1:
            parts = [self._pair(a, b) for a, b in zip(parts[::2], parts[1::2])]
        return parts[0]

    def _pair(self, a: Register, b: Register) -> Register:
        lanes = 2 * a.lanes
        if a.lanes == 1:
            first = self.value(f"insertelement <2 x {a.type}> poison, {a.type} {a.text}, i64 0", a.type, 2)
            return self.value(f"insertelement <2 x {a.type}> {first.text}, {b.type} {b.text}, i64 1", a.type, 2)
        mask = ", ".join(f"i32 {i}" for i in range(lanes))
        return self.value(
            f"shufflevector {a.full_type} {a.text}, {b.full_type} {b.text}, <{lanes} x i32> <{mask}>", a.type, lanes
        )
