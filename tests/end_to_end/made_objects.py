"""Objects of the user's classes made on paths that a tensor decides: read, called, changed, kept in lists."""

from dataclasses import dataclass

P, N, Z = [1.0, 2.0, 3.0], [-1.0, -2.0, 0.5], [0.0, 0.0, 0.0]


@dataclass
class D:
    a: object
    b: object = 1


class Point:
    def __init__(self, x, y):
        self.x = x
        self.y = y

    def norm(self):
        return (self.x * self.x + self.y * self.y).sum()

    @property
    def total(self):
        return self.x + self.y

    def scaled(self, k):
        return Point(self.x * k, self.y * k)

    def __add__(self, o):
        return Point(self.x + o.x, self.y + o.y)

    def __mul__(self, k):
        return Point(self.x * k, self.y * k)

    __rmul__ = __mul__

    def __neg__(self):
        return Point(-self.x, -self.y)

    def __len__(self):
        return 2

    def __getitem__(self, i):
        return self.x if i == 0 else self.y

    def __call__(self, k):
        return self.x * k + self.y

    def __iter__(self):
        yield self.x
        yield self.y


class Circle:
    def __init__(self, r):
        self.r = r

    def area(self):
        return self.r * 3


class Square:
    def __init__(self, s):
        self.s = s

    def area(self):
        return self.s * self.s


class SlotP:
    __slots__ = ("x",)

    def __init__(self, x):
        self.x = x


def obj_both(x):
    if x.sum() > 0:
        p = Point(x, x * 2)
    else:
        p = Point(x * 3, x)
    return p.x + p.y


def obj_ifexp(x):
    p = Point(x, x * 2) if x.sum() > 0 else Point(x * 3, x)
    return p.x * p.y


def obj_method(x):
    p = Point(x, x * 2) if x.sum() > 0 else Point(x * 3, x)
    return p.norm()


def obj_prop(x):
    p = Point(x, x * 2) if x.sum() > 0 else Point(x * 3, x)
    return p.total


def obj_mutate(x):
    p = Point(x, x * 2) if x.sum() > 0 else Point(x * 3, x)
    p.x = p.x * 2
    return p.norm()


def obj_mutate_branch(x):
    p = Point(x, x * 2) if x.sum() > 0 else Point(x * 3, x)
    if x.max() > 1:
        p.x = p.x * 2
    return p.norm()


def obj_return(x):
    return Point(x, x * 2) if x.sum() > 0 else Point(x * 3, x)


def obj_dataclass(x):
    d = D(x) if x.sum() > 0 else D(x * 2, b=3)
    return d.a * d.b


def obj_dc_return(x):
    d = D(x) if x.sum() > 0 else D(x * 2, b=3)
    return d


def obj_classes(x):
    s = Circle(x) if x.sum() > 0 else Square(x)
    return s.area()


def obj_isinstance(x):
    s = Circle(x) if x.sum() > 0 else Square(x)
    if isinstance(s, Circle):
        return s.r
    return s.s


def obj_existing(x):
    a = Point(x, x)
    b = Point(x * 2, x)
    p = a if x.sum() > 0 else b
    p.x = p.x + 1
    return a.x + b.x * 2


def obj_existing_read(x):
    a = Point(x, x)
    b = Point(x * 2, x)
    p = a if x.sum() > 0 else b
    return p.norm()


def obj_none(x):
    p = None
    if x.sum() > 0:
        p = Point(x, x)
    if p is not None:
        return p.norm()
    return x.sum()


def obj_loop(x):
    p = Point(x, x)
    while p.norm() < 100:
        p = p.scaled(2) + Point(p.y, p.x)
        if p.norm() < 1e-3:
            break
    return p.x


def obj_loop2(x):
    p = Point(x, x + 1)
    i = 0
    while i < 3 and p.norm() < 100:
        p = Point(p.y * 2, p.x) if p.x.sum() > 0 else Point(p.x, p.y + 1)
        i += 1
    return p.total


