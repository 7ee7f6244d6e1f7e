"""The journal: which Python objects a traced region wrote, so that it can be undone and its result merged.

`set_attr`, `del_attr`, item stores and shared variables report here while a branch or loop body is being traced.
"""

from __future__ import annotations

import io
import operator
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import islice
from types import FunctionType
from typing import Any

from ...core.errors import UnsupportedError
from ...core.pytree import OpenDict, OpenList, flatten
from ...core.source import user_frames
from ...ir.builder import current_builder
from ...ir.program import Block, Variable
from ..values.base import Undefined, builder, is_unset
from ..values.foreign import ForkedError
from .ownership import ids_in_iterator, ids_let_go, is_forked, known_references
from .places import (
    AttrPlace,
    CellPlace,
    ContentPlace,
    ItemPlace,
    OwnPlace,
    absorbed_items,
    comes_back,
    content_before,
    kind_of,
    restore,
    within_content,
)

_MISSING = Undefined("place", 0)


class SpentError(UnsupportedError):
    """A traced region took items from an iterator; tracing it another time, or not taking its path, would lose them."""


_MAX_DEPTH, _MAX_ITEMS = 4, 256


class PositionPlace:
    """How far an iterator is, which nothing can put back."""

    label = "an iterator"

    def __init__(self, owner: Any) -> None:
        self.owner = owner
        self.key = (id(owner), "position")
        frames = user_frames(2, limit=1)
        self.loc = frames[0] if frames else None

    def get(self) -> Any:
        return _MISSING

    def set(self, value: Any) -> None:
        """Leave it where it is."""

    def unset(self) -> None:
        """Leave it where it is."""

    def refusal(self) -> SpentError:
        """The error of a region that took items from an iterator made outside."""
        return SpentError(
            f"a tensor decides whether the next item of a {type(self.owner).__name__} is taken here",
            loc=self.loc,
            hint="take the items before the `if` or loop, or make a list of them and count with an index",
        )

    def given_refusal(self) -> SpentError:
        """The error of a function that takes items from an iterator that was there before."""
        return SpentError(
            f"the next item of a {type(self.owner).__name__} given as argument or from outside is taken here; a "
            "program runs no Python",
            loc=self.loc,
            hint="pass the items (list(...)), or convert with full_graph=False, which runs this statement as Python",
        )


def _held_outside(value: Any, before: dict[Any, tuple[Any, Any]]) -> Iterable[Any]:
    """What a plain container held before the trace, or the closure of a function holds."""
    if type(value) in (list, tuple, dict):
        held = content_before(value, before)
        return islice(held.values() if isinstance(held, dict) else held, _MAX_ITEMS)
    if isinstance(value, FunctionType):
        cells = [
            place
            for name, cell in zip(value.__code__.co_freevars, value.__closure__ or ())
            if (place := CellPlace(name, cell)).key not in before
        ]
        return [place.get() for place in cells]
    return ()


