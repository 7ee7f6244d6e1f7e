"""Native programs that call Python: prints, checks, callbacks and values that Python computes in the middle."""

import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import vitrify as paddle
from vitrify.core.config import flags_guard
from vitrify.core.errors import DepthError, IndexRangeError, ShapeError
from vitrify.runtime.whole import Whole

SETTLED = 25
"""Runs behind which a small program is optimized, and a native call."""


def tensor(x):
    return paddle.to_tensor(x)


def settled(fn, *args, runs=None):
    """A compiled function whose runs are native calls."""
    static = paddle.jit.to_static(fn, full_graph=True)
    for _ in range(SETTLED):
        static(*args)
    if runs is not None:
        before = runs.count
        static(*args)
        assert runs.count == before + 1
    return static


def looped(x, n):
    while n > 0:
        x = x * 0.5 + 1
        print("left:", int(n), "sum", float(x.sum()))
        n = n - 1
    return x


def in_branches(x, n):
    if n % 2 == 0:
        print(f"even {int(n)}")
        y = x + 1
    else:
        y = x - 1
        print("odd", file=sys.stderr)
    print("end", end=";\n")
    return y


def recursive(x, n):
    if n == 0:
        print("bottom")
        return x
    print("at", int(n))
    y = recursive(x * 2, n - 1) + 1
    print("back at", int(n), float(y[0]))
    return y


def in_numpy(x, n):
    while n > 0:
        x = tensor(np.sin(x.numpy())) + x
        n = n - 1
    return x


def noted(array):
    return np.cumsum(array[::-1], dtype=array.dtype)


def called_back(x, n):
    y = x * 2
    for _ in range(n):
        y = paddle.jit.host_callback(noted, y, out=paddle.static.InputSpec([3], "float32")) * 0.5
    return y + x


def recursive_in_numpy(x, n):
    if n == 0:
        return x
    return recursive_in_numpy(tensor(np.cos(x.numpy())), n - 1) * x


PROGRAMS = [looped, in_branches, recursive, in_numpy, called_back, recursive_in_numpy]
X = np.array([0.5, 1.0, 2.0], "float32")


@pytest.mark.parametrize("fn", PROGRAMS)
def test_what_python_does_is_the_same(fn, runs, capsys):
    static = settled(fn, tensor(X), tensor(3), runs=runs)
    for n in (0, 1, 4, 5):
        capsys.readouterr()
        wanted = fn(tensor(X), tensor(n))
        printed = capsys.readouterr()
        found = static(tensor(X), tensor(n))
        assert capsys.readouterr() == printed
        np.testing.assert_allclose(found.numpy(), wanted.numpy(), rtol=1e-5)


@settings(max_examples=20)
@given(size=st.sampled_from([0, 1, 2, 5, 33]), n=st.integers(0, 6), dtype=st.sampled_from(["float32", "float64"]))
def test_values_of_python_for_all_sizes(size, n, dtype):
    x = np.linspace(-1, 1, size).astype(dtype)
    with flags_guard({"native_after_ms": 0}):
        static = _KNOWN.setdefault((size, dtype), paddle.jit.to_static(in_numpy, full_graph=True))
        for _ in range(3):
            found = static(tensor(x), tensor(n))
    np.testing.assert_allclose(found.numpy(), in_numpy(tensor(x), tensor(n)).numpy(), rtol=1e-5)
    assert found.numpy().dtype == x.dtype


_KNOWN = {}


def test_gradients_pass_by_callbacks_with_a_vjp(runs):
    def squared(array):
        return array * array

    def fn(x, n):
        spec = paddle.static.InputSpec([3], "float32")
        y = paddle.jit.host_callback(squared, x, out=spec, vjp=lambda x, ct: 2 * x * ct)
        return recursive_product(y, n)

    def recursive_product(y, n):
        if n == 0:
            return y
        print("product", int(n))
        return recursive_product(y, n - 1) * y

    static = paddle.jit.to_static(fn, full_graph=True)
    for _ in range(SETTLED):
        x = paddle.to_tensor(X, stop_gradient=False)
        static(x, tensor(3)).sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), 8 * X**7, rtol=1e-5)
    assert runs.count > 4


class OwnError(Exception):
    """An error of the user's own."""


