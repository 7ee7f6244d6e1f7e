"""A tensor that a loop or a recursive function hands on is the object that it is, behind the call and inside."""

import pytest

import vitrify as paddle

from .test_handed import of_one_object

MODES = [True, False]
TURNS = [0.0, 1.0, 2.0, 3.0, 7.0]


def left_at_a_path(x, y, n):
    while True:
        n = n - 1
        if n < 1:
            return x
        if n < 3:
            return y
        if n < 5:
            return x * n, y


def the_best(x, y, n):
    best = x
    while n > 0:
        candidate = y if n > 2 else x
        best = candidate if n < 2 or n > 3 else best
        n = n - 1
    return best


def none_so_far(x, y, n):
    best = None
    while n > 0:
        candidate = x if n > 3 else y
        best = candidate if best is None or n < 2 else best
        n = n - 1
    return best


def exchanged(x, y, n):
    while n > 0:
        x, y = y, x
        n = n - 1
    return x, y, [y, x]


def made_before(x, y, n):
    first, second = x * 2, y * 3
    found = first
    while n > 0:
        if n < 2:
            found = second
        elif n > 3:
            found = first * n
        n = n - 1
    return first, second, found


def in_two_loops(x, y, n):
    kept = x
    while n > 0:
        turn = n * 1
        while turn > 1:
            kept = y if turn < 3 else kept
            turn = turn - 2
        n = n - 1
    return kept, y


def of_one_iteration(x, y, n):
    first, second = x, y
    while n > 0:
        first = x * n
        second = first
        n = n - 1
    return first, second


def one_of_two_on_a_path(x, y, n):
    if n > 1:
        first = x * 2
        second = first
    else:
        first, second = x * 3, y * 3
    return first, second


def the_argument(x, y, n):
    if n <= 0:
        return x
    if n > 5:
        return x * n
    return the_argument(y, x, n - 1)


def pair_of_arguments(x, y, n):
    if n <= 0:
        return x, y, x
    first, second, _ = pair_of_arguments(y, x, n - 1)
    return first, x if n > 2 else second, first


def given(full_graph, fn):
    static = paddle.jit.to_static(fn, full_graph=full_graph)
    for turns in TURNS * 2:
        for call in (fn, static):
            x, y = (paddle.to_tensor(values, stop_gradient=False) for values in ([1.0, 2.0], [3.0, 5.0]))
            n = paddle.to_tensor(turns)
            yield call, (x, y, n)


@pytest.mark.parametrize("full_graph", MODES)
@pytest.mark.parametrize(
    "fn",
    [
        left_at_a_path, the_best, none_so_far, exchanged, made_before, in_two_loops, of_one_iteration,
        one_of_two_on_a_path, the_argument, pair_of_arguments,
    ],
    ids=lambda fn: fn.__name__,
)  # fmt: skip
def test_what_comes_back_is_the_tensor_that_went_in(fn, full_graph):
    found = []
    for call, (x, y, n) in given(full_graph, fn):
        result = call(x, y, n)
        tensors = [t for t in result if isinstance(t, paddle.Tensor)] if isinstance(result, tuple) else [result]
        for tensor in tensors:
            if tensor is not None:
                (tensor * tensor).sum().backward(retain_graph=True)
        grads = [None if t.grad is None else t.grad.tolist() for t in (x, y)]
        found.append((of_one_object([result, y], x), grads))
    assert found[::2] == found[1::2]


@pytest.mark.parametrize("full_graph", MODES)
@pytest.mark.parametrize("pick", [the_best, made_before, one_of_two_on_a_path, the_argument])
def test_what_is_changed_inside_is_that_tensor(pick, full_graph):
    def changed(x, y, n):
        x, y = x * 1, y * 1
        found = pick(x, y, n)
        found = found[-1] if isinstance(found, tuple) else found
        found.add_(paddle.ones([2]))
        return x, y, found, found is x, found is y

    found = []
    for call, arguments in given(full_graph, changed):
        x, y, last, *same = call(*arguments)
        found.append((x.tolist(), y.tolist(), last.tolist(), same, of_one_object([y, last], x)))
    assert found[::2] == found[1::2]