class Journal:
    """The places written in one traced region, with what they held before. `tentative`: it may be traced once more.

    `given`: ids of the objects, iterators among them, that a traced function got as arguments or found outside.
    """

    def __init__(self, *, tentative: bool = False) -> None:
        self.before: dict[Any, tuple[Any, Any]] = {}
        self.tentative = tentative
        self.given: set[int] = set()
        self._with_items: set[int] = set()
        """Ids of containers of which an item was written; most writes are to others, which then need no search."""

    def note_read(self, place: Any, value: Any) -> None:
        """Remember iterators that were there before; cells may be those of functions that the trace makes."""
        if not isinstance(place, CellPlace):
            self.note_outside(value)

    def note_outside(self, value: Any, depth: int = 0) -> None:
        """Remember an iterator from before the trace, or those that a container or the closure of a function holds."""
        if isinstance(value, Iterator):
            self.given.add(id(value))
        elif depth < _MAX_DEPTH:
            for part in _held_outside(value, self.before):
                self.note_outside(part, depth + 1)

    def note(self, place: Any) -> None:
        """Remember what `place` holds, the first time it is about to be written.

        What is written item by item and as a whole has one place, the whole: `before` has no items of its owner then.
        """
        if isinstance(place, ItemPlace) and comes_back(place, self.before):
            place = ContentPlace(place.owner)
        if place.key in self.before or (isinstance(place, ItemPlace) and within_content(place, self.before)):
            return
        if isinstance(place, ItemPlace):
            self._with_items.add(id(place.owner))
        is_whole = isinstance(place, ContentPlace) and id(place.owner) in self._with_items
        value = absorbed_items(place, self.before) if is_whole else place.get()
        self.before[place.key] = (place, value)

    def forget_local(self, held: Any, also: Iterable[int] = (), *, in_block: bool = True) -> list[Any]:
        """Drop the places inside objects that only this region knows: made in it, and held by nothing but `held`.

        They need neither undoing nor merging; the other path has no such object. Returns the keys of those places.
        also: ids of objects that are held once more by those who watch the trace. in_block: whether the region has a
        block of its own.
        """
        if not self.before:
            return []
        build = current_builder()
        owners = Counter(() if build is None else build.forks.references)
        places = {id(p): p for journal in _open.get() for p, _ in journal.before.values()}
        owners.update([id(p.owner) for p in places.values() if hasattr(p, "owner")])
        owners.update(() if build is None else build.left_iterators.keys())
        for place, _ in self.before.values():
            if isinstance(place, PositionPlace):
                owners.update(ids_in_iterator(place.owner))
        known = known_references(held, owners)
        known.update(also)
        owners.clear()
        places.clear()
        forgotten = []
        for key, (place, _) in list(self.before.items()):
            owner = getattr(place, "owner", None)
            # Two more: the variable `owner`, and the argument of getrefcount.
            is_known = owner is None or sys.getrefcount(owner) > known[id(owner)] + 2
            if owner is not None and (not is_known or (in_block and _is_made_here(owner))):
                del self.before[key]
                forgotten.append(key)
        return forgotten

    def refuse_spent(self) -> None:
        """Raise SpentError if the region took items from an iterator that others know, too."""
        for place, _ in self.before.values():
            if isinstance(place, PositionPlace):
                raise place.refusal()

    def after(self) -> dict[Any, tuple[Any, Any]]:
        """place key -> (place, value now)."""
        return {key: (place, place.get()) for key, (place, _) in self.before.items()}

    def is_changed(self, besides: Sequence[Any] = ()) -> bool:
        """Whether a place holds something else than it did, one of other objects than `besides`."""
        left = {id(owner) for owner in besides}
        written = [entry for entry in self.before.values() if id(getattr(entry[0], "owner", None)) not in left]
        return any(not _same(value, place.get()) for place, value in written)

    def keep(self) -> None:
        """Let what was written stay."""
        self.before.clear()

    def undo(self) -> None:
        """Put back what every place held, the last written first: an item may be gone from its list since."""
        for place, value in reversed(self.before.values()):
            if isinstance(place, AttrPlace) and place.inherited:
                place.unset()
            else:
                restore(place, value)


def _same(a: Any, b: Any) -> bool:
    """Whether both are one object, or unset, or containers of the same objects (what `get` gives may be a copy)."""
    if a is b or (is_unset(a) and is_unset(b)):
        return True
    left: list[Any] = []
    right: list[Any] = []
    return flatten(a, left) == flatten(b, right) and all(map(operator.is_, left, right)) and bool(left)


def _is_made_here(owner: Any) -> bool:
    """Whether a list, dict or object was made in the block being built, or in one inside of it; a tensor, in a path."""
    if isinstance(owner, Variable):
        return owner.block.parent is not None and is_inside(owner.block, builder().block)
    is_container = isinstance(owner, (OpenList, OpenDict))
    block = getattr(owner, "block", None) if is_container else builder().made.block_of(owner)
    return is_inside(block, builder().block)


def is_inside(block: Block | None, region: Block) -> bool:
    """Whether the block is `region`, or lies in it."""
    while block is not None:
        if block is region:
            return True
        block = block.parent
    return False


_open: ContextVar[tuple[Journal, ...]] = ContextVar("open_journals", default=())


@contextmanager
def journaling(places: Sequence[Any] = ()) -> Iterator[Journal]:
    """Record writes inside; they are undone at the end. `places` count as written from the start."""
    journal = Journal()
    for place in places:
        journal.note(place)
    token = _open.set((*_open.get(), journal))
    try:
        yield journal
    finally:
        _open.reset(token)
        journal.undo()


@contextmanager
def kept_unless_given_up(places: Sequence[Any], is_given_up: Callable[[BaseException], bool]) -> Iterator[None]:
    """Keep the writes inside (`places` count as written), but where an exception leaves that gives the attempt up."""
    journal = Journal(tentative=True)
    for place in places:
        journal.note(place)
    token = _open.set((*_open.get(), journal))
    try:
        yield
    except BaseException as err:
        if is_given_up(err):
            journal.undo()
        raise
    finally:
        _open.reset(token)


