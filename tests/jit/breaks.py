"""Functions that must be split: Python needs the value of a tensor in the middle of them."""

# ruff: noqa: B008, PLW0603

from __future__ import annotations

import contextlib
import functools
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

import vitrify as paddle
from tests.end_to_end.differential import Fresh

X = [1.0, 2.0, 3.0]
N = [-1.0, -2.0, -3.0]
B = [5.0, 6.0, 7.0]
XS = [(X,), (N,), (B,)]


def value(x):
    """A break, wherever it is called."""
    return float(x.numpy().sum())


# -- where a break may stand -----------------------------------------------------------------


def nested_loops(x):
    total = x * 0
    for i in range(3):
        row = x + i
        for j in range(2):
            cell = row * (j + 1)
            if value(cell) > 20:
                break
            total = total + cell
        else:
            total = total * 2
            continue
        total = total - 1
    return total * 3


def while_in_for(x):
    count = 0
    for i in range(3):
        y = x * (i + 1)
        while value(y) > 4:
            y = y / 2
            count += 1
        x = x + y
    return x * 2, count


def while_else(x):
    n = 0
    while value(x) < 30 and n < 4:
        x = x * 2
        n += 1
        if value(x) < -20:
            break
    else:
        x = x + 100
    return x - 1


def with_in_loop(x):
    out = []
    for i in range(3):
        with paddle.no_grad():
            y = x * i + 1
            k = value(y)
            z = y * k
        out.append(z + x)
    return out


def try_in_loop(x):
    for i in range(3):
        y = x * i
        try:
            if value(y) > 10:
                raise ValueError(i)
            y = y + 1
        except ValueError as err:
            y = y - err.args[0]
        else:
            y = y * 2
        finally:
            x = x + y
    return x * 2


def in_match(x):
    y = x * 2
    match int(value(y)):
        case 12:
            z = y + 1
            w = z * value(z)
        case n if n < 0:
            w = y * n
        case _:
            w = y - 1
    return w * 2


def in_expression(x):
    y = (x * 2 + 1) * value(x - 1) + (x - 3) * 2
    return y * y


def in_subscript(x):
    names = {True: x + 1, False: x - 1}
    y = names[value(x) > 0] * 2
    return y + 3


def in_ternary(x):
    y = x * 2
    z = y + 1 if value(y) > 0 else y - 1
    return z * 2


def in_logic(x):
    y = x * 2
    ok = (value(y) > 0 and value(y + 1) < 20) or value(y) < -100
    return y * 2 if ok else y * 3


def in_chain(x):
    y = x * 2
    if 0 < value(y) < 20:
        y = y + 1
    return y * 2


def in_walrus(x):
    y = x * 2
    if (v := value(y)) > 0:
        y = y * v
    return y + v


def in_comprehension(x):
    y = x * 2
    scales = [value(row) for row in y]
    z = y * scales[0]
    return [z * s for s in scales]


def in_generator_expression(x):
    y = x * 2
    s = sum(value(row) for row in y)
    z = y * s
    return z + 1


def in_lambda(x):
    y = x * 2
    scale = lambda t: t * value(t)  # noqa: E731
    z = scale(y)
    w = z + 1
    return scale(w) * 2


def in_arguments(x):
    y = x * 2
    z = paddle.full([3], value(y)) * y
    return z + paddle.full(shape=[3], fill_value=value(z))


def in_fstring(x):
    y = x * 2
    print(f"got {value(y):.2f}")
    z = y + 1
    print(f"and {value(z):.2f}", end="!\n")
    return z


def in_assert(x):
    y = x * 2
    assert value(y) > 0, f"no: {value(y)}"
    return y + 1


def in_raise(x):
    y = x * 2
    if value(y) < 0:
        raise ValueError(f"negative: {value(y)}")
    return y + 1


def in_delete(x):
    held = {"a": x * 2, "b": x * 3}
    k = "a" if value(x) > 0 else "b"
    del held[k]
    (left,) = held.values()
    return left * 2


