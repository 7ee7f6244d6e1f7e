"""Guards: what a program read of the user's Python state while it was traced, checked again at every call.

Nearly always nothing has changed, so a check is one C-level comparison by identity for each namespace. Where an object
is another one, it is compared by what the program depends on: a number by its value, a tensor by dtype and shape (it
then is read from its new place), a container item by item.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from operator import attrgetter, is_, itemgetter
from types import CellType, FunctionType, MemberDescriptorType, ModuleType
from typing import Any

import numpy as np

from ...core.bound import plain_attribute
from ...core.dtype import DType
from ...core.epoch import LAYER_ATTRIBUTES, Epoch
from ...core.meta import UNKNOWN, Meta
from ...core.place import Place
from ...eager.layer import Layer
from ...eager.tensor import Tensor, wrap
from ..state.places import AttrPlace, CellPlace, GlobalPlace
from ..values.base import Undefined
from ..values.user_code import class_attribute
from .same import Compared, while_same

MISSING = object()
IMMUTABLE = (bool, int, float, complex, str, bytes, type(None), DType, Place, np.generic, range)
Found = dict[int, Tensor]

SETTABLE = (list, dict, deque)
"""Containers whose items a trace can exchange for others."""

MAX_INPUT = 2**31
"""Ints below it stay exact in 64 bits for some arithmetic; Python's own have no end."""


def can_be_input(value: Any) -> bool:
    """Whether a number of Python's may be an input of a program: no int so large that its square would not fit."""
    return value.__class__ is float or (value.__class__ is int and -MAX_INPUT < value < MAX_INPUT)


class Expected:
    """What a program needs of a value it read. `looks_inside`: it may change where the value stays the same object."""

    looks_inside = False

    def fits(self, value: Any, found: Found) -> bool:
        """Whether `value` will do; tensors that the program takes in are entered into `found` by slot."""
        raise NotImplementedError

    def parts(self) -> Sequence[Expected]:
        """What is expected of each item of a container."""
        return ()


@dataclass
class Exactly(Expected):
    """The same object, or an equal number, string, ... of the same type."""

    value: Any

    def fits(self, value: Any, found: Found) -> bool:
        wanted = self.value
        if value is wanted:
            return True
        if value.__class__ is not wanted.__class__ or not isinstance(value, IMMUTABLE) or value != wanted:
            return False
        return bool(value) or repr(value) == repr(wanted)  # -0.0 equals 0.0


@dataclass
class Fed(Expected):
    """Something that the program reads as input `slot` (-1: not at all); `tensor` is what it was traced with."""

    tensor: Tensor
    slot: int = field(default=-1, kw_only=True)


@dataclass
class AnyNumber(Fed):
    """A number of this Python type."""

    kind: type
    latest: tuple[Any, Tensor | None] = field(default=(None, None), init=False, repr=False, compare=False)
    """What it was last, and as an input: most often it stays what it is."""

    def fits(self, value: Any, found: Found) -> bool:
        before, tensor = self.latest
        if tensor is None or value is not before or tensor._cell is not None:  # which somebody may have changed
            if value.__class__ is not self.kind or not can_be_input(value):
                return False
            tensor = wrap(np.asarray(value, self.tensor._data.dtype))
            self.latest = value, tensor
        if self.slot >= 0:
            found[self.slot] = tensor
        return True


@dataclass
class AnyTensor(Fed):
    """A tensor of this dtype, shape (-1: any size) and stop_gradient."""

    meta: Meta
    stop_gradient: bool

    def fits(self, value: Any, found: Found) -> bool:
        # Before every run: `isinstance` of a Tensor takes longer than all the rest.
        if value.__class__ is not Tensor and not isinstance(value, Tensor):
            return False
        if value.stop_gradient is not self.stop_gradient:
            return False
        wanted, data = self.meta.shape, value._data
        shape = data.shape
        if data.dtype is not self.meta.dtype.np and value.dtype is not self.meta.dtype:
            return False
        # Most often sizes are known, and the same: what follows is asked of the others only.
        if wanted != shape and (len(wanted) != len(shape) or not all(a in (b, UNKNOWN) for a, b in zip(wanted, shape))):
            return False
        # Two places that held one tensor may now hold two.
        return self.slot < 0 or found.setdefault(self.slot, value) is value


