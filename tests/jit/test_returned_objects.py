"""What a function gives back is the caller's tensor itself on the paths where it is that in eager code."""

from collections import namedtuple
from dataclasses import dataclass

import pytest

import vitrify as paddle

W = paddle.to_tensor([5.0, 6.0], stop_gradient=False)
Twins = namedtuple("Twins", "a b")


def replaced_on_one_path(x, c):
    y = x
    if c.sum() > 0:
        y = x * 2
    return y


def captured_or_given(x, c):
    return x if c.sum() > 0 else W


def loop_that_may_not_run(x, c):
    y = x
    while c.sum() > 0:
        y, c = y * 2, c - 1
    return y


def three_paths(x, c):
    if c.sum() > 0:
        if c.sum() > 1:
            return x
        return x + 1
    return c


def changed_in_place(x, c):
    y = x
    if c.sum() > 0:
        y = x * 2
    y.add_(paddle.ones([2]))
    return [y, x]


def exchanged(x, c):
    a, b = (x, c) if c.sum() > 0 else (c, x)
    return {"a": a, "b": b}


def the_same_whatever_branch_ran(x, c):
    """Both inner branches leave `xs` what it was or turned round: a way that is taken on every path of a branch."""
    xs = [x, c]
    for _ in range(2):
        for _ in range(3):
            if c.sum() > 0:
                xs.reverse()
            else:
                return [xs[0], xs[1]]
    return xs


def a_list_of_a_class(x, c):
    class Held:
        items = [x]

    Held.items.append(c)
    return Held.items


def a_dict_of_a_class(x, c):
    class Held:
        class Inner:
            items = {"x": x, "c": c}

    return Held.Inner().items


def an_item_put_back(x, c):
    xs = [x, c]
    if c.sum() > 0:
        while c.sum() > 1:
            xs[0] = xs[0]
            c = c - 1
    return xs


class Holder:
    last = None


def kept(x, c):
    holder = Holder()
    holder.last = x if c.sum() > 0 else x * 2
    return holder


def found(f, value):
    """Which tensor each part of the result is, and what everything holds afterwards."""
    x, c = paddle.to_tensor([1.0, 2.0]), paddle.to_tensor([value, 0.5])
    result = f(x, c)
    result = result.last if isinstance(result, Holder) else result
    parts = list(result.values()) if isinstance(result, dict) else result if isinstance(result, list) else [result]
    names = {id(x): "x", id(c): "c", id(W): "W"}
    return [(names.get(id(part)), part.tolist()) for part in parts], x.tolist(), c.tolist()


FUNCTIONS = [
    replaced_on_one_path, captured_or_given, loop_that_may_not_run, three_paths, changed_in_place, exchanged, kept,
    the_same_whatever_branch_ran, an_item_put_back, a_list_of_a_class, a_dict_of_a_class,
]  # fmt: skip


@pytest.mark.parametrize("full_graph", [True, False])
@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_it_is_the_same_object(f, full_graph):
    static = paddle.jit.to_static(f, full_graph=full_graph)
    for value in (1.0, -1.0, 0.1, 1.0, -1.0):
        assert found(static, value) == found(f, value)


def test_is_behind_a_segment():
    def same(x, c):
        y = x
        if c.sum() > 0:
            y = x * 2
        return y is x

    static = paddle.jit.to_static(same)
    x = paddle.ones([2])
    for value in (1.0, -1.0, 1.0, -1.0):
        assert static(x, paddle.full([1], value)) is (value < 0)


def test_gradients_reach_the_tensor_itself():
    static = paddle.jit.to_static(replaced_on_one_path, full_graph=True)
    for value, expected in ((-1.0, [1.0, 1.0]), (1.0, [2.0, 2.0]), (-1.0, [1.0, 1.0])):
        x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
        static(x, paddle.full([1], value)).sum().backward()
        assert x.grad.tolist() == expected


def test_a_saved_program_gives_a_tensor(tmp_path):
    static = paddle.jit.to_static(replaced_on_one_path, full_graph=True)
    x, c = paddle.to_tensor([1.0, 2.0]), paddle.full([1], -1.0)
    static(x, c)
    spec = [paddle.static.InputSpec([2], "float32"), paddle.static.InputSpec([1], "float32")]
    paddle.jit.save(static, str(tmp_path / "model"), input_spec=spec)
    loaded = paddle.jit.load(str(tmp_path / "model"))
    assert loaded(x, c).tolist() == [1.0, 2.0]
    assert loaded(x, -c).tolist() == [2.0, 4.0]


def test_tensors_exchanged_many_times():
    """Each exchange depends on the one before in two ways: the flags of all together are not computed path by path."""

    def exchanged_often(x, c):
        for i in range(40):
            if c.sum() > i:
                x, c = c, x
        return x, c

    static = paddle.jit.to_static(exchanged_often, full_graph=True)
    x, c = paddle.to_tensor([3.0, 2.0]), paddle.to_tensor([4.5, 2.0])
    assert [id(t) for t in static(x, c)] == [id(t) for t in exchanged_often(x, c)]
    assert len(static.concrete_program.main_program.global_block().ops) < 2000


