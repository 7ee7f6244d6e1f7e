"""`defaultdict`, `OrderedDict` and `Counter` in converted code: dicts whose keys a tensor may decide, and more."""

from __future__ import annotations

import operator
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Callable, Iterable, Mapping
from functools import reduce
from typing import Any

from ...core.pytree import OverList, is_open, node_of, rebuild
from ...ir.builder import current_builder
from ..values.base import builder, is_graph
from ..values.user_code import converted
from ..values.user_errors import for_user
from .dicts import GraphDict, has_number_keys, must_be_there, partial_items, unknown_keys
from .each_key import are_undecided, for_each_key
from .key_order import behind, in_front
from .keys import of_number, waits
from .lists import GraphList
from .table_flavors import empty_table, in_order_of_counts, repeated
from .table_sites import is_table_site


class _Flavored(GraphDict):
    """What the three have in common: copies are of their own class, and texts are those of Python's own."""

    __slots__ = ()

    def blank(self) -> GraphDict:
        return empty_dict(self.kind, self.made_with())

    def copy(self) -> GraphDict:
        """`copy`."""
        made = self.blank()
        made.take(self)
        return made

    __copy__ = copy

    def real(self, what: str) -> Any:
        """Python's own of the same content, which has to be known for `what`."""
        self._check(what)
        return rebuild(*node_of(self))

    def __reduce__(self) -> Any:
        return self.real("pickling").__reduce__()

    def __repr__(self) -> str:
        return repr(self.real("the text of"))

    def _united(self, parts: Iterable[Any]) -> GraphDict:
        made = self.blank()
        for part in parts:
            made.update(part)
        return made

    def __or__(self, other: Any) -> Any:
        return self._united([self, other]) if isinstance(other, dict) else NotImplemented

    def __ror__(self, other: Any) -> Any:
        return self._united([other, self]) if isinstance(other, dict) else NotImplemented


class GraphDefaultDict(_Flavored):
    """A `defaultdict`: a key that is asked for is there from then on."""

    __slots__ = ("default_factory",)

    kind = defaultdict
    default_factory: Any

    def made_with(self) -> tuple[Any, ...]:
        return (self.default_factory,)

    @for_user
    def __getitem__(self, key: Any) -> Any:
        held = self.has(key)
        if held is True or self.default_factory is None:
            return super().__getitem__(key)
        make = converted(self.default_factory)
        hash(key)
        value = make() if held is False else builder().choose(held, lambda: self.held(key), make, f"dict[{key!r}]")
        self._changing()
        self._store(key, value)
        return self.held(key)


GraphDefaultDict.__name__ = "defaultdict"  # what messages of Python call it


class GraphOrderedDict(_Flavored):
    """An `OrderedDict`: its keys can be moved, and their order counts in comparisons."""

    __slots__ = ()

    kind = OrderedDict

    @for_user
    def move_to_end(self, key: Any, last: bool = True) -> None:
        """`OrderedDict.move_to_end`."""
        value, held, flag = self.held(key), self.has(key), self.flags.get(key)
        must_be_there(held, key)
        self._changing()
        if self.places is not None:
            others = [place for other, place in self.places.items() if other != key]
            self.places = {**self.places, key: behind(others) if last else in_front(others)}
        dict.__delitem__(self, key)
        rest = [] if last else list(dict.items(self))
        if not last:
            dict.clear(self)
        dict.update(self, [(key, value), *rest])
        if flag is not None:
            self.flags.pop(key)

    @for_user
    def popitem(self, last: bool = True) -> tuple[Any, Any]:
        """`OrderedDict.popitem`."""
        if last:
            return super().popitem()
        first = next(iter(dict.keys(self)), None)
        if not self.is_ordered or self.flags.get(first) is not None:
            raise unknown_keys("popitem() of")
        if not dict.__len__(self):
            raise KeyError("dictionary is empty")
        self._changing()
        return first, dict.pop(self, first)

    def __eq__(self, other: object) -> Any:
        same = super().__eq__(other)
        return same and (not isinstance(other, (OrderedDict, GraphOrderedDict)) or [*self] == [*other])

    def __ne__(self, other: object) -> Any:
        return not self == other

    __hash__ = None  # type: ignore[assignment]


