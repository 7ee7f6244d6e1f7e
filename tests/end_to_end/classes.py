"""Plain classes of the user's: made inside converted code, with special methods and properties that tensors decide."""

import enum
import functools
from abc import ABC, abstractmethod
from collections import namedtuple
from dataclasses import InitVar, dataclass, field, replace
from typing import Generic, NamedTuple, TypeVar

from vitrify import nn

from .functions import N, X

T = TypeVar("T")


class State:
    def __init__(self, x, scale=1.0):
        if x.sum() > 0:
            self.h = x * scale
        else:
            self.h = x - scale
        self.count = 0

    def step(self):
        self.h = self.h * 2 if self.h.max() < 8 else self.h
        self.count += 1
        return self


def init_branches(x):
    s = State(x, scale=2.0)
    return s.h, s.count, s.step().step().h


class SubState(State):
    def __init__(self, x):
        super().__init__(x, 3.0)
        if x.max() > 1:
            self.h = self.h + 1


def init_super(x):
    return SubState(x).h


class Unit:
    def __new__(cls, x):
        made = super().__new__(cls)
        made.x = x if x.sum() > 0 else -x
        return made

    def __init__(self, x):
        self.y = self.x * 2


def new_branches(x):
    u = Unit(x)
    return u.x, u.y


class Chooser:
    def __new__(cls, x):
        return x * 2 if x.sum() > 0 else x


def new_gives_tensor(x):
    return Chooser(x)


@dataclass
class Pair:
    a: object
    b: object = 2.0
    seen: list = field(default_factory=list)

    def __post_init__(self):
        if self.a.sum() > 0:
            self.a = self.a * self.b
        self.seen.append(self.a)

    def total(self):
        return self.a + self.b if self.a.max() > 0 else self.a


def dataclass_post_init(x):
    p = Pair(x)
    q = Pair(x, b=x)
    return p.total(), q.seen[0], len(q.seen)


@dataclass(frozen=True)
class Frozen:
    a: object
    scale: InitVar[float] = 2.0
    b: object = field(init=False, default=None)

    def __post_init__(self, scale):
        object.__setattr__(self, "b", self.a * scale if self.a.sum() > 0 else self.a)


def dataclass_frozen(x):
    return Frozen(x).b + Frozen(x, scale=3.0).b


@dataclass(slots=True)
class Slotted:
    a: object
    b: object = 1.0

    def both(self):
        if self.a.sum() > 0:
            self.b = self.a * self.b
        return self.b


def dataclass_slots(x):
    s = Slotted(x)
    return s.both() + s.both()


class Slots:
    __slots__ = ("h", "n")

    def __init__(self, x):
        self.h = x * 2 if x.sum() > 0 else x
        self.n = 1

    def grow(self):
        if self.h.sum() < 20:
            self.h = self.h + 5
            self.n = self.n + 1


def slots_in_branch(x):
    s = Slots(x)
    s.grow()
    s.grow()
    return s.h, s.n


Point = namedtuple("Point", "x y")


class Point3(NamedTuple):
    x: object
    y: object
    z: float = 3.0

    def length(self):
        return self.x + self.y if self.x.sum() > 0 else self.x * self.z

    @property
    def flat(self):
        return self.x * self.z


def namedtuples(x):
    p = Point(x, x * 2)
    q = Point3(*p)
    if x.sum() > 0:
        p = p._replace(x=q.length())
    return p.x + p.y, q.length()


class Signed(Point):
    def __new__(cls, x):
        return super().__new__(cls, x if x.sum() > 0 else -x, x)


def namedtuple_new(x):
    return Signed(x).x * 2


class Mode(enum.Enum):
    DOUBLE = 2
    TRIPLE = 3

    def apply(self, v):
        if v.sum() > 0:
            return v * self.value
        return v

    @classmethod
    def of(cls, v):
        return cls.DOUBLE if v.ndim == 1 else cls.TRIPLE


def enum_member(x):
    return Mode.DOUBLE.apply(x) + Mode(3).apply(x) + Mode.of(x).apply(x) + Mode["TRIPLE"].apply(x)


class Box(Generic[T]):
    def __init__(self, v):
        self.v = v * 2 if v.sum() > 0 else v


def generic_class(x):
    return Box[int](x).v + Box(x).v


