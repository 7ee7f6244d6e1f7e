"""What a function gives back may share memory with what it changed: later changes of one are changes of the other."""

import pytest

import vitrify as paddle


class Box:
    """An object with a tensor."""

    def __init__(self):
        self.a = paddle.to_tensor([1.0, 2.0, 3.0])


def view_before(x, b, c):
    v = b.a[0]
    b.a.add_(x.sum())
    return v, b.a[1:]


def view_after(x, b, c):
    c.scale_(2.0)
    return c[1:], c


def changed_by_the_view(x, b, c):
    v = c[:2]
    v.scale_(3.0)
    return v, c


def view_of_a_view(x, b, c):
    u = c.reshape([3, 1])
    w = u[1:]
    w.scale_(3.0)
    return w, u


def of_nothing_changed(x, b, c):
    return c[:2], b.a[1]


def held(x, b, c):
    b.v = c[:2]
    c.scale_(2.0)
    return b.v, c


def on_one_path(x, b, c):
    if x.sum() > 0:
        c.scale_(2.0)
    return c[1:], c


def exchanged(x, b, c):
    kept = b.a * 1
    paddle.assign(c, b.a)
    paddle.assign(kept, c)
    return c[1:], b.a


def made_inside(x, b, c):
    d = paddle.ones([2, 3])
    v = d[0]
    v.scale_(2.0)
    return v, d


def seen(fn):
    """What a call gives, and what that is once the arguments and the results were changed."""
    x, b, c = paddle.to_tensor([1.0, 2.0]), Box(), paddle.to_tensor([5.0, 6.0, 7.0])
    results = fn(x, b, c)
    found = [[t.tolist() for t in results]]
    for tensor in (b.a, c, *results):
        tensor.scale_(3.0)
        found.append([t.tolist() for t in (*results, b.a, c)])
    return found


@pytest.mark.parametrize("full_graph", [True, False])
@pytest.mark.parametrize(
    "fn",
    [
        view_before, view_after, changed_by_the_view, view_of_a_view, of_nothing_changed, held, on_one_path, exchanged,
        made_inside,
    ],
)  # fmt: skip
def test_memory_is_shared_after_the_call(fn, full_graph):
    static = paddle.jit.to_static(fn, full_graph=full_graph)
    for _ in range(2):
        assert seen(static) == seen(fn)
