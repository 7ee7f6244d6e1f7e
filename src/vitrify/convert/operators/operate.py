"""Operators and `x[i]`: Python's own; where the user's classes say what they do, those methods run converted."""

from __future__ import annotations

import operator
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Sequence
from functools import partial
from types import NoneType
from typing import Any

import numpy as np

from ...core.errors import VitrifyError
from ...core.library_settings import setting_asked_by
from ...eager.tensor import Tensor
from ...ir.graph_tensor import as_number, is_number
from ...ir.program import Variable
from ...ops.compare import logical_not
from ...ops.like import cast
from ...ops.promote import SCALARS
from ..containers.by_position import at_position, is_at_position, is_sliced, sliced
from ..containers.columns import with_columns
from ..containers.dicts import GraphDict
from ..containers.each_key import for_each_key, is_undecided
from ..containers.keys import check_key, is_looked_up, looked_up
from ..control.logic import convert_not
from ..guards.array_sites import ask_for_program
from ..guards.nondeterministic import refuse_items
from ..guards.observe import seen_inside
from ..host.value import HostValue, host_call, index_of, tensor_index
from ..state.journal import note_write
from ..state.places import ItemPlace
from ..values.base import Unmergeable, builder, is_tensor, note_setting
from ..values.bounds import is_never_negative
from ..values.cases import by_cases
from ..values.decided import note_always
from ..values.deferred import holds_deferred
from ..values.facts import is_of_one_class, of_its_class
from ..values.odd_operands import ask, is_odd
from ..values.one_of import GraphOneOf, by_option, item_of
from ..values.optional import assert_not_none, is_none, optional_kind, refuse_none
from ..values.text import GraphText
from ..values.user_code import class_attribute, converted, user_method
from ..values.user_errors import for_user
from ..values.whole import whole, whole_key, whole_operands
from .lexicographic import are_by_fields, are_sequences, by_fields, compared

_Function = Callable[..., Any]
_BINARY: dict[str, tuple[_Function, str, str]] = {
    "+": (operator.add, "__add__", "__radd__"), "-": (operator.sub, "__sub__", "__rsub__"),
    "*": (operator.mul, "__mul__", "__rmul__"), "/": (operator.truediv, "__truediv__", "__rtruediv__"),
    "//": (operator.floordiv, "__floordiv__", "__rfloordiv__"), "%": (operator.mod, "__mod__", "__rmod__"),
    "**": (operator.pow, "__pow__", "__rpow__"), "@": (operator.matmul, "__matmul__", "__rmatmul__"),
    "<<": (operator.lshift, "__lshift__", "__rlshift__"), ">>": (operator.rshift, "__rshift__", "__rrshift__"),
    "&": (operator.and_, "__and__", "__rand__"), "|": (operator.or_, "__or__", "__ror__"),
    "^": (operator.xor, "__xor__", "__rxor__"),
    "==": (operator.eq, "__eq__", "__eq__"), "!=": (operator.ne, "__ne__", "__ne__"),
    "<": (operator.lt, "__lt__", "__gt__"), ">": (operator.gt, "__gt__", "__lt__"),
    "<=": (operator.le, "__le__", "__ge__"), ">=": (operator.ge, "__ge__", "__le__"),
}  # fmt: skip
_UNARY: dict[str, tuple[_Function, str]] = {
    "-": (operator.neg, "__neg__"), "+": (operator.pos, "__pos__"), "~": (operator.invert, "__invert__"),
}  # fmt: skip
_KNOWN = (*SCALARS, str, list, tuple, dict, NoneType, Tensor, Variable)
"""Operands whose operators do nothing that may be done while converting."""
_OF_WHOLE = frozenset({"<<", ">>", "&", "|", "^"})
_SEQUENCES = (str, bytes, list, tuple)
_EQUALITIES = frozenset({"==", "!="})
COMPARISONS = _EQUALITIES | {"<", "<=", ">", ">="}


