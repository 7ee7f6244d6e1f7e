"""Functions that cannot be one program: segments around what must run as Python."""

from __future__ import annotations

import contextlib
import io

import numpy as np
import pytest

import vitrify as paddle
from vitrify.core.errors import UnsupportedError


@paddle.jit.not_to_static
def total_of(x):
    return float(x.numpy().sum())


def by_value(x):
    y = x * 2
    if total_of(y) > 3:
        return y + 1
    return y - 1


def in_the_middle(x):
    h = x * 2 + 1
    scale = total_of(h)
    y = h / scale
    return y * 3


def in_a_loop(x, n=3):
    h = x
    for i in range(n):
        h = h * 2 + i
        if h.numpy().max() > 9:
            break
        h = h + 1
    else:
        h = h - 100
    return h * h


def in_a_branch(x):
    y = x + 1
    if y.sum() > 0:
        k = int(y.numpy()[0])
        y = y * k
    else:
        y = y - 1
    z = y * 2
    return z


def in_with(x):
    with paddle.no_grad():
        a = x * 3
        b = a.numpy().copy()
    return x * paddle.to_tensor(b)


def in_try(x):
    try:
        y = x * 2
        if y.numpy()[0] > 100:
            raise ValueError
        z = y + 1
    except ValueError:
        z = x
    finally:
        w = x - 1
    return z * w


def while_loop(x):
    n = 0
    while x.numpy().sum() < 100:
        x = x * 2
        n += 1
    return x, n


def prints(x):
    y = x + 1
    print("y is", y.numpy())
    z = y * 2
    print("z is", z.numpy())
    return z


def early(x, flag):
    y = x * 2
    if flag:
        return y
    v = y.numpy()
    for row in v:
        if row > 2:
            return y * 3
    return y + 5


def mixed_kinds(x):
    if x.sum() > 0:
        m = None
    else:
        m = x * 2
    if m is None:
        return x + 1
    return m - 1


def changes_list(x, out):
    y = x * 2
    out.append(y)
    v = y.numpy().sum()
    out.append(float(v))
    z = y + 1
    out.append(z)
    return len(out)


def closes_over(x):
    scale = 2
    y = x * scale

    def grown(t):
        return t * scale

    v = y.numpy()[0]
    scale = 3
    return grown(y) + float(v)


def nested_function_assigns(x):
    n = 0

    def bump():
        nonlocal n
        n += 1

    y = x * 2
    bump()
    v = y.numpy()[0]
    bump()
    return y * n + float(v)


def generator(x):
    return sum(row * 2 for row in x.numpy().tolist()) + x.sum()


CASES = [
    by_value, in_the_middle, in_a_loop, in_a_branch, in_with, in_try, while_loop, prints, mixed_kinds, closes_over,
    nested_function_assigns, generator, lambda x: x * float(x.numpy()[0]),
]  # fmt: skip
INPUTS = [[1.0, 2.0, 3.0], [-1.0, -2.0, -3.0], [5.0, 5.0, 5.0], [0.5, 0.25, 4.0]]


def outcome(f, *args):
    x = paddle.to_tensor(args[0], stop_gradient=False)
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        result = f(x, *args[1:])
    first, *rest = result if isinstance(result, tuple) else (result,)
    if not first.stop_gradient:
        first.sum().backward()
    return first.tolist(), rest, None if x.grad is None else x.grad.tolist(), out.getvalue()


@pytest.mark.parametrize("f", CASES, ids=lambda f: f.__name__)
def test_the_same_as_eager(f):
    if f is while_loop:
        inputs = [i for i in INPUTS if sum(i) > 0]
    else:
        inputs = INPUTS
    static = paddle.jit.to_static(f)
    for _ in range(4):
        for values in inputs:
            assert outcome(static, values) == outcome(f, values)


@pytest.mark.parametrize("flag", [True, False])
def test_an_early_return_before_the_break(flag):
    static = paddle.jit.to_static(early)
    for _ in range(3):
        for values in INPUTS:
            assert outcome(static, values, flag) == outcome(early, values, flag)


