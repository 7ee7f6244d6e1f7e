"""Lists whose length a run decides, in native programs: written, read and handed on by loops, and their gradients."""

import gc
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import vitrify as paddle
from vitrify.core.config import flags_guard

SETTLED = 25
"""Runs behind which a small program is optimized, and a native call."""
X = np.linspace(-1, 1, 3, dtype="float32")


def tensor(x, wants_gradient=False):
    return paddle.to_tensor(x, stop_gradient=not wants_gradient)


def appended(x, n):
    outs = []
    while n > 0:
        x = x * 0.9 + 0.1
        outs.append(x)
        n = n - 1
    return paddle.stack(outs)


def from_the_last(x, n):
    outs = [x]
    while n > 0:
        outs.append(outs[-1] * 0.9 + 0.1)
        n = n - 1
    return paddle.stack(outs), outs[0] * 2


def of_numbers(x, n):
    losses, flags = [], []
    while n > 0:
        x = x * 0.5
        losses.append((x * x).mean())
        flags.append(x.sum() > 0)
        n = n - 1
    return paddle.stack(losses), paddle.stack(flags)


def by_path(x, n):
    odd, all_of_them = [x], [x]
    while n > 0:
        x = x * 0.9 - 0.1
        if n % 2 == 1:
            odd.append(x)
        else:
            all_of_them.append(x * 2)
        all_of_them.append(x)
        n = n - 1
    return paddle.stack(odd), paddle.concat(all_of_them)


def nested(x, n):
    outs = []
    while n > 0:
        m = n
        while m > 0:
            x = x * 0.9
            outs.append(x + m)
            m = m - 1
        n = n - 1
    return paddle.stack(outs)


def read_by_place(x, n):
    outs = []
    i = paddle.zeros([], "int64")
    while i < n:
        outs.append(x * i.astype("float32"))
        i = i + 1
    total = x * 0
    while i > 0:
        i = i - 1
        total = total * 0.5 + outs[i]
    return total, len(outs)


def given_back(x, n):
    outs = []
    while n > 0:
        outs.append(x * n.astype("float32"))
        n = n - 1
    return outs


FUNCTIONS = [appended, from_the_last, of_numbers, by_path, nested, read_by_place, given_back]


def arrays_of(found):
    """The tensors of a nested result as arrays."""
    if isinstance(found, (list, tuple)):
        return [a for item in found for a in arrays_of(item)]
    return [np.asarray(found)]


def same(found, wanted):
    found, wanted = arrays_of(found), arrays_of(wanted)
    assert [a.shape for a in found] == [a.shape for a in wanted]
    for a, b in zip(found, wanted):
        np.testing.assert_allclose(a, b, rtol=1e-6)


@pytest.mark.parametrize("fn", FUNCTIONS, ids=lambda fn: fn.__name__)
def test_lists_of_every_length_are_those_of_eager_code(fn, runs):
    static = paddle.jit.to_static(fn, full_graph=True)
    for _ in range(SETTLED):
        static(tensor(X), tensor(3))
    for n in (1, 2, 7, 30):
        before = runs.count
        same(static(tensor(X), tensor(n)), fn(tensor(X), tensor(n)))
        assert 1 <= runs.count - before <= 3  # no loop of Python's goes through the iterations


def gradients(fn, x, *args):
    """The results and the gradient of x, of all elements of all results with different weights."""
    x = tensor(x, wants_gradient=True)
    found = fn(x, *args)
    flat = [t for t in (found if isinstance(found, tuple) else (found,)) if isinstance(t, paddle.Tensor)]
    flat = [t for t in flat if not t.stop_gradient]
    loss = sum((t * paddle.arange(t.size, dtype=t.dtype).reshape(t.shape)).sum() for t in flat)
    loss.backward()
    return [t.numpy() for t in flat], x.grad.numpy()


@pytest.mark.parametrize("fn", [appended, from_the_last, of_numbers, by_path, nested, read_by_place])
def test_gradients_of_lists_are_those_of_eager_code(fn, runs):
    static = paddle.jit.to_static(fn, full_graph=True)
    for n in [3] * SETTLED + [1, 2, 7, 20, 3]:
        same(gradients(static, X, tensor(n)), gradients(fn, X, tensor(n)))


def test_the_reverse_of_a_loop_that_appends_is_a_native_call(runs):
    static = paddle.jit.to_static(appended, full_graph=True)
    for _ in range(4 * SETTLED):
        gradients(static, X, tensor(3))
    gradients(static, X, tensor(9))  # shapes that were not seen before are looked at by the interpreter
    before = runs.count
    gradients(static, X, tensor(9))
    assert 2 <= runs.count - before <= 4


