"""The data in a pickle, without unpickling: an interpreter for the part of pickle's language that only builds data.

Python's own unpickler calls what a file names. This one has no way to: it knows the instructions that make numbers,
strings, lists, tuples, dicts, and the five functions with which NumPy's arrays are pickled, which it replaces by its
own. Anything else is refused by name. Source: the instructions as `pickletools` of the standard library lists them.
"""

from __future__ import annotations

import io
import pickletools
import re
import warnings
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from ..core.errors import FileFormatError
from ..core.meta import numel

MAX_PROTOCOL = 4
MAX_DEPTH = 64
MAX_DIMS = 64
_NUMBERS = re.compile(r"[<>|=]?([?bBhHiIlLqQefdFD]|b1|[iu][1248]|f[248]|c8|c16)")
_KEYS = (str, int, float, type(None))
_MALFORMED = (ValueError, TypeError, LookupError, AttributeError, ArithmeticError, MemoryError, RecursionError)


def looks_pickled(start: bytes) -> bool:
    """Whether a file that starts so is a pickle of protocol 2 to 5."""
    return len(start) >= 2 and start[0] == 0x80 and 2 <= start[1] <= 5


def read_pickle(data: bytes, name: str) -> Any:
    """The plain object (dict, list, tuple, number, string, ndarray, ...) that a pickle describes.

    Raises FileFormatError for anything else; `name` is what to call the file in its message.
    """
    machine = _Machine()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about strange escapes in a damaged file
            for opcode, argument, _ in pickletools.genops(io.BytesIO(data)):
                machine.step(opcode.name, argument)
        return _finished(machine.result(), {}, 0)
    except FileFormatError as err:
        raise FileFormatError(f"{name} cannot be loaded: {err.message}", hint=err.hint) from None
    except _MALFORMED as err:  # every way in which instructions that make no sense can fail
        raise FileFormatError(f"{name} is cut short or damaged ({type(err).__name__}: {err})") from None


# --- what NumPy's pickles call ---------------------------------------------------------------------------------------


class _DType:
    """A dtype in the making: NumPy names it first and sets its byte order afterwards."""

    def __init__(self, spec: Any, align: Any = False, copy: Any = True) -> None:
        if not isinstance(spec, str) or not _NUMBERS.fullmatch(spec):
            raise FileFormatError(f"arrays of {spec!r} cannot be read, only numbers and booleans")
        self.np = np.dtype(spec)

    def build(self, state: Any) -> None:
        _, order, *rest = state
        if order not in ("<", ">", "|", "=") or any(part is not None for part in rest[:3]):
            raise FileFormatError("arrays of records cannot be read, only numbers and booleans")
        self.np = self.np.newbyteorder(order)


class _Array:
    """An array in the making: NumPy makes an empty one first and fills it afterwards."""

    def __init__(self, *ignored: Any) -> None:
        self.array: npt.NDArray[Any] | None = None

    def build(self, state: Any) -> None:
        _, shape, dtype, fortran, raw = state
        if isinstance(raw, str):  # as Python 2 wrote it
            raw = raw.encode("latin1")
        if not (isinstance(dtype, _DType) and isinstance(raw, bytes)) or not _is_shape(shape):
            raise FileFormatError("an array has no proper shape, dtype or data")
        if numel(shape) * dtype.np.itemsize != len(raw):
            raise FileFormatError(f"an array of {dtype.np}{list(shape)} has {len(raw)} bytes")
        found = np.frombuffer(raw, dtype.np).reshape(shape, order="F" if fortran else "C")
        self.array = found.astype(found.dtype.newbyteorder("="), order="C")


def _is_shape(shape: Any) -> bool:
    return isinstance(shape, tuple) and len(shape) <= MAX_DIMS and all(type(n) is int and n >= 0 for n in shape)


def _scalar(dtype: Any, raw: Any) -> Any:
    array = _Array()
    array.build((1, (), dtype, False, raw))
    return array.array[()] if array.array is not None else None


def _encode(text: str, encoding: str) -> bytes:
    if encoding not in ("latin1", "latin-1"):
        raise FileFormatError(f"it holds text in {encoding!r}")
    return text.encode("latin1")


def _complex(real: float, imag: float) -> complex:
    return complex(float(real), float(imag))


