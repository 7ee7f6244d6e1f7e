"""Nested structures of values: flattening, a hashable description, rebuilding."""

from __future__ import annotations

from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, fields
from typing import Any, ClassVar

from .closures import CLOSURES, closure_node, remade
from .exact import keys_of
from .modes import recorder
from .open_range import OpenRange
from .size import Size, size_of_items

LEAF = None
NOT_SET = object()
"""Stands among the children of an object for an attribute that it does not have."""
TreeDef = Any  # None for a leaf, else (kind, children, extra)


@dataclass(frozen=True)
class Again:
    """A leaf in place of a container met before: number `index` of those that can change, in order of completion."""

    index: int


class OpenList(list[Any]):
    """A list that may come to have a length known only when a program runs: `items` then describes it; it is a leaf.

    While `items` is None it is a list like any other.
    """

    __slots__ = ("items",)

    items: Any
    block: Any
    """The block that was being built when it was made; None where no program was."""

    def take(self, value: list[Any]) -> None:
        """Hold what another list holds."""
        super().clear()
        self.items = value.items if isinstance(value, OpenList) else None
        if self.items is None:
            super().extend(value)

    def stand_for(self, sources: Iterable[Any], is_put: bool = False) -> None:
        """Know that this list is on some path one of `sources`."""


def is_open(value: Any) -> bool:
    """Whether the value is a list whose length is known only when the program runs."""
    return isinstance(value, OpenList) and value.items is not None


class OverList:
    """A container of another class than list, whose length may be known only when a program runs.

    It is made of lists that nobody else knows. Built for a call it is of the class `kind`.
    """

    __slots__ = ()

    kind: ClassVar[type]

    def lists(self) -> list[Any]:
        """The lists that it is made of."""
        raise NotImplementedError

    def listed(self) -> Any:
        """The list of its items, as it is gone through."""
        raise NotImplementedError

    def snapshot(self) -> Any:
        """One of the same content, for a trace that puts it back later."""
        raise NotImplementedError

    def made_with(self) -> tuple[Any, ...] | None:
        """What its class in eager code is given beside the items; None for nothing."""
        return None


class OverOneList(OverList):
    """A sequence made of one list, `values`."""

    __slots__ = ("values",)

    values: Any

    def __init__(self, values: Any) -> None:
        self.values = values

    def lists(self) -> list[Any]:
        return [self.values]

    def listed(self) -> Any:
        return self.values


class OpenTuple(OverOneList):
    """A tuple whose length is known only when a program runs: nobody changes the list in it."""

    __slots__ = ()

    kind = tuple


class OpenDeque(OverOneList):
    """A deque that may come to have a length known only when a program runs."""

    __slots__ = ("__weakref__", "maxlen", "watches")

    kind = deque
    maxlen: int | None

    def made_with(self) -> tuple[Any, ...]:
        return (self.maxlen,)


class OpenTable(OverList):
    """A dict or set whose keys are known only when a program runs: `columns` are the lists that it is made of."""

    __slots__ = ("__weakref__", "columns")

    columns: tuple[Any, ...]

    def __init__(self, *columns: Any) -> None:
        self.columns = columns

    def lists(self) -> list[Any]:
        return list(self.columns)

    @classmethod
    def built(cls, columns: list[Any], *made_with: Any) -> Any:
        """The dict or set of Python's own, from lists of Python's own."""
        raise NotImplementedError

    def length(self) -> Any:
        """How many keys there are: an int, or a number of the program."""
        raise NotImplementedError

    def truth(self) -> Any:
        """Whether there are keys: a bool, or a number of the program."""
        raise NotImplementedError

    def has(self, key: Any) -> Any:
        """Whether the key is there: a bool, or a number of the program."""
        raise NotImplementedError

    def __contains__(self, key: Any) -> Any:
        return self.has(key)

    def __len__(self) -> int:
        return len(self.listed())

    def __bool__(self) -> bool:
        return len(self.listed()) > 0

    def __iter__(self) -> Any:
        return iter(self.listed())


BY_CONTENT = (list, dict, OpenDeque, OpenTable)
"""Containers of which a tensor may decide what they hold: where nobody minds which object one is, that is all."""