@dataclass
class SomeContainer(Expected):
    """A container of the same type as `value`, or that very one where the program knows it from two places."""

    value: Any
    itself: bool = field(default=False, kw_only=True)

    @property
    def kind(self) -> type:
        """The type."""
        return type(self.value)

    def fits(self, value: Any, found: Found) -> bool:
        return value is self.value or (value.__class__ is self.kind and not self.itself)


@dataclass
class Items(SomeContainer):
    """A container of the same type with the same keys, each item as expected."""

    keys: Sequence[Any]
    items: Sequence[Expected]
    unordered: bool = False
    looks_inside = True

    def fits(self, value: Any, found: Found) -> bool:
        if value is not self.value and not super().fits(value, found):
            return False
        container: Any = value
        if len(container) != len(self.keys):
            return False
        if self.unordered:
            return bool(value == set(self.keys))
        if isinstance(value, dict):
            if list(value) != list(self.keys):
                return False
            value = value.values()
        for item, v in zip(self.items, value):  # noqa: SIM110 - before every run: `all` takes three times as long
            if not item.fits(v, found):
                return False
        return True

    def parts(self) -> Sequence[Expected]:
        return self.items


facts_of_function = attrgetter("__code__", "__defaults__", "__kwdefaults__")
"""What a function is made of, which may be exchanged while it stays the same object."""


@dataclass
class SameFunction(Expected):
    """A function whose code and defaults were not exchanged."""

    function: FunctionType
    facts: tuple[Any, ...] = field(init=False)

    def __post_init__(self) -> None:
        self.facts = facts_of_function(self.function)

    def fits(self, value: Any, found: Found) -> bool:
        return bool(facts_of_function(value) == self.facts)


@dataclass(frozen=True)
class Source:
    """Where a value was read: an entry of a namespace (a dict), else whatever `read` gives."""

    label: str
    read: Callable[[], Any]
    namespace: Mapping[str, Any] | None = None
    key: Hashable = None
    of_layer: bool = False
    """Whether it is a plain attribute of a Layer, which tells when one is set (`core/epoch.py`)."""
    place: Any = None
    """The same as a place, where something else can be put for the time of a trace."""
    of_class: tuple[type, str] | None = None
    """A class that was asked for an attribute, which it or a base of it holds, and that."""

    @staticmethod
    def entry(label: str, namespace: Mapping[str, Any], key: str) -> Source:
        """An entry of a dict."""
        place = GlobalPlace(key, namespace) if isinstance(namespace, dict) else None
        return Source(label, lambda: namespace.get(key, MISSING), namespace, key, place=place)

    @staticmethod
    def attribute(owner: Any, name: str) -> Source:
        """An attribute, in the object's own dict if it stands there."""
        label = f"{owner.__name__ if isinstance(owner, (ModuleType, type)) else type(owner).__name__}.{name}"
        held = getattr(owner, "__dict__", None)
        if isinstance(held, dict):
            is_of_class = any(name in base.__dict__ for base in type(owner).__mro__)
            behind = None if is_of_class else held.get("_buffers")
            for namespace in (held, behind):
                if namespace is not None and name in namespace:
                    is_plain = isinstance(owner, Layer) and namespace is held
                    return replace(Source.entry(label, namespace, name), of_layer=is_plain)
        is_slot = isinstance(class_attribute(type(owner), name), MemberDescriptorType)
        is_settable = is_slot or (isinstance(owner, type) and name in owner.__dict__)
        place = AttrPlace(owner, name) if is_settable else None
        return Source(label, lambda: getattr(owner, name, MISSING), place=place)

    @staticmethod
    def at(place: AttrPlace) -> Source:
        """What an attribute holds, found past code of the user's."""
        if place.attribute in getattr(place.owner, "__dict__", ()):
            return Source.attribute(place.owner, place.attribute)

        def read() -> Any:
            found = place.get()
            return MISSING if isinstance(found, Undefined) else found

        return Source(place.label, read, of_layer=isinstance(place.owner, Layer))

    @staticmethod
    def inherited(cls: type, name: str) -> Source:
        """What a class or its bases hold under a name."""
        return Source(f"{cls.__name__}.{name}", lambda: getattr(cls, name, MISSING), of_class=(cls, name))

    @staticmethod
    def cell(name: str, cell: CellType) -> Source:
        """A variable that closures share."""
        return Source(name, lambda: _content(cell), place=CellPlace(name, cell))


