"""Which containers nothing but a traced region knows, told by counting references."""

from __future__ import annotations

import gc
import sys
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import Any, NamedTuple

from ...core.made import held_in_slots
from ...core.pytree import OneOf, OpenList, OverList, can_change, eager_class, is_open, node_of
from ...ir.builder import current_builder
from ...ir.notes import Fork
from ..values.foreign import ForkedError
from .places import ContentPlace, kind_of

_CONTAINERS = (list, tuple, dict, set, OneOf, OverList)


def known_references(held: Any, base: Counter[int]) -> Counter[int]:
    """How often each object is referred to from within `held`, by the object's id, added to the counts of `base`.

    A container inside `held` that others know, too, does not count: what it refers to is as well known as itself.
    """
    shared: set[int] = set()
    build = current_builder()
    while True:
        found = _containers(held, shared)
        known = Counter(base)
        known.update([id(item) for container in found for item in _items(container)])
        if build is not None and build.made:
            known.update(build.made.kept)
        # Three more references: the list `found`, the variable here, and the argument of getrefcount.
        more = {id(c) for c in islice(found, 1, None) if id(c) not in shared and sys.getrefcount(c) > known[id(c)] + 3}
        if not more:
            return known
        shared |= more


def _containers(held: Any, shared: set[int]) -> list[Any]:
    """`held` and the containers inside it, each once; what shared ones hold is left out, and so are they.

    An object that the trace made is one, too: what it holds nobody else need know.
    """
    build = current_builder()
    objects: Container[Any] = () if build is None else build.made
    found: list[Any] = []
    seen = set(shared)
    waiting = [held]
    while waiting:
        container = waiting.pop()
        if id(container) not in seen and (isinstance(container, _CONTAINERS) or container in objects):
            seen.add(id(container))
            found.append(container)
            waiting += _items(container)
    return found


def _items(container: Any) -> list[Any]:
    if is_open(container):
        return []
    if isinstance(container, OneOf):
        return [container.children]
    if isinstance(container, OverList):
        return container.lists()
    if isinstance(container, dict):
        return list(dict.values(container))
    if isinstance(container, (list, tuple, set)):
        return list(container)
    slotted = held_in_slots(container)
    return [container.__dict__, *slotted] if hasattr(container, "__dict__") else slotted


def private(values: tuple[Any, ...], holders: int) -> frozenset[int]:
    """The ids of those of `values` that so many hold: this tuple, once, and others that are about to let them go."""
    known = known_references(values, Counter())
    # Two more references: the variable here, and the argument of getrefcount.
    return frozenset(id(v) for v in values if known[id(v)] == 1 and sys.getrefcount(v) <= holders + 2)


OF_CALLER = 2
"""Variables of a construct are held by the variables of the caller, to which the results are assigned, and a tuple."""


@contextmanager
def let_go(values: tuple[Any, ...], holders: int) -> Iterator[None]:
    """Inside, so many that hold each of `values` do not count: what they hold is exchanged before anybody reads it.

    Such are this tuple, and the variables of converted code that `values` are of and a construct's results go to.
    """
    build = current_builder()
    if build is None or not values:
        yield
        return
    build.let_go.append((values, holders))
    try:
        yield
    finally:
        build.let_go.pop()


def ids_let_go() -> list[int]:
    """The id of each object that some hold who let it go, once for each of them."""
    build = current_builder()
    most: dict[int, tuple[tuple[Any, ...], int]] = {}
    for values, holders in () if build is None else build.let_go:
        known = most.get(id(values), (values, 0))[1]
        most[id(values)] = values, max(known, holders)
    return [id(value) for values, holders in most.values() for value in values for _ in range(holders)]


class Forking(NamedTuple):
    """Where forks are noted. `merging`: see Fork; `apart`: ids of containers of one path that stay what they are.

    `lists`: for each path, which lists it put into others.
    """

    forks: list[Fork]
    apart: Container[int] = ()
    merging: object = None
    lists: Sequence[Any] = ()


