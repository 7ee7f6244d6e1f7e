"""Python numbers that change from call to call: inputs of programs, which compute with them as Python does."""

import pytest

import vitrify as paddle
from tests.end_to_end.differential import compare, run, same
from vitrify.jit.program_builder import ProgramBuilder


class Counter:
    """Something with a number."""

    n = 0


def outcome(call):
    """What a call gives, or the class of its exception."""
    try:
        return call()
    except (ArithmeticError, LookupError) as err:
        return type(err)


@pytest.mark.parametrize(
    "f",
    [lambda n: 1 / n, lambda n: 7 // n, lambda n: 7 % n, lambda n: 2**n, lambda n: 7 / (n * 2), lambda n: divmod(9, n)],
    ids=["divide", "floor_divide", "mod", "pow", "divide_product", "divmod"],
)
@pytest.mark.parametrize("values", [(1, 2, 3, -3, 0, 5), (1.5, -2.5, 3.0, 0.0, 7.25)], ids=["ints", "floats"])
def test_numbers_of_the_state_compute_as_python_does(f, values):
    c = Counter()

    def call():
        return f(c.n)

    static = paddle.jit.to_static(call)
    for n in values:
        c.n = n
        assert repr(outcome(static)) == repr(outcome(call))


@pytest.mark.parametrize("f", [lambda n: 1 / n, lambda n: 7 // n, lambda n: 7 % n, lambda n: 0.5**n])
def test_numbers_of_tensors_compute_as_python_does(f):
    def call(x):
        return f(x.item())

    static = paddle.jit.to_static(call, full_graph=True)
    for n in (1, 2, 0, 3):
        x = paddle.to_tensor(n)
        assert repr(outcome(lambda: static(x))) == repr(outcome(lambda: call(x)))


@pytest.mark.parametrize(
    "f", [lambda n: 1 / n, lambda n: n / n, lambda n: 1.0 / n, lambda n: 7 % n, lambda n: divmod(7, n)]
)
def test_divisions_by_zero_say_what_python_says_of_their_kinds(f):
    def call(x):
        return f(int(x))

    with pytest.raises(ZeroDivisionError) as expected:
        call(paddle.to_tensor(0))
    with pytest.raises(ZeroDivisionError) as found:
        paddle.jit.to_static(call, full_graph=True)(paddle.to_tensor(0))
    assert str(found.value) == str(expected.value)


def test_a_handler_that_would_see_a_division_fail():
    def f(x):
        try:
            k = 1 / x.item()
        except ZeroDivisionError:
            k = -1.0
        return x * k

    for full_graph in (False, True):
        compare(f, (paddle.to_tensor(2.0),), (paddle.to_tensor(0.0),), full_graph=full_graph)


def test_large_ints_are_no_inputs():
    c = Counter()

    def f(x):
        c.n = c.n * c.n
        return x + (c.n % 7)

    static = paddle.jit.to_static(f)
    eager, compiled = [], []
    for seen, call in ((eager, f), (compiled, static)):
        c.n = 3
        for _ in range(7):
            seen.append((call(paddle.ones([1])).item(), c.n))
    assert eager == compiled


def test_a_dictionary_asked_for_a_number_that_changes():
    c = Counter()
    names = {0: 2.0, 1: 3.0, 2: 5.0}

    def f(x):
        return x * names[c.n]

    static = paddle.jit.to_static(f)
    for c.n in (0, 1, 2, 0, 1):
        assert static(paddle.ones([1])).item() == names[c.n]


# -- arguments of segments --------------------------------------------------------------------------------------------


def value_of(x):
    return float(x.numpy().sum())


def counts(x, n=5):
    total = 0.0
    for i in range(n):
        x = paddle.tanh(x * (i + 1) + 0.5) + x / (i + 2)
        total = total * 0.5 + 1.0
        k = value_of(x)
        x = x * (k / (abs(k) + 1)) - total
    return x, total, i, k


def uses_value(x, n=5):
    parts = [x, x * 2, x * 3]
    for i in range(n):
        x = x + parts[i % 3] * i
        k = value_of(x)
        x = x.reshape([-1, i % 2 + 1]) * k
        x = x.reshape([-1]) / (k * k + 1)
    return x


def decides(x, n=5):
    kept = []
    for i in range(n):
        x = x * 2 if i % 2 == 0 else x - i
        k = value_of(x)
        if k > 0:
            kept.append((i, k))
        x = x / (1 + abs(k)) * 10 ** (i - 2)
    return x, kept


@pytest.fixture
def traces(monkeypatch):
    counted = []
    trace = ProgramBuilder.trace

    def counting(self, *args, **kwargs):
        counted.append(self.eager.__name__)
        return trace(self, *args, **kwargs)

    monkeypatch.setattr(ProgramBuilder, "trace", counting)
    return counted


@pytest.mark.parametrize("f", [counts, uses_value, decides])
def test_loop_indices_and_values_of_tensors(f, traces):
    static = paddle.jit.to_static(f)
    for round_ in range(4):
        traces.clear()
        for start in ([1.0, -2.0], [0.5, 3.0]):
            x = paddle.to_tensor(start) + round_
            same(run(f, (x,)), run(static, (x,)))
    assert not traces or f is not counts


def test_one_program_serves_all_numbers(traces):
    static = paddle.jit.to_static(counts)
    for n in (5, 9, 14):
        for k in range(3):
            static(paddle.ones([2]) * k, n)
    assert len(traces) < 12
    segments = [static.split.segments[s.key] for s in static.split.code.segments]
    assert all(len(s.program_cache) <= 3 for s in segments)


def test_numbers_leave_a_segment_as_numbers():
    def f(x):
        n, t = 0, 1.5
        for i in range(4):
            n, t = n + i, t * 2
            x = x * n + t
            print(end="" if value_of(x) > 0 else " ")
            flag, pair = i > 1, (n, t)
        return x, n, t, flag, pair

    compare(f, (paddle.ones([2]),), (paddle.zeros([2]),), full_graph=False, strict=True, rounds=4)


@pytest.mark.parametrize(
    "ask",
    [
        float,
        int,
        complex,
        lambda x: x.item(),
        lambda x: [1, 2, 3][x],
        lambda x: sum(range(x)),
        lambda x: sum(range(0, 4, x)),
    ],
    ids=["float", "int", "complex", "item", "index", "range", "step"],
)
@pytest.mark.parametrize("value", [[1.0, 2.0], [], 2.0, [[1, 2], [3, 4]]], ids=["floats", "nothing", "float", "ints"])
@pytest.mark.parametrize("full_graph", [True, False])
def test_tensors_that_are_no_number_are_told_as_in_eager_mode(ask, value, full_graph):
    def call(x):
        return ask(x) * (x + 1)

    x = paddle.to_tensor(value)

    def told(function):
        try:
            function(x)
        except (ValueError, TypeError) as err:
            return type(err), str(err).partition("\n")[0]
        return None

    assert told(paddle.jit.to_static(call, full_graph=full_graph)) == told(call)


@pytest.mark.parametrize(
    "ask",
    [
        lambda x: 1 in x,
        lambda x: 5 not in x,
        lambda x: x.sum() in [1, 2, 3.0],
        lambda x: [1 in x, {"a": 7 in x}],
        lambda x: isinstance(1 in x, bool),
        lambda x: (1 in x) + 1,
        lambda x: (5 if 1 in x else 6, "in" if 9 in x else "out"),
    ],
)
@pytest.mark.parametrize("full_graph", [True, False])
def test_whether_a_tensor_holds_a_value_is_a_bool_of_pythons(ask, full_graph):
    x = paddle.to_tensor([1, 2])
    static = paddle.jit.to_static(ask, full_graph=full_graph)
    assert repr(static(x)) == repr(static(x)) == repr(ask(x))


@pytest.mark.parametrize("value", [2.5, -2.5, [2.5], 3])
@pytest.mark.parametrize(
    "place", [lambda y: y > 0, lambda y: ..., lambda y: (), lambda y: None], ids=["mask", "all", "nothing", "new"]
)
def test_storing_into_a_tensor_without_dimensions_holds(value, place):
    def stored(x):
        y = x + 0  # a scalar of NumPy while the program runs
        y[place(y)] = y * 2 + 1
        return y

    x = paddle.to_tensor(value)
    assert paddle.jit.to_static(stored, full_graph=True)(x).tolist() == stored(x).tolist()


@pytest.mark.parametrize(
    "ask",
    [
        lambda x, n: x.reshape(n),
        lambda x, n: paddle.ones(n) + x,
        lambda x, n: paddle.tile(x, n),
        lambda x, n: x.expand(n),
        lambda x, n: paddle.sum(x.tile([2, 3]), n),
        lambda x, n: paddle.squeeze(x.tile([1, 3]), n),
    ],
    ids=["reshape", "ones", "tile", "expand", "sum", "squeeze"],
)
def test_a_tensor_without_elements_is_an_empty_shape_or_no_axes(ask):
    x, n = paddle.to_tensor(2.0), paddle.to_tensor([], dtype="int64")
    assert paddle.jit.to_static(ask, full_graph=True)(x, n).tolist() == ask(x, n).tolist()


@pytest.mark.parametrize(
    "ask",
    [
        lambda x: x + None,
        lambda x: x < None,
        lambda x: iter(x),
        lambda x: next(iter(x)),
        lambda x: x.reshape([x.flatten().tile([2]).astype("int32"), -1]),
        lambda x: paddle.ones(paddle.ones([2, 2], "int32") * x.astype("int32")),
        lambda x: paddle.unsqueeze(x, x),
        lambda x: x.__delitem__(0),
    ],
    ids=["sum", "comparison", "iter", "next", "item of a shape", "shape", "axis", "del"],
)
def test_what_is_no_operand_is_an_error_of_the_same_kind(ask):
    def kinds(function):
        with pytest.raises(Exception) as found:
            function(paddle.to_tensor(2.0))
        return [k for k in (TypeError, ValueError, AttributeError) if isinstance(found.value, k)]

    assert kinds(paddle.jit.to_static(ask, full_graph=True)) == kinds(ask)