def is_journaling() -> bool:
    """Whether a region is being traced."""
    return bool(_open.get())


def note_left(iterator: Any) -> None:
    """Remember that a tensor decides how many items of `iterator` a loop takes: nobody can tell where it is then."""
    left = builder().left_iterators
    native = getattr(iterator, "native", iterator)
    left[id(native)] = native


def note_spent(iterator: Any) -> None:
    """Tell the journals of regions that a tensor decides that items of `iterator` are about to be taken.

    Raises SpentError for an iterator given to the traced function: each call takes items, the trace none.
    """
    opened = [journal for journal in _open.get() if not journal.tentative]
    place = PositionPlace(getattr(iterator, "native", iterator))  # of a generator of the user's: Python's own
    if opened and id(place.owner) in builder().left_iterators:
        raise place.refusal()
    if opened and id(iterator) in opened[0].given:
        raise place.given_refusal()
    for journal in opened[1:]:
        journal.note(place)


def refuse_given(values: Iterable[Any]) -> None:
    """Raise SpentError for an iterator given to the traced function, of which a library's function may take items."""
    opened = [journal for journal in _open.get() if not journal.tentative]
    for value in values if opened else ():
        if id(value) in opened[0].given and isinstance(value, Iterator) and not isinstance(value, io.IOBase):
            raise PositionPlace(value).given_refusal()


def innermost_journal() -> Journal | None:
    """The journal of the region that is traced now: what is made elsewhere, others may see."""
    held = _open.get()
    return held[-1] if held else None


def note_inside(journal: Journal | None, place: Any) -> None:
    """Tell the journals of regions inside of `journal`'s that `place`, of what was made there, is to be written."""
    opened = list(_open.get())
    for inner in opened[opened.index(journal) + 1 :] if journal in opened else ():
        inner.note(place)


def is_nested() -> bool:
    """Whether a branch or loop body is being traced, inside a trace."""
    return sum(not journal.tentative for journal in _open.get()) > 1


def is_anything_changed() -> bool:
    """Whether the traced function changed a Python object so far."""
    return any(journal.is_changed() for journal in _open.get()[:1])


def is_region_changed() -> bool:
    """Whether the region that is being traced changed a Python object so far."""
    return any(journal.is_changed() for journal in _open.get()[-1:])


def is_written(owner: Any) -> bool:
    """Whether the region that is being traced wrote to this object."""
    return any(
        getattr(place, "owner", None) is owner for journal in _open.get()[-1:] for place, _ in journal.before.values()
    )


def _forked(place: Any) -> ForkedError:
    kind = kind_of(place.owner)
    return ForkedError(
        f"a change of a {kind} that is the same object as another {kind} on one path of an `if` that a tensor decides",
        hint=f"change it before the `if`, or make a copy on both paths ({kind}(...))",
    )


def note_write(place: Any) -> None:
    """Tell every open journal that `place` is about to be written; raises UnsupportedError where that is ambiguous.

    That is so for a container that one path of an `if` took from elsewhere.
    """
    build = current_builder()
    # What was not made of several containers, and is none of those, needs no search.
    if build is not None and id(getattr(place, "owner", None)) in build.forks.references:
        entries = [entry for journal in _open.get() for entry in journal.before.values()]
        places = {id(written): getattr(written, "owner", None) for written, _ in entries}
        owners = [*[id(owner) for owner in places.values()], *ids_let_go()]
        places.clear()  # it refers to them, too
        if is_forked(build.forks, getattr(place, "owner", None), [value for _, value in entries], owners):
            raise _forked(place)
    owner = getattr(place, "owner", None)
    if build is not None and owner is not None and not isinstance(owner, OpenList):
        build.check_change(owner)
    for journal in _open.get():
        journal.note(place)


def forget_writes_to(owner: Any) -> None:
    """Drop from every open journal what was written to an object that was made just now, which nobody else knows."""
    for journal in _open.get():
        for key, (place, _) in list(journal.before.items()):
            if getattr(place, "owner", None) is owner:
                del journal.before[key]


def note_attribute(owner: Any, attribute: str, set_then: bool = True) -> None:
    """Tell every open journal that an attribute is about to be written: set, or deleted."""
    own = OwnPlace(owner, attribute)
    if not is_journaling() or not own.matters(set_then):
        note_write(AttrPlace(owner, attribute))
        return
    note_write(own)
    note_write(AttrPlace(owner, attribute, inherited=attribute not in vars(owner)))
    own.set(set_then)