def note_forks(where: Forking, values: Iterable[Any], *sources: Iterable[Any]) -> None:
    """Remember containers and objects that were made of those on several paths: for each value one from each path."""
    where = where._replace(merging=where.merging or object())
    for value, *origins in zip(values, *sources):
        if isinstance(value, OneOf):
            options, parts = value.children[1:], [part for origin in origins for part in _options(origin)]
            made, left = _without(options, parts, where.apart), _without(parts, options, where.apart)
            pairs = [(option, part) for option in made for part in left]
            alike = [(option, part) for option, part in pairs if eager_class(option) is eager_class(part)]
            note_forks(where._replace(merging=None), [option for option, _ in alike], [part for _, part in alike])
            continue
        if id(value) in where.apart or any(value is origin for origin in origins):
            continue
        if isinstance(value, OpenList):
            value.stand_for(origins, _is_put_by_its_path(where.lists, origins))
        if isinstance(value, set) or can_change(value) or is_open(value):
            where.forks.append(Fork(value, tuple(origins), where.merging))
        if node_of(value) is not None:
            note_forks_inside(where, value, origins)


def _is_put_by_its_path(paths: Sequence[Any], origins: Sequence[Any]) -> bool:
    """Whether one of the lists was put into another one by the path it comes from."""
    own = zip(paths, origins) if len(paths) == len(origins) else [(path, value) for path in paths for value in origins]
    return any(path.has(value) for path, value in own)


def note_forks_inside(where: Forking, value: Any, origins: Sequence[Any]) -> None:
    """Remember what a container holds that was made of these on several paths; a key that a path lacks is no item."""
    where = where._replace(merging=where.merging or object())
    if isinstance(value, dict) and all(isinstance(origin, dict) for origin in origins):
        for key, item in list(dict.items(value)):
            held = [(dict.__getitem__(origin, key),) for origin in origins if dict.__contains__(origin, key)]
            note_forks(where, (item,), *held)
        return
    node, nodes = node_of(value), [node_of(origin) for origin in origins]
    if node is not None and all(part is not None and len(part[1]) == len(node[1]) for part in nodes):
        note_forks(where, node[1], *[part[1] for part in nodes])


def note_forks_at(place: Any, where: Forking, value: Any, origins: Sequence[Any]) -> None:
    """Remember what a place holds, made of what it held on several paths: content is a copy, so its items count."""
    if isinstance(place, ContentPlace):
        note_forks_inside(where, value, origins)
    else:
        note_forks(where, (value,), *[(origin,) for origin in origins])


def _without(values: Sequence[Any], others: Sequence[Any], apart: Container[int]) -> list[Any]:
    """Those that are none of the other objects: these, and what is apart, stay the objects that they are."""
    return [value for value in values if id(value) not in apart and not any(value is other for other in others)]


def _options(value: Any) -> tuple[Any, ...]:
    return value.children[1:] if isinstance(value, OneOf) else (value,)


OF_STEPPING = 2
"""What a `Stepping` refers to its owner by: an attribute, and a bound method."""


def ids_in_iterator(iterator: Any) -> list[int]:
    """The id of each object that an iterator draws from, as `zip` and `enumerate` do, once for each reference."""
    referents = gc.get_referents(iterator)
    held = [item for part in referents for item in (part if type(part) is tuple else (part,))]
    objects = [item for item in held if not isinstance(item, OneOf)]  # of that even asking for an attribute may fail
    owners = [item.owner for item in objects if hasattr(item, "step") and hasattr(item, "owner")]
    return [*map(id, held), *(id(owner) for owner in owners for _ in range(OF_STEPPING))]


def is_forked(forks: Sequence[Fork], owner: Any, before: Sequence[Any], owners: Sequence[int]) -> bool:
    """Whether `owner` is on some path the same object as another container that is still in use.

    before: what journals keep of the state before; owners: the ids of objects that their places refer to.
    """
    asked = _maybe_the_same(forks, owner)
    if not asked:
        return False
    held = [*[part for merged, sources, _ in forks for part in (merged, *sources)], *before]
    # Once more each is held by its fork, or by its journal and the list given here, and by places.
    base = Counter(id(part) for part in [*held, *before])
    base.update(owners)
    known = known_references(held, base)  # before any variable here refers to what is counted
    for number, index in asked:
        container = forks[number].merged if index is None else forks[number].sources[index]
        if _is_in_use(container, known):
            return True
    return False


def maybe_the_same(forks: Sequence[Fork], container: Any) -> list[Any]:
    """The containers of which a tensor may have decided that they are this one."""
    asked = _maybe_the_same(forks, container)
    return [forks[number].merged if index is None else forks[number].sources[index] for number, index in asked]