@by_option(3)
@for_user
def operate(symbol: str, left: Any, *right: Any) -> Any:
    """`left symbol right`, or `symbol left`."""
    if not right:
        return _unary(symbol, left)
    (other,) = right
    function, special, _ = _BINARY[symbol]
    if symbol not in _EQUALITIES:
        require_operands(symbol, function, left, other)
    elif optional_kind(left) is not None or optional_kind(other) is not None:
        return _equal_to_optional(symbol, left, other)
    if symbol in COMPARISONS and are_sequences(left, other):
        return compared(symbol, left, other, operate)
    if symbol in COMPARISONS and are_by_fields(left, other, special):
        return by_fields(symbol, left, other, operate)
    left, other = _operands(symbol, left, other)
    if is_odd(symbol, left, other):
        known = ask(function, left, other)  # refuses what numbers don't do: there is no `1 + []`
        if symbol in _EQUALITIES:
            return known
    found = _by_operands(symbol, left, other)
    if found is not NotImplemented:
        return found
    if symbol == "**" and is_number(other) and other.dtype.is_integer and not is_never_negative(other):
        builder().leaves_undone = True  # 2 ** -1 is a float: a run that finds no int there is done again, eagerly
    note_setting(setting_asked_by(function, left, other))
    found = function(left, other)
    return note_always(function, left, other, found) if symbol in COMPARISONS else found


@for_user
def _unary(symbol: str, value: Any) -> Any:
    function, special = _UNARY[symbol]
    assert_not_none(value, TypeError(f"bad operand type for unary {symbol}: 'NoneType'"))
    method = user_method(value, special)
    if method is not None:
        return method()
    value = whole(value, function) if symbol == "~" else value
    is_flag = symbol != "-" and is_number(value) and value.dtype.is_bool  # ~True is -2
    return function(as_number(cast(value, "int64")) if is_flag else value)


def _operands(symbol: str, left: Any, right: Any) -> tuple[Any, Any]:
    """The operands as Python's operator may be asked about them."""
    if symbol in _EQUALITIES and isinstance(left, OrderedDict) and isinstance(right, GraphDict):
        return right, left  # Python's would look at what is in the other as in a plain dict, without asking it
    if symbol in _OF_WHOLE or (symbol == "*" and (isinstance(left, _SEQUENCES) or isinstance(right, _SEQUENCES))):
        return whole_operands(_BINARY[symbol][0], left, right)
    return left, right


def _by_operands(symbol: str, left: Any, right: Any) -> Any:
    """What an operand has its own way to do: a text, an object of the user's, an array; NotImplemented if none has."""
    function, special, swapped = _BINARY[symbol]
    if symbol == "*" and (type(left) is str or type(right) is str) and (_is_count(left) or _is_count(right)):
        return GraphText(left) * right if type(left) is str else GraphText(right) * left
    if symbol == "!=" and _is_told_by_eq(left, right):
        return convert_not(operate("==", left, right))
    found = NotImplemented
    if _is_users(left, special) or _is_users(right, swapped):
        found = _by_methods(symbol, left, right, special, swapped)
    if found is NotImplemented and _is_host_value_with_number(left, right):
        return host_call(function, left, right)
    return found


def _is_host_value_with_number(left: Any, right: Any) -> bool:
    """Whether one is NumPy's and the other a number of the program, which NumPy takes for the number that it is."""
    pair = (left, right)
    return any(isinstance(v, HostValue) for v in pair) and any(map(is_number, pair))


def _is_count(value: Any) -> bool:
    """Whether it is a whole number of the program: so often a text may be repeated."""
    return is_number(value) and not value.dtype.is_inexact


def _equal_to_optional(symbol: str, left: Any, right: Any) -> Any:
    """`left == right` or `left != right` where one may be None: known where the other is None."""
    if left is not None and right is not None:
        refuse_none(left)
        refuse_none(right)
    found = is_none(right if left is None else left)
    return found if symbol == "==" else as_number(logical_not(found))


def require_operands(symbol: str, function: _Function, *operands: Any) -> None:
    """Let the program raise what eager code does where an operand is None."""
    for place, value in enumerate(operands):
        if optional_kind(value) is not None:
            given = [None if i == place else operand for i, operand in enumerate(operands)]
            assert_not_none(value, _error_of(symbol, function, given))


