"""Functions that fail in many places, each as eager code does: what is shown of that is the user's code alone."""

# ruff: noqa

import functools

import vitrify as paddle
import vitrify.nn.functional as F
from vitrify.autograd import PyLayer

PROGRAMS = []


def fails(fn):
    """Keep the function."""
    PROGRAMS.append(fn)
    return fn


@fails
def shape_mismatch(x):
    def inner(v):
        if v.sum() > -100:
            return v @ paddle.ones([5, 2])
        return v

    return inner(x)


@fails
def raise_in_branch(x):
    if x.sum() > 0:
        raise ValueError(f"bad {x.sum()}")
    return x


@fails
def raise_in_loop(x):
    for v in x:
        if v < 0:
            raise KeyError("neg")
    return x


@fails
def assert_in_loop(x):
    i = 0
    while i < 3:
        assert x[i] > 0, "not positive"
        i += 1
    return x


@fails
def unset(x):
    if x.sum() > 100:
        y = 1
    return y


@fails
def unset_loop(x):
    for v in x:
        if v > 100:
            w = v
    return w


@fails
def index_out(x):
    i = paddle.to_tensor(7)
    return x[i]


@fails
def list_index(x):
    xs = []
    for v in x:
        if v > 0:
            xs.append(v)
    return xs[5]


@fails
def key_error(x):
    d = {}
    if x.sum() > 0:
        d["a"] = x
    return d["b"]


@fails
def none_attr(x):
    y = None if x.sum() > 0 else x
    return y.shape


@fails
def none_add(x):
    y = None if x.sum() > 0 else x
    return y + 1


class Hooked(paddle.nn.Layer):
    def __init__(self):
        super().__init__()
        self.l = paddle.nn.Linear(3, 2)
        self.l.register_forward_post_hook(self.hook)

    def hook(self, layer, inp, out):
        if out.sum() > -1e9:
            raise RuntimeError("hook says no")
        return out

    def forward(self, x):
        return self.l(x)


class BadPy(PyLayer):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * 2

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensor()
        return g @ paddle.ones([7, 7])


@fails
def pylayer_backward(x):
    x.stop_gradient = False
    y = BadPy.apply(x)
    y.sum().backward()
    return x.grad


class BadPy2(PyLayer):
    @staticmethod
    def forward(ctx, x):
        if x.sum() > 0:
            raise TypeError("forward no")
        return x

    @staticmethod
    def backward(ctx, g):
        return g


@fails
def pylayer_forward(x):
    return BadPy2.apply(x)


@fails
def generator(x):
    def gen(xs):
        for v in xs:
            if v < 0:
                raise LookupError("in generator")
            yield v

    t = 0
    for v in gen(x):
        t = t + v
    return t


@fails
def comprehension(x):
    def g(v):
        if v < 0:
            raise ArithmeticError("in comprehension")
        return v

    return [g(v) for v in x]


@fails
def dict_comp(x):
    return {k: 1 / 0 for k in range(3)}


@fails
def recursion(x):
    def f(n, v):
        if n < 1:
            raise OSError("bottom")
        return f(n - 1, v * 2)

    return f(3, x)


@fails
def recursion_tensor(x):
    def f(v):
        if v.sum() > 50:
            raise OSError("tensor bottom")
        return f(v * 2)

    return f(x)


@fails
def lambda_error(x):
    fs = [lambda v: v + 1, lambda v: v.nothing]
    for f in fs:
        x = f(x)
    return x


@fails
def sorted_key(x):
    return sorted([3, 1], key=lambda k: k.missing)


@fails
def map_error(x):
    return list(map(lambda v: int("z"), x))


@fails
def with_error(x):
    class CM:
        def __enter__(self):
            return self

        def __exit__(self, *a):
            raise BufferError("exit")

    with CM():
        x = x + 1
    return x


@fails
def property_error(x):
    class C:
        @property
        def p(self):
            if x.sum() > 0:
                raise EnvironmentError("prop")
            return 1

    return C().p


@fails
def operator_error(x):
    class V:
        def __add__(self, o):
            raise ZeroDivisionError("plus")

    return V() + x


