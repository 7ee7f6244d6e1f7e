"""`GraphList`: what a list is in converted code. Its length is Python's as long as Python can tell it.

Once a tensor decides how many items there are, its content is a value of the program (`Items`), and every method
records operators on it. The object stays the same, so that all who hold the list see what happens to it.
"""

from __future__ import annotations

from collections.abc import Iterable
from copy import deepcopy
from typing import Any, NoReturn

from ...core.errors import UnsupportedError
from ...core.pytree import OpenList, OverList, is_open, node_of, rebuild
from ...ir.builder import current_builder
from ...ir.numbers import as_number
from ...ops.lists import (
    list_append_op,
    list_extend_op,
    list_get_op,
    list_len_op,
    list_put_op,
    list_remove_op,
    list_set_op,
    list_slice_op,
)
from ...ops.registry import OpDef
from ..state.journal import note_write
from ..state.places import ContentPlace
from ..values.base import builder, is_graph
from ..values.deferred import Call, Input
from ..values.emit import passed_on
from ..values.one_of import by_option, settled
from ..values.sequences import GraphSequence, Live
from ..values.user_errors import for_user, note_user_error
from ..values.whole import whole
from .inner_lists import (
    Origin,
    Path,
    is_known_by_others,
    is_known_elsewhere,
    is_put_again,
    is_put_twice,
    keep,
    keep_but_rows,
    note_origin,
    note_sharing,
    rows_in,
    share_owners,
    tell_owners,
)
from .item_parts import first_part, part_at, row_specs, spec_at, with_spec_at
from .list_items import (
    AsList,
    Items,
    Lost,
    Mixed,
    fitted,
    item_spec,
    join,
    list_spec,
    pack,
    shared_level,
    shared_spec,
    spec_in,
    spec_of,
    unpack,
)
from .positions import ends_of, must_have
from .searching import count_of, index_of, remove_from, repeated
from .specs import TWICE, holds_lists, is_list_spec


