"""Watching what converted code reads and calls while it is traced, so that its program can be guarded and replayed."""

from __future__ import annotations

from collections import OrderedDict, defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from functools import partial
from types import FunctionType, MappingProxyType, MethodType, ModuleType
from typing import Any

import numpy as np

from ...core.bound import bound_to
from ...core.closures import CLOSURES
from ...core.errors import UnsupportedError
from ...core.made import Made
from ...core.meta import Meta, Shape
from ...core.pytree import OpenDict, OpenList, OverList
from ...eager.gradients import held_grad
from ...eager.layer import Layer
from ...eager.tensor import Tensor, wrap
from ...ir.builder import current_builder
from ...ir.graph_tensor import as_number
from ...ir.program import Variable
from ..containers.dicts import unknown_keys
from ..containers.stand_ins import StandIns, places_in
from ..state.attributes import FIELDS, computed, has_unset
from ..state.cells import stored_cells
from ..state.gradient_flags import FLAGS
from ..state.journal import Journal, note_write
from ..state.places import AttrPlace, CellPlace, GlobalPlace, ItemPlace, content_before, held_variables, undecided
from ..values.base import Undefined, Unmergeable, builder
from ..values.deferred import Deferred
from ..values.maybe import where_set
from ..values.one_of import by_option
from ..values.user_code import is_library, user_method
from ..values.user_errors import for_user, note_user_error
from .contents import BUFFERS, WITH_MEMBERS, Members, SameBytes, SameItems, has_objects, members, same_names
from .environment import Environment, has_names, looked_in, watched
from .kinds import (
    IMMUTABLE,
    MISSING,
    SETTABLE,
    AnyNumber,
    AnyTensor,
    Exactly,
    Expected,
    Guard,
    Guards,
    Items,
    SameFunction,
    SomeContainer,
    Source,
    Unnamed,
    can_be_input,
    default_at,
    fed_by,
    item_key,
    keyword_default,
    looked_up,
    plainly_held,
)  # fmt: skip
from .late import read_late
from .named import global_names
from .nondeterministic import refuse_items

MAX_DEPTH, MAX_ITEMS = 5, 1000
CONTAINERS = (list, dict, OrderedDict, defaultdict, deque, tuple, set, frozenset)
_OF_HANDLING = frozenset({"__context__", "__traceback__"})
_NOT_WATCHED = (Variable, Tensor, Deferred, super, OverList, *IMMUTABLE)
_COVERED = ("_parameters", "_sub_layers")  # what jit/reach.py follows for every Layer


@dataclass(frozen=True)
class MethodCall:
    """A method that changed a container, to be called again each time the program runs."""

    owner: Any
    method: str
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]