def in_default(x):
    def inner(t, scale=value(x)):
        return t * scale

    y = inner(x) + 1
    return inner(y)


# -- called helpers -----------------------------------------------------------------


def level_3(x):
    y = x * 2
    if value(y) > 0:
        y = y + 1
    return y * 2


def level_2(x):
    y = level_3(x + 1)
    return y * 3


def level_1(x, times=2):
    for _ in range(times):
        x = level_2(x) * 0.1
    return x + 1


def deep(x):
    y = x * 2
    z = level_1(y)
    return z * y


def recursive(x, n=3):
    y = x * 2
    if n == 0 or value(y) > 50:
        return y
    return recursive(y + 1, n - 1) * 2


def helper_star(x, *rest, scale=1.0, **named):
    y = x * scale
    k = value(y)
    for r in rest:
        y = y + r * k
    for name in sorted(named):
        y = y * named[name]
    return y * 2


def star_call(x):
    args = [1.0, x * 2]
    named = {"scale": 3.0, "b": x, "a": 2.0}
    y = helper_star(x, *args, **named)
    return y + 1


def decorate(f):
    @functools.wraps(f)
    def wrapper(x, *args, **kwargs):
        y = f(x * 2, *args, **kwargs)
        k = value(y)
        return y * k

    return wrapper


@decorate
def decorated(x, add=1):
    y = x + add
    print(value(y))
    return y * 2


def calls_decorated(x):
    y = decorated(x) + 1
    return decorated(y, add=2) * 2


def scaled_by(k):
    def scale(x):
        y = x * k
        if value(y) > 0:
            y = y + k
        return y * 2

    return scale


closure = scaled_by(3)


def higher(f, x):
    y = x * 2
    z = f(y)
    return z + 1


def calls_higher(x):
    y = higher(level_3, x + 1)
    return higher(lambda t: t * value(t), y) * 2


def produce(x):
    for i in range(3):
        y = x * i
        if value(y) > 8:
            return
        yield y + 1


def consumes(x):
    total = x * 0
    for y in produce(x + 1):
        total = total + y * 2
    return total * 2


def is_generator(x):
    y = x * 2
    yield y
    k = value(y)
    z = y * k
    yield z + 1


def takes_list(x):
    return [t * 2 for t in is_generator(x)]


# -- objects -----------------------------------------------------------------


class Scale:
    """A class that looks at values in its methods."""

    count = 0

    def __init__(self, k):
        self.k = k
        self.__seen = []

    @property
    def factor(self):
        k = self.k * 2
        return k * value(k)

    @factor.setter
    def factor(self, k):
        self.k = k * 0.5
        self.__seen.append(value(k))

    def __call__(self, x):
        y = x * self.k
        self.__seen.append(value(y))
        z = y + len(self.__seen)
        return z * 2

    @classmethod
    def make(cls, x):
        k = x * 2
        cls.last = value(k)
        return cls(k + 1)

    @staticmethod
    def double(x):
        y = x * 2
        print("double", value(y))
        return y + y

    def __add__(self, other):
        y = other + 1
        return y * value(y)


class Twice(Scale):
    """It goes through super()."""

    def __init__(self, k):
        k = k + 1
        print(value(k))
        super().__init__(k)

    def __call__(self, x):
        y = super().__call__(x) + 1
        if value(y) > 0:
            y = super().__call__(y)
        return y * 2


def uses_property(x):
    s = Scale(x)
    y = s.factor * x
    s.factor = y
    return s.factor + s.k


def uses_call(x):
    s = Scale(x * 2)
    y = s(x) + 1
    return s(y)


def uses_class_methods(x):
    s = Scale.make(x)
    y = Scale.double(s.k)
    return y * Scale.last, s + y


def uses_super(x):
    t = Twice(x * 2)
    y = t(x)
    return y * 3


@dataclass
class State:
    """A mutable argument."""

    h: Any
    steps: int = 0
    log: list = field(default_factory=list)

    def step(self, x):
        self.h = self.h + x
        self.steps += 1
        self.log.append(value(self.h))
        self.h = self.h * 2
        return self.h - 1


