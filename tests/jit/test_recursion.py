"""Functions that recur until a tensor stops them: higher gradients, depth, threads, files, text."""

import re
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import vitrify as paddle
from tests.end_to_end import recursion as r
from vitrify.convert.state import journal, ownership
from vitrify.core.errors import DepthError, UnsupportedError
from vitrify.jit import to_static

X = np.array([0.5, 1.0, 1.5], "float32")


def tensor(value, dtype=None):
    found = paddle.to_tensor(value, dtype=dtype)
    found.stop_gradient = found.dtype.name[:5] != "float"
    return found


def polynomial(x, n):
    if n == 0:
        return x
    return polynomial(x, n - 1) * x + x.sin()


def halves(x):
    if x.shape[0] == 1:
        return x[0] * x[0]
    middle = x.shape[0] // 2
    left = halves(x[:middle])
    return left * halves(x[middle:]) + left


class Scaled(paddle.nn.Layer):
    def __init__(self):
        super().__init__()
        self.scale = self.create_parameter([3], default_initializer=paddle.nn.initializer.Constant(1.5))

    def forward(self, x):
        if x.sum() > 20:
            return x * self.scale
        return self.forward(x * self.scale) + x


def numeric(fn, x, step=1e-5):
    """Central differences of the sum of `fn`'s result, in float64."""
    found = np.zeros_like(x)
    for i in range(x.size):
        up, down = x.copy(), x.copy()
        up[i] += step
        down[i] -= step
        found[i] = (fn(up) - fn(down)) / (2 * step)
    return found


@pytest.mark.parametrize("fn", [lambda x: polynomial(x, tensor(3)), halves], ids=["polynomial", "halves"])
def test_gradients_against_differences(fn):
    static = to_static(fn, full_graph=True)
    x = tensor(X.astype("float64"))
    static(x).sum().backward()
    expected = numeric(lambda v: float(static(tensor(v)).sum()), X.astype("float64"))
    np.testing.assert_allclose(x.grad.numpy(), expected, rtol=1e-6)


def higher(fn, *args, order):
    x = tensor(X.astype("float64"))
    y = fn(x, *args).sum()
    found = []
    for _ in range(order):
        (y,) = paddle.grad(y, x, create_graph=True)
        found.append(y.numpy())
        y = (y * y).sum()
    y.backward()
    return [*found, x.grad.numpy()]


@pytest.mark.parametrize("order", [1, 2])
def test_gradients_of_gradients(order):
    static = to_static(polynomial, full_graph=True)
    for _ in range(2):
        for a, b in zip(higher(polynomial, tensor(3), order=order), higher(static, tensor(3), order=order)):
            np.testing.assert_allclose(b, a, rtol=1e-9)


def test_gradients_of_gradients_of_a_tree():
    static = to_static(halves, full_graph=True, input_spec=[paddle.static.InputSpec([None], "float64")])
    assert "call(" in str(static.concrete_program.program)
    for a, b in zip(higher(halves, order=1), higher(static, order=1)):
        np.testing.assert_allclose(b, a, rtol=1e-9)


def test_parameters_learn():
    eager, static = Scaled(), to_static(Scaled(), full_graph=True)
    for layer in (eager, static):
        optimizer = paddle.optimizer.SGD(0.001, parameters=layer.parameters())
        for _ in range(3):
            layer(tensor(X)).sum().backward()
            optimizer.step()
            optimizer.clear_grad()
    np.testing.assert_allclose(static.scale.numpy(), eager.scale.numpy(), rtol=1e-6)


def test_it_goes_deeper_than_python():
    static = to_static(polynomial, full_graph=True)
    x = tensor(np.array([0.5], "float64"))
    static(x, tensor(5000)).sum().backward()
    value, slope = 0.5, 1.0
    for _ in range(5000):
        value, slope = value * 0.5 + np.sin(0.5), slope * 0.5 + value + np.cos(0.5)
    np.testing.assert_allclose(x.grad.numpy(), [slope])