def _maybe_the_same(forks: Sequence[Fork], owner: Any) -> list[tuple[int, int | None]]:
    """Which containers `owner` may be: each by its fork, and its place among the sources (None: what was merged)."""
    made_of = _sources(forks)
    own = _origins(made_of.get(id(owner), ()), made_of)
    found: list[tuple[int, int | None]] = []
    for number, (merged, sources, _) in enumerate(forks):
        found += [(number, index) for index, source in enumerate(sources) if id(source) in own]
        origins = _origins(sources, made_of)
        if id(owner) in origins or (merged is not owner and not own.isdisjoint(origins)):
            found.append((number, None))
    return found


def _is_in_use(container: Any, known: Counter[int]) -> bool:
    """Whether others than forks and journals, and what nothing but those knows, refer to the container."""
    return sys.getrefcount(container) > known[id(container)] + _OF_A_CALL


def _seen_by_a_call(container: Any) -> int:
    """The references to what one variable of the caller holds: in some Pythons its stack has another one."""
    return sys.getrefcount(container)


_item = object()
_OF_A_CALL = _seen_by_a_call(_item)


def check_forks(forks: Iterable[Fork], given_out: Iterable[Any], outside: Container[int]) -> None:
    """Raise ForkedError where a container leaves the trace that is, on one path, one that others know, too.

    outside: ids of the containers that were there before.
    """
    if not forks:
        return
    left = {id(container) for container in _leaving(given_out)}
    origins = _sources(forks)
    leaving = [fork for fork in forks if id(fork.merged) in left]
    for number, fork in enumerate(leaving):
        known = any(key in left or key in outside for key in _origins(fork.sources, origins))
        if known or any(_may_be_one(fork, other, origins) for other in leaving[:number]):
            kind = kind_of(fork.sources[0])
            raise ForkedError(
                f"a {kind} leaves the function that a tensor decides to be another {kind}, which others know, too",
                hint=f"make a copy of it on both paths ({kind}(...))",
            )


def repeated(values: Iterable[Any]) -> set[int]:
    """The ids of the containers and objects that these values are or hold in several places."""
    seen: set[int] = set()
    found: set[int] = set()
    waiting = list(values)
    while waiting:
        value = waiting.pop()
        node = None if isinstance(value, tuple) else node_of(value)
        if is_open(value) or can_change(value):
            if id(value) in seen:
                found.add(id(value))
                continue
            seen.add(id(value))
        waiting += (node_of(value) or (0, ()))[1] if node is None else node[1]
    return found


def _leaving(values: Iterable[Any]) -> Iterator[Any]:
    """The containers and objects that these values are or hold, once each."""
    seen: set[int] = set()
    waiting = list(values)
    while waiting:
        value = waiting.pop()
        if id(value) in seen:
            continue
        seen.add(id(value))
        if isinstance(value, _CONTAINERS):
            yield value
            waiting += _items(value)
        elif (node := node_of(value)) is not None:
            yield value
            waiting += node[1]


def _origins(sources: Iterable[Any], known: Mapping[int, tuple[Any, ...]]) -> set[int]:
    """The ids of all containers that one of these is, on some path."""
    found: set[int] = set()
    waiting = list(sources)
    while waiting:
        source = waiting.pop()
        if id(source) not in found:
            found.add(id(source))
            waiting += known.get(id(source), ())
    return found


def _sources(forks: Iterable[Fork]) -> dict[int, tuple[Any, ...]]:
    """What each container was made of, by its id: of those before a loop and those that its body gives, say."""
    found: dict[int, tuple[Any, ...]] = {}
    for merged, sources, _ in forks:
        found[id(merged)] = (*found.get(id(merged), ()), *sources)
    return found


def made_of(values: Iterable[Any], forks: Iterable[Fork]) -> set[int]:
    """The ids of these containers and of all that they are on some path."""
    return _origins(values, _sources(forks))


def _may_be_one(one: Fork, other: Fork, known: Mapping[int, tuple[Any, ...]]) -> bool:
    """Whether two containers that were made by merging are the same one on some path."""
    if one.merged is other.merged:
        return False
    same_paths = one.merging is other.merging
    pairs = zip(one.sources, other.sources) if same_paths else [(one.sources, other.sources)]
    return any(
        not _origins([a] if same_paths else a, known).isdisjoint(_origins([b] if same_paths else b, known))
        for a, b in pairs
    )
