"""`GraphDict`: what a dict is in converted code. Its keys are Python's as long as every path of the program sets them.

A key that only some paths set has a flag, a number of the program that says whether it is there. The object stays the
same, so that all who hold the dict see what happens to it.
"""

from __future__ import annotations

from collections.abc import Callable, ItemsView, Iterable, Iterator, KeysView, ValuesView
from copy import deepcopy
from functools import partial
from typing import Any

from ...core.errors import UnsupportedError
from ...core.pytree import OpenDict, OverList, is_open, is_partial
from ...eager.host_ops import assert_op
from ...ir.builder import current_builder
from ...ir.numbers import as_number
from ...ops.like import cast
from ..state.journal import note_write
from ..state.places import ContentPlace
from ..values.base import builder
from ..values.deferred import Call, captured, record
from ..values.emit import is_asserted
from ..values.flags import either
from ..values.handlers import refuse_unless_decided
from ..values.user_errors import for_user
from .each_key import for_each_key, is_undecided
from .key_order import behind, in_order, kept_place
from .keys import check_key, of_number, waits
from .table_sites import Site, here


class GraphDict(OpenDict):
    """A dict that can go on in a program when a tensor decides which keys it has.

    `flags` holds those of the keys that some path did not set; what such a key holds there is never read. `block` is
    the one that was being built when the dict was made, `site` the line of the user's that made it, or its
    place among the arguments.
    """

    __slots__ = ("block", "site")

    def __init__(self, *values: Any, **named: Any) -> None:
        super().__init__(*values, **named)
        build = current_builder()
        self.block = None if build is None else build.block
        self.site: Site | None = here()
        self.flags = {}
        self.places = None

    def blank(self) -> GraphDict:
        """An empty one of the same class."""
        return GraphDict()

    # -- reading ----------------------------------------------------------------------------------------------------

    def has(self, key: Any) -> Any:
        """Whether the key is there: a bool, or a number of the program."""
        if not super().__contains__(key):
            return False
        flag = self.flags.get(key)
        return True if flag is None or is_asserted(flag) else flag

    def held(self, key: Any) -> Any:
        """What the key holds on the paths that set it."""
        return super().__getitem__(key)

    def length(self) -> Any:
        """How many keys there are: an int, or a number of the program."""
        flags = [self.has(key) for key in self.flags]
        flags = [flag for flag in flags if flag is not True]
        sure = super().__len__() - len(flags)
        return as_number(sum((cast(flag, "int64") for flag in flags), sure)) if flags else sure

    def is_doubtful(self) -> bool:
        """Whether a key may be missing here; `flags` also has those of keys known to be set on this path."""
        return not all(is_asserted(flag) for flag in self.flags.values())

    def truth(self) -> Any:
        """Whether it has keys: a bool, or a number of the program."""
        found: Any = False
        for key in dict.keys(self):
            flag = self.has(key)
            found = flag if found is False or flag is True else either(found, flag)
            if flag is True:
                break
        return found

    def order(self) -> dict[Any, Any]:
        """A number for each key, by which they are ordered."""
        if self.places is not None:
            return dict(self.places)
        return {key: place for place, key in enumerate(dict.keys(self))}

    def candidates(self) -> Iterator[tuple[Any, Any]]:
        """Each key that may be there, with whether it is; once for each place in the order that it may have."""
        keys, flags, places = list(dict.keys(self)), dict(self.flags), self.places
        known = ((key, self.has(key)) for key in keys)
        turns = known if places is None else in_order(keys, self.has, places)
        if turns is None:
            raise unordered()
        for key, there in turns:
            yield key, there
            if keys != list(dict.keys(self)) or flags != self.flags or not _are_same(places, self.places):
                raise unknown_keys("a change of the keys, while a loop goes through it, of")

    @for_user
    def __getitem__(self, key: Any) -> Any:
        found = super().__getitem__(key)
        must_be_there(self.has(key), key)
        return found

    def get(self, key: Any, default: Any = None) -> Any:
        """`dict.get`."""
        return _chosen(self.has(key), key, lambda: self.held(key), default)

    def __contains__(self, key: Any) -> bool:
        found = self.has(key)
        if not isinstance(found, bool):
            raise unknown_keys("`in` outside of converted code, of")
        return found

    def __len__(self) -> int:
        if self.is_doubtful():
            raise unknown_keys("len() of")
        return super().__len__()

    def __bool__(self) -> bool:
        return len(self) > 0

    @for_user
    def __iter__(self) -> Any:
        self._check("iteration outside of a converted `for`, over")
        keys = list(dict.keys(self))
        for key in keys:
            yield key
            if self.is_doubtful():
                raise unknown_keys("a change of the keys, while a loop goes through it, of")
            if len(self) != len(keys):
                raise RuntimeError("dictionary changed size during iteration")

    def __reversed__(self) -> Any:
        self._check("reversed() of")
        return super().__reversed__()

    def __eq__(self, other: object) -> Any:
        for value in (self, other):
            if isinstance(value, GraphDict) and value.is_doubtful():
                raise unknown_keys("a comparison of")
        return super().__eq__(other)

    def __ne__(self, other: object) -> Any:
        found = self == other
        return found if found is NotImplemented else not found

    __hash__ = None  # type: ignore[assignment]

    def keys(self) -> Any:
        """`dict.keys`."""
        return GraphKeys(self)

    def values(self) -> Any:
        """`dict.values`."""
        return GraphValues(self)

    def items(self) -> Any:
        """`dict.items`."""
        return GraphItems(self)

    def _check(self, what: str) -> None:
        """Raise UnsupportedError where Python cannot tell the keys."""
        if self.is_doubtful() or not self.is_ordered:
            raise unknown_keys(what) if self.is_doubtful() else unordered()

    # -- changing ---------------------------------------------------------------------------------------------------

    def _changing(self) -> None:
        note_write(ContentPlace(self))

    def _store(self, key: Any, value: Any, flag: Any = True, place: Any = None) -> None:
        """Let `key` hold `value` where `flag` holds, at this place, or as the last, unless it has one."""
        check_key(self, key)
        held = self.has(key)
        if self.places is not None or place is not None or (held is not True and self._is_in_between(key)):
            places = self.order()
            last = behind(places.values()) if place is None else place
            self.places = {**places, key: kept_place(held, places.get(key, last), last)}
        if flag is not True and held is not False:
            new, old = value, self.held(key)
            value = _chosen(flag, key, lambda: new, old)
        super().__setitem__(key, value)
        if flag is True or held is True:
            self.flags.pop(key, None)
        else:
            self.flags[key] = flag if held is False else either(held, flag)

    def _is_in_between(self, key: Any) -> bool:
        return super().__contains__(key) and next(super().__reversed__()) != key

    @for_user
    def __setitem__(self, key: Any, value: Any) -> None:
        hash(key)
        self._changing()
        self._store(key, value)

    @for_user
    def __delitem__(self, key: Any) -> None:
        held = self.has(key)
        if held is not False:
            self._changing()
        super().__delitem__(key)
        self._forget(key)
        must_be_there(held, key)

    def _forget(self, key: Any) -> None:
        """Know nothing more of a key that is gone."""
        self.flags.pop(key, None)
        if self.places is not None:
            self.places = {other: place for other, place in self.places.items() if other != key}

    @for_user
    def pop(self, key: Any, *default: Any) -> Any:
        """`dict.pop`."""
        held = self.has(key)
        if held is False:
            return super().pop(key, *default)
        self._changing()
        value = super().pop(key)
        self._forget(key)
        if default:
            return _chosen(held, key, lambda: value, default[0])
        must_be_there(held, key)
        return value

    @for_user
    def popitem(self) -> tuple[Any, Any]:
        """`dict.popitem`."""
        last = next(super().__reversed__(), None)
        if not self.is_ordered or self.flags.get(last) is not None:
            raise unknown_keys("popitem() of")
        self._changing()
        return super().popitem()

    def setdefault(self, key: Any, default: Any = None) -> Any:
        """`dict.setdefault`."""
        held = self.has(key)
        if held is True:
            return self.held(key)
        value = default if held is False else self.get(key, default)
        self._changing()
        self._store(key, value)
        return value

    @for_user
    def update(self, *others: Any, **named: Any) -> None:
        """`dict.update`."""
        if len(others) > 1:
            raise TypeError(f"update expected at most 1 argument, got {len(others)}")
        self._changing()
        for other in (*others, named):
            if isinstance(other, OverList) or has_number_keys(other):
                raise of_number(self)
            self._take_in(as_dict(other))

    def _take_in(self, other: dict[Any, Any]) -> None:
        flags: dict[Any, Any] = getattr(other, "flags", {})
        places = getattr(other, "places", None)
        first = None if places is None else behind(self.order().values())
        for key, value in list(dict.items(other)):
            self._store(key, value, flags.get(key, True), None if places is None else first + places[key])

    def clear(self) -> None:
        """`dict.clear`."""
        self._changing()
        self.take({})

    # -- operators, copies and text ---------------------------------------------------------------------------------

    def __or__(self, other: Any) -> Any:
        return united([self, other]) if isinstance(other, dict) else NotImplemented

    def __ror__(self, other: Any) -> Any:
        return united([other, self]) if isinstance(other, dict) else NotImplemented

    def __ior__(self, other: Any) -> Any:
        self.update(other)
        return self

    def copy(self) -> GraphDict:
        """`dict.copy`."""
        made = GraphDict()
        made.take(self)
        return made

    __copy__ = copy

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        made = memo[id(self)] = self.copy()  # of its own class
        for key, value in list(dict.items(self)):
            dict.__setitem__(made, key, deepcopy(value, memo))
        return made

    def __reduce__(self) -> Any:
        self._check("pickling")
        return dict, (dict(self),)

    def __repr__(self) -> str:
        self._check("the text of")
        return super().__repr__()