def rows(xs):
    outs, h = [], xs[0] * 0
    for t in range(xs.shape[0]):
        h = paddle.tanh(h + xs[t])
        outs.append(h)
    return paddle.stack(outs)


def test_loops_over_rows_of_any_number(runs):
    static = paddle.jit.to_static(rows, full_graph=True)
    rng = np.random.default_rng(0)
    for i in range(4 * SETTLED):
        xs = rng.normal(size=(1 + i % 7, 4))
        same(gradients(static, xs), gradients(rows, xs))
    before = runs.count
    static(tensor(xs, wants_gradient=True))
    assert 1 <= runs.count - before <= 2


def cotangents_of_some(x, n):
    """Of most items nobody asks."""
    outs = []
    while n > 0:
        x = x * 0.9
        outs.append(x)
        n = n - 1
    return outs[-1] + outs[0]


def test_items_without_a_cotangent(runs):
    static = paddle.jit.to_static(cotangents_of_some, full_graph=True)
    for n in [4] * SETTLED + [1, 2, 9]:
        same(gradients(static, X, tensor(n)), gradients(cotangents_of_some, X, tensor(n)))


def out_of_range(x, n):
    outs = [x]
    while n > 0:
        outs.append(x)
        n = n - 1
    k = paddle.to_tensor(0)
    while k < 5:
        x = x + outs[k]
        k = k + 1
    return x


def test_places_outside_raise_at_the_users_line(runs):
    static = paddle.jit.to_static(out_of_range, full_graph=True)
    for _ in range(SETTLED):
        static(tensor(X), tensor(6))
    with pytest.raises(IndexError, match="list index out of range") as caught:
        static(tensor(X), tensor(2))
    assert "outs[k]" in caught.value.__notes__[-1]
    same(static(tensor(X), tensor(4)), X * 6)


def test_what_is_given_back_is_nobody_elses(runs):
    static = paddle.jit.to_static(given_back, full_graph=True)
    for _ in range(SETTLED):
        first = static(tensor(X), tensor(3))
    kept = [a.copy() for a in arrays_of(first)]
    first.append("more")
    second = static(tensor(X * 5), tensor(3))
    same(first[:-1], kept)
    same(second, given_back(tensor(X * 5), tensor(3)))
    second[0].fill_(7)
    same(static(tensor(X), tensor(3)), given_back(tensor(X), tensor(3)))


def test_nothing_is_left_behind(runs):
    """Items and lists go with the run that made them, also where it is left to the interpreter."""
    static = paddle.jit.to_static(appended, full_graph=True)

    def arrays():
        gc.collect()
        return sys.getallocatedblocks()

    for _ in range(SETTLED):
        gradients(static, X, tensor(40))
    before = arrays()
    for _ in range(50):
        gradients(static, X, tensor(40))
    assert arrays() - before < 400


def test_threads_make_lists_side_by_side(runs):
    static = paddle.jit.to_static(by_path, full_graph=True)
    for _ in range(SETTLED):
        static(tensor(X), tensor(3))
    wanted = [by_path(tensor(X), tensor(n)) for n in range(1, 9)]
    with ThreadPoolExecutor(3) as pool:
        for i, found in enumerate(pool.map(lambda i: static(tensor(X), tensor(1 + i % 8)), range(80))):
            same(found, wanted[i % 8])


@settings(max_examples=15, deadline=None)
@given(
    length=st.integers(1, 12), width=st.sampled_from([1, 3, 17]), transposed=st.booleans(),
    dtype=st.sampled_from(["float32", "float64", "int64"]),
)  # fmt: skip
def test_items_of_any_kind_and_however_they_lie(length, width, dtype, transposed):
    def fn(x, n):
        outs = []
        while n > 0:
            x = x * 2 + 1
            outs.append(x.transpose([1, 0]) if transposed else x)
            n = n - 1
        return paddle.stack(outs, axis=1)

    x = np.arange(2 * width).reshape(2, width).astype(dtype)
    with flags_guard({"native_after_ms": 0}):
        static = paddle.jit.to_static(fn, full_graph=True)
        for _ in range(SETTLED):
            static(tensor(x), tensor(length))
        same(static(tensor(x), tensor(length + 1)), fn(tensor(x), tensor(length + 1)))