def list_in(value: Any) -> Any:
    """The items of a tuple, deque or the like whose length may be known only when the program runs, as a list.

    Anything else as it is.
    """
    return value.listed() if isinstance(value, OverList) else value


class OpenDict(dict[Any, Any]):
    """A dict that may come to have keys which only some paths of a program set: `flags` says of those whether they are.

    While there are none, and the order of the keys is known, it is a dict like any other. Otherwise `places` has a
    number for each key, by which they are ordered.
    """

    __slots__ = ("flags", "places")

    kind: ClassVar[type] = dict
    """What it is in eager code."""
    flags: dict[Any, Any]
    places: dict[Any, Any] | None
    block: Any
    """As that of a list."""

    @property
    def is_ordered(self) -> bool:
        """Whether the keys stand in their order."""
        return self.places is None

    def made_with(self) -> tuple[Any, ...]:
        """What its class in eager code is given to make an empty one."""
        return ()

    def take(self, value: Any) -> None:
        """Hold what another dict holds."""
        entries = list(dict.items(value))
        is_open_dict = isinstance(value, OpenDict)
        self.flags = dict(value.flags) if is_open_dict else {}
        self.places = None if not is_open_dict or value.places is None else dict(value.places)
        dict.clear(self)
        dict.update(self, entries)


class OpenSet(OpenDict):
    """A set that may come to have items which only some paths of a program add: they are the keys of a dict."""

    __slots__ = ()

    kind = set


class OneOf:
    """A value that is of one kind on some paths of a program and of another kind on others, such as None or a tuple.

    `children`: which of the options it is, a number from 0, and the options. Built for a call it is that option.
    """

    __slots__ = ("children",)

    def __init__(self, children: Iterable[Any]) -> None:
        self.children = tuple(children)


def eager_class(value: Any) -> type:
    """The class that a container has in eager code."""
    if isinstance(value, OpenList):
        return list
    return value.kind if isinstance(value, (OpenDict, OverList, OpenRange)) else type(value)


def can_change(value: Any) -> bool:
    """Whether the value is a container or object that can be changed in place, and that `node_of` looks into."""
    return node_of(value) is not None and not isinstance(value, (tuple, OneOf, OpenTuple, OpenRange))


def is_partial(value: Any) -> bool:
    """Whether the value is a dict or set of which only the program knows the keys, or their order."""
    return isinstance(value, OpenDict) and (bool(value.flags) or not value.is_ordered)


def as_plain(value: Any) -> Any:
    """`value` with the lists and dicts in it as Python's own, where Python knows their items; itself without such."""
    is_open_kind = isinstance(value, (OpenList, OpenDict, OpenDeque))
    is_container = value.__class__ in (list, tuple, dict) or is_open_kind
    if not is_container or is_partial(value):
        return value
    node = node_of(value)
    if node is None:
        return value
    kind, children, extra = node
    plain = [as_plain(child) for child in children]
    is_same = not is_open_kind and all(a is b for a, b in zip(plain, children))
    return value if is_same else rebuild(kind, plain, extra)


ATOM = "_is_leaf_of_structures"
"""What a class has whose instances are never looked into: it saves the question how."""
_ATOMS = frozenset({bool, int, float, complex, str, bytes, type(None)})


def flatten(value: Any, leaves: list[Any]) -> TreeDef:
    """The structure of `value`, hashable; its leaves are appended to `leaves` in order.

    Containers: list, tuple, namedtuple, dict, OrderedDict, defaultdict, deque, instances of classes derived from them,
    dataclass instances, and objects that the trace in progress made. All else is a leaf.
    """
    cls = value.__class__
    if cls is tuple or cls is list:
        return cls, tuple([flatten(v, leaves) for v in value]), None
    node = None if cls in _ATOMS or hasattr(cls, ATOM) else node_of(value)
    if node is None:
        leaves.append(value)
        return LEAF
    kind, children, extra = node
    return kind, tuple([flatten(v, leaves) for v in children]), extra