def deep_failure(x, n):
    if n == 0:
        return paddle.jit.host_callback(fails_on_large, x, out=paddle.static.InputSpec([3], "float32"))
    print("down", int(n))
    return deep_failure(x * 2, n - 1) + 1


def fails_on_large(array):
    if array[0] > 100:
        raise OwnError(f"{array[0]} is large")
    return array * 2


def checked(x, n):
    while n > 0:
        print("step", int(n))
        assert x.sum() < 50, f"too large: {float(x.sum())}"
        x = x * 2
        n = n - 1
    return x


def raises(x, n):
    if n == 0:
        if x.sum() > 100:
            raise ValueError(f"sum is {float(x.sum())}")
        return x
    return raises(x * 2, n - 1)


def failure(static, *args):
    """The exception of a call: its class, what it says, and the notes on it."""
    with pytest.raises(Exception) as caught:
        static(*args)
    return type(caught.value), str(caught.value), getattr(caught.value, "__notes__", [])


@pytest.mark.parametrize("fn", [deep_failure, checked, raises])
def test_errors_are_those_of_the_interpreter(fn, runs, capsys, monkeypatch):
    static = settled(fn, tensor(X), tensor(3), runs=runs)
    capsys.readouterr()
    before = runs.count
    found = failure(static, tensor(X), tensor(20))
    printed = capsys.readouterr()
    assert runs.count == before + 1  # no second run by the interpreter
    with monkeypatch.context() as patched:
        patched.setattr(Whole, "run", lambda *_: None)
        wanted = failure(static, tensor(X), tensor(20))
    assert found == wanted and capsys.readouterr() == printed
    np.testing.assert_allclose(static(tensor(X), tensor(2)).numpy(), fn(tensor(X), tensor(2)).numpy())


def endless(n):
    print(".", end="")
    return endless(n - 1) + 1 if n != 0 else n


def test_recursion_that_is_too_deep_prints_once_and_names_the_line(runs, capsys):
    static = settled(endless, tensor(3), runs=runs)
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(300)
    try:
        capsys.readouterr()
        with pytest.raises(DepthError, match="calls itself more than 3000 times") as caught:
            static(tensor(-1))
    finally:
        sys.setrecursionlimit(limit)
    assert capsys.readouterr().out == "." * 3000
    assert caught.value.loc.text.startswith("return endless(n - 1) + 1")
    assert static(tensor(3)).item() == 3


def test_what_may_be_left_to_the_interpreter_comes_before_what_python_does(runs, capsys):
    table = tensor(np.arange(12, dtype="float32").reshape(4, 3))

    def late(i):
        print("looking up", i.tolist())
        return paddle.nn.functional.embedding(i, table) * 2

    def early(i):
        found = paddle.nn.functional.embedding(i, table) * 2
        print("looked up", i.tolist())
        return found

    for fn in (late, early):
        static = settled(fn, tensor([1, 2]))
        capsys.readouterr()
        static(tensor([3, 0]))
        assert capsys.readouterr().out.count("looking up" if fn is late else "looked up") == 1
        with pytest.raises(IndexRangeError):
            static(tensor([3, 4]))
        assert capsys.readouterr().out.count("look") == (1 if fn is late else 0)
    assert runs.count  # the second one


def test_python_may_call_the_same_function(runs):
    def inner(array):
        n = int(array[0])
        return array if n == 0 else static(tensor(array - 1)).numpy() + 1

    def fn(x):
        return paddle.jit.host_callback(inner, x, out=paddle.static.InputSpec([1], "int64")) * 2

    static = paddle.jit.to_static(fn, full_graph=True)
    wanted = [0]
    while len(wanted) < 6:
        wanted.append(2 * (wanted[-1] + 1))
    for _ in range(SETTLED):
        assert [static(tensor([n])).item() for n in range(6)] == wanted


def test_what_python_keeps_is_its_own(runs):
    kept = []

    def keep(array):
        kept.append(array)
        return array

    def fn(x):
        y = x * 2
        z = paddle.jit.host_callback(keep, y, out=paddle.static.InputSpec([3], "float32"))
        return z.add_(y)

    static = settled(fn, tensor(X), runs=runs)
    kept.clear()
    found = static(tensor(X))
    static(tensor(X * 5))
    assert np.array_equal(kept[0], X * 2) and np.array_equal(found.numpy(), X * 4)


