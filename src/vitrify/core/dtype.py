"""Element types, and which type an operation on two of them has (Paddle 3.3's rules, measured)."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import product
from typing import Any, TypeAlias

import ml_dtypes
import numpy as np
import numpy.typing as npt

from .errors import DTypeError
from .setting import MODES, Setting

BOOL, INTEGER, FLOATING, COMPLEX, STORED = range(5)


@dataclass(frozen=True, eq=False, repr=False, slots=True)
class DType:
    """An element type. There is one object per type, so `is` and `==` mean the same.

    As in Paddle a dtype does not equal its name or its NumPy counterpart: use `as_dtype` to convert first.
    Source: paddle.dtype.

    >>> as_dtype("float32") is float32, float32.itemsize, str(float32)
    (True, 4, 'paddle.float32')
    """

    name: str
    np: np.dtype
    itemsize: int
    kind: int
    is_bool: bool
    is_integer: bool
    is_floating: bool
    is_complex: bool
    is_inexact: bool
    """Real or complex floating point: what can have gradients. NumPy's word."""

    def __repr__(self) -> str:
        return f"paddle.{self.name}"

    def __reduce__(self) -> tuple[object, tuple[str]]:
        # By name: unpickling and deepcopy give the one object back.
        return as_dtype, (self.name,)


DTypeLike: TypeAlias = "DType | str | type | npt.DTypeLike"
Number: TypeAlias = bool | int | float | complex

_BY_NAME: dict[str, DType] = {}
_BY_NP: dict[npt.DTypeLike, DType] = {}


def _define(name: str, np_type: type, kind: int) -> DType:
    """Return the new dtype `name`, entered in the look-up tables."""
    np_dtype: np.dtype = np.dtype(np_type)
    dtype = DType(
        name, np_dtype, np_dtype.itemsize, kind,
        kind == BOOL, kind == INTEGER, kind == FLOATING, kind == COMPLEX, kind in (FLOATING, COMPLEX),
    )  # fmt: skip
    _BY_NAME[name] = dtype
    _BY_NP[np_dtype] = dtype
    return dtype


bool_ = _define("bool", np.bool_, BOOL)
uint8 = _define("uint8", np.uint8, INTEGER)
uint16 = _define("uint16", np.uint16, INTEGER)
uint32 = _define("uint32", np.uint32, INTEGER)
uint64 = _define("uint64", np.uint64, INTEGER)
int8 = _define("int8", np.int8, INTEGER)
int16 = _define("int16", np.int16, INTEGER)
int32 = _define("int32", np.int32, INTEGER)
int64 = _define("int64", np.int64, INTEGER)
float16 = _define("float16", np.float16, FLOATING)
bfloat16 = _define("bfloat16", ml_dtypes.bfloat16, FLOATING)
float32 = _define("float32", np.float32, FLOATING)
float64 = _define("float64", np.float64, FLOATING)
complex64 = _define("complex64", np.complex64, COMPLEX)
complex128 = _define("complex128", np.complex128, COMPLEX)

ALL: tuple[DType, ...] = tuple(_BY_NAME.values())
"""What tensors usually have."""

# For keeping many numbers: they are of no kind that operators compute in, and meet no others without a cast.
float8_e4m3fn = _define("float8_e4m3fn", ml_dtypes.float8_e4m3fn, STORED)
float8_e5m2 = _define("float8_e5m2", ml_dtypes.float8_e5m2, STORED)


def as_dtype(value: DTypeLike) -> DType:
    """Return the dtype that `value` names: a dtype, a name, a NumPy dtype or scalar type, or a Python type.

    Python's and NumPy's own words mean what they mean in NumPy: `float` is float64 and `int` is int64.
    Raises DTypeError for anything else, None included.

    >>> as_dtype("int32"), as_dtype(np.float16), as_dtype(float), as_dtype("paddle.bool")
    (paddle.int32, paddle.float16, paddle.float64, paddle.bool)
    """
    if type(value) is DType:
        return value
    if isinstance(value, str):
        known = _BY_NAME.get(value.removeprefix("paddle."))
        if known is not None:
            return known
    return _from_numpy_word(value)