class Shape(ABC):
    def __init__(self, k):
        self.k = k

    @abstractmethod
    def area(self, x): ...

    def twice(self, x):
        return self.area(x) * 2 if x.sum() > 0 else self.area(x)


class Square(Shape):
    def area(self, x):
        return x * x if x.max() > 0 else x * self.k


def abstract_class(x):
    return Square(3.0).twice(x)


class Iterated:
    def __init__(self, items):
        self.items = items
        self.at = 0

    def __iter__(self):
        self.at = 0
        return self

    def __next__(self):
        if self.at >= len(self.items):
            raise StopIteration
        self.at += 1
        v = self.items[self.at - 1]
        return v * 2 if v.sum() > 0 else v

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        v = self.items[i]
        return v + 1 if v.sum() > 0 else v


def iterates(x):
    total = x * 0
    for v in Iterated([x, x + 1, -x]):
        total = total + v
    return total


def iterates_again(x):
    it = Iterated([x, -x])
    return list(it), tuple(it), sum(it), next(map(State, it)).h


def explicit_next(x):
    it = iter(Iterated([x, x * 2]))
    first = next(it)
    second = next(it)
    return first, second, next(it, None)


class ByIndex:
    def __init__(self, items):
        self.items = items

    def __getitem__(self, i):
        v = self.items[i]
        return v * 3 if v.sum() > 0 else v


def iterates_by_index(x):
    total = x
    for v in ByIndex([x, -x]):
        total = total + v
    return total, list(ByIndex([x, x]))


class Bag:
    def __init__(self, *items):
        self.items = list(items)

    def __len__(self):
        return len(self.items)

    def __contains__(self, value):
        if value.sum() > 0:
            return any(bool((value == v).all()) for v in self.items)
        return False

    def __bool__(self):
        return bool(self.items[0].sum() > 0)

    def __enter__(self):
        self.items.append(self.items[0] * 2 if self.items[0].sum() > 0 else self.items[0])
        return self.items[-1]

    def __exit__(self, kind, error, trace):
        self.items.append(self.items[0])
        return False

    def __setitem__(self, i, v):
        self.items[i] = v * 2 if v.sum() > 0 else v


def truth_of_object(x):
    bag = Bag(x)
    if bag:
        y = x * 2
    else:
        y = x * 3
    return y if not bag else y + 1


def truth_in_while(x):
    bag = Bag(10 - x)
    n = 0
    while bag and n < 5:
        bag.items[0] = bag.items[0] - 10
        n += 1
    return bag.items[0], n


def truth_and(x):
    bag = Bag(x)
    y = x * 2 if bag and x.max() > 2 else x
    return y + 1 if bag or x.min() > 0 else y


def length_decides(x):
    class Empty:
        def __len__(self):
            return 0 if x.shape[0] == 3 else 1

    return x * 2 if Empty() else x * 3


def contains_method(x):
    bag = Bag(x, x * 2)
    y = x * 2 if x in bag else x
    return y + 1 if x * 3 not in bag else y


def in_list(x):
    s = x.sum()
    if s in [6.0, 1.0]:
        return x * 2
    return x if s not in (s, 3.0) else x * 4


def setitem_method(x):
    bag = Bag(x)
    bag[0] = x * 3
    return bag.items[0]


class Temperature:
    def __init__(self, t):
        self._t = t
        self.reads = 0

    @property
    def value(self):
        return self._t * 2 if self._t.sum() > 0 else self._t

    @value.setter
    def value(self, t):
        self._t = t if t.sum() > 0 else -t

    @functools.cached_property
    def cached(self):
        return self._t * 3 if self._t.sum() > 0 else self._t

    def __getattr__(self, name):
        if name == "lazy":
            return self._t * 5 if self._t.sum() > 0 else self._t
        raise AttributeError(name)


def property_by_getattr(x):
    t = Temperature(x)
    return getattr(t, "value") + getattr(t, "cached") + getattr(t, "cached") + getattr(t, "lazy")  # noqa: B009


def property_missing(x):
    t = Temperature(x)
    return x if hasattr(t, "nothing") else getattr(t, "none", x * 2)


def property_setter(x):
    t = Temperature(x)
    t.value = x * 2
    setattr(t, "value", t._t + 1)  # noqa: B010
    return t._t


class Tracked:
    def __setattr__(self, name, value):
        if value.sum() > 0:
            value = value * 2
        super().__setattr__(name, value)