@dataclass
class Observer:
    """What one trace has seen so far. `journal` is its root journal."""

    journal: Journal
    numbers: Set[Any] = frozenset()
    """Keys of guards on numbers that change: read as scalar inputs."""
    shapes: Mapping[Any, Shape] = field(default_factory=dict)
    """Shapes of tensors whose sizes change, with -1 there, by the keys of their guards."""
    metas: dict[int, Meta] = field(default_factory=dict)
    """What is known of such tensors, by their ids."""
    stand_ins: StandIns = field(default_factory=StandIns)
    read_numbers: dict[Any, Variable] = field(default_factory=dict)
    """What stands for numbers that are inputs, by the keys of their places, and `fed`: what it is given."""
    fed: dict[Any, Tensor] = field(default_factory=dict)
    layers: list[Layer] = field(default_factory=list)
    """Layers whose training flag, parameters or sublayers were read."""
    guards: dict[Any, Guard] = field(default_factory=dict)
    calls: list[MethodCall] = field(default_factory=list)
    late: dict[int, str] = field(default_factory=dict)
    """ids of objects of which a method is called after each run, and the call: until then they are out of date."""
    unnamed: dict[int, Unnamed] = field(default_factory=dict)
    """Globals that functions read where there are none, by the ids of their namespaces: they mean builtins."""
    classes: dict[type, Mapping[str, Any]] = field(default_factory=dict)
    """Views of the dicts of classes, one for each."""
    met: set[int] = field(default_factory=set)
    """ids of what was read so far: the guards hold it."""
    own: set[Any] = field(default_factory=set)
    """Keys of guards on what objects themselves hold."""
    pinned: dict[int, Tensor] = field(default_factory=dict)
    """Tensors from outside, by id, whose attributes were read or written: the program is one of those alone."""
    stored: set[Any] = field(default_factory=set)
    """Keys of attributes that converted code wrote."""
    overwritten: set[Any] = field(default_factory=set)
    """Keys of attributes that were written first on one path of a tensor's decision."""
    peeked: dict[int, tuple[Any, Any, Source]] = field(default_factory=dict)
    """Containers that were only changed so far: by id, (container, key of the guard it would get, source)."""

    # -- reads ------------------------------------------------------------------------------------------------------

    def function(self, fn: FunctionType, only_changed: frozenset[str]) -> None:
        """The user's function `fn` is about to run: note the globals and closure variables it depends on."""
        read, stored = global_names(fn.__code__)
        namespace = fn.__globals__
        for name in sorted(stored):
            self.journal.note(GlobalPlace(name, namespace))
        for name in sorted(read | stored):  # one path may store what stays as it was on others
            source, known = Source.entry(name, namespace, name), GlobalPlace(name, namespace)
            if name in namespace:
                self._variable(known, source, namespace[name], name in only_changed, name in stored)
            elif name in stored and isinstance(self.journal.before[known.key][1], Undefined):
                self.guards.setdefault(known.key, Guard(source, MISSING, Exactly(MISSING), known.key))
            elif name not in stored:  # a builtin, unless the module gets a variable of that name
                self.unnamed.setdefault(id(namespace), Unnamed(namespace)).names.add(name)
            if name in stored:
                note_write(known)  # in every region, and only now: it may hold an input in place of a number
        stored_here = stored_cells(fn.__code__)
        for name, cell in zip(fn.__code__.co_freevars, fn.__closure__ or ()):
            place = CellPlace(name, cell)
            if name in stored_here:
                self.journal.note(place)
            source = Source.cell(name, cell)
            self._variable(place, source, source.read(), name in only_changed, name in stored_here)
            if name in stored_here:
                note_write(place)
        self._signature(fn, only_changed)

    def _is_first(self, key: Any, value: Any) -> bool:
        """Whether a place is read for the first time, and holds what it held before the trace."""
        return key not in self.guards and self.journal.before.get(key, (None, value))[1] is value

    def _variable(self, place: Any, source: Source, value: Any, only_changed: bool, is_stored: bool) -> None:
        """A variable outside of a function, which a counter is if the function stores it as well."""
        key = place.key
        if is_stored and key in self.numbers and can_be_input(value) and self._is_first(key, value):
            self._number(key, source, place, value)
        else:
            self._read(key, source, value, only_changed, may_be_input=is_stored)

    def stays(self, fn: FunctionType) -> None:
        """The program is one of the function as it is made now."""
        self.guards.setdefault((id(fn), "facts"), Guard(Source(fn.__name__, lambda: fn), fn, SameFunction(fn)))

    def _signature(self, fn: FunctionType, only_changed: frozenset[str]) -> None:
        """Note that the function stays what it is, and what its defaults hold that may change inside."""
        if "<locals>" not in fn.__qualname__:  # others are made anew by each trace, most of them
            self.stays(fn)
        names = fn.__code__.co_varnames[: fn.__code__.co_argcount]
        for place, value in enumerate(fn.__defaults__ or ()):
            name = names[place - len(fn.__defaults__ or ())]
            read = partial(default_at, fn, place)
            self._default((id(fn), name), Source(f"{name} of {fn.__name__}", read), value, name in only_changed)
        for name, value in (fn.__kwdefaults__ or {}).items():
            read = partial(keyword_default, fn, name)
            self._default((id(fn), name), Source(f"{name} of {fn.__name__}", read), value, name in only_changed)

    def _default(self, key: Any, source: Source, value: Any, only_changed: bool) -> None:
        if isinstance(value, (*BUFFERS, *WITH_MEMBERS, set)):
            self._read(key, source, value, only_changed)

    def cached_call(self, function: Any, ask: partial[Any], value: Any) -> None:
        """A function that keeps its results gave `value`: each call asks it again, and finds it in the cache."""
        named = [(name, type(given), given) for name, given in sorted(ask.keywords.items())]
        key = (id(function), *[(type(given), given) for given in ask.args], *named)
        self._read(key, Source(f"what {getattr(function, '__name__', 'a cached function')}() gives", ask), value, False)

    def names(self, owner: Any) -> None:
        """All attributes of `owner` matter, and which there are."""
        guard = same_names(owner, self.journal.before)
        self.own.add(self.guards.setdefault(guard.key, guard).key)

    def entry(self, namespace: dict[str, Any], name: str) -> None:
        """A variable of a module was asked for by a name that no code has."""
        place, value = GlobalPlace(name, namespace), namespace.get(name, MISSING)
        if value is MISSING and place.key not in self.journal.before:
            self.guards.setdefault(place.key, Guard(Source.entry(name, namespace, name), MISSING, Exactly(MISSING)))
        self._read(place.key, Source.entry(name, namespace, name), value, False)

    def method(self, owner: Any, function: Any, name: str) -> None:
        """`function` was found under `name` in the class of `owner`, or in `owner` if it is a class."""
        for base in (owner if isinstance(owner, type) else type(owner)).__mro__:
            if name in base.__dict__ and not is_library(base):
                self.held_by_class(base, name)
                held = base.__dict__[name]
                if function in (held, getattr(held, "__func__", None), getattr(held, "fget", None)):
                    break
        self._inherited(type(owner), name)
        self.of_its_class(owner)
        if isinstance(owner, Layer) or id(owner) in self.met:  # it may get a method of its own
            held = getattr(owner, "__dict__", {})
            if name in held:  # which calls that of the class: nobody looked for it here
                return
            self.absent(owner, name, Source(f"{type(owner).__name__}.{name}", partial(held.get, name, MISSING)))

    def of_its_class(self, owner: Any) -> None:
        """The class of `owner` matters: an object that was there before may become one of another class."""
        if id(owner) in self.met and not isinstance(owner, (type, Layer, *_NOT_WATCHED, *CONTAINERS)):
            cls = type(owner)
            source = Source(f"the class of a {cls.__name__}", partial(type, owner))
            self.guards.setdefault((id(owner), "__class__"), Guard(source, cls, Exactly(cls)))

    def class_attribute(self, owner: Any, name: str) -> None:
        """The class of `owner` said what `owner.name` is: what the flag of a tensor was when the call began, say."""
        is_super = type(owner) is super
        asked = owner.__self_class__ if is_super else type(owner)
        found = [base for base in asked.__mro__ if name in base.__dict__]
        for base in [b for b in (found if is_super else found[:1]) if not is_library(b)]:
            self.held_by_class(base, name)
        self._inherited(asked, name)
        held = None if found else getattr(owner, "__dict__", None)
        if held is not None and name not in held:  # else `__getattr__` is not asked
            self.absent(owner, name, Source(f"{asked.__name__}.{name}", partial(plainly_held, owner, name)))
        if isinstance(owner, Tensor) and name in FLAGS and builder().held(owner) not in builder().flagged:
            key, flag = (id(owner), "stop_gradient"), owner.stop_gradient
            self.guards.setdefault(key, Guard(Source.attribute(owner, "stop_gradient"), flag, Exactly(flag), key))

    def of_class(self, cls: type, name: str) -> None:
        """What `cls`, a library's or not, or a base of it holds under `name` was called or read: tests exchange it."""
        value = getattr(cls, name, MISSING)
        if value is MISSING or value is not getattr(cls, name):  # what no class holds, and what is made for who asks
            return
        self.guards.setdefault((id(cls), name, "bases"), Guard(Source.inherited(cls, name), value, Exactly(value)))

    def _inherited(self, cls: type, name: str) -> None:
        """What a base of `cls` has under `name` was found: `cls` may get one of its own."""
        if name not in cls.__dict__ and not issubclass(cls, type):
            self.of_class(cls, name)

    def held_by_class(self, cls: type, name: str) -> None:
        """What stands in the body of `cls` under `name` was found."""
        held = self.classes.setdefault(cls, cls.__dict__)
        guard = Guard(Source.entry(f"{cls.__name__}.{name}", held, name), held[name], Exactly(held[name]))
        self.guards.setdefault((id(cls), name, "class"), guard)

    def absent(self, owner: Any, name: str, source: Source | None = None) -> None:
        """`owner` was asked for an attribute that it does not have."""
        key = (id(owner), name)
        if key in self.journal.before or key in self.guards or not _may_get_another(owner):
            return
        self.pin(owner)
        found = replace(source or looked_up(owner, name), of_layer=isinstance(owner, Layer))
        self.guards[key] = Guard(found, MISSING, Exactly(MISSING), key)

    def pin(self, owner: Any) -> None:
        """The program reads or writes attributes of `owner`: where that is a tensor, another one has others."""
        if isinstance(owner, Tensor):
            builder().held(owner)  # an input from here on, which each call has
            self.pinned[id(owner)] = owner

    def attribute(self, owner: Any, name: str, value: Any, *, changed_only: bool = False) -> Any:
        """`owner.name` was read, and gave `value`; returns what the program reads, if that is something else."""
        found = read_late(self.late, owner, name, value)
        if found is not value:
            return found
        if isinstance(owner, Tensor) and name == "grad":  # another tensor after each backward
            self._read((id(owner), name), Source(f"{owner.name}.grad", lambda: held_grad(owner)), value, changed_only)
            return value
        is_kept = isinstance(owner, Tensor) and _is_kept_by(owner, name)
        is_of_program = isinstance(owner, CONTAINERS) and (type(owner) in CONTAINERS or id(owner) not in self.met)
        if is_of_program or (isinstance(owner, _NOT_WATCHED) and not is_kept) or isinstance(value, Environment):
            return value
        self.pin(owner)
        if isinstance(owner, ModuleType) and (is_library(owner) or isinstance(value, ModuleType) or callable(value)):
            self._of_module(owner, name, value)
            return value
        if is_library(owner):
            self.of_class(owner, name)
            return value
        if bound_to(value) is owner:
            if isinstance(value, MethodType):
                self.method(owner, value.__func__, name)
            return value
        if isinstance(owner, Layer) and self._is_followed(owner, name):
            return value
        if not isinstance(owner, (Tensor, type)) and isinstance(getattr(type(owner), name, None), property):
            return value
        key = (id(owner), name)
        is_own = name in getattr(owner, "__dict__", (name,))  # else the trace would give it one
        if is_own and key in self.numbers and can_be_input(value) and self._is_first(key, value):
            return self._number(key, Source.attribute(owner, name), AttrPlace(owner, name), value)
        if is_own or name == "__dict__":
            self.own.add(key)
        if name == "__dict__":
            self.names(owner)
        self._read(key, Source.attribute(owner, name), value, changed_only, may_be_input=True)
        return value

    def _of_module(self, owner: ModuleType, name: str, value: Any) -> None:
        """A library's variable was read, or a function or class of any module: tests put theirs there."""
        is_ours = owner.__name__.startswith("vitrify") and not callable(value)
        is_followed = is_ours or isinstance(value, ModuleType) or has_names(value)
        if owner.__dict__.get(name) is value and not is_followed:
            self._read((id(owner), name), Source.entry(f"{owner.__name__}.{name}", owner.__dict__, name), value, False)

    def _is_followed(self, owner: Layer, name: str) -> bool:
        """Whether the state of Layers that jit/reach.py compares covers the attribute."""
        if name == "training" or any(name in owner.__dict__.get(table, ()) for table in _COVERED):
            self.layers.append(owner)
            return True
        return False

    def _number(self, key: Any, source: Source, place: Any, value: Any) -> Any:
        """A number that changes from call to call, as an input of the program; its place holds it during the trace."""
        found = self._feed(place, value)
        self.guards[key] = Guard(source, value, AnyNumber(self.fed[place.key], type(value)), key, True)
        return found

    def _feed(self, place: Any, value: Any) -> Any:
        """The variable that stands for a number, and is held by its place from now on."""
        tensor = self.fed[place.key] = wrap(np.asarray(value, "int64" if isinstance(value, int) else "float64"))
        found = self.read_numbers[place.key] = as_number(builder().lift(tensor))
        self.journal.note(place)
        place.set(found)
        return found

    def _read(self, key: Any, source: Source, value: Any, changed_only: bool, may_be_input: bool = False) -> None:
        if key in self.guards or value is MISSING:
            return
        written = self.journal.before.get(key)
        if written is not None:
            if isinstance(written[0], AttrPlace) and key not in self.overwritten:
                return  # every path wrote it before: what it held says nothing
            value = written[1]  # what it held before this trace changed it
        if isinstance(value, Undefined):
            return  # this trace made it
        if isinstance(value, Variable):
            return
        self.stand_ins.refuse_missed(source.place, value)
        original = self.stand_ins.original(value)
        if isinstance(original, (OpenList, OpenDict)) or held_variables(original, self.journal.before):
            return  # so are containers of a program, whatever object or class holds them
        if changed_only and isinstance(value, CONTAINERS):
            self.peeked.setdefault(id(value), (original, key, source))
            return
        value = original
        self.met.add(id(value))
        self.journal.note_read(source.place, value)
        self.guards[key] = Guard(source, value, self.expected(value, key), key, may_be_input)

    def expected(self, value: Any, key: Any, depth: int = 0) -> Expected:
        """What a program needs of `value`: containers are looked into."""
        value = self.stand_ins.original(value)
        if isinstance(value, Tensor):
            return self._tensor(value, key)
        if type(value) not in CONTAINERS or depth > MAX_DEPTH or len(value) > MAX_ITEMS:
            return self._of_other_class(value, key, depth)
        held = content_before(value, self.journal.before)
        if isinstance(value, (set, frozenset)):
            return Items(value, list(held), (), unordered=True)
        keys = list(held) if isinstance(held, dict) else range(len(held))
        items = held.values() if isinstance(held, dict) else held
        return Items(value, keys, self._items(value, keys, items, key, depth))

    def _items(self, owner: Any, indices: Iterable[Any], items: Iterable[Any], key: Any, depth: int) -> list[Expected]:
        return [self._item(owner, i, v, item_key(key, i), depth + 1) for i, v in zip(indices, items)]

    def _item(self, owner: Any, index: Any, value: Any, key: Any, depth: int) -> Expected:
        """What a program needs of an item of a container: a number that changes from call to call is an input."""
        if key not in self.numbers or not can_be_input(value) or not isinstance(owner, SETTABLE):
            return self.expected(value, key, depth)
        place = ItemPlace(owner, index)
        if place.key not in self.read_numbers:
            if place.get() is not value or any(held is owner for held in self.stand_ins.originals.values()):
                return self.expected(value, key, depth)  # the trace has changed it, or looks at something else
            self._feed(place, value)
        return AnyNumber(self.fed[place.key], type(value))

    def _of_other_class(self, value: Any, key: Any, depth: int) -> Expected:
        """What a program needs of what is no plain container, or a large one."""
        if isinstance(value, BUFFERS) and not has_objects(value):
            return SameBytes(value)
        if not isinstance(value, WITH_MEMBERS) or depth > MAX_DEPTH:
            return Exactly(value)
        keys, items = (list(part) for part in members(value))
        if len(items) > MAX_ITEMS:
            return SameItems(value, items)
        return Members(value, keys, self._items(value, keys or range(len(items)), items, key, depth))

    def _tensor(self, value: Tensor, key: Any) -> Expected:
        meta = Meta(tuple(value.shape), value.dtype)
        if key in self.shapes:
            meta = self.metas[id(value)] = Meta(self.shapes[key], value.dtype)
        return AnyTensor(value, meta, value.stop_gradient)

    # -- changes ----------------------------------------------------------------------------------------------------

    def call(self, owner: Any, method: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
        """`owner.method(*args)` is about to change a container."""
        self.calls.append(MethodCall(owner, method, args, kwargs))

    def content_matters(self, owner: Any) -> None:
        """What a container holds decides from here on what the program does to it."""
        held = self.peeked.pop(id(owner), None)
        if held is not None:
            value, key, source = held
            self.guards.setdefault(key, Guard(source, value, self.expected(value, key), key))

    def known_containers(self) -> set[int]:
        """ids of the containers, iterators and objects read that were there before the trace."""
        found: set[int] = {*self.peeked, *self.stand_ins.originals}
        waiting = [guard.value for guard in self.guards.values()]
        while waiting:
            value = waiting.pop()
            if type(value) in CONTAINERS and id(value) not in found:
                found.add(id(value))
                held = content_before(value, self.journal.before)
                waiting += held.values() if isinstance(held, dict) else held
            elif not isinstance(value, (tuple, *CLOSURES)):
                found.add(id(value))
        return found

    def before(self, place: AttrPlace) -> None:
        """What an attribute held before the trace is what it holds behind a path that the program may take."""
        owner, name = place.owner, place.attribute
        value = self.journal.before.get(place.key, (None, place.get()))[1]
        if not place.inherited and not isinstance(value, Undefined):
            self.attribute(owner, name, value)
        elif place.key not in self.guards and _may_get_another(owner):
            source = replace(looked_up(owner, name), of_layer=isinstance(owner, Layer))
            held = MISSING if isinstance(value, Undefined) else value
            self.guards[place.key] = Guard(source, held, self.expected(held, place.key), place.key)

    def note_paths(self) -> None:
        """Guard what places of objects from before held that some path left as they were."""
        for key, (place, value) in self.journal.before.items():
            if key in self.overwritten and isinstance(place, AttrPlace):
                self.before(place)
            elif key in self.stored and isinstance(place, AttrPlace) and not builder().made.had(key[0]):
                self._set_back(place, value)

    def _set_back(self, place: AttrPlace, value: Any) -> None:
        """An attribute was written that holds what it held before: the program leaves it alone, while it holds that."""
        now = place.get()
        is_unset = isinstance(now, Undefined) and isinstance(value, Undefined)
        if (now is value or is_unset) and place.key not in self.guards and _may_get_another(place.owner):
            held = MISSING if is_unset else value
            self.guards[place.key] = Guard(Source.at(place), held, Exactly(held), place.key)

    # -- the end of a trace -----------------------------------------------------------------------------------------

    def places(self) -> list[Guard]:
        """The guards so far, and such for the containers that were only changed: they may be exchanged for others."""
        only_changed = [seen for seen in self.peeked.values() if seen[1] not in self.guards]
        peeked = [Guard(source, value, SomeContainer(value), key) for value, key, source in only_changed]
        return [*self.guards.values(), *peeked]

    def places_of(self, container: Any) -> list[Any]:
        """The places that hold the container, of those that were read so far."""
        return [p for guard in self.places() for p in places_in(guard.source.place, guard.value, container)]

    def forget(self, keys: Iterable[Any], made: Made) -> None:
        """Guard none of these places, nor what objects hold that the trace made: each call makes them anew."""
        for key in (*keys, *[key for key in self.own if made.had(key[0])]):
            self.guards.pop(key, None)

    def kept(self, guards: Sequence[Guard], slots: Mapping[int, int]) -> Guards:
        """All of `guards`, told which tensors are inputs. slots: their numbers by the tensors' ids."""
        for guard in guards:
            for tensor in fed_by(guard.expected):
                tensor.slot = slots.get(id(tensor.tensor), -1)
        return Guards(guards, list(self.unnamed.values()))


def _may_get_another(owner: Any) -> bool:
    """Whether an attribute that `owner` lacks may be there in the next call."""
    return isinstance(owner, Tensor) or not (isinstance(owner, (*_NOT_WATCHED, *CONTAINERS)) or is_library(owner))


def _is_kept_by(tensor: Tensor, name: str) -> bool:
    """Whether an attribute of a tensor from outside is just kept there: it may hold something else in the next call."""
    return name in tensor.__dict__ or name in FIELDS


_observer: ContextVar[Observer | None] = ContextVar("observer", default=None)


@contextmanager
def observing(
    journal: Journal, numbers: Set[Any] = frozenset(), shapes: Mapping[Any, Shape] = MappingProxyType({})
) -> Iterator[Observer]:
    """Watch the code that runs inside."""
    observer = Observer(journal, numbers, shapes)
    token = _observer.set(observer)
    try:
        yield observer
    finally:
        _observer.reset(token)


def current_observer() -> Observer | None:
    """Who watches the trace in progress."""
    return _observer.get()


def seen(value: Any) -> Any:
    """`value` as converted code sees it, from which the environment is read by name alone."""
    observer = _observer.get()
    return value if observer is None else watched(value, observer.cached_call)


def seen_inside(owner: Any) -> Any:
    """`owner` as converted code sees it that looks for something inside, by its key."""
    observer = _observer.get()
    return owner if observer is None else looked_in(watched(owner, observer.cached_call), observer.entry)


@for_user
def _held(owner: Any, attribute: str) -> Any:
    try:
        value = getattr(owner, attribute)
    except AttributeError:
        if not isinstance(owner, Variable) or hasattr(Tensor, attribute):
            raise
        text = f"'Tensor' object has no attribute {attribute!r}"
        raise note_user_error(AttributeError(text, name=attribute)) from None
    if isinstance(value, Unmergeable):
        raise value.fail()
    if attribute in _OF_HANDLING and isinstance(owner, BaseException) and current_builder() is not None:
        raise UnsupportedError(
            f"{attribute} of an exception is read, which a program's exceptions do not have before they are raised",
            hint="read it where the function is called, or convert with full_graph=False",
        )
    return value


@by_option(1)
def get_attr(owner: Any, attribute: str) -> Any:
    """`owner.attribute`; where the path taken did not set it, the program raises what eager code does."""
    return where_set(read_attr(owner, attribute))


def read_attr(owner: Any, attribute: str) -> Any:
    """What Python finds as `owner.attribute`, noted by who watches; a MaybeUnset where some path left it unset.

    What a property of the user's reads is noted where it does.
    """
    getter = computed(owner, attribute)
    observer = _observer.get()
    if observer is not None and (getter is not None or type(owner) is super):
        observer.class_attribute(owner, attribute)
    if getter is not None:
        return getter()
    value = seen(_held(owner, attribute))
    if attribute == "__dict__" and (undecided(owner) or has_unset(owner, value)):
        raise unknown_keys("vars() of an object, which gives")
    refuse_items(value)
    return value if observer is None else observer.attribute(owner, attribute, value)


def note_absent(owner: Any, attribute: str) -> None:
    """Tell who watches that `owner` has no such attribute."""
    observer = _observer.get()
    if observer is not None and user_method(owner, "__getattr__") is None:
        observer.absent(owner, attribute)


def note_class(value: Any) -> None:
    """Tell who watches that the class of `value` is asked for."""
    observer = _observer.get()
    if observer is not None:
        observer.of_its_class(value)


@by_option(1)
def peek_attr(owner: Any, attribute: str) -> Any:
    """`owner.attribute`, which is only changed."""
    getter = computed(owner, attribute)
    if getter is not None:
        return getter()
    value = seen(_held(owner, attribute))
    observer = _observer.get()
    if observer is not None:
        observer.attribute(owner, attribute, value, changed_only=True)
    return where_set(value)