def _never(*args: Any) -> NoReturn:
    raise FileFormatError("it calls numpy.ndarray, which is only ever named")


@dataclass(frozen=True)
class _Function:
    """What stands for a function that a pickle names."""

    call: Callable[..., Any]


_FUNCTIONS: dict[tuple[str, str], _Function] = {
    ("collections", "OrderedDict"): _Function(lambda: OrderedDict()),
    ("_codecs", "encode"): _Function(_encode),
    ("numpy", "dtype"): _Function(_DType),
    ("numpy", "ndarray"): _Function(_never),
    **{
        (f"numpy.{core}.multiarray", name): function
        for core in ("core", "_core")
        for name, function in (("_reconstruct", _Function(_Array)), ("scalar", _Function(_scalar)))
    },
    **{
        (module, name): function
        for module in ("builtins", "__builtin__")
        for name, function in (
            ("tuple", _Function(lambda items: tuple(items))),
            ("complex", _Function(_complex)),
            ("bytes", _Function(lambda: b"")),
        )
    },
}


# --- the machine -----------------------------------------------------------------------------------------------------


class _Machine:
    """A stack, and what was on it below the last marks; one method or table row for each instruction."""

    def __init__(self) -> None:
        self.stack: list[Any] = []
        self.below: list[list[Any]] = []
        self.memo: dict[int, Any] = {}
        self.stopped = False

    def step(self, opcode: str, argument: Any) -> None:
        if opcode in _VALUES:
            self.stack.append(argument)
        elif opcode in _CONSTANTS:
            self.stack.append(_CONSTANTS[opcode]())
        else:
            action = _ACTIONS.get(opcode)
            if action is None:
                raise FileFormatError(
                    f"it contains more than arrays and plain data (pickle instruction {opcode})",
                    hint="save dicts, lists and tuples of arrays, numbers and strings",
                )
            action(self, argument)

    def result(self) -> Any:
        if not self.stopped or len(self.stack) != 1 or self.below:
            raise FileFormatError("it is cut short or damaged")
        return self.stack[0]

    def to_mark(self) -> list[Any]:
        """What was put on the stack since the last mark."""
        items, self.stack = self.stack, self.below.pop()
        return items

    def protocol(self, number: int) -> None:
        if number > MAX_PROTOCOL:
            raise FileFormatError(f"it has pickle protocol {number}, expected at most {MAX_PROTOCOL}")

    def stop(self, _: Any) -> None:
        self.stopped = True

    def mark(self, _: Any) -> None:
        self.below.append(self.stack)
        self.stack = []

    def join(self, count: int) -> None:
        """Make a tuple of the last `count` values."""
        start = len(self.stack) - count
        if start < 0:
            raise FileFormatError("it takes more values than it made")
        self.stack[start:] = [tuple(self.stack[start:])]

    def tuple(self, _: Any) -> None:
        items = tuple(self.to_mark())
        self.stack.append(items)

    def list(self, _: Any) -> None:
        items = self.to_mark()
        self.stack.append(items)

    def dict(self, _: Any) -> None:
        items = self.to_mark()
        self.stack.append({})
        self.fill(items)

    def append(self, _: Any) -> None:
        self.extend([self.stack.pop()])

    def appends(self, _: Any) -> None:
        self.extend(self.to_mark())

    def extend(self, items: Any) -> None:
        if type(self.stack[-1]) is not list:
            raise FileFormatError("it appends to what is no list")
        self.stack[-1].extend(items)

    def setitem(self, _: Any) -> None:
        value, key = self.stack.pop(), self.stack.pop()
        self.fill([key, value])

    def setitems(self, _: Any) -> None:
        self.fill(self.to_mark())

    def fill(self, items: Any) -> None:
        """Enter keys and values, in turn, into the dict on top of the stack."""
        target = self.stack[-1]
        if not isinstance(target, dict) or len(items) % 2:
            raise FileFormatError("it sets items of what is no dict")
        for key, value in zip(items[::2], items[1::2]):
            if not _is_key(key):
                raise FileFormatError(f"it has a dict with a {type(key).__name__} as key")
            target[key] = value

    def put(self, index: Any) -> None:
        self.memo[len(self.memo) if index is None else index] = self.stack[-1]

    def get(self, index: int) -> None:
        self.stack.append(self.memo[index])

    def named(self, name: str) -> None:
        self.function(*name.split(" ", 1))

    def stack_named(self, _: Any) -> None:
        name, module = self.stack.pop(), self.stack.pop()
        self.function(str(module), str(name))

    def function(self, module: str, name: str) -> None:
        found = _FUNCTIONS.get((module, name))
        if found is None:
            raise FileFormatError(
                f"it asks for {module}.{name}; only arrays and plain containers are loaded, never code",
                hint="in a process that trusts the file, load it and save a dict of NumPy arrays instead",
            )
        self.stack.append(found)

    def reduce(self, _: Any) -> None:
        arguments, function = self.stack.pop(), self.stack.pop()
        if not isinstance(function, _Function) or type(arguments) is not tuple:
            raise FileFormatError("it calls what is no function")
        self.stack.append(function.call(*arguments))

    def build(self, _: Any) -> None:
        state = self.stack.pop()
        if not isinstance(self.stack[-1], (_DType, _Array)):
            raise FileFormatError(f"it sets the state of a {type(self.stack[-1]).__name__}")
        self.stack[-1].build(state)