def test_lists_given_by_the_caller_grow_once():
    static = paddle.jit.to_static(changes_list)
    for _ in range(4):
        out = []
        assert static(paddle.ones([2]), out) == 3
        assert [np.sum(np.asarray(v)) for v in out] == [4, 4, 6]


def test_segments_run_as_programs_and_no_user_code_runs_in_them():
    static = paddle.jit.to_static(in_the_middle)
    for _ in range(4):
        static(paddle.ones([3]))
    segments = list(static.split.code.segments)
    assert [s.lines[1] - s.lines[0] for s in segments] == [0, 1]
    assert all(len(static.split.segments[s.key].program_cache) == 1 for s in segments)


def test_the_users_own_error_does_not_split():
    def f(x, fail):
        y = x * 2
        if fail:
            raise KeyError("no")
        return y

    static = paddle.jit.to_static(f)
    with pytest.raises(KeyError):
        static(paddle.ones([2]), True)
    assert static.split_state is None
    assert static(paddle.ones([2]), False).tolist() == [2, 2]


def test_whole_graph_on_request():
    with pytest.raises(UnsupportedError, match="used as a Python number, but known only when the program runs"):
        paddle.jit.to_static(in_the_middle, full_graph=True)(paddle.ones([2]))


class Block(paddle.nn.Layer):
    """A Linear, and a look at its output when asked for."""

    def __init__(self, looks):
        super().__init__()
        self.fc = paddle.nn.Linear(4, 4)
        self.looks = looks
        self.seen = []

    def forward(self, x):
        y = self.fc(x)
        if self.looks:
            self.seen.append(total_of(y))
        return paddle.nn.functional.relu(y)


class Net(paddle.nn.Layer):
    """Three blocks, the second of which looks."""

    def __init__(self):
        super().__init__()
        self.a, self.b, self.c = Block(False), Block(True), Block(False)

    def forward(self, x):
        x = self.a(x)
        x = self.b(x)
        return self.c(x)


def test_layers_around_a_break_are_compiled_and_train():
    paddle.seed(1)
    net = Net()
    x = paddle.ones([2, 4])
    eager = net(x)
    eager.sum().backward()
    wanted = [p.grad.numpy() for p in net.parameters()]
    net.clear_gradients()
    static = paddle.jit.to_static(net)
    for _ in range(4):
        net.clear_gradients()
        out = static(x)
        assert np.allclose(out.numpy(), eager.numpy())
        out.sum().backward()
        assert all(np.allclose(p.grad.numpy(), g) for p, g in zip(net.parameters(), wanted))
    assert len(net.b.seen) == 5
    code = net.forward.split.code
    assert len(code.segments) == 2 and "x = self.b(x)" in code.source


def test_a_segment_that_never_settles_runs_as_python():
    def f(x):
        total = x
        for i in range(40):
            total = total * 0.5 + i
            total.numpy()
        return total

    static = paddle.jit.to_static(f)
    for _ in range(3):
        assert static(paddle.ones([2])).tolist() == f(paddle.ones([2])).tolist()
    assert all(len(s.program_cache) <= 16 for s in static.split.segments.values())


def test_explain_tells_what_and_why():
    x = paddle.ones([3])
    found = paddle.jit.explain(in_the_middle, x)
    text = str(found)
    assert not found.is_whole and len(found.segments) == 2 and len(found.breaks) == 1
    for part in ["scale = total_of(h)", "segment_1(x)", "to make it whole", "1 program built", "float32[3]"]:
        assert part in text, text
    assert found.segments[0].hits >= 0
    whole = paddle.jit.explain(lambda x: x + 1, x)
    assert whole.is_whole and "compiled as a whole" in str(whole)
    with pytest.raises(TypeError, match="explain"):
        paddle.jit.explain(3)


@pytest.mark.parametrize("full_graph", [True, False])
def test_one_list_given_twice(full_graph):
    def f(xs, ys):
        ys.append(xs[0] * 2)
        return len(xs), xs is ys

    static = paddle.jit.to_static(f, full_graph=full_graph)
    for _ in range(3):
        xs, ys = [paddle.ones([2])], [paddle.ones([2])]
        assert static(xs, xs) == (2, True)
        assert static(ys, [*ys]) == (1, False)
        assert (len(xs), len(ys)) == (2, 1)