@dataclass
class State:
    n: int


@pytest.mark.parametrize("full_graph", [True, False])
def test_an_object_that_a_loop_gives_back_on_one_path(full_graph):
    """It is met once for each turn after which the loop may have ended, and None otherwise."""

    def first_positive(x):
        for v in x:
            if v > 0:
                return State(5)

    static = paddle.jit.to_static(first_positive, full_graph=full_graph)
    for values in ([-1.0, 2.0], [-1.0, -2.0], [1.0, 2.0], [-1.0, 2.0]):
        assert static(paddle.to_tensor(values)) == first_positive(paddle.to_tensor(values))


class Stop(Exception):
    def __init__(self, v):
        super().__init__("stop")
        self.v = v


def with_attributes(x):
    return Stop(x * 2)


def with_arguments(x):
    return ValueError("bad", x * 2)


def of_a_path(x):
    err = None
    if x.sum() > 0:
        err = Stop(x * 2)
    return err


@pytest.mark.parametrize("function", [with_attributes, with_arguments, of_a_path])
def test_exceptions_hold_what_the_call_computed(function):
    static = paddle.jit.to_static(function, full_graph=True)
    for data in [1.0, 2.0], [3.0, 4.0], [-1.0, -2.0]:
        x = paddle.to_tensor(data)
        found, expected = static(x), function(x)
        assert type(found) is type(expected)
        if expected is not None:
            held = [[str(part) for part in (*err.args, *vars(err).values())] for err in (found, expected)]
            assert held[0] == held[1]


class Slotted:
    __slots__ = ("x",)

    def __init__(self, x):
        self.x = x


@pytest.mark.parametrize("kind", [Slotted, object])
def test_an_object_made_inside_that_stands_twice_is_one_object(kind):
    @paddle.jit.to_static(full_graph=True)
    def f(x):
        made = kind() if kind is object else kind(x)
        return [made, made, x]

    for _ in range(2):
        first, second, _ = f(W)
        assert first is second
        assert isinstance(first, kind)


class Knot:
    def __init__(self, v):
        self.v, self.next = v, None


class SlottedKnot:
    __slots__ = ("next", "v")

    def __init__(self, v):
        self.v, self.next = v, None


@dataclass
class Shown:
    v: object = None
    next: object = None


KNOTS = {Knot: Knot(None), SlottedKnot: SlottedKnot(None), Shown: Shown()}


def of_an_argument(x, o):
    o.v = x * 2
    return o, {"again": [o]}


def of_an_item(x, o):
    o.next = Knot(x)
    o.next.next = KNOTS[type(o)]
    o.next.next.v = o.next.v * 2
    return o.next.next, [o.next]


def of_a_global(x, o):
    held = KNOTS[type(o)]
    held.v = x if x.sum() > 0 else -x
    return held, KNOTS


def one_of_two(x, o):
    held = KNOTS[type(o)] if x.sum() > 0 else o
    held.v = x * 3
    return held, o


CASES = [(function, kind) for function in (of_an_argument, of_an_item, of_a_global) for kind in KNOTS]


@pytest.mark.parametrize("full_graph", [True, False])
@pytest.mark.parametrize(("function", "kind"), [*CASES, (one_of_two, Knot)])
def test_objects_that_were_there_before_stay_what_they_are(function, kind, full_graph):
    static = paddle.jit.to_static(function, full_graph=full_graph)
    for data in [1.0, 2.0], [-3.0, 1.0], [1.0, 2.0]:
        x, o = paddle.to_tensor(data), kind(paddle.to_tensor([0.0, 0.0]))
        expected, held = function(x, o)
        wanted = [expected is o, expected is KNOTS[kind], expected.v.tolist(), type(held)]
        given, held = static(x, o)
        assert [given is o, given is KNOTS[kind], given.v.tolist(), type(held)] == wanted
        if function is of_an_argument:
            assert held["again"][0] is o


@pytest.mark.parametrize("made", [lambda x: (x, 1), lambda x: Twins(x, x * 2), lambda x: x.shape, lambda x: (x, [x])])
def test_a_tuple_that_stands_twice_is_one_tuple(made):
    @paddle.jit.to_static(full_graph=True)
    def f(x):
        held = made(x)
        return held, {"again": held}, [x, held]

    for _ in range(2):
        first, again, (_, last) = f(W)
        assert first is again["again"]
        assert first is last


class DerivedKnot(Knot):
    pass


def test_objects_of_a_class_and_of_one_derived_from_it():
    static = paddle.jit.to_static(lambda x: DerivedKnot(x) if x.sum() > 0 else Knot(x * 2), full_graph=True)
    for data, kind in ([1.0, 2.0], DerivedKnot), ([-1.0, -2.0], Knot), ([3.0, 2.0], DerivedKnot):
        found = static(paddle.to_tensor(data))
        assert type(found) is kind
        assert found.v.tolist() == [v * (1 if kind is DerivedKnot else 2) for v in data]