def node_of(value: Any) -> Any:
    """(kind, children, extra) of a container, as in its tree but with the children themselves; None for a leaf."""
    cls = value.__class__
    if cls is tuple or cls is list:
        return cls, list(value), None
    if cls is dict or cls is OrderedDict:
        return cls, list(value.values()), keys_of(value)
    if cls is Size:
        return Size, list(value), None
    if issubclass(cls, tuple) and hasattr(cls, "_fields"):
        return cls, list(value), "fields"
    if issubclass(cls, OpenList):
        return None if value.items is not None else (list, list(value), None)
    if issubclass(cls, OpenSet):
        return _node_of_set(value)
    if issubclass(cls, OpenDict):
        return _node_of_dict(value)
    if issubclass(cls, OneOf):
        return OneOf, list(value.children), None
    if issubclass(cls, OverList):
        return cls, value.lists(), value.made_with()
    if issubclass(cls, OpenRange):
        return cls, value.bounds(), None
    base = next((base for base in _BASES if issubclass(cls, base)), None)
    if base is not None and not _is_foreign(cls):
        return _node_of_derived(value, base)
    if is_plain_dataclass(cls):
        names = _attribute_names(value)
        return cls, [getattr(value, n) for n in names], ("object", names)
    made = getattr(recorder.get(), "made", None)  # by the trace in progress
    return made.node(value) if made else None


_BASES: tuple[type, ...] = (OrderedDict, defaultdict, dict, list, tuple, deque)


def _is_foreign(cls: type) -> bool:
    """Whether instances cannot be made anew from their items: ours, and results of C functions (`time.localtime`)."""
    return cls.__module__.partition(".")[0] == "vitrify" or hasattr(cls, "n_sequence_fields")


def _node_of_derived(value: Any, base: Any) -> Any:
    """What a container of a class built on `base` holds: its items, then its attributes. No code of its class runs."""
    names = tuple(getattr(value, "__dict__", ()))
    held = [value.__dict__[name] for name in names]
    if issubclass(base, dict):
        keys = keys_of(base.__iter__(value))
        made: tuple[Any, ...] = (value.default_factory,) if base is defaultdict else ()
        items = [dict.__getitem__(value, key) for key in keys]
        return type(value), [*items, *held], ("derived", base, made, keys, names)
    items = list(base.__iter__(value))
    made = ((), value.maxlen) if base is deque else ()
    return type(value), [*items, *held], ("derived", base, made, len(items), names)


def _node_of_dict(value: OpenDict) -> Any:
    """What stands for keys that may be missing are their flags, behind the values; behind those are their places."""
    keys, values, made = keys_of(dict.keys(value)), list(dict.values(value)), value.made_with()
    if is_partial(value):
        flavor = value.kind, made
        places = [] if value.places is None else [value.places[key] for key in keys]
        return OpenDict, [*values, *value.flags.values(), *places], (flavor, keys, tuple(value.flags), not places)
    if value.kind in (dict, OrderedDict):
        return value.kind, values, keys
    return value.kind, values, ("derived", defaultdict if made else dict, made, keys, ())


def _node_of_set(value: OpenSet) -> Any:
    """Items that hold tensors are children, the others stand in what describes the set, for they are known by value.

    Behind the items stand the flags of those that may be missing.
    """
    items = list(value) if not is_partial(value) else list(dict.keys(value))
    held = [item for item in items if _holds_tensor(item)]
    known = tuple([_A_CHILD if _holds_tensor(item) else item for item in items])
    flagged = tuple([position for position, item in enumerate(items) if item in value.flags])
    return OpenSet, [*held, *[value.flags[items[position]] for position in flagged]], (known, flagged)


def _holds_tensor(item: Any) -> bool:
    """Whether an item of a set is a tensor, of which it holds the object, or has one in it."""
    return any(map(_holds_tensor, item)) if isinstance(item, tuple) else hasattr(type(item), "stop_gradient")


class _Child:
    """Stands for an item of a set that is one of the children."""

    def __repr__(self) -> str:
        return "a tensor"


_A_CHILD = _Child()


def set_of_node(children: list[Any], extra: Any) -> tuple[list[Any], dict[Any, Any]]:
    """The items of a set of which `node_of` gave this, and the flags of those that may be missing."""
    known, flagged = extra
    values = iter(children)
    items = [next(values) if item is _A_CHILD else item for item in known]
    return items, {items[position]: next(values) for position in flagged}