def obj_add(x):
    p = Point(x, x) if x.sum() > 0 else Point(x, -x)
    q = p + Point(x, x)
    return (q * 2).total + (3 * q).x - (-q).y


def obj_getitem(x):
    p = Point(x, x * 2) if x.sum() > 0 else Point(x * 3, x)
    return p[0] + p[1] * len(p)


def obj_call(x):
    p = Point(x, x * 2) if x.sum() > 0 else Point(x * 3, x)
    return p(3)


def obj_iter(x):
    p = Point(x, x * 2) if x.sum() > 0 else Point(x * 3, x)
    a, b = p
    return a - b


def obj_list_attr(x):
    class B:
        pass

    b = B()
    b.items = []
    if x.sum() > 0:
        b.items.append(x)
    b.items.append(x * 2)
    t = 0
    for i in b.items:
        t = t + i
    return t


def obj_in_list(x):
    ps = [Point(x, x), Point(x, x * 2)]
    if x.sum() > 0:
        ps.append(Point(x * 2, x))
    t = 0
    for p in ps:
        t = t + p.norm()
    return t


def obj_in_list2(x):
    ps = []
    while len(ps) < 3 and x.sum() < 50:
        ps.append(Point(x, x * 2))
        x = x + 1
    t = 0
    for p in ps:
        t = t + p.x * p.y
    return t


def obj_in_dict(x):
    d = {}
    if x.sum() > 0:
        d["p"] = Point(x, x)
    else:
        d["p"] = Point(x, -x)
    return d["p"].total


def slots_both(x):
    p = SlotP(x) if x.sum() > 0 else SlotP(x * 2)
    return p.x


def attr_kinds(x):
    class B:
        pass

    b = B()
    if x.sum() > 0:
        b.v = (x, x)
    else:
        b.v = None
    return x if b.v is None else b.v[0] + b.v[1]


def attr_kinds2(x):
    class B:
        pass

    b = B()
    b.mode = "a"
    if x.sum() > 0:
        b.mode = "b"
    if b.mode == "a":
        return x
    return x * 2


def obj_attr_num(x):
    p = Point(1, 2) if x.sum() > 0 else Point(3, 4)
    return x * p.x + p.y


def obj_missing_attr(x):
    class B:
        pass

    b = B()
    if x.sum() > 0:
        b.v = x
    if hasattr(b, "v"):
        return b.v
    return -x


def obj_nested(x):
    p = Point(Point(x, x), x) if x.sum() > 0 else Point(Point(x * 2, x), x)
    return p.x.total + p.y


def obj_same_id(x):
    p = Point(x, x)
    q = p if x.sum() > 0 else Point(x, x * 2)
    q.x = q.x * 5
    return p.x + q.x


def obj_func_return(x):
    def make(t):
        if t.sum() > 0:
            return Point(t, t)
        return Point(t, -t)

    return make(x).total + make(-x).norm()


def subclass_methods(x):
    class Base:
        def f(self, x):
            return self.g(x) + 1

        def g(self, x):
            return x

    class A(Base):
        def g(self, x):
            return x * 2

    class B(Base):
        def g(self, x):
            return super().g(x) * 3 if x.sum() > -100 else x

    m = A() if x.sum() > 0 else B()
    return m.f(x)


CASES = [(f, ((P,), (N,), (Z,))) for f in (
    obj_both, obj_ifexp, obj_method, obj_prop, obj_mutate, obj_mutate_branch, obj_return, obj_dataclass,
    obj_dc_return, obj_classes, obj_isinstance, obj_existing, obj_existing_read, obj_none, obj_loop,
    obj_loop2, obj_add, obj_getitem, obj_call, obj_iter, obj_list_attr, obj_in_list, obj_in_list2,
    obj_in_dict, slots_both, attr_kinds, attr_kinds2, obj_attr_num, obj_missing_attr, obj_nested, obj_same_id,
    obj_func_return, subclass_methods,
)]  # fmt: skip
