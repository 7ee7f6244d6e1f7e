"""Built-in functions of Python's as machine code: what reads, makes and counts references to objects.

A `Builtin` is one such function in the making. It is written with Python's C interface: functions by their names, and
fields of objects where these have them; `layout_is_known` and `offset_of` ask once, of examples, whether they do. The
function holds a tuple of the objects that it works with, so its text, and the code made of it, is the same for all
functions that do the same with others.
"""

from __future__ import annotations

import ctypes
import functools
import sysconfig
from collections.abc import Callable, Iterable, Sequence
from types import MemberDescriptorType
from typing import Any

import numpy as np

from ..core.cache import BoundedCache
from ..core.lazy import lazy_module
from .errors import NoNativeForm
from .llvm import define, host
from .native import loaded
from .writer import Writer

_umath = lazy_module("numpy._core._multiarray_umath")
# Fields of arrays and tuples: offsets in bytes.
TYPE, DATA, NDIM, DIMS, STRIDES, DESCR, FLAGS = 8, 16, 24, 32, 40, 56, 64
SIZE, ITEMS, LIST_ITEMS = 16, 24, 24  # of tuples: the items themselves, of lists: where they are
ALIGNED = 0x100
WRITABLE = ALIGNED | 0x400
CONTIGUOUS = 0x1
# Places in the table of NumPy's array interface, the same since NumPy 1.
NEW_FROM_DESCR, ARRAY_TYPE_AT = 94, 2

PARAMETERS = ("ptr %self", "ptr %arguments", "i64 %count", "ptr %names")
"""What Python gives a built-in function: METH_FASTCALL | METH_KEYWORDS."""
SIGNATURES = {
    "PyArray_NewFromDescr": "ptr (ptr, ptr, i32, ptr, ptr, ptr, i32, ptr)",
    "PyCell_Get": "ptr (ptr)",
    "PyContextVar_Get": "i32 (ptr, ptr, ptr)",
    "PyDict_GetItemWithError": "ptr (ptr, ptr)",
    "PyErr_Clear": "void ()",
    "PyErr_ExceptionMatches": "i32 (ptr)",
    "PyErr_Fetch": "void (ptr, ptr, ptr)",
    "PyErr_Occurred": "ptr ()",
    "PyErr_Restore": "void (ptr, ptr, ptr)",
    "PyFloat_AsDouble": "double (ptr)",
    "PyFunction_GetCode": "ptr (ptr)",
    "PyFunction_GetDefaults": "ptr (ptr)",
    "PyList_New": "ptr (i64)",
    "PyLong_AsLongLong": "i64 (ptr)",
    "PyLong_FromLongLong": "ptr (i64)",
    "PyObject_GetAttr": "ptr (ptr, ptr)",
    "PyObject_IsTrue": "i32 (ptr)",
    "PyObject_Vectorcall": "ptr (ptr, ptr, i64, ptr)",
    "PyObject_VectorcallDict": "ptr (ptr, ptr, i64, ptr)",
    "PyTuple_New": "ptr (i64)",
    "PyType_GenericAlloc": "ptr (ptr, i64)",
    "PyType_IsSubtype": "i32 (ptr, ptr)",
    "_PyType_Lookup": "ptr (ptr, ptr)",
    "Py_DecRef": "void (ptr)",
    "Py_IncRef": "void (ptr)",
    "feclearexcept": "i32 (i32)",
    "fetestexcept": "i32 (i32)",
    "free": "void (ptr)",
    "malloc": "ptr (i64)",
}
"""The functions of Python's, NumPy's and C's that machine code calls by name."""