def test_endless_recursion_says_so_and_leaves_the_function_usable():
    static = to_static(r.hanoi, full_graph=True)
    with pytest.raises(DepthError, match=f"calls itself more than {10 * sys.getrecursionlimit()} times") as caught:
        static(tensor(-1))
    assert caught.value.loc.text == "return hanoi(n - 1) * 2 + 1"
    assert static(tensor(3)).item() == 7


def test_threads_share_a_recursive_function():
    static = to_static(r.fibonacci, full_graph=True)
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda n: static(tensor(n % 9)).item(), range(64)))
    assert found == [[0, 1, 1, 2, 3, 5, 8, 13, 21][n % 9] for n in range(64)]


def test_it_is_saved_and_loaded(tmp_path):
    layer = to_static(Scaled(), input_spec=[paddle.static.InputSpec([None, 3], "float32")], full_graph=True)
    x = tensor(np.stack([X, X * 2]))
    expected = layer(x)
    expected.sum().backward()
    paddle.jit.save(layer, str(tmp_path / "model"))
    loaded = paddle.jit.load(str(tmp_path / "model"))
    np.testing.assert_allclose(loaded(x).numpy(), expected.numpy())
    y = tensor(x.numpy())
    loaded(y).sum().backward()
    np.testing.assert_allclose(y.grad.numpy(), x.grad.numpy())


FACTORIAL = """\
program

block 0 (%n : int64[]) -> (%factorial_0, %equal_0) {
  %factorial_0 : int64[], %factorial_0 : int64[] = call(%n) {function=@factorial}
  %equal_0 : bool[] = equal(%factorial_0, 1)
}

function @factorial = block 1 (%n : int64[]) -> (%if_0, %where_0) {
  %less_equal_0 : bool[] = less_equal(%n, 1)
  %if_0 : int64[] = if(%less_equal_0, %n)
    then = block 2 (^%n : int64[]) -> (%n) {
    }
    orelse = block 3 (^%n : int64[]) -> (%multiply_0) {
      %subtract_0 : int64[] = subtract(%n, 1)
      %factorial_0 : int64[], %factorial_0 : int64[] = call(%subtract_0) {function=@factorial}
      %multiply_0 : int64[] = multiply(%n, %factorial_0)
    }
  %full_0 : int64[] = full() {shape=(), fill_value=0, dtype=int64}
  %full_0 : int64[] = full() {shape=(), fill_value=1, dtype=int64}
  %where_0 : int64[] = where(%less_equal_0, %full_0, %full_0)
}
"""


def test_the_program_reads_well():
    """It tells whether the result is the argument itself, as the factorial of 1 is."""
    static = to_static(r.factorial, full_graph=True)
    static(tensor(5))
    text = str(static.concrete_program.program)
    plain = "\n".join(line.split("  #")[0].rstrip() for line in text.splitlines()) + "\n"
    assert re.sub(r"_\d+\b", "_0", plain) == FACTORIAL


def the_argument(x, n):
    if n == 0:
        return x
    return the_argument(x, n - 1)


def twins(x, n):
    if n == 0:
        y = x * 1
        return y, y[1:]
    return twins(x + 1, n - 1)


def changes_result(x, n):
    y = x * 1
    z = the_argument(y, n)
    z.add_(x)
    return y, z


def changes_argument(x, n):
    y = x * 1
    z = the_argument(y, n)
    y.add_(x)
    return y, z


def changes_twin(x, n):
    a, b = twins(x, n)
    b.add_(x[1:])
    return a, b


def changes_shared(x, n):
    y = x * 1
    return adds(y, y, n)


def adds(a, b, n):
    if n == 0:
        return a
    a.add_(b)
    return adds(a, b, n - 1)


@pytest.mark.parametrize("fn", [changes_result, changes_argument])
@pytest.mark.parametrize("n", [3, 0])
def test_memory_that_comes_back_is_changed_as_one(fn, n):
    found = to_static(fn, full_graph=True)(tensor(X), tensor(n))
    assert [t.tolist() for t in found] == [t.tolist() for t in fn(tensor(X), tensor(n))]
    assert found[0] is found[1]