GraphOrderedDict.__name__ = "OrderedDict"  # what messages of Python call it


def _whole(function: Callable[..., Any]) -> Callable[..., Any]:
    """A method of Counters that makes one, or says how two compare, of all that is in them."""

    def method(self: GraphCounter, *others: Any) -> Any:
        if not all(isinstance(other, (Counter, GraphCounter)) for other in others):
            return NotImplemented
        found = function(*[_counter(value, "an operator of") for value in (self, *others)])
        return opened_dict(found) if isinstance(found, Counter) else found

    return method


def _in_place(function: Callable[..., Any]) -> Callable[..., Any]:
    """A method of Counters that changes one by all that is in it and another."""

    @for_user
    def method(self: GraphCounter, other: Any) -> Any:
        found = function(self.real("an operator of"), _counter(other, "an operator of"))
        self.clear()
        for key, count in found.items():
            self[key] = count
        return self

    return method


class GraphCounter(_Flavored):
    """A `Counter`: a key that is not there counts zero."""

    __slots__ = ()

    kind = Counter

    def __getitem__(self, key: Any) -> Any:
        return self.get(key, 0)

    @for_user
    def __delitem__(self, key: Any) -> None:
        if self.has(key) is not False:
            self.pop(key, None)

    @for_user
    def update(self, iterable: Any = None, /, **named: Any) -> None:
        """`Counter.update`."""
        self._count(operator.add, iterable, named)

    @for_user
    def subtract(self, iterable: Any = None, /, **named: Any) -> None:
        """`Counter.subtract`."""
        self._count(operator.sub, iterable, named)

    def _count(self, change: Callable[[Any, Any], Any], iterable: Any, named: Mapping[str, Any]) -> None:
        for given in (() if iterable is None else iterable, named):
            if _asks_for_table(Counter, given):
                raise of_number(self)
            items = [] if isinstance(given, Mapping) else list(given)
            if are_undecided(items):
                for item in items:
                    for_each_key(lambda key: self.__setitem__(key, change(self[key], 1)), item)
                continue
            counts = given if isinstance(given, GraphDict) else Counter(items or given)
            for key in list(dict.keys(counts)):
                self[key] = change(self[key], counts[key])

    def total(self) -> Any:
        """`Counter.total`."""
        return reduce(operator.add, (self[key] for key in dict.keys(self)), 0)

    def most_common(self, n: int | None = None) -> list[tuple[Any, int]]:
        """`Counter.most_common`."""
        if self.is_undecided():
            decided: list[tuple[Any, int]] = converted(in_order_of_counts)(self, n)
            return decided
        found: list[tuple[Any, int]] = self.real("most_common() of").most_common(n)
        return found

    def elements(self) -> Any:
        """`Counter.elements`."""
        return converted(repeated)(self) if self.is_undecided() else self.real("elements() of").elements()

    def is_undecided(self) -> bool:
        """Whether a tensor decides which keys are there, or gives a count."""
        return partial_items(self) is not None or any(map(is_graph, dict.values(self)))

    def __eq__(self, other: object) -> Any:
        if not isinstance(other, (Counter, GraphCounter)):
            return super().__eq__(other)
        return _counter(self, "a comparison of") == _counter(other, "a comparison of")

    def __ne__(self, other: object) -> Any:
        return not self == other

    __hash__ = None  # type: ignore[assignment]

    __add__, __sub__ = _whole(operator.add), _whole(operator.sub)
    __or__, __and__ = _whole(operator.or_), _whole(operator.and_)
    __pos__, __neg__ = _whole(operator.pos), _whole(operator.neg)
    __le__, __lt__ = _whole(operator.le), _whole(operator.lt)
    __ge__, __gt__ = _whole(operator.ge), _whole(operator.gt)
    __iadd__, __isub__ = _in_place(operator.iadd), _in_place(operator.isub)
    __ior__, __iand__ = _in_place(operator.ior), _in_place(operator.iand)