def changes_object(state, x):
    y = state.step(x * 2)
    state.h = state.h + y
    if value(state.h) > 10:
        state.steps = 100
        state.h = state.h * 0.5
    state.log.append(y + 1)
    return state.h * 2


class Pair(NamedTuple):
    """A tuple of two."""

    a: Any
    b: Any


def named_tuples(x):
    p = Pair(x * 2, x + 1)
    k = value(p.a)
    p = p._replace(b=p.b * k)
    a, b = p
    return Pair(a + b, p.b * 2)


# -- changes -----------------------------------------------------------------

TOTAL = 0
SEEN: list = []


def writes_global(x):
    global TOTAL
    y = x * 2
    TOTAL = TOTAL + 1
    k = value(y)
    TOTAL = TOTAL + k
    y = y * 2
    TOTAL = 0
    return y + k


def writes_nonlocal(x):
    n = 0
    held = x

    def add(t):
        nonlocal n, held
        n += 1
        held = held + t
        k = value(held)
        held = held * 2
        return k

    y = x * 2
    a = add(y)
    z = y + held
    b = add(z)
    return held * 2, a, b, n


def changes_list(x, out):
    y = x * 2
    out.append(y)
    out.append(value(y))
    y = y + 1
    out[0] = y
    out.append(out[0] * 2)
    k = value(out[-1])
    out.insert(0, y * k)
    return len(out)


def changes_dict(d, x):
    d["a"] = d["a"] + x
    k = value(d["a"])
    d["b"] = d["a"] * k
    del d["a"]
    for name in list(d):
        d[name] = d[name] + 1
        d[name + "2"] = value(d[name])
    return d["b"] * 2


def in_place(x):
    y = x * 2
    y.add_(x)
    k = value(y)
    y[0] = k
    z = y * 2
    y[1:] = z[1:]
    k = value(y)
    y.scale_(2.0)
    return y + k, z


def in_place_argument(x):
    with paddle.no_grad():
        x[0] = 5.0
        k = value(x)
        x.add_(paddle.full([3], k))
    return x * 2


def in_place_of_argument_read_later(x, y):
    y[0] = 7.0
    k = value(y)
    z = x * y
    y[1] = k
    z = z + y
    print(y.numpy())
    y[2] = 0.0
    return z * y


def views(x):
    y = x * 1
    v = y[1:]
    k = value(v)
    v.add_(paddle.full([2], k))
    z = y * 2
    k = value(y)
    y[1] = 0.0
    return v + k, z, y


def aliases(x):
    a = x * 2
    b = a
    held = [a]
    k = value(a)
    b.add_(x)
    held[0][0] = k
    return a is b, a * 2, held[0] + b


def list_aliases(x):
    a = [x * 2]
    b = a
    k = value(a[0])
    b.append(x * k)
    c = a + b
    print(len(c), value(c[1]))
    a.append(1)
    return b, a is b, len(c)


def augmented(x):
    d = {"k": x * 2, "n": 1}
    xs = [x, 1]
    d["k"] += x
    d["n"] += value(d["k"])
    xs[0] *= 2
    xs[1] -= value(xs[0])
    xs += [d["k"]]
    return d, xs


def unpacking(x):
    first, *rest = [x * i for i in range(1, 4)]
    k = value(first)
    (a, [b, *c]), d = (rest[0], [rest[1], k, first * k]), k
    e = f = a + b * value(b)
    return e, f * 2, c, d


def deletes(x):
    y = x * 2
    k = value(y)
    z = y * k
    del y
    w = z + 1
    print(value(w))
    try:
        return y + w
    except NameError:
        return w * 2


def unset_on_one_path(x):
    y = x * 2
    if value(y) > 0:
        z = y + 1
    w = y * 3
    return w + z


# -- returns and errors -----------------------------------------------------------------


def early_returns(x, n):
    y = x * 2
    if n == 0:
        return y
    k = value(y)
    if k < 0:
        return y * k
    for i in range(3):
        y = y + i
        if value(y) > 20:
            return y - 1
        if n == 2:
            return y - 2
    while True:
        y = y * 2
        if value(y) > 40:
            return y + 1