def setattr_method(x):
    t = Tracked()
    t.v = x
    if x.max() > 1:
        t.v = x + 1
    return t.v


class Dispatched:
    @functools.singledispatchmethod
    def go(self, v):
        return v * 2 if v.sum() > 0 else v

    @go.register
    def _(self, v: list):
        return [self.go(i) for i in v]


def singledispatch_method(x):
    d = Dispatched()
    return getattr(d, "go")([x]), getattr(d, "go")(x)  # noqa: B009


class Registry:
    items = {}

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        Registry.items[cls.__name__] = cls


class Adder(Registry):
    def __call__(self, v):
        return v + 1 if v.sum() > 0 else v


def registry(x):
    return Registry.items["Adder"]()(x)


def class_made_inside(x):
    class Local:
        def __init__(self, v):
            self.v = v * 2 if v.sum() > 0 else v

        def twice(self):
            return self.v * 2 if self.v.max() > 3 else self.v

    return Local(x).twice()


class Calls(nn.Layer):
    def __call__(self, x):
        y = super().__call__(x)
        return y + 1 if y.sum() > 0 else y

    def forward(self, x):
        return x * 2 if x.max() > 0 else x


CALLS = Calls()


def layer_with_call(x):
    return CALLS(x)


class Made(nn.Layer):
    def __init__(self, x):
        super().__init__()
        self.scale = 2.0 if x.shape[0] == 3 else 3.0
        self.start = x if x.sum() > 0 else -x

    def forward(self, x):
        return x * self.scale + self.start if x.max() > 0 else x


def layer_init_branches(x):
    return Made(x)(x)


class Plain:
    def __init__(self, x):
        self.x = x

    def __add__(self, other):
        return Plain(self.x + other.x)

    def __eq__(self, other):
        return self.x.shape == other.x.shape

    def __hash__(self):
        return 1

    def __getitem__(self, i):
        return self.x[i]

    def __neg__(self):
        return Plain(-self.x)


def operators_of_class(x):
    a = Plain(x) + Plain(x * 2)
    y = (-a).x if x.sum() > 0 else a.x
    return y, a == Plain(x), a[0]


class Multi:
    def __init__(self, x):
        self.parts = {"a": [x], "b": (x, x * 2)}

    def run(self):
        for key, group in self.parts.items():
            for v in group:
                if v.sum() > 0 and key == "b":
                    self.parts["a"][0] = self.parts["a"][0] + v
        return self.parts["a"][0]


def nested_attributes(x):
    return Multi(x).run()


class Singleton:
    _instance = None

    def __new__(cls):
        if cls._instance is None:
            cls._instance = super().__new__(cls)
        return cls._instance

    def go(self, v):
        return v * 2 if v.sum() > 0 else v


SINGLE = Singleton()


def singleton(x):
    return Singleton().go(x)


class Failing:
    def __init__(self, x):
        self.x = x
        raise ValueError("no")


def failing_init(x):
    return Failing(x)


def wrong_arguments(x):
    return State(x, 1.0, 2.0, 3.0)


def wrong_dataclass_arguments(x):
    return Pair()


def dataclass_replaced(x):
    pair = Pair(x - 1)
    other = replace(pair, a=x * 2)
    if x.max() > 2:
        other.seen.append(x)
    frozen = replace(Frozen(x), a=x * 3, scale=3.0)
    return other.a, len(pair.seen), len(other.seen), frozen.b, replace(frozen, a=-x).b


def wrongly_replaced(x):
    if x.sum() > 0:
        return replace(Frozen(x), b=3)
    return replace(x)


CASES = [
    (f, ((X,), (N,)))
    for f in (
        init_branches, init_super, new_branches, new_gives_tensor, dataclass_post_init, dataclass_frozen,
        dataclass_slots, slots_in_branch, namedtuples, namedtuple_new, enum_member, generic_class, abstract_class,
        iterates, iterates_again, explicit_next, iterates_by_index, truth_of_object, truth_in_while, truth_and,
        length_decides, contains_method, in_list, setitem_method, property_by_getattr, property_missing,
        property_setter, setattr_method, singledispatch_method, registry, class_made_inside, layer_with_call,
        layer_init_branches, operators_of_class, nested_attributes, singleton, failing_init, wrong_arguments,
        wrong_dataclass_arguments, dataclass_replaced, wrongly_replaced,
    )
]  # fmt: skip