class Weights(paddle.nn.Layer):
    def __init__(self):
        super().__init__()
        constant = paddle.nn.initializer.Constant
        self.first = self.create_parameter([2], default_initializer=constant(1.5))
        self.second = self.create_parameter([2], default_initializer=constant(2.5))
        self.last = None

    def forward(self, x):
        while True:
            x = x * 0.5
            if x.sum() < 1:
                return self.first
            if x.sum() < 2:
                return self.second

    def kept(self, x):
        y = x
        while y.sum() > 1:
            self.last = x if y.sum() > 4 else self.last
            y = y * 0.5
        return y


@pytest.mark.parametrize("full_graph", MODES)
def test_a_parameter_that_a_loop_gives_is_the_parameter(full_graph):
    layer = Weights()
    static = paddle.jit.to_static(layer.forward, full_graph=full_graph)
    for values, parameter in [([10.0, 3.0], layer.second), ([1.0, 0.5], layer.first)] * 3:
        found = static(paddle.to_tensor(values))
        assert found is parameter
        found.sum().backward()
        assert parameter.grad.tolist() == [1.0, 1.0]
        parameter.clear_gradient()


@pytest.mark.parametrize("full_graph", MODES)
def test_an_attribute_that_a_loop_assigns_is_the_argument(full_graph):
    layer = Weights()
    static = paddle.jit.to_static(layer.kept, full_graph=full_graph)
    known = layer.last
    for values in [[0.5, 0.0], [10.0, 3.0], [0.7, 0.1], [2.0, 1.0], [5.0, 1.0]] * 2:
        x = paddle.to_tensor(values)
        static(x)
        known = x if sum(values) > 4 else known
        assert layer.last is known


def again(v, depth=3):
    return v if v.abs().sum() < 0.5 else again(v * 0.4, depth - 1)


class Settling(paddle.nn.Layer):
    def __init__(self):
        super().__init__()
        self.register_buffer("held", paddle.to_tensor([1.0, 2.0]))

    def forward(self, x):
        v = self.held
        for _ in range(6):
            u = v - v.sin() * 0.9
            if (u - v).abs().max() < 0.2:
                break
            v = u
        else:
            v = v * 0.5
        self.held[self.held > 1] = x.sum()
        return again(v)


@pytest.mark.parametrize("full_graph", MODES)
def test_what_a_loop_gives_shows_a_later_change_where_a_recursive_function_takes_it(full_graph):
    eager, layer = Settling(), Settling()
    static = paddle.jit.to_static(layer.forward, full_graph=full_graph)
    for values in [[7.0, 1.0], [0.01, 0.02], [0.0, 0.1]]:
        x = paddle.to_tensor(values)
        assert static(x).tolist() == pytest.approx(eager(x).tolist(), abs=1e-6)
        assert layer.held.tolist() == eager.held.tolist()


def asked_in_a_loop(x, y, n):
    best, count = x, 0.0
    while n > 0:
        count = count + 1 if best is x else count + 10
        best = y if n < 3 else x
        n = n - 1
    return best, count + n


@pytest.mark.parametrize("full_graph", MODES)
def test_which_object_a_loop_variable_is_then_is_known_inside(full_graph):
    found = [call(*arguments)[1].item() for call, arguments in given(full_graph, asked_in_a_loop)]
    assert found[::2] == found[1::2]


def asked_behind_a_loop(x, v, n):
    for _ in range(n):
        x = v
    turns = 0
    while x is v and turns < 2:
        turns += 1
        x = x + 1
    return x, v


def exchanged_and_asked(x, v, n):
    for _ in range(n):
        x, v = v, v
    if x is v:
        x = x + 1
    return x, v


@pytest.mark.parametrize("full_graph", MODES)
@pytest.mark.parametrize("function", [asked_behind_a_loop, exchanged_and_asked])
def test_what_a_loop_before_gave_is_not_taken_for_another_object(function, full_graph):
    static = paddle.jit.to_static(function, full_graph=full_graph)
    for n in (2, 0, 1):
        given = [paddle.to_tensor([1.0, -2.0]), paddle.to_tensor([3.0, 4.0]), paddle.to_tensor(n)]
        assert [t.tolist() for t in static(*given)] == [t.tolist() for t in function(*given)]
