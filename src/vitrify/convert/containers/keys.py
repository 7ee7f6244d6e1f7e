"""Containers that find what they hold by its value, which a tensor of a program does not have yet."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from functools import reduce
from types import BuiltinFunctionType, MethodType
from typing import Any

from ...core.errors import UnsupportedError
from ...core.pytree import OpenSet, is_partial
from ...core.source import user_frames
from ...ir.graph_tensor import as_number, is_number
from ...ops.compare import equal
from ...ops.promote import SCALARS
from ..values.base import builder, is_tensor
from ..values.deferred import Deferred
from ..values.flags import either
from ..values.handlers import refuse_unless_decided
from ..values.text import GraphText
from ..values.user_errors import for_user, note_user_error
from .each_key import for_each_key, is_undecided
from .hashed_tensors import check_hashed
from .table_sites import NumberKeyError, may_be_table

MAX_KEYS = 64
_OF_DICTS = frozenset({"get", "pop", "setdefault", "move_to_end", "__getitem__", "__contains__"})
_OF_SETS = frozenset({"add", "discard", "remove", "__contains__"})


def holds_number(key: Any) -> bool:
    """Whether a key is a number of the program, or a tuple with one in it."""
    return any(map(holds_number, key)) if isinstance(key, (tuple, frozenset)) else is_number(key)


def waits(key: Any) -> bool:
    """Whether only the run knows a key: a number of the program or of NumPy's, a text of such, a tuple with one."""
    if isinstance(key, (tuple, frozenset)):
        return any(map(waits, key))
    return is_number(key) or (isinstance(key, Deferred) and _form(key) in _KEYS)


_KEYS = ("number", "scalar", "text")


def _form(value: Deferred) -> str:
    """What kind of value it is when the program runs."""
    form: Any = getattr(type(value), "form", None)
    return "text" if isinstance(value, GraphText) else "" if form is None else form(value)


def check_key(owner: Any, key: Any) -> None:
    """Raise UnsupportedError for a tensor as the key of a dict, and for a tuple with numbers of the program."""
    if isinstance(owner, dict) and not isinstance(owner, OpenSet):
        if is_tensor(key) or waits(key):
            raise of_number(owner if waits(key) else None)
        check_hashed(key)


def of_number(owner: Any) -> NumberKeyError:
    """The error of a dict that gets a number of the program for a key, or a key that such a number may equal."""
    return NumberKeyError(
        "a tensor as the key of a dict: its value is known only when the program runs",
        hint="use a Python value as the key, or a tensor with one entry a key",
    ).of(owner)


def is_looked_up(owner: Any, key: Any) -> bool:
    """Whether a dict is asked for a number or text of the program, and its own keys are known."""
    is_asked = is_number(key) or isinstance(key, GraphText)
    return isinstance(owner, dict) and is_asked and not is_partial(owner) and len(owner) <= MAX_KEYS


def _keys_like(owner: Any, key: Any) -> list[Any]:
    """The keys of a dict that a number or text of the program may be."""
    kinds = str if isinstance(key, GraphText) else SCALARS
    return [known for known in dict.keys(owner) if isinstance(known, kinds)]


def _is_key(key: Any, known: Any) -> Any:
    return key == known if isinstance(key, GraphText) else as_number(equal(key, known))


def looked_up(owner: Any, key: Any, *default: Any) -> Any:
    """`owner[key]`, or `owner.get(key, default)`, for a number or text of the run, compared with each key."""
    return _by_each_key(owner, key, lambda known: owner[known], *default)


def taken_out(owner: Any, key: Any, *default: Any) -> Any:
    """`owner.pop(key, default)` for such a key."""
    return _by_each_key(owner, key, lambda known: owner.pop(known), *default)


def _by_each_key(owner: Any, key: Any, use: Callable[[Any], Any], *default: Any) -> Any:
    """What `use` gives for the one of the dict's keys that `key` is when the program runs."""
    numbers = _keys_like(owner, key)
    is_there = not default and _is_plain(owner) and bool(numbers) and _must_be_one(key, numbers)
    return _among(owner, numbers, is_there, key, use, *default)


def _among(
    owner: Any, numbers: Sequence[Any], is_there: bool, key: Any, use: Callable[[Any], Any], *default: Any
) -> Any:
    """What `use` gives for the one of these keys that `key` is; is_there: it is one of them for sure."""
    if not numbers:
        if default:
            return default[0]
        if may_be_table(owner) and not _is_plain(owner):
            raise of_number(owner)
        raise note_user_error(KeyError(key) if _is_plain(owner) else _no_new_key())
    held, *others = numbers
    if is_there and not others:
        return use(held)

    def other() -> Any:
        return _among(owner, others, is_there, key, use, *default)

    return builder().choose(_is_key(key, held), lambda: use(held), other, f"dict[{held!r}]")