GraphDict.__name__ = "dict"  # what messages of Python call it


class GraphKeys(KeysView[Any]):
    """`d.keys()`."""

    _mapping: GraphDict

    def has(self, key: Any) -> Any:
        """Whether the key is there."""
        return self._mapping.has(key)

    def candidates(self) -> Iterator[tuple[Any, Any]]:
        """As those of the dict."""
        return self._mapping.candidates()

    def __reversed__(self) -> Iterator[Any]:
        return reversed(self._mapping)

    def __repr__(self) -> str:
        return f"dict_keys({list(self)})"


class SortedKeys(GraphKeys):
    """The keys in an order of their own, whatever order they have in the dict."""

    def __init__(self, mapping: GraphDict, reverse: bool = False) -> None:
        super().__init__(mapping)
        self._reverse = reverse

    def candidates(self) -> Iterator[tuple[Any, Any]]:
        """Each key that may be there, with whether it is."""
        return ((key, self._mapping.has(key)) for key in sorted(dict.keys(self._mapping), reverse=self._reverse))


class GraphValues(ValuesView[Any]):
    """`d.values()`."""

    _mapping: GraphDict

    def candidates(self) -> Iterator[tuple[Any, Any]]:
        """Each value that may be there, with whether it is."""
        return ((self._mapping.held(key), flag) for key, flag in self._mapping.candidates())

    def __iter__(self) -> Iterator[Any]:
        return (self._mapping.held(key) for key in self._mapping)

    def __reversed__(self) -> Iterator[Any]:
        return (self._mapping.held(key) for key in reversed(self._mapping))

    def __repr__(self) -> str:
        return f"dict_values({list(self)})"