def _is_key(key: Any) -> bool:
    # Tuples of plain keys only: hashing tuples of tuples of the same tuple can take for ever.
    return isinstance(key, _KEYS) or (type(key) is tuple and all(isinstance(item, _KEYS) for item in key))


# Instructions that put their argument on the stack.
_NUMERALS = frozenset({"INT", "BININT", "BININT1", "BININT2", "LONG", "LONG1", "LONG4", "FLOAT", "BINFLOAT"})
_STRINGS = frozenset({"STRING", "BINSTRING", "SHORT_BINSTRING", "BINBYTES", "SHORT_BINBYTES", "BINBYTES8"})
_TEXTS = frozenset({"UNICODE", "BINUNICODE", "SHORT_BINUNICODE", "BINUNICODE8"})
_VALUES = _NUMERALS | _STRINGS | _TEXTS
_CONSTANTS: dict[str, Callable[[], Any]] = {
    "NONE": lambda: None,
    "NEWTRUE": lambda: True,
    "NEWFALSE": lambda: False,
    "EMPTY_LIST": list,
    "EMPTY_TUPLE": tuple,
    "EMPTY_DICT": dict,
}
_ACTIONS: dict[str, Callable[[_Machine, Any], None]] = {
    "PROTO": _Machine.protocol,
    "FRAME": lambda machine, argument: None,
    "STOP": _Machine.stop,
    "MARK": _Machine.mark,
    "TUPLE": _Machine.tuple,
    "TUPLE1": lambda machine, argument: machine.join(1),
    "TUPLE2": lambda machine, argument: machine.join(2),
    "TUPLE3": lambda machine, argument: machine.join(3),
    "LIST": _Machine.list,
    "DICT": _Machine.dict,
    "APPEND": _Machine.append,
    "APPENDS": _Machine.appends,
    "SETITEM": _Machine.setitem,
    "SETITEMS": _Machine.setitems,
    **dict.fromkeys(("PUT", "BINPUT", "LONG_BINPUT", "MEMOIZE"), _Machine.put),
    **dict.fromkeys(("GET", "BINGET", "LONG_BINGET"), _Machine.get),
    "GLOBAL": _Machine.named,
    "STACK_GLOBAL": _Machine.stack_named,
    "REDUCE": _Machine.reduce,
    "BUILD": _Machine.build,
}


# --- what was built --------------------------------------------------------------------------------------------------


def _finished(value: Any, done: dict[int, Any], depth: int) -> Any:
    """`value` with arrays in place of what stood for them; objects that occur twice stay one object."""
    if depth > MAX_DEPTH:
        raise FileFormatError(f"it is nested deeper than {MAX_DEPTH} levels, or contains itself")
    if id(value) in done:
        return done[id(value)]
    if isinstance(value, _Array) and value.array is not None:
        return value.array
    if isinstance(value, (_Array, _DType, _Function)):
        raise FileFormatError("it holds an array without data, or a function")
    found = value
    if isinstance(value, dict):
        found = type(value)((key, _finished(item, done, depth + 1)) for key, item in value.items())
    elif isinstance(value, (list, tuple)):
        found = type(value)(_finished(item, done, depth + 1) for item in value)
    done[id(value)] = found
    return found