def return_from_with(x):
    with paddle.no_grad():
        y = x * 2
        if value(y) > 0:
            return y + 1
        z = y - 1
    return z * x


def return_from_try(x):
    try:
        y = x * 2
        if value(y) > 0:
            return y + 1
        y = y / 2
        return y * value(y)
    finally:
        print("done")


def error_in_segment(x, y):
    k = value(x)
    z = x + 1
    z = z + y
    return z * k


def error_caught(x, y):
    k = value(x)
    try:
        z = x * 2
        z = z + y
        z = z * value(z)
    except ValueError:
        z = x - 1
    return z * k


def error_caught_outside(x, y):
    z = x * 2
    k = value(z)
    try:
        z = error_in_segment(z, y)
    except ValueError:
        z = z - k
    w = z + 1
    return w * 2


def state_when_error(x, out):
    y = x * 2
    out.append(y)
    k = value(y)
    out.append(y + 1)
    if k < 0:
        raise KeyError("negative")
    z = y * 2
    out.append(z)
    return z


@contextlib.contextmanager
def scope(name, x):
    print("in", name, value(x))
    try:
        yield x * 2
    finally:
        print("out", name)


def own_context(x):
    with scope("a", x) as y, scope("b", y) as z:
        w = y + z
        k = value(w)
        w = w * k
    return w + 1


def exception_through_context(x):
    y = x * 2
    try:
        with scope("a", y) as z:
            w = z + 1
            if value(w) > 0:
                raise ValueError("in scope")
            y = w * 2
    except ValueError as err:
        print(err)
        y = y - 1
    return y * 2


def suppressed(x):
    y = x * 2
    with contextlib.suppress(ZeroDivisionError):
        y = y + 1
        y = y + 1 // int(value(y) > 100)
        y = y * 100
    return y * 2


class Swallowing:
    """Takes what is raised in its block for dealt with, where the tensor's value says so."""

    def __init__(self, x):
        self.x = x

    def __enter__(self):
        return self.x

    def __exit__(self, *error):
        return value(self.x) > 0


def refuse_positive(x):
    if x.sum() > 0:
        raise ValueError("positive")


def swallowed_midway(x):
    y = x
    with Swallowing(x):
        y = x * 2
        if x.sum() > 0:
            raise ValueError("positive")
        y = x * 3
    return y + 1


def swallowed_in_a_call_and_loop(x):
    y = z = x
    with Swallowing(x), paddle.no_grad():
        for _ in range(2):
            y = y * 2
            refuse_positive(y)
        z = y + 1
    return y, z


# -- tensors -----------------------------------------------------------------


def round_trip(x):
    y = x * 2
    a = y.numpy()
    b = np.sort(a)[::-1].copy()
    z = paddle.to_tensor(b) * y
    c = np.cumsum(z.numpy())
    return z + paddle.to_tensor(c.astype("float32"))


def prints_tensors(x):
    y = x * 2
    print(y)
    z = y + 1
    print("z", z, value(z))
    w = z * 2
    print(w)
    return w


def random_numbers(x):
    paddle.seed(7)
    a = paddle.rand([3]) * x
    k = value(a)
    b = paddle.randn([3]) * k
    paddle.seed(int(abs(k)))
    c = paddle.nn.functional.dropout(b + x, 0.5)
    print(value(c))
    return c + paddle.rand([3])


def mixed_precision(x):
    y = x * 2
    m = paddle.reshape(y, [1, 3])
    with paddle.amp.auto_cast(dtype="bfloat16"):
        z = paddle.matmul(m, m, transpose_y=True)
        k = value(z.astype("float32"))
        w = paddle.matmul(m * k, m, transpose_y=True)
    return z, w


def gradient_inside(x):
    y = (x * x).sum()
    (g,) = paddle.grad(y, [x], create_graph=True)
    k = value(g)
    z = g * x + k
    return z