class GraphItems(ItemsView[Any, Any]):
    """`d.items()`."""

    _mapping: GraphDict

    def candidates(self) -> Iterator[tuple[Any, Any]]:
        """Each pair that may be there, with whether it is."""
        return (((key, self._mapping.held(key)), flag) for key, flag in self._mapping.candidates())

    def __iter__(self) -> Iterator[Any]:
        return ((key, self._mapping.held(key)) for key in self._mapping)

    def __reversed__(self) -> Iterator[Any]:
        return ((key, self._mapping.held(key)) for key in reversed(self._mapping))

    def __repr__(self) -> str:
        return f"dict_items({list(self)})"


def _are_same(places: dict[Any, Any] | None, others: dict[Any, Any] | None) -> bool:
    """Whether no key has another place."""
    if places is None or others is None:
        return places is others
    return all(places[key] is others[key] for key in places)


class SortedItems(GraphItems):
    """The pairs in the order of their keys, no two of which are equal."""

    def __init__(self, mapping: GraphDict, reverse: bool = False) -> None:
        super().__init__(mapping)
        self._keys = SortedKeys(mapping, reverse)

    def candidates(self) -> Iterator[tuple[Any, Any]]:
        """Each pair that may be there, with whether it is."""
        return (((key, self._mapping.held(key)), flag) for key, flag in self._keys.candidates())


VIEWS = (GraphKeys, GraphValues, GraphItems)


def dict_of_view(value: Any) -> Any:
    """The dict of a view; anything else as it is."""
    return value._mapping if isinstance(value, VIEWS) else value