def _must_be_one(key: Any, numbers: Sequence[Any]) -> bool:
    """Whether the number is known to be one of those. A `try` around it is told where it is not."""
    is_there = reduce(either, [_is_key(key, number) for number in numbers])
    return refuse_unless_decided(KeyError(key), is_there)


def _is_plain(owner: Any) -> bool:
    """Whether a key that is not there is an error."""
    return getattr(owner, "kind", type(owner)) not in (defaultdict, Counter)


def is_set_by_number(owner: Any, key: Any) -> bool:
    """Whether an item of a dict is set whose key is a number of the program, and the dict has numbers for keys.

    Only in whole functions: elsewhere the statement stays Python, which may add a key.
    """
    if not is_looked_up(owner, key) or not builder().is_whole or may_be_table(owner):
        return False
    return bool(_keys_like(owner, key))


def set_by_number(owner: Any, key: Any, put: Callable[[Any], None]) -> None:
    """`put(held)` for the key among those of `owner` that the number `key` is when the program runs.

    Where it is none of them the run raises UnsupportedError: eager code would add a key.
    """
    _put_among(_keys_like(owner, key), key, put)


def _put_among(numbers: Sequence[Any], key: Any, put: Callable[[Any], None]) -> Any:
    if not numbers:
        raise note_user_error(_no_new_key())
    held, *others = numbers
    label = f"dict[{held!r}]"
    return builder().choose(_is_key(key, held), lambda: put(held), lambda: _put_among(others, key, put), label)


def _no_new_key() -> UnsupportedError:
    return UnsupportedError(
        "an item is set of a dict by a number that is known only when the program runs, and it is none of the keys",
        loc=next(iter(user_frames(2)), None),
        hint="give the dict all of its keys before (d = {0: None, 1: None}), or use a list or tensor",
    )


def by_key(method: BuiltinFunctionType | MethodType, form: Callable[..., Any]) -> Callable[..., Any] | None:
    """A method of a dict or set that looks something up, refusing what has no value; None for others.

    form: what is called in its place.
    """
    owner, name = method.__self__, method.__name__
    if isinstance(owner, OpenSet):
        return _checking(form, lambda item: check_member(item, owner)) if name == "__contains__" else None
    if isinstance(owner, dict) and name == "get":
        return _getting(owner, _checking(form, lambda key: check_key(owner, key)))
    if isinstance(owner, dict) and name == "pop":
        return _popping(owner, _checking(form, lambda key: check_key(owner, key)))
    if isinstance(owner, dict) and name in _OF_DICTS:
        return _checking(form, lambda key: check_key(owner, key))
    if isinstance(owner, (set, frozenset)) and name in _OF_SETS:
        return _checking(form, lambda item: check_member(item, owner))
    return None


def _getting(owner: Any, form: Callable[..., Any]) -> Callable[..., Any]:
    @for_user
    def get(key: Any, default: Any = None, /) -> Any:
        by_number = is_looked_up(owner, key) and not is_undecided(key)
        return looked_up(owner, key, default) if by_number else form(key, default)

    return get


def _popping(owner: Any, form: Callable[..., Any]) -> Callable[..., Any]:
    @for_user
    def pop(key: Any, *default: Any) -> Any:
        is_told = isinstance(key, GraphText) and is_looked_up(owner, key)
        return taken_out(owner, key, *default) if is_told else form(key, *default)

    return pop


def check_member(value: Any, owner: Any = None) -> None:
    """Raise UnsupportedError for a number of the program as an item of the set `owner`, and for a tuple with one."""
    if waits(value):
        raise number_in_set(owner)
    check_hashed(value)


def number_in_set(owner: Any) -> NumberKeyError:
    """The error of a set that gets an item which only the run knows."""
    return NumberKeyError(
        "a number in a set that is known only when the program runs", hint="keep the numbers in a list or tensor"
    ).of(owner)


def _checking(method: Callable[..., Any], check: Callable[[Any], None]) -> Callable[..., Any]:
    @for_user
    def call(*args: Any, **kwargs: Any) -> Any:
        return _checked(method, check, *args, **kwargs)

    return call


def _checked(method: Callable[..., Any], check: Callable[[Any], None], *args: Any, **kwargs: Any) -> Any:
    """What the method gives. No function here refers to itself: it would hold the container as long as the trace."""
    for key in args[:1]:
        if is_undecided(key):
            return for_each_key(lambda known: _checked(method, check, known, *args[1:], **kwargs), key)
        check(key)
    return method(*args, **kwargs)
