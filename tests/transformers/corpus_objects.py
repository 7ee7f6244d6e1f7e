"""Attributes, items, methods, super, properties, mangling, expressions."""

# fmt: off
# ruff: noqa
from tests.transformers.corpus import Corpus

CORPUS = Corpus()
case = CORPUS.case


class Log:
    """Records the order of everything."""

    def __init__(self):
        self.events = []

    def __call__(self, value):
        self.events.append(value)
        return value


class Base:
    scale = 2

    def __init__(self, h=0):
        self.h = h
        self.items = [0, 1, 2]
        self.__secret = 1

    def step(self, x):
        if x > 1:
            self.h = self.h + x
        else:
            self.h -= 1
        return self.h

    def forward(self, x):
        return x + self.scale

    @property
    def double(self):
        if self.h:
            return self.h * 2
        return None

    @double.setter
    def double(self, value):
        if value > 4:
            self.h = value // 2

    @classmethod
    def make(cls, h):
        if h < 0:
            h = 0
        return cls(h)

    @staticmethod
    def helper(x):
        return x if x else "zero"

    def secret(self, x):
        if x:
            self.__secret += x
            del_me = self.__secret
        else:
            self.__secret = -1
        return self.__secret

    def __call__(self, x):
        return self.step(x)


class Derived(Base):
    def __init__(self, h=0):
        super().__init__(h)
        if h > 1:
            super().step(h)

    def forward(self, x):
        if x > 0:
            y = super().forward(x)
        else:
            y = super(Derived, self).forward(-x)
        for _ in range(2):
            y += super().forward(0)
        return y


@case(0, 1, 5)
def attribute_in_branch(x):
    b = Base(x)
    return b.step(x), b.step(3), b.h, b(2)


@case(0, 1, 5)
def attribute_stores(x):
    b = Base()
    if x:
        b.h = x
        b.new = x
    else:
        b.h += 1
    while b.h < 4:
        b.h *= 2
        b.h += 1
    return b.h, hasattr(b, "new")


@case(0, 1, 5)
def super_calls(x):
    d = Derived(x)
    return d.forward(x), d.h, d.step(1)


@case(0, 1, 5)
def methods_as_functions(x):
    b, d = Base(), Derived()
    Base.__init__(b, x)
    Derived.__init__.__get__(d)(x)
    return b.h, d.h, Base.double.fget.__get__(b)(), Base.double.fset.__get__(b)(x), b.h


@case(1)
def starred_places(x):
    b = Base()
    xs = [0, 0]
    if x:
        [b.first, *b.others, (xs[0], *xs[1:])] = 1, 2, 3, "pqr"
    with Manager() as (xs[0], b.pair):
        pass
    b.only: int = 5
    b.declared: int
    xs[0]: int
    return b.first, b.others, xs, b.pair, b.only


class Manager:
    def __enter__(self):
        return 7, 8

    def __exit__(self, *args):
        return None


@case(0, 1)
def delete_nested(x):
    b = Base()
    b.child = Base()
    if x:
        b.child.items[0] += 1
        b.child.h += 2
        del b.child.items[1], b.items
    return b.child.items, b.child.h, hasattr(b, "items")


@case(0, 1, 5)
def properties(x):
    b = Base(x)
    b.double = x + 3
    if b.double:
        b.double += 4
    return b.double, b.h


@case(0, 1, -5)
def class_and_static(x):
    return Base.make(x).h, Base.helper(x), Derived.make(x).h


@case(0, 1, 5)
def private_names(x):
    b = Base()
    return b.secret(x), b._Base__secret


@case(0, 1, 5)
def item_stores(x):
    xs = [0] * 6
    d = {}
    for i in range(3):
        xs[i] = i * x
        if i % 2:
            xs[i] += 1
            d["k", i] = xs[i]
        d[i] = d.get(i, 0) + 1
    xs[1:3] = [9]
    xs[-1] -= 3
    return xs, d


@case(0, 1)
def nested_item_stores(x):
    b = Base()
    grid = [[0, 0], [0, 0]]
    if x:
        b.items[1] = 5
        grid[0][1] = 7
        grid[x][x] += 2
        b.items[0] += 4
        b.items[0:1] = [8, 9]
    else:
        del b.items[0], grid[0][1]
    return b.items, grid


def fresh_list(log):
    log("owner")
    return [0, 0, 0]


@case(1)
def store_order(x):
    log = Log()
    xs = [0] * 9
    xs[log(1)] = log(2)
    xs[log(3)] += log(4)
    fresh_list(log)[log(0)] = log("v")
    fresh_list(log)[log(1)] += log(5)
    a = xs[log(5)] = log(6)
    xs[log(7)], xs[log(8)] = log(9), log(10)
    return log.events, xs, a


@case(1)
def attribute_order(x):
    log = Log()

    def owner():
        log("owner")
        return log

    owner().a = log("value")
    owner().a += log("more") + "!"
    owner().b = owner().c = log("two")
    if x:
        owner().d, y = log(1), log(2)
    return [str(e) for e in log.events], log.a, log.c


@case(0, 1, 2, 5)
def chained_compare_once(x):
    log = Log()
    r = log(0) < log(x) <= log(2) != log(7)
    return r, log.events