def _content(cell: CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:
        return MISSING


@dataclass
class Guard:
    """One place that a program read, and what it must hold."""

    source: Source
    value: Any
    expected: Expected
    key: Any = None
    may_be_input: bool = False
    """Whether a number that keeps changing there is fed to the program."""

    def fits(self, found: Found) -> bool:
        """Whether the place holds something that will do."""
        return self.expected.fits(self.source.read(), found)

    def __str__(self) -> str:
        return f"{self.source.label} is {_shown(self.expected)}"


@dataclass
class Unnamed:
    """Names that a namespace does not have: globals, which mean builtins, and special methods of a class."""

    namespace: Mapping[str, Any]
    names: set[str] = field(default_factory=set)

    def look(self) -> tuple[Callable[[Iterable[str]], bool], frozenset[str]]:
        """What tells whether it still has none of them, in C, and what to give it."""
        return self.namespace.keys().isdisjoint, frozenset(self.names)


def item_key(key: Any, index: Any) -> Any:
    """The key of an item, or member, of what is guarded under `key`."""
    return key, index if isinstance(index, (int, str)) else repr(index)


def fed_by(expected: Expected) -> Iterable[Fed]:
    """The inputs of the program among what is expected."""
    if isinstance(expected, Fed):
        yield expected
    for part in expected.parts():
        yield from fed_by(part)


def _shown(expected: Expected) -> str:
    if isinstance(expected, AnyTensor):
        return f"a tensor, {expected.meta}"
    if isinstance(expected, AnyNumber):
        return f"of type {expected.kind.__name__}"
    if isinstance(expected, Items):
        return f"a {expected.kind.__name__} of {len(expected.keys)} as before"
    if isinstance(expected, SomeContainer):
        return f"a {expected.kind.__name__}{' as before' if expected.looks_inside else ''}"
    if not isinstance(expected, Exactly):
        return "defined as before" if isinstance(expected, SameFunction) else "as before"
    if expected.value is MISSING:
        return "not there"
    text = repr(expected.value)
    return text if len(text) <= 40 and isinstance(expected.value, IMMUTABLE) else f"the same {_kind(expected.value)}"


def _kind(value: Any) -> str:
    named = callable(value) and plain_attribute(value, "__name__") is not None
    kind = "class" if isinstance(value, type) else "function"
    return f"{kind} {value.__name__}" if named else type(value).__name__


_NOTHING = object()


def _itself(expected: Expected) -> Any:
    """The object that fits without a further look; one that nobody has where there is none."""
    return expected.value if expected.__class__ is Exactly else _NOTHING


@dataclass
class _Namespace:
    """The guards on entries of one dict, compared all at once."""

    namespace: Mapping[str, Any]
    guards: list[Guard]
    get: Callable[[Any], tuple[Any, ...]] = field(init=False)
    values: tuple[Any, ...] = field(init=False)

    def __post_init__(self) -> None:
        keys = [g.source.key for g in self.guards]
        getter = itemgetter(*keys)
        self.get = getter if len(keys) > 1 else lambda namespace: (getter(namespace),)
        self.values = tuple(g.value for g in self.guards)

    def fits(self, found: Found) -> bool:
        """Whether each entry is the very object it was, or one that will do."""
        try:
            if all(map(is_, self.get(self.namespace), self.values)):
                return True
        except KeyError:
            return False
        return all(guard.fits(found) for guard in self.guards)


@dataclass
class _Groups:
    """Guards by how they are looked at; those on entries of a dict by its identity."""

    plain: dict[int, list[Guard]] = field(default_factory=dict)
    of_layers: dict[int, list[Guard]] = field(default_factory=dict)
    layers: list[Guard] = field(default_factory=list)
    always: list[Guard] = field(default_factory=list)
    functions: list[SameFunction] = field(default_factory=list)
    cells: list[tuple[CellType, Guard]] = field(default_factory=list)
    attributes: list[tuple[type[Any], str, Any]] = field(default_factory=list)


def _grouped(guards: Sequence[Guard]) -> _Groups:
    groups = _Groups()
    slots = Counter(tensor.slot for guard in guards for tensor in fed_by(guard.expected) if tensor.slot >= 0)
    for guard in guards:
        source, expected = guard.source, guard.expected
        # A tensor read from several places must be one tensor in all of them, next time, too.
        is_shared = any(slots[tensor.slot] > 1 for tensor in fed_by(expected))
        if isinstance(expected, SameFunction):
            groups.functions.append(expected)
        elif source.of_class is not None:
            groups.attributes.append((*source.of_class, guard.value))
        elif source.namespace is None and source.of_layer:
            groups.layers.append(guard)
        elif isinstance(source.place, CellPlace) and isinstance(expected, Exactly):
            groups.cells.append((source.place.cell, guard))
        elif source.namespace is None or is_shared or expected.looks_inside:
            groups.always.append(guard)
        else:
            entries = groups.of_layers if source.of_layer and isinstance(expected, Exactly) else groups.plain
            entries.setdefault(id(source.namespace), []).append(guard)
    return groups


class Guards:
    """All guards of one program. Containers are looked into each time, everything else only when it was exchanged."""

    __slots__ = (
        "_always", "_attributes", "_cells", "_codes", "_entries", "_facts", "_functions", "_in_cells", "_is_same",
        "_layers", "_namespaces", "_unnamed", "epoch", "guards",
    )  # fmt: skip

    def __init__(self, guards: Sequence[Guard] = (), unnamed: Sequence[Unnamed] = ()) -> None:
        self.guards = list(guards)
        self._unnamed = [absent.look() for absent in unnamed]
        found = _grouped(self.guards)
        always, functions, cells = found.always, found.functions, found.cells
        self._attributes = found.attributes
        # What was grouped by its namespace has one.
        self._namespaces = [_Namespace(g[0].source.namespace, g) for g in found.plain.values()]  # type: ignore[arg-type]
        of_layers = [_Namespace(g[0].source.namespace, g) for g in found.of_layers.values()]  # type: ignore[arg-type]
        self._layers: list[_Namespace | Guard] = [*found.layers, *of_layers]
        # What reads each, the object that it was where that will do, and what else will.
        self._always = [(g.source.read, _itself(g.expected), g.expected.fits) for g in always]
        self._codes = [(expected.function, expected.function.__code__) for expected in functions]
        with_defaults = [e for e in functions if e.facts[1:] != (None, None)]
        self._functions = [expected.function for expected in with_defaults]
        self._facts = [expected.facts for expected in with_defaults]
        self._entries = [(g.namespace, one.source.key, one.value) for g in self._namespaces for one in g.guards]
        self._in_cells = [guard for _, guard in cells]
        self._cells = [(cell, guard.value) for cell, guard in cells]
        held = self._codes, self._entries, self._attributes, self._cells, self._unnamed
        self._is_same = while_same(*held, True, lambda: False)
        self.epoch = -1  # of the Layers' attributes, when they were last looked at

    def slots(self) -> set[int]:
        """The inputs of the program that are read where guards look."""
        return {fed.slot for guard in self.guards for fed in fed_by(guard.expected) if fed.slot >= 0}

    def check(self) -> Found | None:
        """None when something changed that the program depends on; else the tensors to read in place of those it knew.

        Tensors that are still the same are left out where that is known without a look.
        """
        found: Found = {}
        epoch = LAYER_ATTRIBUTES.value
        if epoch != self.epoch:
            for group in self._layers:
                if not group.fits(found):
                    return None
            self.epoch = epoch
        if not self._is_same() and not self._will_do(found):
            return None
        if self._facts and list(map(facts_of_function, self._functions)) != self._facts:
            return None
        for read, wanted, fits in self._always:
            value = read()
            if value is not wanted and not fits(value, found):
                return None
        return found

    def _will_do(self, found: Found) -> bool:
        """Whether all functions have their code, and names that mean something else what will do as well."""
        if any(function.__code__ is not code for function, code in self._codes):
            return False
        if any(getattr(cls, name, MISSING) is not value for cls, name, value in self._attributes):
            return False
        if not all(is_disjoint(names) for is_disjoint, names in self._unnamed):
            return False
        names, cells = self._namespaces, self._in_cells
        return all(group.fits(found) for group in names) and all(guard.fits(found) for guard in cells)

    def quick(self, found: Any, otherwise: Callable[[], Any], also: Epoch | None) -> Callable[[], Any] | None:
        """What gives `found` as long as nothing was exchanged, else `otherwise()`; None where there is more to see.

        also: what must not have been bumped.
        """
        if self._layers or self._always or self._facts:
            return None
        more = [] if also is None else [(also, "value", also.value)]
        attributes = [*self._attributes, *more]
        return while_same(self._codes, self._entries, attributes, self._cells, self._unnamed, found, otherwise)

    def compared(self) -> Compared | None:
        """What is compared by each look, if that is all there is; None where there is more to see."""
        is_plain = all(namespace.__class__ is dict for namespace, _, _ in self._entries)
        held = [(cls, name, class_attribute(cls, name)) for cls, name, _ in self._attributes]
        if self._always or not is_plain or any(by_name is not None for _, _, by_name in self._facts):
            return None
        if any(value is None for _, _, value in held):
            return None
        defaults = [(f, found) for f, (_, found, _) in zip(self._functions, self._facts)]
        return Compared(
            self._codes, defaults, self._entries, held, self._cells, self._unnamed, sees_attributes=bool(self._layers)
        )

    def failing(self) -> list[Guard]:
        """The guards that do not hold now."""
        return [guard for guard in self.guards if not guard.fits({})]

    def __bool__(self) -> bool:
        return bool(self.guards or self._unnamed)

    def __iter__(self) -> Any:
        return iter(self.guards)


def looked_up(owner: Any, name: str) -> Source:
    """`owner.name`, wherever it stands."""
    label = owner.__name__ if isinstance(owner, (ModuleType, type)) else type(owner).__name__
    return Source(f"{label}.{name}", partial(getattr, owner, name, MISSING))


def default_at(fn: FunctionType, place: int) -> Any:
    """The default of that place among those of positional parameters, as it is now."""
    defaults = fn.__defaults__ or ()
    return defaults[place] if place < len(defaults) else MISSING


def keyword_default(fn: FunctionType, name: str) -> Any:
    """The default of a keyword-only parameter, as it is now."""
    return (fn.__kwdefaults__ or {}).get(name, MISSING)


def plainly_held(owner: Any, name: str) -> Any:
    """What an object or its class holds under a name, without asking `__getattr__`; MISSING if nothing."""
    held = getattr(owner, "__dict__", {})
    return held[name] if name in held else class_attribute(type(owner), name, MISSING)