def backward_inside(x):
    y = (x * x).sum()
    y.backward()
    g = x.grad
    print(g.numpy())
    z = x.detach() * g
    x.clear_gradient()
    return z * 2


class Cube(paddle.autograd.PyLayer):
    """x ** 3 with a gradient of its own."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        y = x * x * x
        print("cube", value(y))
        return y

    @staticmethod
    def backward(ctx, dy):
        (x,) = ctx.saved_tensor()
        return dy * x * x * 3 * 2


def py_layer(x):
    y = x * 2
    z = Cube.apply(y)
    w = z * value(z)
    return Cube.apply(w * 0.001)


def by_size(x):
    y = x * 2
    k = value(y) / x.shape[0]
    z = y - k
    return z * z.shape[0]


def no_gradient_between(x):
    y = x * 2
    k = value(y)
    d = y.detach() * k
    d.stop_gradient = False
    e = d * 2 + y
    print(value(e))
    return e * 2


def sometimes(x, looks):
    y = x * 2
    if looks:
        print(value(y))
        y = y + 1
    z = y * 3
    return z + 1


def by_type(x, other):
    y = x * 2
    if isinstance(other, float):
        y = y * other
    elif isinstance(other, list):
        y = y * value(other[0])
    else:
        y = y + other
    return y + 1


def keyword_only(x, /, y=2.0, *more, scale, **named):
    z = x * y
    k = value(z) * scale
    for m in more:
        z = z + m * k
    return z, sorted(named)


def calls_keyword_only(x):
    a, names = keyword_only(x, scale=2.0, b=1, a=x)
    b, _ = keyword_only(a, a, x, 1.0, scale=value(a))
    return a + b, names


def detached(values):
    """A tensor without gradient, made anew for each call: it may be changed in place."""
    return Fresh(lambda: paddle.to_tensor(values, dtype="float32"))


CASES: list[Any] = [
    (f, XS)
    for f in [
        nested_loops, while_in_for, while_else, with_in_loop, try_in_loop, in_match, in_expression, in_subscript,
        in_ternary, in_logic, in_chain, in_walrus, in_comprehension, in_generator_expression, in_lambda, in_arguments,
        in_fstring, in_assert, in_raise, in_delete, in_default, deep, recursive, star_call, calls_decorated, decorated,
        closure, calls_higher, consumes, takes_list, uses_property, uses_call, uses_class_methods, uses_super,
        named_tuples, writes_global, writes_nonlocal, in_place, in_place_argument, views, aliases, list_aliases,
        augmented, unpacking, deletes, unset_on_one_path, return_from_with, return_from_try, own_context,
        exception_through_context, suppressed, swallowed_midway, swallowed_in_a_call_and_loop, round_trip,
        prints_tensors, random_numbers, mixed_precision, gradient_inside, backward_inside, py_layer,
        no_gradient_between, Scale.double,
    ]
]  # fmt: skip
CASES += [
    (by_size, [*XS, ([1.0, 2.0],), ([1.0],)]),
    (changes_object, [(State(paddle.ones([3])), X), (State(paddle.zeros([3]), 3), N)]),
    (changes_list, [(X, []), (N, [None]), (B, ["a", 1])]),
    (changes_dict, [({"a": X}, X), ({"a": X, "c": N}, B)]),
    (in_place_of_argument_read_later, [(X, detached(B)), (N, detached(X))]),
    (early_returns, [(X, 0), (X, 1), (N, 1), (B, 1), (X, 2), (N, 0)]),
    (error_in_segment, [(X, N), (X, [1.0, 2.0]), (N, X)]),
    (error_caught, [(X, N), (X, [1.0, 2.0]), (N, X)]),
    (error_caught_outside, [(X, N), (X, [1.0, 2.0]), (N, X)]),
    (state_when_error, [(X, []), (N, []), (B, [1])]),
    (sometimes, [(X, False), (X, True), (N, False), (N, True)]),
    (by_type, [(X, 2.0), (X, [B]), (N, B), (N, 3.0), (N, [X])]),
    (calls_keyword_only, [(X,), (N,)]),
]