class GraphList(OpenList):
    """A list that can go on in a program when a tensor decides how long it is.

    `origins` are the lists of lists that it is an item of, so that a change of it is a change of them; `version` is
    another one once items change their places; `block` is the one that was being built when the list was made; `last`
    is a tensor that was appended, with the content that it is the last item of.
    """

    __slots__ = ("__weakref__", "block", "last", "origins", "version")

    def __init__(self, values: Iterable[Any] = ()) -> None:
        super().__init__(values)
        build = current_builder()
        self.block = None if build is None else build.block
        self.items: Any = None  # Items | Mixed | None
        self.origins: list[Origin] = []
        self.version = 0
        self.last: tuple[Items, Any] | None = None

    @classmethod
    def of(cls, items: Items | Mixed) -> GraphList:
        """A list with this content."""
        made = cls()
        made.items = items
        return made

    # -- content ----------------------------------------------------------------------------------------------------

    def copy(self) -> GraphList:
        """`list.copy`."""
        return self.snapshot() if self.items is None else GraphList.of(self.shared_items())

    def snapshot(self) -> GraphList:
        """A list of the same content, for a trace that puts it back later."""
        return GraphList(self) if self.items is None else GraphList.of(self.items)

    def take(self, value: list[Any]) -> None:
        """Hold what another list holds."""
        if self.items is None and is_open(value):
            for item in list.__iter__(self):  # which the program holds by value from now on
                if isinstance(item, GraphList):
                    keep(item)
        super().take(value)

    def opened(self) -> Items:
        """The content as a value of the program, whether or not the length is known."""
        if self.items is None:
            return _items(item_spec(self), self)
        items: Items = self.items
        return items

    def length(self) -> Any:
        """The length: an int, or a 0-D tensor."""
        return super().__len__() if self.items is None else as_number(list_len_op(self.items.parts[0]))

    def expression(self) -> Any:
        """What makes the list that it is when the program runs."""
        items = self.opened()
        held = [Input(builder().value(part), False, bool(part.stop_gradient)) for part in items.parts]
        return Call(AsList(items.spec), tuple(held))

    def truth(self) -> Any:
        """Whether it has items: a bool, or a 0-D tensor."""
        return self.length() > 0

    def sequence(self) -> GraphSequence:
        """The list as what a `for` counts through; it sees items that come while it runs."""
        return Live(self.length, self.__getitem__)

    def change(self, items: Items, *, in_place: bool = False) -> None:
        """Hold `items` from now on. in_place: those that it had before stay where they are."""
        note_write(ContentPlace(self))
        if self.items is None:
            for item in list.__iter__(self):
                if isinstance(item, GraphList) and not is_known_elsewhere(item):
                    keep(item)
        list.clear(self)
        self.items = items
        self.version += not in_place
        self._tell()

    def _changing(self) -> bool:
        """Note a change that is about to come; whether it is one of a Python list."""
        note_write(ContentPlace(self))
        return self.items is None

    def _holds(self, value: Any, key: Any) -> None:
        """Note that `value` is item `key` from now on."""
        for path, row in rows_in(value):
            share_owners(row)
            note_origin(row, Origin(self, key, path))
            for item in list.__iter__(row):  # none where the length is not known
                keep(item)
        keep_but_rows(value)

    def _tell(self) -> None:
        if self.origins:
            tell_owners(self)

    def stand_for(self, sources: Iterable[Any], is_put: bool = False) -> None:
        """Know that this list is on some path one of `sources`, which may be items of others; is_put: one is."""
        if is_put or any(isinstance(source, GraphList) and is_known_elsewhere(source) for source in sources):
            note_origin(self, Origin())
            note_sharing()

    # -- lists in it ------------------------------------------------------------------------------------------------

    def row_is_shared(self, path: Path | None = None) -> bool:
        """Whether others may know the lists in it, too: those that stand in its items at `path`, by default any."""
        spec: Any = None if self.items is None or self.items.error is not None else self.items.spec
        specs: Iterable[Any] = [spec_at(spec, path)] if path is not None else row_specs(spec)
        return any(is_list_spec(found) and bool(found.shared) for found in specs)

    def share_rows(self) -> None:
        """Note that others know the lists in it, too."""
        if self.items is not None and self.items.error is None and holds_lists(self.items.spec):
            spec = shared_spec(self.items.spec)
            note_sharing()
            if spec != self.items.spec:
                note_write(ContentPlace(self))
                self.items = Items(spec, self.items.parts, self.items.least)

    def shared_items(self) -> Items:
        """The content, for another list that holds the same items."""
        self.share_rows()
        return self.opened()

    def store_row(self, key: Any, value: Any, path: Path) -> None:
        """Hold `value`, a list that was changed, at `path` in item `key`."""
        row = GraphList.of(value.items) if is_open(value) else GraphList(value)  # one that is known nowhere
        self._put(self.opened(), list_set_op, key, row, path)

    def read_anew(self, owner: Any, key: Any, path: Path) -> None:
        """Hold what stands at `path` in item `key` of `owner` now."""
        note_write(ContentPlace(self))
        super().take(_read(part_at(owner.opened(), path), key))
        self.version += 1

    def lose(self, error: UnsupportedError) -> None:
        """Hold nothing that may be read: `error` says why."""
        if self.items is None or self.items.error is None:
            note_write(ContentPlace(self))
            list.clear(self)
            self.items = Lost(error)

    def _put(self, items: Items, op: OpDef, key: Any, value: Any, path: Path = ()) -> None:
        spec = join(spec_at(items.spec, path), spec_in(value, self, items.spec))
        items = fitted(items, with_spec_at(items.spec, path, spec))
        row, place = pack(spec, value), first_part(items.spec, path)
        parts = list(items.parts)
        for i, var in enumerate(row, place):
            parts[i] = passed_on(op, parts[i], var, index=key)
        needed = 0 if type(key) is not int else -key if key < 0 else key + 1  # else an IndexError
        self.change(Items(items.spec, tuple(parts), max(items.least, needed)), in_place=True)

    # -- reading ----------------------------------------------------------------------------------------------------

    def __len__(self) -> int:
        if self.items is not None:
            raise _unknown("len()")
        return super().__len__()

    def __bool__(self) -> bool:
        return len(self) > 0

    def __iter__(self) -> Any:
        position = 0
        while True:
            if self.items is not None:
                raise _unknown("iteration outside of a converted `for`")
            if position >= super().__len__():
                return
            yield super().__getitem__(position)
            position += 1

    def __reversed__(self) -> Any:
        if self.items is not None:
            raise _unknown("reversed()")
        return super().__reversed__()

    def __contains__(self, value: Any) -> bool:
        if self.items is not None:
            raise _unknown("`in`")
        return super().__contains__(value)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, list) and (self.items is not None or is_open(other)):
            raise _unknown("==")
        return super().__eq__(other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = None  # type: ignore[assignment]

    @for_user
    def __getitem__(self, key: Any) -> Any:
        if self.items is None and not _needs_graph(key):
            found = super().__getitem__(key)
            return GraphList(found) if isinstance(key, slice) else found
        items = self.opened()
        if isinstance(key, slice):
            return _sliced(self.shared_items(), key)
        return self._item(items, key)

    def _item(self, items: Items, key: Any) -> Any:
        """One item; if it is a list it knows its place here, anything else cannot be changed as long as it is here."""
        if not is_graph(key) and not hasattr(key, "__index__"):
            raise note_user_error(TypeError(f"list indices must be integers or slices, not {type(key).__name__}"))
        if self.last is not None and self.last[0] is items and type(key) is int and key == -1:
            return self.last[1]  # on whose way backward no other item is passed
        item = _read(items, key)
        for path, row in rows_in(item):
            note_origin(row, Origin(self, key, path))
        keep_but_rows(item)
        return item

    @for_user
    def index(self, *args: Any) -> Any:
        """`list.index`."""
        return index_of(self, list, *args)

    @for_user
    def count(self, value: Any) -> Any:
        """`list.count`."""
        return count_of(self, value)

    # -- changing ---------------------------------------------------------------------------------------------------

    @for_user
    def append(self, value: Any) -> None:
        """`list.append`."""
        value = settled(value)
        if self._changing():
            super().append(value)
            self._tell()
            return
        assert self.items is not None
        if self.items.error is not None:
            self._tell()
            return
        items = fitted(self.items, join(self.items.spec, spec_in(value, self, self.items.spec)))
        row = pack(items.spec, value)
        parts = tuple(passed_on(list_append_op, p, v) for p, v in zip(items.parts, row))
        self.change(Items(items.spec, parts, items.least + 1), in_place=True)
        self._holds(value, -1)
        self.last = (self.items, value) if is_graph(value) else None

    @for_user
    @by_option(2)
    def extend(self, values: Any) -> None:
        """`list.extend`."""
        values = as_list(values)
        if self._changing() and not is_open(values):
            super().extend(values)
            self._tell()
            return
        if self.items is None or self.items.error is None:
            self.change(joined(self, values), in_place=self.items is not None)
        else:
            self._tell()

    @for_user
    def insert(self, index: Any, value: Any) -> None:
        """`list.insert`."""
        index = whole(index, lambda at: [].insert(at, value))
        if self._changing() and not is_graph(index):
            super().insert(index, value)
            self._tell()
            return
        self.take_slices((None, index), [value], (index, None))

    def take_slices(self, head: tuple[Any, Any], middle: list[Any], tail: tuple[Any, Any]) -> None:
        """Become `self[head] + middle + self[tail]`."""
        if self.items is None and not super().__len__():
            self.extend(middle)
            return
        items = self.opened()
        first = joined(_sliced(items, slice(*head)), middle)
        self.change(joined(GraphList.of(first), _sliced(items, slice(*tail))))

    @for_user
    def pop(self, index: Any = -1) -> Any:
        """`list.pop`."""
        index = whole(index, [0].pop)
        if self._changing() and not is_graph(index):
            found = super().pop(index)
            self._tell()
            return found
        items = self.opened()
        rest = tuple(passed_on(list_remove_op, p, index=index) for p in items.parts)  # first: it says what is wrong
        found = _read(items, index)
        if is_known_by_others(self):
            for _, row in rows_in(found):
                note_origin(row, Origin())
        self.change(Items(items.spec, rest, max(items.least - 1, 0)))
        return found

    @for_user
    def __setitem__(self, key: Any, value: Any) -> None:
        if self._changing() and not _needs_graph(key) and not is_open(value):
            super().__setitem__(key, value)
            self._tell()
            return
        if isinstance(key, slice):
            self._set_slice(key, as_list(value))
            return
        items = self.opened()
        self.version += 1  # whoever knows an item may know the one that goes
        self._put(items, list_set_op, key, value)
        self._holds(value, key)

    def put(self, index: Any, value: Any) -> None:
        """`self[index] = value`, or an append where `index`, which only the run knows, is the length."""
        note_write(ContentPlace(self))
        is_new = self.items is None and not super().__len__()
        items = _items(spec_of(value), []) if is_new else self.opened()
        self.version += 1
        self._put(items, list_put_op, index, value)
        self._holds(value, index)

    def _set_slice(self, key: slice, value: list[Any]) -> None:
        start, stop = self._bounds(key)
        self.take_slices((None, start), value, (self.length() if stop is None else stop, None))

    def _bounds(self, key: slice) -> tuple[Any, Any]:
        """Where a slice begins, and where what stands behind it does; None: nowhere."""
        start, stop = key.start, key.stop
        if key.step not in (None, 1):
            raise _unknown("a change of a slice with steps")
        if start is None or stop is None:
            return 0 if start is None else start, stop
        if not _needs_graph(key):
            if self.items is None:
                start, stop, _ = key.indices(super().__len__())
            if start == 0 or (start < 0) is (stop < 0):
                return start, stop if start == 0 else max(start, stop)
        return ends_of(start, stop, self.length())

    @for_user
    def __delitem__(self, key: Any) -> None:
        if self._changing() and not _needs_graph(key):
            super().__delitem__(key)
            self._tell()
        elif isinstance(key, slice):
            self._set_slice(key, [])
        else:
            must_have(self.length(), key, "list assignment index out of range")
            self.pop(key)

    @for_user
    def remove(self, value: Any) -> None:
        """`list.remove`."""
        remove_from(self, list, value)

    def clear(self) -> None:
        """`list.clear`."""
        self._changing()
        self.take([])
        self._tell()

    def reverse(self) -> None:
        """`list.reverse`."""
        if self._changing():
            super().reverse()
            self._tell()
        else:
            self.change(_sliced(self.opened(), slice(None, None, -1)).items)

    def sort(self, *, key: Any = None, reverse: bool = False) -> None:
        """`list.sort`."""
        if not self._changing():
            raise _unknown("sort()")
        super().sort(key=key, reverse=reverse)
        self._tell()

    # -- operators --------------------------------------------------------------------------------------------------

    def __add__(self, other: Any) -> Any:
        return added(self, other) if isinstance(other, list) else NotImplemented

    def __radd__(self, other: Any) -> Any:
        # Python asks here first even for `other += self`, which must change `other`: it does so when told no.
        return added(other, self) if isinstance(other, list) and self.items is not None else NotImplemented

    def __iadd__(self, other: Any) -> Any:
        self.extend(other)
        return self

    def __mul__(self, times: Any) -> Any:
        if self.items is not None or is_graph(times):
            return repeated(self, times)
        return GraphList(super().__mul__(times))

    __rmul__ = __mul__

    def __imul__(self, times: Any) -> Any:
        self.take(self * times)
        return self

    # -- copies and text --------------------------------------------------------------------------------------------

    def __reduce__(self) -> Any:
        return list, (list(self),)

    __copy__ = copy

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        return self.snapshot() if self.items is not None else GraphList(deepcopy(v, memo) for v in self)

    def __repr__(self) -> str:
        return super().__repr__() if self.items is None else f"<list of {self.items.spec}, as long as a program says>"


GraphList.__name__ = "list"  # what messages of Python call it


def _items(item: Any, values: list[Any]) -> Items:
    """The content of a list of the program with these values, which are of spec `item`."""
    spec = list_spec(item)
    return Items(spec.item, tuple(pack(spec, values)), len(values))


def _needs_graph(key: Any) -> bool:
    return any(is_graph(k) for k in ((key.start, key.stop, key.step) if isinstance(key, slice) else (key,)))


def _read(items: Items, key: Any) -> Any:
    return _with_rows(
        unpack(items.spec, iter([passed_on(list_get_op, p, index=key) for p in items.parts]), GraphList.of)
    )


def _with_rows(item: Any) -> Any:
    """`item`, in which lists of known length are such as know that they are held by value."""
    if type(item) is list:
        for child in item:
            keep(child)
        return GraphList(item)
    kind, children, extra = node_of(item) if isinstance(item, (tuple, OverList)) else (None, [], None)
    found = list(map(_with_rows, children))
    return rebuild(kind, found, extra) if any(a is not b for a, b in zip(found, children)) else item


def _sliced(items: Items, key: slice) -> GraphList:
    at = {"start": key.start, "stop": key.stop, "step": key.step}
    first = 0 if key.start is None else key.start
    is_tail = type(first) is int and first >= 0 and key.stop is key.step is None
    least = max(items.least - first, 0) if is_tail else 0
    return GraphList.of(Items(items.spec, tuple(passed_on(list_slice_op, p, **at) for p in items.parts), least))


def joined(first: list[Any], second: list[Any]) -> Items:
    """The content of `first + second`, for a list that takes the place of `first`."""
    if isinstance(second, GraphList):
        second.share_rows()
    specs = item_spec(first), item_spec(second)
    spec = join(*specs)
    again = not is_open(second) and any(
        is_put_twice(item, first) or any(is_put_again(row) for _, row in rows_in(item)) for item in second
    )
    if again or all(map(shared_level, specs)):
        spec = shared_spec(spec, TWICE)
    known = list_spec(spec)
    both = [pack(known, values) for values in (first, second)]
    least = sum(_least(values) for values in (first, second))
    return Items(known.item, tuple(passed_on(list_extend_op, a, b) for a, b in zip(*both)), least)


def _least(values: list[Any]) -> int:
    """How many items a list has at least."""
    return values.items.least if isinstance(values, GraphList) and is_open(values) else len(values)


def added(first: list[Any], second: list[Any]) -> GraphList:
    """`first + second`."""
    if is_open(first) or is_open(second):
        if isinstance(first, GraphList):
            first.share_rows()
        return GraphList.of(joined(first, second))
    return GraphList([*first, *second])


def as_list(values: Any) -> list[Any]:
    """The values of an iterable as a list."""
    return values if isinstance(values, list) else GraphList(values)


def _unknown(what: str) -> UnsupportedError:
    hint = "loop over it with `for`, index it, or make one tensor of it with paddle.stack or paddle.concat"
    return UnsupportedError(f"{what} of a list whose length is known only when the program runs", hint=hint)


def refuse(what: str) -> NoReturn:
    """Raise the UnsupportedError about an operation that no list of the program has."""
    raise _unknown(what)
