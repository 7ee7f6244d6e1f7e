"""Eager operators of one or two small operands as machine code: what the eager engine does for them, without Python.

`ptr operator(ptr %self, ptr %x, ptr %y, ptr %original, i32 %kind)` asks what the engine asks: which modes are on, what
the operands are; calls NumPy's own inner loop, makes the result, and its node of the tape when a gradient is wanted.
Whatever is otherwise than the most frequent case is left to Python, from the beginning: until the result is there,
nothing was changed. So is a result that raised a flag of floating point, which NumPy may have to report.

The kind ALONE says that x is the only operand; y, which may be null, is then what else Python's method is given. With
the kind UNDONE what is left to Python gives null without an exception. Other kinds are handed on to `original`, which
is called instead of Python's methods where it is not null.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from .llvm import host
from .objects import ALIGNED, CONTIGUOUS, DIMS, STRIDES, TYPE, Builtin
from .operator_table import (
    BITS,
    DTYPE,
    FIRST_ROW,
    FUNCTION,
    KEPT,
    LOOP_DATA,
    MOST_KEPT,
    NUMBER,
    RESULT,
    RESULT_SIZE,
    ROW,
    ROWS,
    SIZE,
    Classes,
    Modes,
    Number,
    Role,
)

PARAMETERS = ("ptr %self", "ptr %x", "ptr %y", "ptr %original", "i32 %kind")
ALONE, UNDONE = -1, -2
LARGEST = 4096
"""Elements of a result: what has more takes so long that Python's lock should be free meanwhile, as NumPy sees to."""
# Flags of floating point that NumPy looks at: an invalid operation, division by zero, overflow, underflow.
_RAISED = {True: 0x1D, False: 0xF}
_LARGEST_FLOAT, _INFINITY = "0x47EFFFFFE0000000", "0x7FF0000000000000"
# Integers up to here are floats.
_EXACT = {Number.FLOAT: 1 << 24, Number.DOUBLE: 1 << 53}


@dataclass(frozen=True)
class Operand:
    """One operand: the object, whether it is a tensor, and variables for its array and its elements.

    It is spread where all elements lie at one place, as of the gradient that a sum gives.
    """

    object: str
    is_tensor: str
    wants: str
    data: str
    number: str
    ndim: str
    dims: str
    count: str
    is_spread: str