def of_the_sorted(x, n):
    while n > 0:
        x = paddle.to_tensor(np.sort(x.numpy())) * 0.5 + 1
        n = n - 1
    return x


def test_what_python_gives_may_change_afterwards(runs):
    """Each iteration gives the same array with other content, whose elements do not lie side by side."""
    held = np.zeros((3, 3), "float32").T
    spec = paddle.static.InputSpec([3], "float32")

    def add(array):
        held[...] = array + held
        return held[1]

    def fn(x, n):
        y = x
        while n > 0:
            y = y + paddle.jit.host_callback(add, x, out=spec)
            n = n - 1
        return y

    static = settled(fn, tensor(X), tensor(3), runs=runs)
    held[...] = 0
    assert np.array_equal(static(tensor(X), tensor(3)).numpy(), X + X * 1 + X * 2 + X * 3)


def test_a_round_trip_to_numpy_is_few_calls(runs):
    """Of Python's and C's functions, which are what it takes: the expression was read before."""

    def calls_of(n):
        names = []

        def note(frame, event, arg):
            if event in ("call", "c_call"):
                names.append(event)

        static(tensor(X), n)
        sys.setprofile(note)
        try:
            static(tensor(X), n)
        finally:
            sys.setprofile(None)
        return len(names)

    static = settled(of_the_sorted, tensor(X), tensor(3), runs=runs)
    assert calls_of(tensor(23)) - calls_of(tensor(3)) <= 20 * 22


def test_callbacks_that_give_something_else_say_so(runs):
    wrong = []

    def given(array):
        return array[:2] if wrong else array

    def fn(x):
        return paddle.jit.host_callback(given, x, out=paddle.static.InputSpec([3], "float32")) * 2

    static = settled(fn, tensor(X), runs=runs)
    wrong.append(True)
    with pytest.raises(ShapeError, match=r"the function gave float32\[2\]"):
        static(tensor(X))


def test_threads_call_python_from_one_function(runs):
    static = settled(recursive_in_numpy, tensor(X), tensor(3), runs=runs)
    wanted = [recursive_in_numpy(tensor(X), tensor(n)).numpy() for n in range(5)]
    with ThreadPoolExecutor(2) as pool:
        found = list(pool.map(lambda i: static(tensor(X), tensor(i % 5)).numpy(), range(60)))
    for i, out in enumerate(found):
        np.testing.assert_allclose(out, wanted[i % 5], rtol=1e-5)


def test_other_threads_run_meanwhile(runs):
    """A long loop that prints nothing on most paths holds Python's lock, but not from its beginning to its end."""

    def fn(n):
        while n > 0:
            if n % 1000000 == 7:
                print("seven")
            n = n - 1
        return n

    static = settled(fn, tensor(3), runs=runs)
    turns, done = [], threading.Event()

    def turn():
        while not done.is_set():
            turns.append(1)
            done.wait(1e-3)

    thread = threading.Thread(target=turn)
    thread.start()
    try:
        before = len(turns)
        static(tensor(2000000))
        during = len(turns) - before
    finally:
        done.set()
        thread.join()
    assert during > 2


def test_reference_counts_stay(runs):
    static = settled(called_back, tensor(X), tensor(3))
    x = tensor(X)
    array = x.numpy()
    static(x, tensor(2))
    before = sys.getrefcount(noted), sys.getrefcount(None), sys.getrefcount(np.dtype("float32"))
    for _ in range(200):
        static(x, tensor(2))
    after = sys.getrefcount(noted), sys.getrefcount(None), sys.getrefcount(np.dtype("float32"))
    assert all(abs(a - b) < 100 for a, b in zip(after, before)) and np.array_equal(array, X)


def printed_list(x, n):
    found = [0.5]
    if n > 0:
        for value in x:
            if value > 1:
                found.append(0.25)
            print(found)
    return x + len(found)


def test_lists_that_python_is_shown_are_no_arrays(capsys):
    args = tensor(np.float32([0.5, 2.0])), tensor(1)
    settled(printed_list, *args)
    assert capsys.readouterr().out == "[0.5]\n[0.5, 0.25]\n" * SETTLED
