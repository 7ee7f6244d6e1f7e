"""Objects as state: of loops, stacks, linked nodes, closures; what their classes do where a tensor decides."""

import vitrify as paddle

from .made_objects import Circle, Point, Square

P, N, Z = [1.0, 2.0, 3.0], [-1.0, -2.0, 0.5], [0.0, 0.0, 0.0]


def getattr_default(x):
    class B:
        pass

    b = B()
    if x.sum() > 0:
        b.v = x * 2
    return getattr(b, "v", x) + getattr(b, "w", 1)


def node_cycle(x):
    class Node:
        def __init__(self, v, parent=None):
            self.v = v
            self.parent = parent
            self.kids = []
            if parent is not None:
                parent.kids.append(self)

    r = Node(x)
    c = Node(x * 2, r)
    if x.sum() > 0:
        c.v = c.v + r.v
    while r.v.sum() < 20:
        r.v = r.v + 1
        c.v = c.v * 1.1
    return c.parent.v + r.kids[0].v


def linked_list(x):
    class Link:
        def __init__(self, v, nxt):
            self.v = v
            self.nxt = nxt

    head = None
    for i in range(3):
        head = Link(x + i, head)
    t = 0
    while head is not None:
        if head.v.sum() > 0:
            t = t + head.v
        head = head.nxt
    return t


def linked_branch(x):
    class Link:
        def __init__(self, v, nxt):
            self.v = v
            self.nxt = nxt

    head = Link(x, None)
    if x.sum() > 0:
        head = Link(x * 2, head)
    t = 0
    while head is not None:
        t = t + head.v
        head = head.nxt
    return t


def stack_cls(x):
    class Stack:
        def __init__(self):
            self.items = []

        def push(self, v):
            self.items.append(v)

        def pop(self):
            return self.items.pop()

        def __len__(self):
            return len(self.items)

    s = Stack()
    s.push(x)
    if x.sum() > 0:
        s.push(x * 2)
    else:
        s.push(x * 3)
        s.push(x)
    t = 0
    while len(s):
        t = t + s.pop()
    return t


def state_loop(x):
    class S:
        def __init__(self, h, n):
            self.h = h
            self.n = n

        def step(self):
            return S(self.h * 1.5 + 1, self.n + 1)

    s = S(x, 0)
    while s.h.sum() < 50:
        s = s.step()
    return s.h, s.n


def state_inplace(x):
    class S:
        def __init__(self, h):
            self.h = h
            self.log = []

        def step(self):
            self.h = self.h * 1.5 + 1
            if self.h.max() > 5:
                self.log.append(self.h)

    s = S(x)
    while s.h.sum() < 50:
        s.step()
    t = s.h
    for h in s.log:
        t = t + h
    return t


def nested_obj_loop(x):
    p = Point(Point(x, x), x)
    while p.y.sum() < 30:
        p = Point(Point(p.x.y, p.x.x + 1), p.y + p.x.x.abs() + 1)
    return p.x.total + p.y


def obj_identity(x):
    p = Point(x, x)
    q = Point(x, x)
    r = p if x.sum() > 0 else q
    return x * 2 if r is p else x * 3


def obj_eq(x):
    class E:
        def __init__(self, v):
            self.v = v

        def __eq__(self, o):
            return bool((self.v == o.v).all())

        __hash__ = None

    a = E(x)
    b = E(x) if x.sum() > 0 else E(x + 1)
    return x if a == b else -x


def obj_setdefault(x):
    d = {"a": Point(x, x)}
    p = d.get("a") if x.sum() > 0 else d.setdefault("b", Point(x * 2, x))
    return p.total, len(d) if False else 0


def ret_list_obj(x):
    ps = [Point(x, x)]
    if x.sum() > 0:
        ps[0] = Point(x * 2, x)
    return ps


def obj_in_args(x):
    def use(p, *a, **k):
        return p.total + a[0].x + k["z"].y

    p = Point(x, x * 2) if x.sum() > 0 else Point(x, x)
    return use(p, p, z=p)


def closure_obj(x):
    p = Point(x, x)

    def upd():
        nonlocal p
        if p.x.sum() > 0:
            p = Point(p.x * 2, p.y)

    upd()
    upd()
    return p.norm()


def three_way(x):
    if x.sum() > 5:
        p = Point(x, x)
    elif x.sum() > 0:
        p = Circle(x)
    else:
        p = Square(x)
    if isinstance(p, Point):
        return p.total
    return p.area()


def obj_while_none(x):
    best = None
    for i in range(4):
        c = Point(x * i, x)
        if best is None or c.norm() > best.norm():
            best = c
    return best.x


def obj_pred_loop(x):
    best = None
    i = 0
    while x.sum() < 20:
        c = Point(x, x + i)
        if best is None or c.norm() > best.norm():
            best = c
        x = x + 2.5
        i += 1
    return x if best is None else best.total


def accum(x):
    class Meter:
        def __init__(self):
            self.sum = 0
            self.n = 0

        def update(self, v):
            self.sum = self.sum + v
            self.n += 1

        @property
        def avg(self):
            return self.sum / max(self.n, 1)

    m = Meter()
    for v in x:
        if v > 0:
            m.update(v)
    return m.avg * x


