"""Code of the user's that runs without a visible call: properties, context managers, class state, nested decorators."""

import enum
import functools
import itertools

import vitrify as paddle
from vitrify import nn

from .functions import N, X


class Scope:
    def __init__(self, x):
        self.x = x

    def __enter__(self):
        self.y = self.x * 2 if self.x.sum() > 0 else self.x
        return self.y

    def __exit__(self, *error):
        self.y = self.y + 1 if self.y.sum() > 0 else self.y
        return False


def context_manager(x):
    scope = Scope(x)
    with scope as y:
        z = y * 2
    return z + scope.y


def two_context_managers(x):
    with Scope(x) as a, Scope(a + 1) as b:
        c = a + b
    return c


class Swallow:
    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        return kind is ValueError


def exit_swallows(x):
    y = x
    with Swallow():
        y = x * 2
        raise ValueError
    return y * 3 if y.sum() > 0 else y


class Held:
    def __init__(self, x):
        self._x = x
        self.n = 0

    @property
    def x(self):
        self.n += 1
        return self._x * 2 if self._x.sum() > 0 else self._x

    @x.setter
    def x(self, value):
        self._x = value if value.sum() > 0 else -value

    @x.deleter
    def x(self):
        self._x = self._x * 5 if self._x.sum() > 0 else self._x

    @functools.cached_property
    def cached(self):
        self.n += 10
        return self._x * 3 if self._x.sum() > 0 else self._x

    def total(self):
        return self.x + self.cached + self.cached


def properties(x):
    held = Held(x)
    held.x = x * 2
    held.x += 1
    return held.total(), held.n


def property_deleted(x):
    held = Held(x)
    del held.x
    return held.x


def cached_in_branch(x):
    held = Held(x)
    y = held.cached if x.sum() > 0 else held.cached * 2
    return y + held.cached


class Base:
    @property
    def scale(self):
        return self.k * 2 if self.k.sum() > 0 else self.k


class Derived(Base):
    def __init__(self, k):
        self.k = k

    @property
    def scale(self):
        return super().scale + 1


def cached_on_a_path(x):
    held = Held(x)
    y = held.cached if x.sum() > 0 else x
    return y + held.cached, held.n


def cached_in_a_loop(x):
    held = Held(x)
    for v in x:
        if v > 1:
            x = x + held.cached
    return x, held.n


class Lazy:
    def __getattr__(self, name):
        if name != "weight":
            raise AttributeError(name)
        self.weight = 3.0
        return self.weight


def made_when_missing(x):
    lazy = Lazy()
    for v in x:
        if v > 1:
            lazy.weight = v
        x = x + lazy.weight
    return x, hasattr(lazy, "weight"), hasattr(lazy, "bias")


def inherited_property(x):
    return Base.scale.fget(Derived(x)) if x.ndim > 1 else Derived(x).k


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.k = 2.0

    @property
    def scale(self):
        return self.k * 2 if self.training else self.k

    def forward(self, x):
        return x * self.scale if x.sum() > 0 else x


NET = Net()


def layer_property(x):
    return NET(x)


class Constant:
    def __get__(self, owner, kind=None):
        return owner.x * 2 if owner.x.sum() > 0 else owner.x

    def __set__(self, owner, value):
        owner.x = value * 3 if value.sum() > 0 else value


class Described:
    c = Constant()

    def __init__(self, x):
        self.x = x


def descriptors(x):
    d = Described(x)
    d.c = x + 1
    return d.c


class Counted:
    total = 0

    def __init__(self):
        Counted.total += 1

    def go(self, x):
        return x * 2 if x.sum() > 0 else x


def class_attribute(x):
    Counted.total = 0
    first, second = Counted(), Counted()
    return second.go(first.go(x)) * Counted.total


def decorator_inside(x):
    def twice(fn):
        @functools.wraps(fn)
        def wrapper(*args):
            return fn(*args) * 2 if x.sum() > 0 else fn(*args)

        return wrapper

    @twice
    def inner(v):
        return v + 1 if v.sum() > 0 else v

    return inner(x)


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


def int_enum(x):
    return x * Level.HIGH if x.sum() > 0 else x + Level.LOW


def zip_longest(x):
    return [a if b is None else a * b for a, b in itertools.zip_longest([x, x], [2.0])]


def grouped(x):
    pairs = [("a", x), ("a", x * 2), ("b", x)]
    return [(key, sum(v for _, v in group)) for key, group in itertools.groupby(pairs, key=lambda pair: pair[0])]


def function_in_attribute(x):
    class Holder:
        pass

    h = Holder()
    h.f = lambda v: v * 2 if v.sum() > 0 else v
    h.table = {"g": h.f}
    return h.f(x) + h.table["g"](x)


class Tree:
    def __init__(self, k, children=()):
        self.k = k
        self.children = list(children)

    def evaluate(self, v):
        out = v * self.k if v.sum() > 0 else v
        for child in self.children:
            out = out + child.evaluate(v)
        return out


def tree_of_objects(x):
    return Tree(1.0, [Tree(2.0), Tree(3.0, [Tree(4.0)])]).evaluate(x)


def cache_inside(x):
    @functools.cache
    def fib(n):
        return n if n < 2 else fib(n - 1) + fib(n - 2)

    return x * fib(10) if x.sum() > 0 else x


def class_getitem(x):
    class Kind:
        def __class_getitem__(cls, item):
            return cls

        def __init__(self):
            self.v = x if x.sum() > 0 else -x

    return Kind[int]().v


def layers_and_functions(x):
    for step in [nn.ReLU(), lambda v: v * 2 if v.sum() > 0 else v, NET]:
        x = step(x)
    return x


def object_to_condition(x):
    items = []
    y = x * 2 if x.sum() > 0 and items else x
    name = "n"
    y = y + 1 if x.sum() > 0 and name else y
    return y if x.sum() < 0 or items else y * 3


def type_of_result(x):
    n = 0
    while x.sum() < 10:
        x = x + 2
        n += 1
    return x * n, isinstance(x, paddle.Tensor), type(x) is paddle.Tensor


class Sized:
    def __init__(self, w):
        self.w = w

    @property
    def size(self):
        return self.w * 2 if self.w.sum() > 0 else self.w


class Resized(Sized):
    @property
    def size(self):
        return super().size + 1

    def twice(self):
        return super().size * 2 if super().size.max() > 1 else self.size


def property_of_super(x):
    held = Resized(x)
    return held.size, held.twice()


def sent_to_a_generator(x):
    def steps():
        got = yield 1
        while got is not None:
            got = yield got * 2
        return "end"

    items = steps()
    items.__next__()
    found = [items.send(x), items.send(x + 1)]
    try:
        items.send(None)
    except StopIteration as err:
        found.append(err.value)
    return found


CASES = [
    (f, ((X,), (N,)))
    for f in (
        context_manager, two_context_managers, exit_swallows, properties, property_deleted, cached_in_branch,
        cached_on_a_path, cached_in_a_loop, made_when_missing,
        inherited_property, layer_property, descriptors, class_attribute, decorator_inside, int_enum, zip_longest,
        grouped, function_in_attribute, tree_of_objects, cache_inside, class_getitem, layers_and_functions,
        object_to_condition, type_of_result, property_of_super, sent_to_a_generator,
    )
]  # fmt: skip