GraphCounter.__name__ = "Counter"  # what messages of Python call it


def _counter(value: Any, what: str) -> Any:
    return value.real(what) if isinstance(value, GraphCounter) else value


_FLAVORS: dict[type, type[_Flavored]] = {
    defaultdict: GraphDefaultDict, OrderedDict: GraphOrderedDict, Counter: GraphCounter
}  # fmt: skip


def is_flavored(kind: Any) -> bool:
    """Whether dicts of this class have a form of their own in converted code."""
    return kind in _FLAVORS


def empty_dict(kind: type, made_with: tuple[Any, ...]) -> GraphDict:
    """One without keys, of what is `kind` in eager code."""
    made: GraphDict = _FLAVORS.get(kind, GraphDict)()
    if isinstance(made, GraphDefaultDict):
        (made.default_factory,) = made_with
    return made


def dict_with(kind: type, made_with: tuple[Any, ...], items: Iterable[tuple[Any, Any]]) -> GraphDict:
    """One with these items."""
    made = empty_dict(kind, made_with)
    dict.update(made, items)
    return made


def partial_dict(
    children: list[Any], flavor: tuple[type, tuple[Any, ...]], keys: tuple[Any, ...], flagged: tuple[Any, ...],
    ordered: bool,
) -> GraphDict:  # fmt: skip
    """The dict with these values, behind which stand the flags of the keys `flagged`, and all places if not ordered."""
    made = dict_with(*flavor, zip(keys, children))
    made.flags = dict(zip(flagged, children[len(keys) :]))
    made.places = None if ordered else dict(zip(keys, children[len(keys) + len(flagged) :]))
    return made


def opened_dict(native: Any) -> Any:
    """The form of one of Python's own; itself where no program is built."""
    if current_builder() is None:
        return native
    factory = (native.default_factory,) if isinstance(native, defaultdict) else ()
    return dict_with(type(native), factory, [(key, dict.__getitem__(native, key)) for key in native])


def _constructor(kind: type) -> Callable[..., Any]:
    """What stands for the class where it is called."""

    @for_user
    def make(*args: Any, **named: Any) -> Any:
        at = 1 if kind is defaultdict else 0
        given = args[at] if len(args) == at + 1 else None
        if current_builder() is not None and (is_table_site() or _asks_for_table(kind, given)):
            table = empty_table(kind, args[:at])
            for part in (() if given is None else given, named):
                table.update(part)
            return table
        if isinstance(given, GraphList):  # Python's classes would take its `items` for those of a dict
            given = [*given]
            args = (*args[:at], given)
        if not isinstance(given, GraphDict) and not _has_undecided(given):
            return opened_dict(kind(*args, **named))
        made = opened_dict(kind(*args[:at]))
        for part in (given, named):
            made.update(part)
        return made

    return make


def _asks_for_table(kind: type, given: Any) -> bool:
    """Whether there is a number of the program among the keys, or only the run knows how many there are."""
    if isinstance(given, OverList) or is_open(given):
        return True
    if not isinstance(given, (list, tuple)):
        return False
    return any(map(waits, given)) if kind is Counter else has_number_keys(given)


def _has_undecided(given: Any) -> bool:
    """Whether it is a list of keys, or of pairs with keys, of which a tensor decides some."""
    if type(given) is not list:
        return False
    return are_undecided([*given, *[pair[0] for pair in given if type(pair) is list and pair]])


DICT_CLASSES: dict[Any, Callable[..., Any]] = {kind: _constructor(kind) for kind in _FLAVORS}