def builder_pattern(x):
    class B:
        def __init__(self, v):
            self.v = v

        def add(self, k):
            if self.v.sum() > k:
                return B(self.v + k)
            return self

        def mul(self, k):
            return B(self.v * k)

    return B(x).add(1).mul(2).add(3).v


def class_attr(x):
    class C:
        scale = 2

        def __init__(self, v):
            self.v = v

        @classmethod
        def make(cls, v):
            return cls(v * cls.scale) if v.sum() > 0 else cls(v)

        @staticmethod
        def f(v):
            return v + 1

    return C.make(x).v + C.f(x)


def copy_obj(x):
    import copy

    p = Point(x, x * 2)
    q = copy.copy(p)
    if x.sum() > 0:
        q.x = q.x * 3
    return p.x + q.x


def obj_no_grad(x):
    p = Point(x, x) if x.sum() > 0 else Point(x * 2, x)
    with paddle.no_grad():
        p.x = p.x * 2
    return p.total


def inherit(x):
    class A:
        def __init__(self, v):
            self.v = v

    class B(A):
        def __init__(self, v, w):
            super().__init__(v)
            self.w = w

    o = B(x, x * 2) if x.sum() > 0 else B(x * 2, x)
    return o.v * o.w


def diff_attrs(x):
    class A:
        def __init__(self, v, flag):
            self.v = v
            if flag:
                self.extra = v * 2

    o = A(x, True) if x.sum() > 0 else A(x, False)
    return o.extra if hasattr(o, "extra") else o.v


def dunder_iadd(x):
    class A:
        def __init__(self, v):
            self.v = v

        def __iadd__(self, o):
            self.v = self.v + o
            return self

        def __bool__(self):
            return bool(self.v.sum() > 0)

    a = A(x)
    if a:
        a += 1
    while a.v.sum() < 10:
        a += 2
    return a.v


def ctx_cls(x):
    class C:
        def __init__(self):
            self.log = 0

        def __enter__(self):
            self.log += 1
            return self

        def __exit__(self, *e):
            self.log += 10

    c = C()
    if x.sum() > 0:
        with c as d:
            x = x * d.log
    return x + c.log


class Fields(dict):
    """Attributes that are items, as in many configurations."""

    __getattr__ = dict.__getitem__
    __setattr__ = dict.__setitem__
    __delattr__ = dict.__delitem__


def attr_dict(x):
    fields = Fields(u=x)
    fields.v = fields.u * 2
    fields.w = 3
    if x.sum() > 0:
        fields.v = fields.u
    del fields.w
    return fields.v, len(fields)


def own_setattr(x):
    class Stored:
        def __init__(self, held):
            self.__dict__["held"] = held

        def __getattr__(self, name):
            try:
                return self.__dict__["held"][name]
            except KeyError:
                raise AttributeError(name) from None

        def __setattr__(self, name, value):
            self.held[name] = value

    stored = Stored({"u": x})
    if x.sum() > 0:
        stored.v = stored.u * 2
    else:
        stored.v = x
    return stored.v + stored.u, hasattr(stored, "w")


def dict_of_an_instance(x):
    class Bag:
        def __init__(self, **fields):
            self.__dict__.update(fields)

    bag = Bag(u=x, k=2)
    bag.__dict__["k"] = 3
    vars(bag)["m"] = 4
    if x.sum() > 0:
        bag.__dict__["k"] = 5
    bag.m += 1
    return bag.u * bag.k * bag.m, vars(bag)


def namespace(x):
    from types import SimpleNamespace

    state = SimpleNamespace(a=1, h=x)
    state.a += 1
    if x.sum() > 0:
        state.a += 1
    return state.h * state.a


NET = paddle.nn.Sequential(paddle.nn.Linear(3, 3), paddle.nn.Dropout(0.5))


class Frozen(paddle.nn.Layer):
    """A Layer whose dropout never trains."""

    def __init__(self):
        super().__init__()
        self.drop = paddle.nn.Dropout(0.5)
        self.asked = 0

    def train(self, mode=True):
        super().train(mode)
        self.drop.eval()
        self.asked += 1
        return self

    def forward(self, x):
        return self.drop(x) * (2 if self.training else 3)


FROZEN = Frozen()


def switched_to_evaluation(x):
    before = NET.training, NET[1].training
    y = NET.eval()(x)
    during = NET.training, NET[1].training
    NET.train()
    return y, before, during, NET.training, NET[1].training


def own_train(x):
    FROZEN.train()
    y = FROZEN(x)
    FROZEN.eval()
    return y, FROZEN(x), FROZEN.training, FROZEN.drop.training


CASES = [(f, ((P,), (N,), (Z,))) for f in (
    attr_dict, own_setattr, dict_of_an_instance, namespace, switched_to_evaluation, own_train, getattr_default,
    node_cycle, linked_list, linked_branch, stack_cls, state_loop, state_inplace, nested_obj_loop, obj_identity,
    obj_eq, obj_setdefault, ret_list_obj, obj_in_args, closure_obj, three_way, obj_while_none, obj_pred_loop, accum,
    builder_pattern, class_attr, copy_obj, obj_no_grad, inherit, diff_attrs, dunder_iadd, ctx_cls,
)]  # fmt: skip