def _error_of(symbol: str, function: _Function, operands: Sequence[Any]) -> TypeError:
    """What Python says of operands of these classes, one of which is None."""
    if all(is_of_one_class(operand) and isinstance(operand, _KNOWN) for operand in operands):
        try:
            function(*map(of_its_class, operands))
        except TypeError as err:
            if isinstance(err, VitrifyError):
                err.loc = None  # eager code says no line
            return err.with_traceback(None)
    return TypeError(f"unsupported operand type(s) for {symbol}: 'NoneType' is one of them")


def _is_users(value: Any, special: str) -> bool:
    return user_method(value, special) is not None


def _by_methods(symbol: str, left: Any, right: Any, special: str, swapped: str) -> Any:
    """What the methods of the operands give, asked in Python's order; NotImplemented where none takes the other."""
    ways = [(left, special, right), (right, swapped, left)]
    if type(left) is type(right) and symbol not in COMPARISONS:
        ways.pop()
    elif type(left) is not type(right) and _overrides(type(right), type(left), swapped):
        ways.reverse()
    for owner, name, other in ways:
        method = user_method(owner, name) or _bound(owner, name)
        found = NotImplemented if method is None else method(other)
        if found is not NotImplemented:
            return found
    return NotImplemented


def _is_told_by_eq(left: Any, right: Any) -> bool:
    """Whether `!=` is what `__eq__` of the user's says, the other way round."""
    is_inherited = all(class_attribute(type(value), "__ne__") is object.__ne__ for value in (left, right))
    return is_inherited and (_is_users(left, "__eq__") or _is_users(right, "__eq__"))


def _overrides(cls: type, base: type, name: str) -> bool:
    return issubclass(cls, base) and class_attribute(cls, name) is not class_attribute(base, name)


def _bound(owner: Any, name: str) -> Any:
    found = class_attribute(type(owner), name)
    return None if found is None else found.__get__(owner, type(owner))


def get_item(owner: Any, key: Any) -> Any:
    """`owner[key]`."""
    if owner.__class__ is GraphOneOf and type(key) is int:
        return item_of(owner, key, partial(_get_item, key=key))
    return _get_item(owner, key)


@by_option(2)
@for_user
def _get_item(owner: Any, key: Any) -> Any:
    """`owner[key]`; what a dict makes up for a missing key is a change of the dict."""
    method = user_method(owner, "__getitem__")
    if method is not None:
        return method(key)
    owner = seen_inside(owner)
    refuse_items(owner)
    if is_number(owner):
        return ask(operator.getitem, owner, key)
    key = whole_key(owner, key, operator.getitem)
    key = with_columns(tensor_index(key)) if is_tensor(owner) else index_of(key)
    if isinstance(owner, dict) and is_undecided(key):
        return for_each_key(lambda known: get_item(owner, known), key)
    if is_looked_up(owner, key):
        return looked_up(owner, key)
    if is_at_position(owner, key):
        return at_position(owner, key)
    if is_sliced(owner, key):
        return sliced(owner, key)
    if isinstance(owner, np.ndarray) and holds_deferred((key,)):
        ask_for_program(owner)
    check_key(owner, key)
    assert_not_none(owner, TypeError("'NoneType' object is not subscriptable"))
    makes_up = isinstance(owner, dict) and class_attribute(type(owner), "__missing__") is not None
    if makes_up and not is_tensor(key) and key not in owner:
        value = _missing(owner, key)
    else:
        value = by_cases(operator.getitem, (owner, key), {}) if _takes_cases(owner, key) else owner[key]
    if isinstance(value, Unmergeable):
        raise value.fail()
    return value


def _takes_cases(owner: Any, key: Any) -> bool:
    """Whether the place asked for is made of numbers: of a slice, or among the indices of a tensor."""
    return isinstance(key, slice) or (isinstance(key, tuple) and is_tensor(owner))


@for_user
def _missing(owner: Any, key: Any) -> Any:
    method = user_method(owner, "__missing__")
    if method is not None:
        return method(key)
    if not isinstance(owner, defaultdict) or owner.default_factory is None:
        return owner[key]
    note_write(ItemPlace(owner, key))
    value = owner[key] = converted(owner.default_factory)()
    return value