@pytest.mark.parametrize("fn", [changes_twin, changes_shared])
def test_memory_that_may_be_shared_is_not_changed_behind_backs(fn):
    with pytest.raises(UnsupportedError, match="shares memory with another"):
        to_static(fn, full_graph=True)(tensor(X), tensor(3))


class Node:
    def __init__(self, key):
        self.key = key
        self.left = None
        self.right = None


def inserted(node, key):
    if node is None:
        return Node(key)
    if key < node.key:
        node.left = inserted(node.left, key)
    else:
        node.right = inserted(node.right, key)
    return node


def in_order(node, out):
    if node is not None:
        in_order(node.left, out)
        out.append(node.key)
        in_order(node.right, out)


def tree_sorted(x):
    root = None
    for i in range(x.shape[0]):
        root = inserted(root, x[i])
    out = []
    in_order(root, out)
    return paddle.stack(out)


def test_what_a_search_tree_holds_is_looked_through_once_a_change(monkeypatch):
    asked, looked = [], []
    is_forked, known = journal.is_forked, ownership.known_references

    def asking(*args):
        before = len(looked)
        answer = is_forked(*args)
        asked.append(len(looked) - before)
        return answer

    monkeypatch.setattr(journal, "is_forked", asking)
    monkeypatch.setattr(ownership, "known_references", lambda *args: looked.append(None) or known(*args))
    x = tensor([3.0, 1.0, 2.0])
    assert to_static(tree_sorted, full_graph=True)(x).tolist() == [1.0, 2.0, 3.0]
    assert asked and max(asked) == 1


def ends_in_an_error(x):
    if x.sum() < 0:
        raise ValueError("below zero")
    return ends_in_an_error(x - 1)


def what_is_finished_behind_it(x):
    try:
        return ends_in_an_error(x)
    finally:
        print("finished")


def test_what_raises_alone_is_not_unrolled():
    """A call in a `try` of a function that always raises is left to eager code, not unrolled a thousand times."""
    calls = Counter()

    def profile(frame, event, arg):
        calls[frame.f_code.co_name] += event == "call"

    sys.setprofile(profile)
    try:
        with pytest.raises(ValueError, match="below zero"):
            to_static(what_is_finished_behind_it, full_graph=True)(tensor(X))
    finally:
        sys.setprofile(None)
    assert calls["ends_in_an_error"] < 20


def summed_up(x, held):
    if x.sum() > 20:
        return held
    return summed_up(x * 2, [held[0] + x])


def list_that_may_be_the_one_given(x):
    held = [x * 1]
    found = summed_up(x, held)
    found[0] = found[0] * 2
    return held[0], found[0]


@pytest.mark.parametrize("full_graph", [False, True])
def test_a_list_given_back_is_the_one_given(full_graph):
    static = to_static(list_that_may_be_the_one_given, full_graph=full_graph)
    for scale in (20, 1):
        expected = list_that_may_be_the_one_given(tensor(X * scale))
        for a, b in zip(static(tensor(X * scale)), expected):
            np.testing.assert_array_equal(a.numpy(), b.numpy())


class Counted:
    def __init__(self, value, count):
        self.value = value
        self.count = count


def counted(x, so_far):
    if x.sum() > 10:
        return so_far
    return counted(x * 2, Counted(so_far.value + x, so_far.count + 1))


def values_that_are_counted(x):
    found = counted(x, Counted(x, 0))
    return found.value, found.count


@pytest.mark.slow
def test_objects_that_differ_in_each_call_do_not_keep_the_conversion_busy_for_ever():
    """They were recorded inside each other, each several times, a hundred deep."""
    with pytest.raises(RecursionError, match="'so_far' is of another kind in each call"):
        to_static(values_that_are_counted, full_graph=True)(tensor(X))
    value, count = to_static(values_that_are_counted)(tensor(X))
    np.testing.assert_allclose(value.numpy(), X * 4)
    assert count == 2
