"""Lists that are items of other lists of a program, and who else knows them.

A list whose length is known only when the program runs holds its items by value. A list that was read from one, or put
into one, knows its place there (`Origin`): a change of it is stored there, and whoever else knows that place reads it
anew. Where a list may be known and nobody can tell the place, changing it is refused; and a list that may have been
changed by another name is refused once it is read.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator, Sequence
from copy import copy
from typing import Any

from ...core.errors import UnsupportedError
from ...core.pytree import OneOf, OpenDict, OpenList, OpenTuple, OverList, can_change, eager_class, is_open, node_of
from ...core.source import user_frames
from ...ir.builder import current_builder
from ...ir.numbers import as_number
from ...ir.program import Block
from ...ops.lists import list_len_op
from ...ops.select import where
from ..state.journal import is_inside
from ..state.ownership import made_of
from ..values.base import builder, is_graph, is_tensor

Path = tuple[int, ...]
"""Where in an item a list stands: its place among what a tuple, or a dict of lists, holds; () is the item itself."""


class Origin:
    """Where a list is an item of another one, or stands at `path` in an item: `key` of `owner`.

    That is so as long as no item there changes its place. Without an owner: somewhere, where nobody can tell.
    """

    def __init__(self, owner: Any = None, key: Any = None, path: Path = ()) -> None:
        self.owner = owner
        self.path = path
        self.version = -1 if owner is None else owner.version
        self._items: Any = None if owner is None else owner.items
        self._key = key

    @property
    def key(self) -> Any:
        """The place, counted from the start once others may have come behind it."""
        key = self._key
        if self.owner.items is self._items or not (is_graph(key) or key < 0):
            return key
        length = as_number(list_len_op(self._items.parts[0]))
        return where(key < 0, length + key, key) if is_graph(key) else length + key

    @property
    def settled_key(self) -> int | None:
        """The place, if it is a number of Python and nothing came or went in the owner since; else None."""
        is_same = self.is_known and self.owner.items is self._items
        return self._key if is_same and type(self._key) is int else None

    @property
    def is_counted(self) -> bool:
        """Whether the place is where a `for` through the owner stands."""
        return self.is_known and id(self._key) in builder().loop_counters

    def is_beside(self, other: Origin) -> bool:
        """Whether the two are in the same part of the same item."""
        return other.owner is self.owner and other._key is self._key and other.path[:-1] == self.path[:-1]

    @property
    def is_known(self) -> bool:
        """Whether the list is at that place still."""
        return is_open(self.owner) and self._items is not None and self.owner.version == self.version


def note_origin(value: Any, origin: Origin) -> None:
    """Note that the list `value` is known at `origin`, too."""
    value.origins.append(origin)
    build = current_builder()
    if build is not None:
        build.inner_lists[id(value)] = weakref.ref(value)


def known_origin(value: Any) -> Origin | None:
    """Where the list, dict or set is an item of a list, if that can be told and nobody else may know it."""
    if isinstance(value, OverList):
        return _common_origin([known_origin(part) for part in value.lists()])
    if not isinstance(value, OpenList) or len(value.origins) != 1:  # type: ignore[attr-defined]
        return None
    (origin,) = value.origins  # type: ignore[attr-defined]
    return origin if origin.is_known and not origin.owner.row_is_shared(origin.path) else None


def _common_origin(origins: Sequence[Origin | None]) -> Origin | None:
    """Where the item is that these lists, each at a place of its own in it, are made into."""
    first = origins[0]
    if first is None or any(other is None or not first.is_beside(other) for other in origins):
        return None
    found = copy(first)
    found.path = first.path[:-1]
    return found


def is_known_elsewhere(value: Any) -> bool:
    """Whether a list is an item of another one that holds it by value."""
    return bool(value.origins)


def inner_lists(value: Any, depth: int = 0) -> Iterator[Any]:
    """The lists and dicts that `value` is or holds, once for each place."""
    node = None if is_tensor(value) else node_of(value)
    if isinstance(value, OpenList) or (node is not None and isinstance(value, (list, dict))):
        yield value
    for child in () if node is None or is_open(value) else node[1]:
        yield from inner_lists(child)


def _objects_in(value: Any) -> Iterator[Any]:
    """The dicts and objects that `value` is or holds; none of those in lists."""
    node = None if is_tensor(value) or isinstance(value, list) else node_of(value)
    if node is not None:
        if can_change(value):
            yield value
        for child in node[1][1:] if isinstance(value, OneOf) else node[1]:
            yield from _objects_in(child)


def note_put(value: Any, owner: Any = None) -> None:
    """Note that `value` was put into the list `owner`, or into one that there will be."""
    for part in _objects_in(value):
        builder().put[id(part)] = part, getattr(owner, "items", None)


def is_put_twice(value: Any, owner: Any) -> bool:
    """Whether a dict or object that `value` is or holds was put into a list before, or is once more in each iteration.

    A path that is traced a second time puts it into what the list held the first time.
    """
    for part in _objects_in(value):
        known = builder().put.get(id(part))
        if known is not None and known[1] is not getattr(owner, "items", None):
            return True
        block = getattr(part, "block", None) if isinstance(part, OpenDict) else builder().made.block_of(part)
        if block is not None and _is_older_than_loop(block):
            return True
    return False


def note_turns(heads: Sequence[Any], ends: Sequence[Any]) -> None:
    """Note which dicts and objects two turns of a loop may put into lists: what one leaves in a variable for the next.

    heads, ends: what the variables are at the head of its body and at the end.
    """
    build = builder()
    for head, end in zip(heads, ends) if build.put else ():
        if isinstance(head, tuple) and isinstance(end, tuple):
            note_turns(head, end)
        elif can_change(head) and not isinstance(head, list):
            left = made_of([end], build.forks)
            for part, _ in build.put.values():
                known = made_of([part], build.forks)
                if id(head) in known and not known.isdisjoint(left):
                    build.twice.add(eager_class(part))


def is_any_twice(values: Any, original: Callable[[Any], Any] = lambda part: part) -> bool:
    """Whether one list, dict or object is at two places in a list. original: what a part of it is a copy of."""
    objects = [part for value in values for part in _objects_in(value) if not isinstance(part, dict)]
    found = [id(original(part)) for part in (*inner_lists(values), *objects)]
    return len(set(found)) < len(found)


def is_put_again(value: Any) -> bool:
    """Whether a list is older than the innermost loop, of which each iteration would put it into another list."""
    return _is_older_than_loop(value.block)


def _is_older_than_loop(made_in: Any) -> bool:
    """Whether what was made in a block was so before the innermost loop."""
    block = _loop_around(builder().block)
    return block is not None and not is_inside(made_in, block)


def is_next_item(value: Any, owner: Any) -> bool:
    """Whether `value` is what a `for` through another list has come to, which puts each item into `owner` once.

    That is so where `owner` is not older than what repeats that `for`.
    """
    body = _loop_around(builder().block)
    if body is None or len(value.origins) != 1 or value.origins[0].owner is owner or not value.origins[0].is_counted:
        return False
    around = _loop_around(body.parent)
    return around is None or is_inside(owner.block, around)


def _loop_around(block: Block | None) -> Block | None:
    """The body of the innermost loop that a block is in."""
    while block is not None and block not in builder().loop_bodies:
        block = block.parent
    return block


def share_owners(value: Any) -> None:
    """Note that one more knows the list `value`, for those that hold it already."""
    for origin in value.origins:
        if origin.owner is not None:
            origin.owner.share_rows()


# --- changes ---------------------------------------------------------------------------------------------------------


def tell_owners(value: Any) -> None:
    """Store a list that was changed where it is an item; raises UnsupportedError where that cannot be told."""
    for origin in value.origins:
        if not origin.is_known or origin.owner.row_is_shared(origin.path):
            raise _change_refused(origin)
    for origin in list(value.origins):
        origin.owner.store_row(origin.key, value, origin.path)
        _tell_others(origin.owner, value, origin.path)


def _change_refused(origin: Origin) -> UnsupportedError:
    others = ", and may be an item of another one, or twice of this one" if origin.is_known else ""
    return UnsupportedError(
        f"a list is changed that is also an item of a list whose length is known only when the program runs{others}",
        loc=_here(),
        hint="put a copy into the list (outer.append(list(inner))), fill the inner list before it becomes an item, or "
        "change it through outer[i]",
    )


def _here() -> Any:
    return next(iter(user_frames(1, limit=1)), None)


def note_sharing() -> None:
    """Remember the user's line as one from which on lists may have an item in common."""
    builder().shared_at = _here()