class OperatorCall(Builtin):
    """The function in the making. `roles` says at which places of a holder what differs between operators lies."""

    def __init__(self, classes: Classes, modes: Modes) -> None:
        super().__init__("operator", PARAMETERS)
        self.classes, self.modes = classes, modes
        self.python, self.failed = self.fresh_label(), self.fresh_label()
        self.is_alone = self.same("%kind", str(ALONE), "i32")
        # New references that are given up where Python takes over, or where there is no memory.
        self.array, self.result = self.variable("ptr", "null"), self.variable("ptr", "null")

    # -- the ways out -----------------------------------------------------------------------------------------------

    def need(self, *conditions: str) -> None:
        """Leave the call to Python unless all of these hold."""
        for condition in conditions:
            self._or(condition, self.python)

    def need_memory(self, x: str) -> str:
        """x, a new reference; return null, with the exception that is set, if it is null."""
        self._or(self.value(f"icmp ne ptr {x}, null"), self.failed)
        return x

    def _or(self, condition: str, otherwise: str) -> None:
        then = self.fresh_label()
        self.jump(condition, then, otherwise)
        self.label(then)

    def truth(self, x: str) -> str:
        """Whether x is True; what is neither True nor False is left to Python."""
        is_true = self.same(x, self.held(True))
        self.need(self.value(f"or i1 {is_true}, {self.same(x, self.held(False))}"))
        return is_true

    def read(self, variable: str, type: str = "i64") -> str:
        """What a variable holds."""
        return self.load(variable, 0, type)

    def either(self, condition: str, x: object, y: object, type: str = "i64") -> str:
        """x where the condition holds, else y."""
        return self.value(f"select i1 {condition}, {type} {x}, {type} {y}")

    def count_object(self, n: str) -> str:
        """A new int."""
        return self.need_memory(self.capi("PyLong_FromLongLong", n))

    @property
    def numbers(self) -> str:
        """The operator's words."""
        return self.data(self.held(Role.NUMBERS))

    # -- modes ------------------------------------------------------------------------------------------------------

    def need_plain_modes(self) -> None:
        """Leave the call to Python where programs are built, dtypes are cast by auto_cast, operators are watched."""
        watch = self.held(self.modes.watch)
        self.need(self.same(self.slot(watch, type(self.modes.watch), "on"), self.held(False)))
        for variable in self.modes.unset:
            self.need(self.context_is(variable, None))

    # -- operands ---------------------------------------------------------------------------------------------------

    def operand(self, x: str, dtype: str) -> Operand:
        """x, looked at: its array is plain and of the dtype that was found, or becomes what was."""
        kind = self.field(x, TYPE)
        is_tensor = self.same(kind, self.held(self.classes.tensors[0]))
        for other in self.classes.tensors[1:]:
            is_tensor = self.value(f"or i1 {is_tensor}, {self.same(kind, self.held(other))}")
        number = self.variable("i64", 0)
        found = Operand(
            x, is_tensor, self.variable("i1", "false"), self.variable("ptr", number), number, self.variable("i64", 0),
            self.variable("ptr", "null"), self.variable("i64", 1), self.variable("i1", "false"),
        )  # fmt: skip
        with self.when(is_tensor):
            self._read_array(found, dtype)
        return found

    def _read_array(self, x: Operand, dtype: str) -> None:
        tensor = self.classes.tensors[0]
        array = self.slot(x.object, tensor, "_data")
        self.need(self.value(f"icmp ne ptr {array}, null"))
        self.need(self.is_instance(array, np.ndarray), self.has_flags(array, ALIGNED))
        stops = self.truth(self.slot(x.object, tensor, "stop_gradient"))
        self.store(self.value(f"xor i1 {stops}, true"), x.wants, 0, "i1", 1)
        descr, before = self.descr(array), self.read(dtype, "ptr")
        is_first = self.same(before, "null")
        self.need(self.value(f"or i1 {is_first}, {self.same(before, descr)}"))
        self.store(descr, dtype, 0, "ptr")
        ndim, dims = self.value(f"zext i32 {self.ndim(array)} to i64"), self.field(array, DIMS)
        self.store(self.data(array), x.data, 0, "ptr")
        self.store(ndim, x.ndim)
        self.store(dims, x.dims, 0, "ptr")
        with self.loop(ndim) as d:
            self.store(self.times(self.read(x.count), self.load(dims, d)), x.count)
        with self.unless(self.has_flags(array, CONTIGUOUS)):
            self.store("true", x.is_spread, 0, "i1", 1)
            strides = self.field(array, STRIDES)
            with self.loop(ndim) as d:
                self.need(self.same(self.load(strides, d), "0", "i64"))

    def row_of(self, dtype: str) -> str:
        """Where the operator's row for this dtype lies."""
        words = self.numbers
        at = self.variable("ptr", self.at(words, FIRST_ROW))
        end = self.at(words, self.add(FIRST_ROW, self.times(self.load(words, ROWS), ROW)))
        test, found, other = (self.fresh_label() for _ in range(3))
        self.label(test)
        row = self.read(at, "ptr")
        self.need(self.value(f"icmp ne ptr {row}, {end}"))
        self.jump(self.same(self.load(row, DTYPE, "ptr"), dtype), found, other)
        self.label(other)
        self.store(self.at(row, ROW), at, 0, "ptr")
        self.line(f"br label %{test}")
        self._lines.append(f"{found}:")
        return row

    def need_number(self, x: Operand, row: str) -> None:
        """Write the Python number x as an element of the row's dtype, where it is one exactly."""
        kind, wanted = self.field(x.object, TYPE), self.load(row, NUMBER)
        done = self.fresh_label()
        with self.when(self.same(kind, self.held(float))):
            value = self.capi("PyFloat_AsDouble", x.object)
            with self.chosen(wanted, Number.FLOAT, done):
                size = self.value(f"call double @llvm.fabs.f64(double {value})")
                small = self.value(f"fcmp ole double {size}, {_LARGEST_FLOAT}")
                special = self.value(f"fcmp ueq double {size}, {_INFINITY}")
                self.need(self.value(f"or i1 {small}, {special}"))
                self.store(self.value(f"fptrunc double {value} to float"), x.number, 0, "float", 4)
            with self.chosen(wanted, Number.DOUBLE, done):
                self.store(value, x.number, 0, "double")
            self.need("false")
        self.need(self.same(kind, self.held(int)))
        self._need_integer(x, wanted, done)
        self.label(done)

    def _need_integer(self, x: Operand, wanted: str, done: str) -> None:
        n = self.capi("PyLong_AsLongLong", x.object)
        fails = self.value(f"icmp ne ptr {self.capi('PyErr_Occurred')}, null")
        with self.when(fails):
            self.capi("PyErr_Clear")
            self.need("false")
        for number, type in ((Number.FLOAT, "float"), (Number.DOUBLE, "double")):
            with self.chosen(wanted, number, done):
                self._need_below(n, _EXACT[number])
                self.store(self.value(f"sitofp i64 {n} to {type}"), x.number, 0, type, 4)
        with self.chosen(wanted, Number.I32, done):
            self._need_below(n, (1 << 31) - 1)
            self.store(self.value(f"trunc i64 {n} to i32"), x.number, 0, "i32", 4)
        with self.chosen(wanted, Number.I64, done):
            self.store(n, x.number)
        self.need("false")

    def _need_below(self, n: str, largest: int) -> None:
        self.need(self.value(f"icmp ule i64 {self.add(n, largest)}, {2 * largest}"))

    @contextmanager
    def chosen(self, wanted: str, number: Number, done: str) -> Iterator[None]:
        """A block for where numbers become this, which goes on at `done`."""
        with self.when(self.same(wanted, str(number.value), "i64")):
            yield
            self.line(f"br label %{done}")
            self._lines.append(f"{self.fresh_label()}:")

    # -- the result -------------------------------------------------------------------------------------------------

    def is_covered(self, big: Operand, small: Operand) -> str:
        """A variable that says whether the result has the shape of `big`: the other one's are its last sizes, or 1."""
        found, end, shapes = self.variable("i1", "false"), self.fresh_label(), self.fresh_label()
        more = self.value(f"sub i64 {self.read(big.ndim)}, {self.read(small.ndim)}")
        self._or(self.value(f"icmp sge i64 {more}, 0"), end)
        self.store("true", found, 0, "i1", 1)
        self.jump(self.same(self.read(small.count), "1", "i64"), end, shapes)
        self.label(shapes)
        with self.loop(self.read(small.ndim)) as d:
            mine = self.load(self.read(small.dims, "ptr"), d)
            theirs = self.load(self.read(big.dims, "ptr"), self.add(d, more))
            with self.unless(self.same(mine, theirs, "i64")):
                self.store("false", found, 0, "i1", 1)
        self.label(end)
        return found

    def compute(self, x: Operand, y: Operand, row: str) -> None:
        """Make the array of results, filled, or leave the call to Python."""
        first = self.read(self.is_covered(x, y), "i1")
        self.need(self.value(f"or i1 {first}, {self.read(self.is_covered(y, x), 'i1')}"))
        ndim, count, least = (
            self.either(first, self.read(a), self.read(b))
            for a, b in ((x.ndim, y.ndim), (x.count, y.count), (y.count, x.count))
        )
        dims = self.either(first, self.read(x.dims, "ptr"), self.read(y.dims, "ptr"), "ptr")
        self.need(self.value(f"icmp ult i64 {self.add(count, -1)}, {LARGEST}"))
        short = self.value(f"trunc i64 {ndim} to i32")
        made = self.new_array(self.load(row, RESULT, "ptr"), short, dims)
        with self.when(self.same(made, "null")):
            self.capi("PyErr_Clear")
            self.need("false")
        self.store(made, self.array, 0, "ptr")
        is_one = self.same(least, "1", "i64")
        inner = self.either(is_one, count, least)
        size, steps, leaps = self.load(row, SIZE), [], []
        for operand, big in ((x, first), (y, self.value(f"xor i1 {first}, true"))):
            step = self.either(self.read(operand.is_spread, "i1"), 0, size)
            steps.append(self.either(big, step, self.either(is_one, 0, step)))
            leaps.append(self.either(big, self.times(inner, step), 0))
        self._run(row, (x, y), made, inner, self.value(f"udiv i64 {count}, {inner}"), steps, leaps)

    def _run(
        self, row: str, operands: Sequence[Operand], made: str, inner: str, outer: str, steps: Sequence[str],
        leaps: Sequence[str],
    ) -> None:  # fmt: skip
        """Call the inner loop as often as the smaller operand goes into the larger; leave reports of NumPy's to it."""
        raised = _RAISED[host().is_x86]
        with self.unless(self.same(self.capi("fetestexcept", raised), "0", "i32")):
            self.capi("feclearexcept", raised)
        size = self.load(row, RESULT_SIZE)
        leap = self.times(inner, size)
        steps = [steps[0], self.either(self.is_alone, size, steps[1]), size]
        leaps = [leaps[0], self.either(self.is_alone, leap, leaps[1]), leap]
        pointers, sizes, strides = self.space("[3 x ptr]"), self.variable("i64", inner), self.space("[3 x i64]")
        for k, step in enumerate(steps):
            self.store(step, strides, k)
        out = self.data(made)
        first, second = (self.read(o.data, "ptr") for o in operands)
        starts = first, self.either(self.is_alone, out, second, "ptr"), out
        function, given = self.load(row, FUNCTION, "ptr"), self.load(row, LOOP_DATA, "ptr")
        with self.loop(outer) as i:
            for k, (start, leap) in enumerate(zip(starts, leaps)):
                self.store(self.at(start, self.times(i, leap), "i8"), pointers, k, "ptr")
            self.line(f"call void {function}(ptr {pointers}, ptr {sizes}, ptr {strides}, ptr {given})")
        self.need(self.same(self.capi("fetestexcept", raised), "0", "i32"))

    def wrap(self) -> str:
        """A tensor around the array, which owns it: a leaf that stops gradients."""
        kind = self.classes.tensors[0]
        made = self.need_memory(self.new_object(kind))
        self.store(made, self.result, 0, "ptr")
        self.set_slot(made, kind, "_data", self.read(self.array, "ptr"))
        for name, value in (("stop_gradient", True), ("_index", 0), *[(n, None) for n in _EMPTY]):
            self.set_slot(made, kind, name, self.held(value))
        return made

    # -- the end ----------------------------------------------------------------------------------------------------

    def finish(self) -> None:
        """What all ways end in."""
        result = self.read(self.result, "ptr")
        self.decref(self.read(self.array, "ptr"))
        self.leave(f"ptr {result}")
        self.label(self.failed)
        self.decref(self.read(self.array, "ptr"))
        self.decref(self.read(self.result, "ptr"))
        self.leave("ptr null")
        self.label(self.python)
        self.decref(self.read(self.array, "ptr"))
        with self.when(self.same("%kind", str(UNDONE), "i32")):
            self.leave("ptr null")
        with self.unless(self.same("%original", "null")):
            self.leave(f"ptr {self.call('ptr', '%original', 'ptr %x', 'ptr %y', 'i32 %kind')}")
        call_methods(self, self.classes.tensors[0])


