"""Numbers of the program where Python finds things by their value, which only a run knows: right, or refused."""

from collections import Counter, defaultdict, namedtuple

import pytest

import vitrify as paddle
from tests.end_to_end.differential import compare
from vitrify.core.errors import UnsupportedError

Pair = namedtuple("Pair", "a b")


def tuple_asked_for(n):
    return {(3, 1): 5}.get((n, 1), 0)


def tuple_set(n):
    d = {}
    d[n, 1] = 1
    return len(d)


def tuple_made_up(n):
    d = {}
    d.setdefault((n, 1), []).append(1)
    return len(d)


def named_tuple(n):
    return {Pair(n, 1): 5}


def tuple_in_default_dict(n):
    d = defaultdict(int)
    d[n,] += 1
    return len(d)


def added(n):
    s = {(3, 1)}
    s.add((n, 1))
    return len(s)


def set_display(n):
    return len({n, 3})


def set_of_tuples(n):
    return len({(n, 1), (3, 1)})


def set_comprehension(n):
    return len({(v, 1) for v in (n, 3)})


def dict_comprehension(n):
    return len({(v,): 1 for v in (n, 3)})


def dict_display(n):
    return len({n: 1, 3: 2})


def set_made(n):
    items = [n, 3]
    return len(set(items))


def set_of_pairs(n):
    return len(set(zip([n, 3], [1, 1])))


def set_asked(n):
    return {3, 4}.intersection([n])


def set_compared(n):
    return {3, 4}.isdisjoint([n]), {3}.issubset([n])


def hashed(n):
    return hash((n, 1)) == hash((3, 1))


def counted(n):
    return Counter([n, 3, 3])[3]


def from_keys(n):
    return dict.fromkeys([n, 3], 0)


@pytest.mark.parametrize(
    "f",
    [
        tuple_asked_for, tuple_set, tuple_made_up, named_tuple, tuple_in_default_dict, added, set_display,
        set_of_tuples, set_comprehension, dict_comprehension, dict_display, set_made, set_of_pairs,
        set_asked, set_compared, counted, from_keys,
    ],
)  # fmt: skip
def test_as_in_eager_code(f):
    def g(x):
        return f(int(x.sum()))

    compare(g, ([1.0, 2.0],), ([3.0, 1.0],))


def test_hash_is_refused():
    def g(x):
        return hashed(int(x.sum()))

    x = paddle.to_tensor([1.0, 2.0])
    with pytest.raises(UnsupportedError, match="only when the program runs"):
        paddle.jit.to_static(g, full_graph=True)(x)
    static = paddle.jit.to_static(g)
    assert [static(x) for _ in range(3)] == [g(x)] * 3


@pytest.mark.parametrize("method", [int.bit_length, float.is_integer, int.to_bytes, float.hex])
def test_methods_called_by_their_class(method):
    def g(x):
        n = int(x.sum()) if method in (int.bit_length, int.to_bytes) else float(x.sum())
        return method(n, 2, "big") if method is int.to_bytes else method(n)

    with pytest.raises(UnsupportedError, match=f"{method.__name__} of a number"):
        paddle.jit.to_static(g, full_graph=True)(paddle.to_tensor([1.0, 2.0]))
    assert paddle.jit.to_static(g)(paddle.to_tensor([1.0, 2.0])) == g(paddle.to_tensor([1.0, 2.0]))


@pytest.mark.parametrize("full_graph", [False, True])
def test_a_new_key(full_graph):
    def f(x):
        parts = {7: x, 8: x}
        parts[int(x.argmax())] = x * 2
        return parts

    x = paddle.to_tensor([1.0, 3.0])
    static = paddle.jit.to_static(f, full_graph=full_graph)
    assert [list(static(x)) for _ in range(3)] == [[7, 8, 1]] * 3