def _from_numpy_word(value: object) -> DType:
    """Return the dtype that NumPy understands by `value`; raise DTypeError if there is none."""
    try:
        found = None if value is None else _BY_NP.get(np.dtype(value))  # type: ignore[call-overload]
    except TypeError:
        found = None
    if found is None:
        names = ", ".join(dtype.name for dtype in ALL)
        raise DTypeError(f"dtype must be any of [{names}], but received {value!r}")
    return found


def from_np(np_dtype: npt.DTypeLike) -> DType:
    """Return the dtype of arrays with this NumPy dtype; the quick way, for `from_np(array.dtype)`.

    Raises DTypeError for a NumPy dtype that tensors cannot have (strings, objects, dates).
    """
    found = _BY_NP.get(np_dtype)
    return _from_numpy_word(np_dtype) if found is None else found


def is_dtype(np_dtype: npt.DTypeLike) -> bool:
    """Return whether tensors can have this NumPy dtype."""
    return np_dtype in _BY_NP


# --- promotion ---------------------------------------------------------------------------------------------------


def _signed_for(a: DType, b: DType) -> DType:
    """Return the smallest integer type that holds both integer types (int64 where none does)."""
    if a.np.kind == b.np.kind:
        return max(a, b, key=lambda dtype: dtype.itemsize)
    unsigned, signed = (a, b) if a.np.kind == "u" else (b, a)
    size = max(signed.itemsize, min(2 * unsigned.itemsize, 8))
    return _BY_NAME[f"int{8 * size}"]


def _float_for(a: DType, b: DType) -> DType:
    """Return the wider floating type; the two 16-bit types meet in float32."""
    if a is not b and a.itemsize == b.itemsize:
        return float32
    return max(a, b, key=lambda dtype: dtype.itemsize)


def _complex_for(a: DType, b: DType) -> DType:
    """Return complex128 if either side has 64-bit parts, else complex64."""
    return complex128 if {a, b} & {float64, complex128} else complex64


_MEET: dict[int, Callable[[DType, DType], DType]] = {
    BOOL: lambda a, _: a,
    INTEGER: _signed_for,
    FLOATING: _float_for,
}


def _common(a: DType, b: DType) -> DType:
    """Return the type that holds both: the later kind of bool, integer, floating, complex wins."""
    if COMPLEX in (a.kind, b.kind):
        return _complex_for(a, b)
    if a.kind != b.kind:
        return a if a.kind > b.kind else b
    return _MEET[a.kind](a, b)


def _mixes(a: DType, b: DType) -> bool:
    """Say whether two tensors of these types may meet: equal, both floating, or one of them complex."""
    return a is b or COMPLEX in (a.kind, b.kind) or a.kind == b.kind == FLOATING


def _with_scalar(tensor: DType, scalar: DType) -> DType:
    """Return the result type of a tensor and a 0-d one: of the same kind, the scalar adapts to the tensor."""
    return tensor if tensor.kind == scalar.kind else _common(tensor, scalar)


_PAIRS = tuple(product(ALL, ALL))
_BOTH_0D = {(a, b): _common(a, b) for a, b in _PAIRS}
_TENSORS = {(a, b): _common(a, b) for a, b in _PAIRS if _mixes(a, b)}
_SECOND_0D = {(a, b): _with_scalar(a, b) for a, b in _PAIRS}
_PYTHON_TYPES: dict[type, DType] = {bool: bool_, int: int64, float: float32, complex: complex64}


def promote(a: DType, b: DType, a_0d: bool = False, b_0d: bool = False) -> DType:
    """Return the type in which an operation on tensors of types `a` and `b` is computed.

    `a_0d` and `b_0d` say which of the tensors has no dimensions. Two tensors with dimensions must have equal types,
    both floating ones, or one complex one; a 0-d tensor acts as a scalar: it adapts to a tensor of its own kind
    (bool, integer, floating, complex) and lifts a lower kind to its own type. Raises DTypeError where Paddle does.
    Source: Paddle 3.3.1, measured over all pairs (tests/core/test_dtype.py holds the tables).

    >>> promote(float16, float32), promote(int32, float64, b_0d=True), promote(int8, int64, b_0d=True)
    (paddle.float32, paddle.float64, paddle.int8)
    """
    if a is b:
        return a
    if a_0d:
        return _BOTH_0D[a, b] if b_0d else _SECOND_0D[b, a]
    if b_0d:
        return _SECOND_0D[a, b]
    found = _TENSORS.get((a, b))
    if found is None:
        raise DTypeError(
            "tensors of different dtypes meet only if both are floating or one is complex, "
            f"but received x: {a.name} and y: {b.name}",
            hint=f"cast one of them, for example x.astype('{_common(a, b).name}')",
        )
    return found