def _attribute_names(value: Any) -> tuple[str, ...]:
    """What an object holds, whether or not its class declares it."""
    held = getattr(value, "__dict__", None)
    return tuple(f.name for f in fields(value) if hasattr(value, f.name)) if held is None else tuple(held)


def flatten_open(
    value: Any,
    leaves: list[Any],
    opens: Callable[[Any], bool] | None = None,
    closed: Callable[[Any], bool] | None = None,
    done: dict[int, int] | None = None,
    within: Callable[[Any, Any], Any] | None = None,
) -> TreeDef:
    """`flatten` that tells containers met before, by `Again`; built anew by `unflatten_shared`.

    With `opens` it also looks into sets, objects and functions for which `opens(object)` is true; what is `closed` is
    a leaf.
    done: what came before in other values, by id. within: given a container and its node, the node to take instead.
    """
    numbers = {} if done is None else done

    def inner(item: Any, found: list[Any]) -> TreeDef:
        if id(item) in numbers or (closed is not None and closed(item)):
            found.append(Again(numbers[id(item)]) if id(item) in numbers else item)
            return LEAF
        tree = opened(item, found)
        if tree is not LEAF and _can_change(tree[0]):
            numbers[id(item)] = len(numbers)
        return tree

    def opened(item: Any, found: list[Any]) -> TreeDef:
        cls = item.__class__
        node = node_of(item)
        if opens is not None and cls in (set, frozenset):
            node = cls, list(item), None
        elif opens is not None and isinstance(item, CLOSURES):
            node = closure_node(item) if opens(item) else None
        elif node is None and opens is not None and hasattr(item, "__dict__") and opens(item):
            names, held = tuple(item.__dict__), list(item.__dict__.values())
            is_error = isinstance(item, BaseException)
            node = (cls, [item.args, *held], ("error", names)) if is_error else (cls, held, ("object", names))
        if node is None:
            found.append(item)
            return LEAF
        kind, children, extra = node if within is None else within(item, node)
        return kind, tuple([inner(v, found) for v in children]), extra

    return inner(value, leaves)


def _can_change(kind: type) -> bool:
    return not issubclass(kind, (tuple, frozenset, OneOf, OpenTuple, OpenRange))


def has_repeats(value: Any, seen: set[int]) -> bool:
    """Whether some container that can change is met twice in `value`; `seen`: the ids of those met already."""
    cls = value.__class__
    if cls in _ATOMS or hasattr(cls, ATOM):
        return False
    if cls is list or cls is tuple:
        items: Iterable[Any] = value
    else:
        node = None if is_open(value) else node_of(value)
        if node is None:
            return False
        items = node[1]
    if not issubclass(cls, (tuple, OneOf)):
        if id(value) in seen:
            return True
        seen.add(id(value))
    return any(has_repeats(item, seen) for item in items)


def is_plain_dataclass(cls: type) -> bool:
    """Whether instances are plain data: dataclasses that are not ours."""
    return hasattr(cls, "__dataclass_fields__") and cls.__module__.partition(".")[0] != "vitrify"


def unflatten(tree: TreeDef, leaves: Iterator[Any]) -> Any:
    """The structure rebuilt with values drawn from `leaves`."""
    if tree is LEAF:
        return next(leaves)
    kind, children, extra = tree
    return rebuild(kind, [unflatten(c, leaves) for c in children], extra)


def unflatten_plain(tree: TreeDef, leaves: Iterator[Any]) -> Any:
    """The structure rebuilt of containers that files hold: objects become dicts, derived containers their bases."""
    if tree is LEAF:
        return next(leaves)
    kind, children, extra = tree
    values = [unflatten_plain(c, leaves) for c in children]
    if issubclass(kind, OverList):
        return values[0]
    if not isinstance(extra, tuple) or kind in (dict, OrderedDict, OpenDict, OpenSet):
        return rebuild(kind, values, extra)
    if extra[0] == "object":
        return dict(zip(extra[1], values))
    _, base, _, keys, _ = extra
    if issubclass(base, dict):
        return (OrderedDict if base is OrderedDict else dict)(zip(keys, values))
    return (tuple if base is tuple else list)(values[:keys])