_EMPTY = ("_node", "_grad", "_cell", "_hooks")


def call_methods(w: Builtin, tensor: type) -> None:
    """Return what Python's method of x gives, or where x is no tensor the reflected one of y. y may be null."""
    given = w.space("[2 x ptr]")
    is_tensor = w.capi("PyType_IsSubtype", w.field("%x", TYPE), w.held(tensor))
    count = w.value(f"select i1 {w.same('%y', 'null')}, i64 1, i64 2")
    ways = (Role.FORWARD, "ne", "%x", "%y"), (Role.REFLECTED, "eq", "%y", "%x")
    for role, condition, first, second in ways:
        with w.when(w.value(f"icmp {condition} i32 {is_tensor}, 0")):
            w.store(first, given, 0, "ptr")
            w.store(second, given, 1, "ptr")
            w.leave(f"ptr {w.capi('PyObject_VectorcallDict', w.held(role), given, count, 'null')}")
    w.leave("ptr null")


def kept_words(w: OperatorCall, mask: str) -> str:
    """Where the words lie that say what is kept for this set of operands that want cotangents."""
    return w.at(w.numbers, w.add(KEPT, w.times(mask, 1 + MOST_KEPT)))


def wanted(w: OperatorCall, x: Operand, y: Operand) -> str:
    """The set of operands that want cotangents, as a number; 0 where no gradients are recorded."""
    mask = w.variable("i64", 0)
    for i, operand in enumerate((x, y)):
        bit = w.either(w.read(operand.wants, "i1"), w.load(w.numbers, BITS + i), 0)
        w.store(w.value(f"or i64 {w.read(mask)}, {bit}"), mask)
    with w.unless(w.same(w.read(mask), "0", "i64")):
        on = w.context_value(w.modes.gradient)
        w.decref(on)  # the variable, or its default, still holds it
        w.store(w.either(w.truth(on), w.read(mask), 0), mask)
        with w.unless(w.same(w.load(kept_words(w, w.read(mask))), "0", "i64")):
            w.need(w.context_is(w.modes.unset_where_kept, None))
    return w.read(mask)


def holder(kept: Sequence[Any], roles: Mapping[Role, Any]) -> tuple[Any, ...]:
    """The objects that the function works with for one operator."""
    return tuple([roles[k] if isinstance(k, Role) else k for k in kept])


__all__ = ["OperatorCall", "holder", "kept_words", "wanted"]