def scalar_dtype(value: Number) -> DType:
    """Return the type that a Python or NumPy number has as a 0-d tensor: bool, int64, float32 or complex64.

    A NumPy scalar counts as the Python number that it holds. Raises DTypeError for anything that is no number.
    """
    found = _PYTHON_TYPES.get(type(value))
    if found is not None:
        return found
    for python_type, dtype in _NUMPY_SCALARS:
        if isinstance(value, python_type):
            return dtype
    raise DTypeError(f"expected a number (bool, int, float or complex), but received {type(value).__name__}")


_NUMPY_SCALARS: tuple[tuple[type, DType], ...] = (
    (np.bool_, bool_),
    (np.integer, int64),
    (np.floating, float32),
    (ml_dtypes.bfloat16, float32),
    (np.complexfloating, complex64),
    (bool, bool_),
    (int, int64),
    (float, float32),
    (complex, complex64),
)


def promote_scalar(tensor: DType, value: Number) -> DType:
    """Return the type in which an operation on a tensor and a Python number is computed.

    >>> promote_scalar(int32, 1.5), promote_scalar(float16, 2), promote_scalar(bool_, 1), promote_scalar(int8, True)
    (paddle.float32, paddle.float16, paddle.int64, paddle.int8)
    """
    return _SECOND_0D[tensor, scalar_dtype(value)]


def fitted(value: Any, dtype: DType) -> Any:
    """Return `value`; of a Python int that is too large for the integer `dtype`, what that holds: its lowest bits.

    >>> fitted(-1, uint8), fitted(300, int8), fitted(300, float32)
    (255, 44, 300)
    """
    if value.__class__ is not int or not dtype.is_integer:
        return value
    bits = 8 * dtype.itemsize
    low = value & ((1 << bits) - 1)
    return low - (1 << bits) if dtype.np.kind == "i" and low >> (bits - 1) else low


# --- the default floating type --------------------------------------------------------------------------------------

_DEFAULT = Setting("default_dtype", float32, MODES)
_DEFAULT_CHOICES = (float16, float32, float64, bfloat16)


def default_dtype() -> DType:
    """Return the floating type that creation functions use when none is given."""
    return _DEFAULT.get()


def get_default_dtype() -> str:
    """Return the default floating type's name, as Paddle's function of this name does.

    Source: paddle.get_default_dtype.

    Example:
        >>> import vitrify as paddle
        >>> paddle.get_default_dtype()
        'float32'
    """
    return _DEFAULT.get().name


def set_default_dtype(d: DTypeLike) -> None:
    """Make `d` (float16, bfloat16, float32 or float64) the default floating type; raises DTypeError for others.

    Inside `default_dtype_guard` it changes the guard's own value only. Source: paddle.set_default_dtype.

    Example:
        >>> import vitrify as paddle
        >>> paddle.set_default_dtype("float64")
        >>> paddle.ones([1]).dtype
        paddle.float64
        >>> paddle.set_default_dtype("float32")
    """
    _DEFAULT.set(_default_choice(d))


@contextmanager
def default_dtype_guard(d: DTypeLike) -> Iterator[None]:
    """Use `d` as the default floating type inside the block, in this thread or task alone."""
    with _DEFAULT.scope(_default_choice(d)):
        yield


def _default_choice(d: DTypeLike) -> DType:
    """Return `d` as a dtype that may be the default one."""
    # Python's own types are refused, as in Paddle: `float` would quietly mean float64.
    dtype = None if d in (bool, int, float, complex) else as_dtype(d)
    if dtype not in _DEFAULT_CHOICES:
        names = ", ".join(choice.name for choice in _DEFAULT_CHOICES)
        raise DTypeError(f"set_default_dtype only supports [{names}], but received {d!r}")
    return dtype
