"""Sets whose items a tensor decides: as in eager code, or refused where only Python's own view of them would do."""

import pytest

import vitrify as paddle
from tests.end_to_end.differential import compare
from vitrify.core.errors import UnsupportedError

UP, DOWN = [1.0, 2.0, 3.0], [-1.0, -2.0, -3.0]
CALLS = (UP,), (DOWN,), ([1.0, -2.0, 3.0],), ([-1.0, 4.0, -1.0],), ([0.5, 0.5, -0.6],)


def added(x):
    s = set()
    if x.sum() > 0:
        s.add(1)
    s.add(2)
    return x * len(s) if 1 in s else x - 1


def discarded(x):
    s = {1, 2}
    for i in range(3):
        if x[i] > 0:
            s.discard(i)
        else:
            s.add(i)
    return x + len(s)


def given_back(x):
    s = {0}
    if x.sum() > 0:
        s.add(1)
    return x, s


def removed(x):
    s = {"a", "b"}
    if x.sum() > 0:
        s.remove("a")
    s.remove("a")
    return x, s


def updated(x):
    s = {"a"}
    if x.sum() > 0:
        s.update(["b", "c"], {"d"})
    return x * len(s), "c" in s


def operators(x):
    a, b = {1, 2}, {2, 3}
    if x[0] > 0:
        a.add(3)
    if x[1] > 0:
        b.discard(2)
    return a | b, a & b, a - b, a ^ b, a <= b, a < b, a == b, a != b, a >= b, a.isdisjoint(b), a > {1}, {1, 2} == a


def in_place(x):
    a, b = {1, 2}, {2, 3}
    if x[0] > 0:
        a |= b
    elif x[1] > 0:
        a &= b
    else:
        a -= b
    if x[2] > 0:
        a ^= {1}
    return a, b


def popped(x):
    s = {3, 1}
    if x[0] > 0:
        s.add(2)
    if x[1] > 0:
        s.discard(1)
    n = s.pop()
    return n * x, s


def popped_empty(x):
    s = set()
    if x.sum() > 0:
        s.add(2)
    return s.pop() * x


def gone_through(x):
    s = {3, 1}
    if x.sum() > 0:
        s.add(2)
    for i in s:
        x = x * i + 1
    return x


def in_loop(x):
    s = set()
    i = 0
    while x.sum() > i:
        if 2 not in s and i > 2:
            s.add(2)
        if 1 not in s:
            s.add(1)
        else:
            s.discard(1)
        i += 1
        if i > 5:
            break
    return x * (1 in s), s, i


def argument(x, s):
    if x.sum() > 0:
        s.add(7)
    else:
        s.discard(1)
    return x * len(s)


class Holder:
    def __init__(self):
        self.seen = {1}


def attribute(x, h):
    for v in x:
        if v > 0:
            h.seen.add(5)
    return x * len(h.seen)


def nested(x):
    d = {"a": {1}}
    if x.sum() > 0:
        d["a"].add(2)
        d["b"] = {3}
    return d, [len(d["a"])]


def chosen(x):
    if x.sum() > 0:
        s = {1, 2}
    else:
        s = {2, 3, 4}
    return s, x * len(s)


def cleared(x):
    s = {1, 2}
    t = s
    if x.sum() > 0:
        s.clear()
    t.add(9)
    return s, len(t) * x


def comprehension(x):
    names = {n for n in "abc" if x.sum() > 0 or n != "a"}
    return names, x * len(names)


def truth(x):
    s = set()
    if x.sum() > 0:
        s.add(1)
    return x if s else x * 3


def isset(x):
    s = {1}
    return x * 2 if isinstance(s, set) and not isinstance(s, dict) and type(s) is set else x


def number_in(x):
    s = {1, 2}
    if x[0] > 0:
        s.add(6)
    n = 0
    while x.sum() > n:
        n += 1
    return n in s, (n, 1) in {(6, 1)}