@case(0, 1, 2, 5)
def boolean_laziness(x):
    log = Log()
    r = log(x) and log(x - 1) and log(x - 2) or log("last")
    s = not (log(0) or log(x))
    t = log(1) if x else log(2)
    return r, s, t, log.events


@case(0, 1, 2)
def boolean_values(x):
    return x and [], x or {}, not x, (x or None) and "v", x in (0, 1) and x is not None


@case([1, 2, 3], [])
def guards_errors(xs):
    return len(xs) > 0 and xs[0] > 0, xs[0] if xs else None


@case(0, 1)
def compare_identity(x):
    a = b = []
    return a is b is not None, 1 in [1] in [[1]], x == 0 == False, 3 > x not in (0, 5)


@case(2)
def fstrings(x):
    if x > 1:
        name = f"{x!r:>{x + 3}}|{'yes' if x else 'no'}|{0 < x < 3}"
    else:
        name = ""
    return name + f"{x=}"


@case(3)
def print_calls(x):
    print("x is", x, sep="-")
    if x > 2:
        print(f"big {x}", end="!\n")
    return x


@case(3.7)
def casts(x):
    return int(x), float(int(x)), str(x), bool(x), len([x]), round(x), abs(-x), max(x, 1), sum([x])


class Shaped:
    shape = (2, 3)


@case(1)
def shapes(x):
    s = Shaped()
    n = 0
    for d in s.shape:
        n += d
    if s.shape[0] == 2:
        n *= 2
    return n, len(s.shape)


@case(1)
def augmented_list_identity(x):
    xs = [1]
    ys = xs
    if x:
        xs += [2]
    b = Base()
    alias = b.items
    b.items += [3]
    return xs, ys, xs is ys, alias is b.items


@case(1)
def multiple_targets(x):
    a = b = c = [x]
    if x:
        (d, *e), f = [1, 2, 3], a
    return a is b is c, d, e, f


@case(1)
def unpack_into_attributes(x):
    b = Base()
    b.p, (b.q, *b.r), b.items[0] = 1, (2, 3, 4), 5
    if x:
        [b.p, b.q] = b.q, b.p
    return b.p, b.q, b.r, b.items


@case(1)
def delete_things(x):
    b = Base()
    d = {1: 1, 2: 2}
    if x:
        del b.h, d[1]
        (del_me, keep) = 1, 2
        del (del_me)
    return hasattr(b, "h"), d, keep


@case(1)
def slices(x):
    xs = list(range(10))
    xs[::2] = [0] * 5
    xs[x:3], ys = [7, 7], xs[x:]
    if x:
        del xs[5:]
        xs[-1:] += [1, 2]
    return xs, ys


@case(1)
def matrix_power_ops(x):
    x **= 3
    x <<= 2
    x |= 1
    x ^= 8
    x &= 15
    x >>= 1
    x //= 2
    x %= 5
    b = Base(8)
    b.h //= 3
    b.h **= 2
    return x, b.h


@case(1)
def raise_in_method(x):
    class Thing:
        def go(self):
            if x:
                raise LookupError("gone")

    return Thing().go()


@case(1)
def global_container(x):
    REGISTRY["k"] = x
    REGISTRY["k"] += 1
    return dict(REGISTRY)


REGISTRY = {}


@case(1)
def conditional_method(x):
    d = {"a": [1]}
    (d["a"] if x else []).append(2)
    d.setdefault("b", []).append(3)
    return d


@case(1)
def star_expressions(x):
    xs = [1, 2]
    if x:
        ys = [*xs, *(3 if i else 4 for i in xs), *[i for i in xs if i > 1 or i < 0]]
        d = {**{"a": 1}, "b": 2}
    return ys, d, max(*xs, 0)


@case(1)
def long_conditions(x):
    return (x > 0 and x < 5 or x == 9) and not (x == 3 or x == 4), (not not x), 1 < x + 1 < 3 < 4


@case(4)
def kwargs_only(x):
    def g(*, a, b=1):
        return a - b if a > b else b - a

    return g(a=x), g(b=x, a=1)


@case((3, 4))
def pow_iter(a, b):
    result = 1
    while b:
        if b & 1:
            result *= a
        a *= a
        b >>= 1
    return result


@case("a1b22", "")
def tokenizer(text):
    out = []
    i = 0
    while i < len(text):
        c = text[i]
        if c.isdigit():
            j = i
            while j < len(text) and text[j].isdigit():
                j += 1
            out.append(int(text[i:j]))
            i = j
            continue
        if c == "!":
            raise ValueError(c)
        out.append(c)
        i += 1
    return out


@case([5, 2, 8, 1, 9], [])
def quicksort(xs):
    if len(xs) <= 1:
        return xs
    pivot, *rest = xs
    left = [x for x in rest if x < pivot]
    right = [x for x in rest if not x < pivot]
    return quicksort(left) + [pivot] + quicksort(right)


@case(([1, 3, 5, 7], 5), ([1, 3], 2), ([], 1))
def binary_search(xs, x):
    lo, hi = 0, len(xs)
    while lo < hi:
        mid = (lo + hi) // 2
        if xs[mid] == x:
            return mid
        elif xs[mid] < x:
            lo = mid + 1
        else:
            hi = mid
    return -1


@case((["a", "b"], {"a": 1}))
def dict_default(keys, d):
    out = {}
    for k in keys:
        if k not in d:
            out[k] = None
            continue
        out[k] = d[k]
    return out