class Builtin(Writer):
    """`ptr name(ptr %self, ptr %arguments, i64 %count, ptr %names)`, or a function with other parameters after %self.

    Registers stand for borrowed references unless a method says otherwise. What calls end in is written with `give`
    (a new reference), or with `leave`.
    """

    def __init__(self, name: str = "call", parameters: Sequence[str] = PARAMETERS) -> None:
        super().__init__("ptr", name, parameters)
        self.name = name
        self.kept: list[Any] = []
        self._places: dict[int, int] = {}
        self._declared: dict[str, str] = {}
        self._constants: dict[tuple[int, ...], str] = {}

    # -- functions --------------------------------------------------------------------------------------------------

    def capi(self, name: str, *arguments: object) -> str:
        """A call of one of `SIGNATURES`, or of a function that was `declared`."""
        returns, takes = SIGNATURES[name].split(" ", 1)
        types = [t for t in takes.strip("()").split(", ") if t]
        self._declared[name] = f"declare {returns} @{name}({', '.join(types)})"
        return self.call(returns, f"@{name}", *[f"{t} {a}" for t, a in zip(types, arguments, strict=True)])

    def own(self, name: str, returns: str, *arguments: str) -> str:
        """A call of a function of our own, whose address `define` was told; its arguments come with their types."""
        types = ", ".join(a.rsplit(" ", 1)[0] for a in arguments)
        self._declared[name] = f"declare {returns} @{name}({types})"
        return self.call(returns, f"@{name}", *arguments)

    def constant(self, words: Sequence[int]) -> str:
        """The address of words that never change; null for none."""
        found = self._constants.setdefault(tuple(words), f"@{self.name}.words{len(self._constants)}")
        return found if words else "null"

    # -- references -------------------------------------------------------------------------------------------------

    def held(self, value: Any) -> str:
        """An object that the function holds on to."""
        place = self._places.get(id(value))
        if place is None:
            place = self._places[id(value)] = len(self.kept)
            self.kept.append(value)
        return self.field("%self", ITEMS + 8 * place)

    def incref(self, x: str) -> None:
        """One more reference to x."""
        self.capi("Py_IncRef", x)

    def decref(self, x: str) -> None:
        """One reference less to x, which may be null."""
        self.capi("Py_DecRef", x)

    def give(self, x: str) -> None:
        """Return x, a borrowed reference; what follows is reached from elsewhere only."""
        self.incref(x)
        self.leave(f"ptr {x}")

    def unless(self, condition: str, *others: str) -> Any:
        """A block for where one of these conditions does not hold."""
        for other in others:
            condition = self.value(f"and i1 {condition}, {other}")
        return self.when(self.value(f"xor i1 {condition}, true"))

    # -- fields -----------------------------------------------------------------------------------------------------

    def field(self, holder: str, offset: int, type: str = "ptr") -> str:
        """What lies so many bytes behind the beginning of an object."""
        return self.load(self.at(holder, offset, "i8"), 0, type, 4 if type == "i32" else 8)

    def set_field(self, holder: str, offset: int, value: str, type: str = "ptr") -> None:
        """Write a field. A reference becomes the object's own; what was there before is not given up."""
        self.store(value, self.at(holder, offset, "i8"), 0, type, 4 if type == "i32" else 8)

    def slot(self, holder: str, kind: type, name: str) -> str:
        """What an object of this class holds in a slot; null if nothing."""
        return self.field(holder, offset_of(kind, name))

    def set_slot(self, holder: str, kind: type, name: str, value: str) -> None:
        """Fill an empty slot with one more reference to the value."""
        self.incref(value)
        self.set_field(holder, offset_of(kind, name), value)

    def item(self, tuple: str, index: int) -> str:
        """An item of a tuple."""
        return self.field(tuple, ITEMS + 8 * index)

    def argument(self, index: int) -> str:
        """A positional argument."""
        return self.load("%arguments", index, "ptr")

    # -- conditions -------------------------------------------------------------------------------------------------

    def same(self, x: str, y: str, type: str = "ptr") -> str:
        """Whether two values are equal, objects: the same."""
        return self.value(f"icmp eq {type} {x}, {y}")

    def is_instance(self, x: str, kind: type) -> str:
        """Whether x is of exactly this class."""
        return self.same(self.field(x, TYPE), self.held(kind))

    # -- arrays -----------------------------------------------------------------------------------------------------

    def data(self, array: str) -> str:
        """The address of the first element."""
        return self.field(array, DATA)

    def ndim(self, array: str) -> str:
        """How many dimensions there are, as i32."""
        return self.field(array, NDIM, "i32")

    def size(self, array: str, dim: int) -> str:
        """The size of a dimension, which must be there."""
        return self.load(self.field(array, DIMS), dim)

    def stride(self, array: str, dim: int) -> str:
        """The bytes between neighbours in a dimension, which must be there."""
        return self.load(self.field(array, STRIDES), dim)

    def descr(self, array: str) -> str:
        """NumPy's dtype."""
        return self.field(array, DESCR)

    def has_flags(self, array: str, flags: int) -> str:
        """Whether an array has all of these flags."""
        found = self.value(f"and i32 {self.field(array, FLAGS, 'i32')}, {flags}")
        return self.same(found, str(flags), "i32")

    def new_array(self, dtype: str, ndim: object, dims: str) -> str:
        """A new array, a new reference to it; null with an exception set where there is no memory."""
        self.incref(dtype)
        kind = self.held(np.ndarray)
        return self.capi("PyArray_NewFromDescr", kind, dtype, ndim, dims, "null", "null", 0, "null")

    def new_object(self, kind: type) -> str:
        """A new object of a class written in Python, slots empty: a new reference; null where there is no memory."""
        return self.capi("PyType_GenericAlloc", self.held(kind), 0)

    def new_tuple(self, items: Sequence[str]) -> str:
        """A new tuple of these objects, or null where there is no memory."""
        return self._filled("PyTuple_New", items)

    def new_list(self, items: Sequence[str]) -> str:
        """A new list of these objects, or null where there is no memory."""
        return self._filled("PyList_New", items)

    def _filled(self, new: str, items: Sequence[str]) -> str:
        for item in items:  # first, as making objects may run code that gives them up
            self.incref(item)
        made = self.capi(new, len(items))
        with self.when(self.value(f"icmp ne ptr {made}, null")):
            first = self.at(made, ITEMS, "i8") if new == "PyTuple_New" else self.field(made, LIST_ITEMS)
            for i, item in enumerate(items):
                self.store(item, first, i, "ptr")
        with self.when(self.same(made, "null")):
            for item in items:
                self.decref(item)
        return made

    # -- modes ------------------------------------------------------------------------------------------------------

    def context_value(self, variable: Any) -> str:
        """What a ContextVar holds here: a new reference, null with an exception set where it holds nothing."""
        space = self.variable("ptr", "null")
        self.capi("PyContextVar_Get", self.held(variable), "null", space)
        return self.value(f"load ptr, ptr {space}")

    def context_is(self, variable: Any, value: Any) -> str:
        """Whether a ContextVar with a default holds the very object `value` here."""
        found = self.context_value(variable)
        same = self.same(found, self.held(value))
        self.decref(found)
        return same

    # -- the function -----------------------------------------------------------------------------------------------

    @property
    def text(self) -> str:
        """The function as LLVM reads it: behind what it ends in nothing is reached."""
        return super().text[: -len("}")] + "unreachable\n}"

    @property
    def module(self) -> str:
        """The function with all that it refers to."""
        words = [
            f"{name} = private unnamed_addr constant [{len(c)} x i64] [{', '.join(f'i64 {n}' for n in c)}], align 8"
            for c, name in self._constants.items()
            if c
        ]
        return "\n\n".join([*words, self.text, *self._declared.values()])

    def made(self) -> Callable[..., Any]:
        """The built-in function, compiled unless an equal one was before. Raises NoNativeForm."""
        return function_at(self.address(), self.kept)

    def address(self) -> int:
        """Where its code is in memory."""
        if not layout_is_known():
            raise NoNativeForm("objects of this Python lie in memory otherwise")
        missing = [name for name in self._declared if name in SIGNATURES and not address_of(name)]
        if missing:
            raise NoNativeForm(f"this Python has no {', '.join(missing)}")
        text = self.module
        return _CODE.get_or_build(text, lambda: _compiled(text, self.name))