def frozen(x):
    s = frozenset({1, 2})
    if x.sum() > 0:
        s = s | {3}
    return x * len(s), 3 in s


def tensors(x):
    y = x * 2
    s = {x, y}
    if x.sum() > 0:
        s.add(5)
    return s, x in s


def printed(x):
    s = {1}
    s.add(2)
    print(s, len(s), f"{s}")
    return x


def summed(x):
    s = {1}
    if x.sum() > 0:
        s.add(2)
    return sum(s) * x, max(s), min(s), any(v > 1 for v in s), list(s), sorted(s, reverse=True)


def star(x):
    xs = [1, 2, 2]
    return {*xs, 3}, x, {4}.union([5], (6,)), set("ab") | {"c"}, frozenset({1}) | {2}


def caught(x):
    s = {1}
    if x.sum() > 0:
        s.add(2)
    try:
        s.remove(3)
    except KeyError:
        s.add(4)
    return s


def inner(x):
    s = {1}

    def f(n):
        s.add(n)

    if x.sum() > 0:
        f(5)
    return s


def copies(x):
    s = {1}
    t = s.copy()
    u = set(s)
    if x.sum() > 0:
        s.add(2)
        t.add(3)
    u |= t
    return s, t, u


def into_the_callers(x, s):
    mine = {1}
    if x.sum() > 0:
        mine.add(2)
    s |= mine
    s.update(mine)
    return s.union(mine), s & mine


def into_a_known_one(x, s):
    s |= {5}
    s.update({6})
    return x * len(s), {7} | s, s - {5}


def number_of_the_program(x):
    s, n = {1}, 0
    while n < x.sum():
        s.add(n)
        n += 1
    return s


@pytest.mark.parametrize(
    "function",
    [
        added, discarded, given_back, removed, updated, operators, in_place, popped, popped_empty, gone_through,
        in_loop, nested, chosen, cleared, comprehension, truth, isset, number_in, frozen, tensors, printed,
        summed, star, caught, inner, copies, number_of_the_program,
    ],
    ids=lambda f: f.__name__,
)  # fmt: skip
def test_as_in_eager_code(function):
    compare(function, *CALLS)


@pytest.mark.parametrize("function", [argument, into_the_callers, into_a_known_one], ids=lambda f: f.__name__)
@pytest.mark.parametrize("shared", [False, True])
def test_the_callers_set(function, shared):
    compare(function, (UP, {1}), (DOWN, {1, 7}), (DOWN, {1}), shared=shared)


@pytest.mark.parametrize("shared", [False, True])
def test_set_of_an_object(shared):
    compare(attribute, (UP, Holder()), (DOWN, Holder()), shared=shared)


def big(x):
    s = {9, 1}
    if x.sum() > 0:
        s.add(17)
    return s


def in_an_order_of_the_path(x):
    for n in big(x):
        x = x * n
    return x


def popped_of_many(x):
    return big(x).pop() * x


def of_a_library(x):
    return x, ",".join({"a"} | {str(n) for n in (1,) if x.sum() > 0})


def text(x):
    return f"{big(x)}", x


def tensor_on_one_path(x):
    s = set()
    if x.sum() > 0:
        s.add(x)
    return s


def in_a_growing_list(x):
    found = []
    while x.sum() < 30:
        found.append(big(x))
        x = x + 3
    return found


def frozen_with(x):
    return x, frozenset({1}) | big(x)


def frozen_of(x):
    return x, frozenset(big(x))


@pytest.mark.parametrize(
    "function",
    [
        in_an_order_of_the_path, popped_of_many, of_a_library, text, tensor_on_one_path,
        in_a_growing_list, frozen_with, frozen_of,
    ],
    ids=lambda f: f.__name__,
)  # fmt: skip
def test_refused(function):
    static = paddle.jit.to_static(function, full_graph=True)
    with pytest.raises(UnsupportedError, match=r"(?s)hint") as caught:
        static(paddle.to_tensor(UP))
    assert "test_sets_by_path.py" in str(caught.value)