def unflatten_shared(tree: TreeDef, leaves: Iterator[Any], made: list[Any]) -> Any:
    """`unflatten` of what `flatten_open` gave; `made`: the containers so far, that `Again` refers to."""
    if tree is LEAF:
        leaf = next(leaves)
        return made[leaf.index] if leaf.__class__ is Again else leaf
    kind, children, extra = tree
    value = rebuild(kind, [unflatten_shared(c, leaves, made) for c in children], extra)
    if _can_change(kind):
        made.append(value)
    return value


def rebuild(kind: Any, children: list[Any], extra: Any) -> Any:
    """The container of which `node_of` gives this."""
    if kind is list:
        return children
    if kind is tuple:
        return tuple(children)
    if kind is dict or kind is OrderedDict:
        return kind(zip(extra, children))
    if kind is Size:
        return size_of_items(children)
    if kind is OpenDict:
        return _dict_of_node(children, *extra)
    if kind is OpenSet:
        items, flags = set_of_node(children, extra)
        return {item for item in items if flags.get(item, True)}
    if kind is OneOf:
        return children[1 + children[0]]
    if issubclass(kind, OpenTable):
        is_built = all(type(column) is list for column in children)
        return kind.built(children, *(extra or ())) if is_built else kind(*children, *(extra or ()))
    if issubclass(kind, OverList):
        return _over_list(kind, children[0], extra or ())
    if issubclass(kind, OpenRange):
        is_built = recorder.get() is None or all(type(bound) is int for bound in children)
        return (range if is_built else kind)(*children)
    if issubclass(kind, CLOSURES):
        return remade(kind, extra, children)
    return kind(children) if extra is None else _rebuilt(kind, extra, children)


def _dict_of_node(
    children: list[Any],
    flavor: tuple[type, tuple[Any, ...]],
    keys: tuple[Any, ...],
    flagged: tuple[Any, ...],
    ordered: bool,
) -> Any:
    """Python's own dict with those of the keys that are there, in their order."""
    kind, made_with = flavor
    flags = dict(zip(flagged, children[len(keys) :]))
    places = range(len(keys)) if ordered else children[len(keys) + len(flagged) :]
    found = kind(*made_with)
    for _, key, value in sorted(zip(places, keys, children), key=lambda entry: entry[0]):
        if flags.get(key, True):
            found[key] = value
    return found


def _over_list(kind: Any, values: list[Any], made_with: tuple[Any, ...]) -> Any:
    """The tuple or deque of these values; of a list of the program, the one that can go on with it."""
    is_built = type(values) is list or (kind.kind is tuple and isinstance(values, OpenList) and values.items is None)
    return (kind.kind if is_built else kind)(values, *made_with)


def _rebuilt(kind: Any, extra: Any, values: list[Any]) -> Any:
    """A container or object of the rarer kinds. No code of its class runs."""
    if extra == "fields":
        return tuple.__new__(kind, values)
    what, *details = extra
    if what == "derived":
        base, arguments, keys = details[:3]
        made, count = _derived(kind, base, arguments, keys, values)
    elif what == "error":
        made, count = kind.__new__(kind, *values[0]), 1
        made.args = values[0]
    else:
        made, count = object.__new__(kind), 0
    for name, value in zip(details[-1], values[count:]):
        if value is not NOT_SET:
            object.__setattr__(made, name, value)
    build = recorder.get()
    if what == "object" and hasattr(build, "made"):
        build.made.note(made, build.block)
    return made


def _derived(kind: Any, base: Any, arguments: tuple[Any, ...], keys: Any, values: list[Any]) -> tuple[Any, int]:
    """A container of a class built on `base`, without its attributes, and how many of the values are its items."""
    if base is tuple:
        return tuple.__new__(kind, values[:keys]), keys
    made = base.__new__(kind)
    base.__init__(made, *arguments)
    if not issubclass(base, dict):
        base.extend(made, values[:keys])
        return made, keys
    for key, value in zip(keys, values):
        base.__setitem__(made, key, value)
    return made, len(keys)


def all_leaves(value: Any) -> list[Any]:
    """The leaves of `value` in order."""
    leaves: list[Any] = []
    flatten(value, leaves)
    return leaves