_CODE: BoundedCache[str, int] = BoundedCache("built-in functions", limit=4096)


def _compiled(text: str, name: str) -> int:
    _define_all()
    return loaded(text, (name,)).addresses[name]


@functools.lru_cache(maxsize=1)
def _define_all() -> None:
    """Tell the compiler where the functions of `SIGNATURES` are."""
    host()
    define({name: address_of(name) for name in SIGNATURES if address_of(name)})


_VECTORCALL, _OWN_VECTORCALL = "PyObject_Vectorcall", "vitrify_vectorcall"


def _vectorcall() -> str:
    """A function that Python exports since 3.11, by way of those that Python 3.10 has."""
    names = ("PyObject_VectorcallDict", "_PyStack_AsDict")
    define({name: address_of(name) for name in names})
    w = Builtin(_OWN_VECTORCALL)
    by_name = w.reference()
    with w.when(w.value("icmp ne ptr %names, null")):
        found = w.call("ptr", f"@{names[1]}", f"ptr {w.at('%arguments', '%count', 'ptr')}", "ptr %names")
        with w.when(w.same(found, "null")):
            w.leave("ptr null")
        w.line(f"store ptr {found}, ptr {by_name}")
    found = w.value(f"load ptr, ptr {by_name}")
    result = w.call("ptr", f"@{names[0]}", "ptr %self", "ptr %arguments", "i64 %count", f"ptr {found}")
    w.decref(found)
    w.leave(f"ptr {result}")
    return f"{w.module}\ndeclare ptr @{names[0]}(ptr, ptr, i64, ptr)\ndeclare ptr @{names[1]}(ptr, ptr)"