def _tell_others(owner: Any, changed: Any = None, path: Path | None = None) -> None:
    """An item of `owner`, `changed`, is another one now: whoever knows it by another name learns so.

    path: where in the item it stands; what stands elsewhere in it is the same as before.
    """
    above = _owners_of(owner)
    for other in list(_living()):
        if other is changed or any(other is part for part in above):
            continue
        own = [origin for origin in other.origins if origin.owner is owner and path in (None, origin.path)]
        known = next((origin for origin in own if origin.is_known), None)
        if any(origin.owner is None for origin in other.origins) or (own and known is None):
            other.lose(_stale())
        elif known is not None:
            other.read_anew(owner, known.key, known.path)
            _tell_others(other)


def _owners_of(value: Any) -> list[Any]:
    found = [value]
    for owner in found:
        found += [o.owner for o in owner.origins if o.owner is not None and all(o.owner is not f for f in found)]
    return found


def _living() -> Iterator[Any]:
    """The inner lists that code may still read here."""
    build = builder()
    return (value for value in all_inner_lists() if is_inside(build.block, value.block))


def all_inner_lists() -> Iterator[Any]:
    """The inner lists of the trace so far, those among them that it was given."""
    build = builder()
    for key, ref in list(build.inner_lists.items()):
        value = ref()
        if value is None:
            del build.inner_lists[key]
        elif value.origins:
            yield value