def test_the_state_of_random_numbers_is_set_at_each_call():
    def f(x):
        paddle.seed(7)
        first = paddle.rand([2]) * x
        state = paddle.get_rng_state()
        second = paddle.rand([2])
        paddle.set_rng_state(state)
        return first, second - paddle.rand([2])

    x = paddle.ones([2])
    wanted = [t.tolist() for t in f(x)]
    static = paddle.jit.to_static(f)
    for _ in range(5):
        assert [t.tolist() for t in static(x)] == wanted
    with pytest.raises(UnsupportedError, match="state of the random numbers"):
        paddle.jit.to_static(f, full_graph=True)(x)


class Looks(paddle.nn.Layer):
    """A Layer of the user's that cannot be one program."""

    def forward(self, x):
        y = x * 2 + 1
        z = y - total_of(y)
        return z * z


def test_layers_inside_sequential_are_compiled_around_a_break():
    net = paddle.nn.Sequential(paddle.nn.Linear(2, 2), Looks(), paddle.nn.Sequential(Looks(), paddle.nn.ReLU()))
    x = paddle.ones([1, 2])
    wanted = net(x).tolist()

    def f(x):
        return net(x)

    static = paddle.jit.to_static(f)
    for _ in range(5):
        assert static(x).tolist() == wanted
    assert len(net[1].__dict__["_compiled_methods"][Looks.forward].split.code.segments) == 2


def changes_what_was_detached(x):
    y = x.detach()
    y[0] = 5.0
    return x * 2


def changes_a_view_made_before(x):
    row = x[0]
    print(float(row.numpy().sum()))
    row.add_(paddle.ones([2]))
    return x * 2


@pytest.mark.parametrize("f", [changes_what_was_detached, changes_a_view_made_before], ids=lambda f: f.__name__)
def test_segments_share_memory_as_eager_code_does(f):
    static = paddle.jit.to_static(f)
    for _ in range(4):
        eager, other = paddle.ones([2, 2]), paddle.ones([2, 2])
        assert f(eager).tolist() == static(other).tolist() and eager.tolist() == other.tolist()


def changed_without_gradient(x):
    with paddle.no_grad():
        x.add_(paddle.ones([3]))
    return (x * x).sum()


def content_given(x):
    x.set_value(paddle.ones([3]) * 3)
    return (x * x).sum()


@pytest.mark.parametrize("f", [changed_without_gradient, content_given], ids=lambda f: f.__name__)
def test_a_leaf_changed_without_gradient_still_gets_one(f):
    for static in (paddle.jit.to_static(f), paddle.jit.to_static(f, full_graph=True)):
        for _ in range(4):
            assert outcome(static, INPUTS[0]) == outcome(f, INPUTS[0])
        assert static.cache_info().misses == 1


def test_a_segment_does_not_go_on_with_a_generator_that_it_was_given():
    @paddle.jit.to_static
    def f(x):
        def steps():
            got = yield 1
            while got is not None:
                got = yield (got * 2 if x.sum() > 0 else got - 1)
            return "end"

        items = steps()
        next(items)
        found = [items.send(x), items.send(x + 1)]
        try:
            items.send(None)
        except StopIteration as err:
            found.append(err.value)
        return found

    x = paddle.to_tensor([1.0])
    assert [f(x)[2] for _ in range(3)] == ["end"] * 3


def dtype_by_path(x):
    y = x.astype("int64") if x[0] > 0 else x
    return y.dtype == paddle.int64, y * 2, str(y.dtype)


def dtype_by_path_returned(x):
    return (x.astype("int64") if x[0] > 0 else x) * 2 + 1


@pytest.mark.parametrize("function", [dtype_by_path, dtype_by_path_returned])
def test_a_dtype_that_a_path_chose_is_that_of_the_path(function):
    static = paddle.jit.to_static(function)
    for row in ([1.0, 2.5], [-1.0, 2.5], [1.0, 2.5], [-1.0, 2.5]):
        x = paddle.to_tensor(row)
        assert str(static(x)) == str(function(x))