@functools.cache
def address_of(name: str) -> int:
    """The address of a function of Python's, NumPy's or C's; 0 where there is none, as of what older Pythons inline."""
    if name == "PyArray_NewFromDescr":
        return int(array_interface()[NEW_FROM_DESCR])
    source = ctypes.pythonapi if name.startswith(("Py", "_Py")) else ctypes.CDLL(None)
    function = getattr(source, name, None)
    if function is None and name == _VECTORCALL:
        return loaded(_vectorcall(), (_OWN_VECTORCALL,)).addresses[_OWN_VECTORCALL]
    return 0 if function is None else ctypes.cast(function, ctypes.c_void_p).value or 0


@functools.lru_cache(maxsize=1)
def array_interface() -> Any:
    """NumPy's table of functions and types for arrays."""
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return ctypes.cast(pointer(_umath._ARRAY_API, None), ctypes.POINTER(ctypes.c_void_p))


class _MethodDef(ctypes.Structure):
    """PyMethodDef."""

    _fields_ = (
        ("name", ctypes.c_char_p), ("function", ctypes.c_void_p), ("flags", ctypes.c_int), ("doc", ctypes.c_char_p)
    )  # fmt: skip


FASTCALL, KEYWORDS = 0x80, 0x2


@functools.cache
def method_at(address: int, flags: int = FASTCALL | KEYWORDS, name: bytes = b"compiled") -> _MethodDef:
    """What Python knows of the function at this address. It lives as long as the process, as does the code, for
    built-in functions look at it when they go: some do so after the modules have gone, and this cache with them.
    """
    made = _MethodDef(name, address, flags, b"machine code")
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(made))
    return made


def bound(method: _MethodDef, holder: Any) -> Callable[..., Any]:
    """A built-in function whose `self` is the holder, which it keeps alive."""
    make = ctypes.pythonapi.PyCFunction_NewEx
    make.restype, make.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p]
    found: Callable[..., Any] = make(ctypes.addressof(method), holder, None)
    return found


def function_at(address: int, kept: Iterable[Any]) -> Callable[..., Any]:
    """The built-in function with this code, which works with these objects."""
    return bound(method_at(address), tuple(kept))


# -- how objects lie in memory ----------------------------------------------------------------------------------------


def _word(at: int, offset: int) -> int:
    return ctypes.c_int64.from_address(at + offset).value


@functools.lru_cache(maxsize=1)
def layout_is_known() -> bool:
    """Whether arrays and tuples lie in memory as the generated code reads them: asked of an example."""
    if sysconfig.get_config_var("Py_GIL_DISABLED") or ctypes.sizeof(ctypes.c_void_p) != 8:
        return False
    array = np.arange(6, dtype=np.float32).reshape(2, 3)[:, ::2]
    here, one = id(array), ctypes.c_int32.from_address
    found = [_word(_word(here, DIMS), 8 * i) for i in (0, 1)] + [_word(_word(here, STRIDES), 8 * i) for i in (0, 1)]
    pair, listed = (array, None), [array, None]
    return (
        _word(here, TYPE) == id(np.ndarray) == array_interface()[ARRAY_TYPE_AT]
        and _word(here, DATA) == array.__array_interface__["data"][0]
        and one(here + NDIM).value == 2
        and found == [*array.shape, *array.strides]
        and _word(here, DESCR) == id(array.dtype)
        and bool(one(here + FLAGS).value & ALIGNED)
        and _word(id(pair), SIZE) == 2
        and [_word(id(pair), ITEMS + 8 * i) for i in (0, 1)] == [id(array), id(None)]
        and [_word(_word(id(listed), LIST_ITEMS), 8 * i) for i in (0, 1)] == [id(array), id(None)]
    )


# A member descriptor's PyMemberDef, and in that the offset.
_MEMBER, _OFFSET = 40, 16


@functools.cache
def offset_of(kind: type, name: str) -> int:
    """Where objects of a class have a slot, in bytes. Raises NoNativeForm where that cannot be told."""
    descriptor = next((vars(base)[name] for base in kind.__mro__ if name in vars(base)), None)
    if not isinstance(descriptor, MemberDescriptorType) or not layout_is_known():
        raise NoNativeForm(f"{name} is no slot of {kind.__name__}")
    offset = _word(_word(id(descriptor), _MEMBER), _OFFSET)
    example: Any = object.__new__(kind)
    value = (name,)
    size: int = kind.__basicsize__
    if not 2 * 8 <= offset <= size - 8 or _word(id(example), offset):
        raise NoNativeForm(f"{kind.__name__} has its slots elsewhere")
    descriptor.__set__(example, value)
    if _word(id(example), offset) != id(value):
        raise NoNativeForm(f"{kind.__name__} has its slots elsewhere")
    return offset


__all__ = ["Builtin", "address_of", "bound", "function_at", "layout_is_known", "method_at", "offset_of"]