@fails
def getitem_error(x):
    class V:
        def __getitem__(self, o):
            if x.sum() > 0:
                raise IndexError("item")
            return 1

    return V()[2]


@fails
def reraise(x):
    try:
        if x.sum() > 0:
            raise ValueError("first")
    except ValueError as e:
        raise RuntimeError("second") from e
    return x


@fails
def bare_reraise(x):
    try:
        for v in x:
            if v < 0:
                raise ValueError("again")
    except ValueError:
        print("seen")
        raise
    return x


@fails
def finally_error(x):
    try:
        x = x + 1
        if x.sum() > 0:
            raise ValueError("in try")
    finally:
        x = x / 0
        [][1]
    return x


@fails
def branch_types(x):
    if x.sum() > 0:
        y = open
    else:
        y = 3
    return y.thing


@fails
def reshape_bad(x):
    return x.reshape([2, 2])


@fails
def concat_bad(x):
    xs = [x, paddle.ones([2, 2])]
    return paddle.concat(xs)


@fails
def op_run_error(x):
    n = (x.sum() * 0 + 4).astype("int64")
    return paddle.reshape(x, [n])


@fails
def cholesky(x):
    m = paddle.diag(x)
    return paddle.linalg.cholesky(m) + paddle.linalg.inv(m * 0)


@fails
def wrong_call(x):
    def f(a, b):
        return a

    return f(x)


@fails
def wrong_kw(x):
    return F.relu(x, nope=1)


@fails
def unpack(x):
    a, b = x
    return a


@fails
def match_error(x):
    match x.shape:
        case [n] if n == 3:
            raise AssertionError("matched")
    return x


@fails
def name_error(x):
    for v in x:
        if v > 0:
            x = x + undefined_name
    return x


@fails
def nested_fn_error(x):
    def outer(v):
        def middle(w):
            def deep(u):
                if u.sum() > 0:
                    raise ValueError("deep")
                return u

            return deep(w)

        return middle(v)

    return outer(x)


@fails
def item_error(x):
    return x.item()


@fails
def float_decides(x):
    if float(x.sum()) > 0:
        raise ValueError("float")
    return x


@fails
def tensor_hook(x):
    x.stop_gradient = False
    y = x * 2

    def h(g):
        if g.sum() > 0:
            raise ValueError("grad hook")
        return g

    y.register_hook(h)
    y.sum().backward()
    return x.grad


@fails
def next_stop(x):
    it = iter([x])
    next(it)
    return next(it)


@fails
def set_attr_slots(x):
    class S:
        __slots__ = ("a",)

    s = S()
    if x.sum() > 0:
        s.b = 1
    return x


@fails
def partial_fn(x):
    def f(a, b):
        if b.sum() > 0:
            raise ValueError("partial")
        return a

    return functools.partial(f, 1)(x)


@fails
def decorated(x):
    def deco(f):
        @functools.wraps(f)
        def w(*a):
            return f(*a)

        return w

    @deco
    def f(a):
        if a.sum() > 0:
            raise ValueError("deco")
        return a

    return f(x)


@fails
def reduce_fn(x):
    def f(a, b):
        if b < 0:
            raise ValueError("reduce")
        return a + b

    return functools.reduce(f, x)


@fails
def host_segment(x):
    y = x + 1
    n = int(x.sum().numpy())
    if n > 0:
        z = y.reshape([7])
    return z


@fails
def in_ternary(x):
    return x.missing if x.sum() > 0 else x


@fails
def in_and(x):
    return x.sum() > 0 and (x.missing or 1)


@fails
def in_message(x):
    assert x.sum() < 0, f"{x.missing}"


@fails
def in_method(x):
    class Box:
        def __init__(self, held):
            self.held = held

        def open(self):
            while self.held.sum() < 100:
                self.held = self.held * 2
                if self.held.sum() > 50:
                    raise ValueError("in a method")
            return self.held

    return Box(x).open()


HOOKED = Hooked()


@fails
def in_hook(x):
    return HOOKED(x)