def partial_items(iterable: Any) -> Iterator[tuple[Any, Any]] | None:
    """(item, whether it is there) of a dict with keys that only some paths set, or of a view of one; else None."""
    return iterable.candidates() if is_partial(dict_of_view(iterable)) else None


def united(parts: list[Any]) -> GraphDict:
    """The content of several dicts in one; later ones win."""
    made = GraphDict()
    for part in parts:
        made._take_in(part)
    return made


def has_number_keys(pairs: Any) -> bool:
    """Whether there is a number of the program among the keys of pairs."""
    return isinstance(pairs, (list, tuple)) and not is_open(pairs) and any(map(_is_numbered, pairs))


def _is_numbered(pair: Any) -> bool:
    return isinstance(pair, (list, tuple)) and len(pair) == 2 and waits(pair[0])


def as_dict(pairs: Any) -> Any:
    """A dict, or pairs, as a dict of which a tensor may decide the keys."""
    if isinstance(pairs, (OpenDict, dict)) or hasattr(pairs, "keys"):
        return pairs if isinstance(pairs, OpenDict) else dict(pairs)
    items = list(pairs)
    if not any(isinstance(pair, (list, tuple)) and len(pair) == 2 and is_undecided(pair[0]) for pair in items):
        return dict(items)
    return stored(items)


def stored(pairs: Iterable[Any]) -> GraphDict:
    """A dict of pairs of which a tensor decides what their keys are."""
    made = GraphDict()
    for key, value in pairs:
        for_each_key(partial(_put, made, value), key)
    return made


def _put(made: GraphDict, value: Any, key: Any) -> None:
    made[key] = value


# --- keys that may be missing ----------------------------------------------------------------------------------------


def must_be_there(held: Any, key: Any) -> None:
    """Let the program raise KeyError if the key is not there."""
    must_hold(held, KeyError(key))


def must_hold(flag: Any, error: Exception) -> None:
    """Let the program raise the error where the flag does not hold."""
    if flag is True:
        return
    if refuse_unless_decided(error, flag):
        return
    build = builder()
    build.asserted.add((build.block, flag))
    record(assert_op, flag, error=Call(type(error), tuple(map(captured, error.args))))


def extreme_key(owner: GraphDict, python: Callable[..., Any], *default: Any) -> Any:
    """`max(owner)` or `min(owner)`, of the keys that are there."""
    return _first_held(owner, sorted(dict.keys(owner), reverse=python is max), python, *default)


def _first_held(owner: GraphDict, keys: list[Any], python: Callable[..., Any], *default: Any) -> Any:
    """The first of the keys that is there. No function here refers to itself: it would hold the dict for the trace."""
    held: Any = owner.has(keys[0])
    if held is True:
        return keys[0]
    if len(keys) > 1:
        return builder().choose(
            held, lambda: keys[0], lambda: _first_held(owner, keys[1:], python, *default), python.__name__
        )
    if default:
        return builder().choose(held, lambda: keys[0], lambda: default[0], python.__name__)
    must_hold(held, _error_of(python))
    return keys[0]


def _error_of(python: Callable[..., Any]) -> Exception:
    """What a function raises for no items."""
    try:
        python(())
    except ValueError as err:
        return err.with_traceback(None)
    raise AssertionError(f"{python.__name__} takes no items")


def _chosen(held: Any, key: Any, value: Callable[[], Any], default: Any) -> Any:
    """What a key holds where it is there, else `default`."""
    if held is False:
        return default
    return value() if held is True else builder().choose(held, value, lambda: default, f"dict[{key!r}]")


class UnknownKeysError(UnsupportedError):
    """Python needs to know which keys a dict has, and some are set on one path only."""


def unknown_keys(what: str) -> UnknownKeysError:
    """The error of an operation that needs to know which keys there are."""
    return UnknownKeysError(
        f"{what} a dict some of whose keys are set on one path of a tensor's decision only",
        hint="set the keys on both paths (to a tensor of zeros, say), or read it with d.get(key, default)",
    )


def unordered() -> UnsupportedError:
    """The error of a dict whose keys somebody wants to see in their order, where a tensor decides that."""
    return UnsupportedError(
        "Python goes through a dict whose keys stand in an order that a tensor decides, or they are too many",
        hint="set the keys in one order on all paths (give them a first value before the `if`)",
    )