def is_known_by_others(owner: Any) -> bool:
    """Whether somebody knows a list that is, or was, an item of `owner`."""
    return owner.row_is_shared() or any(
        origin.owner is owner or origin.owner is None for value in _living() for origin in value.origins
    )


def _stale() -> UnsupportedError:
    return UnsupportedError(
        "a list is read that may have been changed as an item of another list, whose length is known only when the "
        "program runs",
        loc=_here(),
        hint="read it from the outer list again (outer[i]), or keep a copy of it (list(inner)) from the start",
    )


# --- what lists hold by value ----------------------------------------------------------------------------------------


def rows_in(value: Any) -> Iterator[tuple[Path, Any]]:
    """The lists that a change of can be followed while `value` is an item of another one, and where in it they stand.

    Those are `value` itself, and what tuples and dicts or sets made of lists hold.
    """
    if isinstance(value, OpenList):
        yield (), value
    for place, child in enumerate(_parts_of(value)):
        for path, row in rows_in(child):
            yield (place, *path), row


def _parts_of(value: Any) -> list[Any]:
    if isinstance(value, tuple):
        return list(value)
    return value.lists() if isinstance(value, OverList) and not isinstance(value, OpenTuple) else []


def keep_but_rows(value: Any) -> None:
    """`keep` of what an item is or holds beside the lists whose changes can be followed."""
    if isinstance(value, OpenList):
        return
    parts = _parts_of(value)
    for part in parts:
        keep_but_rows(part)
    if not parts:
        keep(value)


def keep(value: Any) -> None:
    """Note that a list of the program holds `value` as it is: a change of it would go unseen, and is refused."""
    if isinstance(value, OpenList):
        share_owners(value)
        note_origin(value, Origin())
        for item in list.__iter__(value):  # none where the length is not known
            keep(item)
    elif is_tensor(value):
        builder().keep(value)
    else:
        node = node_of(value)
        if node is not None:
            builder().keep(value)
            for child in node[1]:
                keep(child)


Kept = bool | tuple["Kept", ...]


def kept_parts(value: Any) -> Kept:
    """Whether a list of the program holds `value` as it is; if not, the same for each part of it."""
    if isinstance(value, OpenList):
        return is_known_elsewhere(value)
    node = None if is_tensor(value) else node_of(value)
    if node is None or builder().is_kept(value):
        return builder().is_kept(value)
    return tuple(map(kept_parts, node[1]))


def keep_parts(value: Any, kept: Kept) -> None:
    """`keep` of those parts of `value` that `kept` names; where `value` has other parts, of each."""
    node = node_of(value)
    if not isinstance(kept, tuple) or node is None:
        if is_any_kept(kept):
            keep(value)
        return
    fitting = kept if len(kept) == len(node[1]) else [is_any_kept(kept)] * len(node[1])
    for child, part in zip(node[1], fitting):
        keep_parts(child, part)


def is_any_kept(kept: Kept) -> bool:
    """Whether `kept` names anything."""
    return any(map(is_any_kept, kept)) if isinstance(kept, tuple) else kept
