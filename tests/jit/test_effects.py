"""What a function does to Python objects happens at every call, and what it read of them is looked at again."""

from __future__ import annotations

import contextlib
import logging
import sys
import time
from collections import defaultdict, deque
from dataclasses import dataclass

import numpy as np
import pytest

import vitrify as paddle
from vitrify.core.errors import UnsupportedError

from .models import counted


class Box:
    """Holds whatever it is given."""

    def __init__(self, **held):
        self.__dict__.update(held)


class Only:
    """There is one object of it, which its first call makes."""

    made = None

    def __new__(cls):
        if cls.made is None:
            cls.made = super().__new__(cls)
            cls.made.calls = 0
        return cls.made


@dataclass
class Pair:
    """Two values."""

    a: object
    b: object


SCALE = 2.0
LOG = []


def ones(n=2):
    return paddle.ones([n])


def thrice(f, *args):
    return [np.asarray(f(*args)).tolist() for _ in range(3)]


def test_an_attribute_that_grows():
    box = Box(h=paddle.zeros([2]))

    def f(x):
        box.h = box.h + x
        return box.h * 2

    static, runs = counted(f)
    assert thrice(static, ones()) == [[2, 2], [4, 4], [6, 6]]
    assert box.h.tolist() == [3, 3] and len(runs) == 1


def test_gradients_flow_through_an_attribute():
    box = Box(h=paddle.zeros([2]))

    def f(x):
        box.h = box.h * 0.5 + x
        return box.h

    static, _ = counted(f)
    x = paddle.ones([2])
    x.stop_gradient = False
    for _ in range(3):
        out = static(x)
    out.sum().backward()
    assert x.grad.tolist() == [1.75, 1.75]


def test_a_number_that_counts_calls():
    box = Box(n=0)

    def f(x):
        box.n += 1
        return x * box.n

    assert thrice(paddle.jit.to_static(f), ones(1)) == [[1], [2], [3]]
    assert box.n == 3


@pytest.mark.parametrize("full_graph", [True, False])
def test_a_constructor_that_gives_an_object_from_before(full_graph, monkeypatch):
    monkeypatch.setattr(Only, "made", None)

    def f(x):
        only = Only()
        only.calls += 1
        return x * only.calls

    static = paddle.jit.to_static(f, full_graph=full_graph)
    assert [float(static(ones(1))) for _ in range(4)] == [1, 2, 3, 4] and Only.made.calls == 4


def test_a_new_attribute_and_a_deleted_one():
    box = Box(old=1)

    def f(x):
        box.new = x * 2
        if hasattr(box, "old"):
            del box.old
        return x

    static = paddle.jit.to_static(f)
    static(ones())
    assert box.new.tolist() == [2, 2] and not hasattr(box, "old")
    static(ones() * 2)
    assert box.new.tolist() == [4, 4]


@pytest.mark.parametrize("held", [[], deque(), {}], ids=["list", "deque", "dict"])
def test_containers_given_as_arguments(held):
    def f(x, c):
        if isinstance(c, dict):
            c["y"] = x * 2
        else:
            c.append(x * 2)
        return x

    static = paddle.jit.to_static(f)
    for _ in range(2):
        given = type(held)()
        static(ones(), given)
        (value,) = given.values() if isinstance(given, dict) else given
        assert value.tolist() == [2, 2]


def test_nested_containers_and_dataclasses_given_as_arguments():
    def f(x, state):
        state["pair"].a = x + 1
        state["items"][1] = x - 1
        return state["pair"].b * x

    static = paddle.jit.to_static(f)
    for _ in range(2):
        pair, items = Pair(None, ones()), [0, 0]
        static(ones(), {"pair": pair, "items": items})
        assert pair.a.tolist() == [2, 2] and items[1].tolist() == [0, 0]


def test_a_list_of_an_object_given_as_argument_grows():
    def f(x, pair):
        pair.b.append(x + 1)
        return pair.a * x

    static = paddle.jit.to_static(f, full_graph=True)
    for start in ([], [3.0], [1, 2]):
        for _ in range(2):
            pair = Pair(ones(), list(start))
            static(ones(), pair)
            assert len(pair.b) == len(start) + 1 and pair.b[-1].tolist() == [2, 2]


def test_a_list_that_only_grows_needs_one_program():
    box = Box(history=[], by_name=defaultdict(list))

    def f(x):
        box.history.append(x * 2)
        LOG.append(x.sum())
        return x

    LOG.clear()
    static, runs = counted(f)
    for i in range(4):
        static(ones() * i)
    assert [h.tolist() for h in box.history] == [[2 * i, 2 * i] for i in range(4)]
    assert [float(v) for v in LOG] == [0, 2, 4, 6] and len(runs) == 1


def test_a_list_whose_content_is_read():
    box = Box(items=[1.0, 2.0])

    def f(x):
        total = x
        for item in box.items:
            total = total + item
        return total

    static = paddle.jit.to_static(f)
    assert static(ones(1)).tolist() == [4]
    box.items.append(3.0)
    assert static(ones(1)).tolist() == [7]
    box.items[0] = 10.0
    assert static(ones(1)).tolist() == [16]


def test_globals_and_closures_are_read_anew():
    global SCALE  # noqa: PLW0603 - what is tested
    offset = 1.0

    def f(x):
        return x * SCALE + offset

    static = paddle.jit.to_static(f)
    assert static(ones(1)).tolist() == [3]
    SCALE, offset = 5.0, 2.0
    assert static(ones(1)).tolist() == [7]
    SCALE = 2.0


def test_a_function_that_is_exchanged():
    box = Box(act=paddle.nn.functional.relu)

    def f(x):
        return box.act(x)

    static = paddle.jit.to_static(f)
    assert static(-ones(1)).tolist() == [0]
    box.act = lambda x: x * 3
    assert static(-ones(1)).tolist() == [-3]


def test_a_tensor_that_is_exchanged_needs_no_new_program():
    box = Box(w=ones())
    static, runs = counted(lambda x: x * box.w)
    static(ones())
    box.w = ones() * 7
    assert static(ones()).tolist() == [7, 7] and len(runs) == 1
    box.w = paddle.ones([3, 2])
    assert static(ones()).shape == [3, 2] and len(runs) == 2


def test_two_names_of_one_tensor():
    shared = ones()
    box = Box(a=shared, b=shared)
    static = paddle.jit.to_static(lambda x: x * box.a + box.b)
    assert static(ones(2)).tolist() == [2, 2]
    box.b = ones() * 5
    assert static(ones(2)).tolist() == [6, 6]


def test_nonlocal_and_global_variables():
    global SCALE  # noqa: PLW0603 - what is tested
    calls = 0
    last = None

    def f(x):
        nonlocal calls, last
        global SCALE  # noqa: PLW0603 - what is tested
        calls += 1
        last = x * calls
        SCALE = SCALE + 1
        return last

    SCALE = 2.0
    static = paddle.jit.to_static(f)
    for _ in range(3):
        static(ones(1))
    assert calls == 3 and last.tolist() == [3] and SCALE == 5.0
    SCALE = 2.0


def test_objects_made_inside_are_new_every_time():
    def f(x):
        box = Box(h=x * 2)
        box.n = 3
        return box, {"a": [x + 1]}

    static = paddle.jit.to_static(f)
    first, second = static(ones()), static(ones() * 2)
    assert first[0] is not second[0] and type(first[0]) is Box
    assert (first[0].h.tolist(), second[0].h.tolist(), second[0].n) == ([2, 2], [4, 4], 3)


class Counter(paddle.nn.Layer):
    """Counts its calls in a buffer and keeps the last output in another."""

    def __init__(self):
        super().__init__()
        self.register_buffer("last", paddle.zeros([2]))
        self.calls = 0

    def forward(self, x):
        before = self.last
        self.last = x * 2
        self.calls += 1
        return before + self.last * 0


def test_buffers_are_exchanged_not_overwritten():
    layer = Counter()
    static = paddle.jit.to_static(layer)
    first = layer.last
    outs = [static(ones() * i).tolist() for i in (1, 2, 3)]
    assert outs == [[0, 0], [2, 2], [4, 4]]
    assert first.tolist() == [0, 0] and layer.last.tolist() == [6, 6] and layer.calls == 3
    assert layer.state_dict()["last"].tolist() == [6, 6]


def test_a_buffer_set_from_outside_is_seen_without_a_new_program():
    class Shift(paddle.nn.Layer):
        def __init__(self):
            super().__init__()
            self.register_buffer("by", paddle.zeros([2]))

        def forward(self, x):
            return x + self.by

    layer = Shift()
    static = paddle.jit.to_static(layer)
    static(ones())
    layer.by = ones() * 4
    assert static(ones()).tolist() == [5, 5]
    assert len(layer.forward.program_cache) == 1


def test_a_failed_trace_leaves_nothing_behind():
    box = Box(h=1, items=[])

    def f(x):
        box.h = x
        box.items.append(x)
        return time.time()

    static = paddle.jit.to_static(f, full_graph=True)
    with pytest.raises(UnsupportedError):
        static(ones())
    assert box.h == 1 and box.items == []


def test_an_exception_of_the_users_leaves_what_was_changed_before():
    def f(x, box):
        box.h = paddle.rand([2])
        box.items.append(x)
        print("drawn", file=sys.stderr)
        if x.sum() > 0:
            raise KeyError("no")

    def run(fn, box):
        paddle.seed(3)
        for sign in (-1, 1, 1):
            with contextlib.suppress(KeyError):
                fn(ones() * sign, box)
        return box.h.tolist(), len(box.items), paddle.rand([1]).item()

    for full_graph in (True, False):
        static = paddle.jit.to_static(f, full_graph=full_graph)
        assert run(static, Box(h=None, items=[])) == run(f, Box(h=None, items=[]))


def test_what_was_printed_before_an_exception_is_printed_once(capsys):
    def f(x, box):
        print("first")
        box.h = x
        assert x.sum() < 0
        print("second")

    static = paddle.jit.to_static(f)
    for _ in range(3):
        with pytest.raises(AssertionError):
            static(ones(), Box(h=None))
    assert capsys.readouterr().out == "first\n" * 3


@pytest.mark.parametrize("full_graph", [True, False])
def test_an_exception_after_a_change_and_a_log_record_comes_once_with_both(full_graph, caplog):
    def f(x, box):
        box.h = x
        logging.getLogger(__name__).warning("now")
        if x.sum() > 0:
            raise ValueError("bad")
        return x

    static = paddle.jit.to_static(f, full_graph=full_graph)
    for count in (1, 2, 3):
        x, box = ones(), Box(h=None)
        with pytest.raises(ValueError, match="bad"):
            static(x, box)
        assert box.h is x and [record.message for record in caplog.records] == ["now"] * count


def test_an_attribute_set_on_one_path_only():
    def run(fn, box):
        return [fn(x, box) for x in (ones(), -ones(), ones() * 3)]

    def f(x, box):
        if x.sum() > 0:
            box.h = x * 2
        return x

    boxes = Box(h=None), Box(h=None)
    boxes[0].h = boxes[1].h = ones(2)
    run(f, boxes[0])
    run(paddle.jit.to_static(f), boxes[1])
    assert boxes[0].h.tolist() == boxes[1].h.tolist() == [6, 6]


class Slotted:
    """Has a place for one value."""

    __slots__ = ("h",)


def on_a_path(put):
    """A function that calls `put` where a tensor says so."""

    def f(x):
        if x.sum() > 0:
            put()
        return x

    return f


def in_a_loop(put):
    """A function that calls `put` in a loop that a tensor stops."""

    def f(x):
        while x.sum() > 0:
            put()
            x = x - 3
        return x

    return f


PAIRS = [
    (1, 0),
    (0.5, 1.5),
    ("a", "b"),
    (None, 1),
    (True, False),
    ((1, 2), (3, 4)),
    (len, max),
    (None, ones()),
    (ones(), None),
]


@pytest.mark.parametrize("around", [on_a_path, in_a_loop])
@pytest.mark.parametrize(("old", "new"), PAIRS, ids=[f"{type(a).__name__}-{type(b).__name__}" for a, b in PAIRS])
@pytest.mark.parametrize(
    "made", [Box, Slotted, paddle.nn.Layer, lambda: type("Made", (), {})], ids=["object", "slots", "layer", "class"]
)
def test_what_one_path_sets_is_afterwards_what_it_was_on_others(made, old, new, around):
    box = made()
    box.h = old

    def put():
        box.h = new

    static = paddle.jit.to_static(around(put), full_graph=True)
    for x, expected in ((-ones(), old), (ones(), new), (-ones(), new), (ones(), new)):
        static(x)
        assert _told(box.h) == _told(expected)


def _told(value):
    return value.tolist() if isinstance(value, paddle.Tensor) else value


LAST = "none"


def test_a_global_variable_that_one_path_sets():
    def f(x):
        global LAST, LATE
        if x.sum() > 0:
            LAST, LATE = "positive", x * 2
        return x

    static = paddle.jit.to_static(f, full_graph=True)
    static(-ones())
    assert LAST == "none" and "LATE" not in globals()
    try:
        for x in (ones(), -ones()):
            static(x)
            assert LAST == "positive" and LATE.tolist() == [2, 2]
    finally:
        del globals()["LATE"]
    static(-ones())
    assert "LATE" not in globals()


def test_containers_hold_no_variables_of_the_program_where_one_path_sets_an_item():
    items = {"k": (1, 2)}

    def f(x):
        if x.sum() > 0:
            items["k"] = (3, 4)
        return x

    static = paddle.jit.to_static(f, full_graph=True)
    for x, expected in ((-ones(), (1, 2)), (ones(), (3, 4)), (-ones(), (3, 4))):
        static(x)
        assert items == {"k": expected}


def test_a_new_attribute_set_on_one_path_only():
    def f(x, box):
        if x.sum() > 0:
            box.h = x * 2
        return x

    box = Box()
    static = paddle.jit.to_static(f)
    static(-ones(), box)
    assert not hasattr(box, "h")
    static(ones(), box)
    assert box.h.tolist() == [2, 2]


def test_a_counter_becomes_an_input():
    box = Box(n=0, rate=0.5)

    def f(x):
        box.n += 1
        if box.n % 4 == 0:
            box.rate = box.rate * 0.5
        return x * box.n, box.n, x.astype("float16") * box.rate

    static, runs = counted(f)
    for i in range(1, 13):
        out, n, half = static(ones(1))
        rate = 0.5 ** (1 + i // 4)
        assert (out.tolist(), n, type(n), box.n) == ([i], i, int, i)
        assert half.dtype == paddle.float16 and half.tolist() == [rate] and box.rate == rate
    assert len(runs) <= 4


def test_a_counter_that_python_needs():
    box = Box(n=0, names=["a", "b", "c"])

    def f(x):
        name = box.names[box.n]
        box.n += 1
        return {name: x * 2}

    static = paddle.jit.to_static(f)
    assert [list(static(ones())) for _ in range(3)] == [["a"], ["b"], ["c"]]


def test_a_cache_that_grows_becomes_dynamic():
    box = Box(seen=paddle.zeros([0, 2]))

    def f(x):
        box.seen = paddle.concat([box.seen, x.reshape([1, 2])])
        return box.seen.sum()

    static, runs = counted(f)
    assert [float(static(ones())) for _ in range(6)] == [2, 4, 6, 8, 10, 12]
    assert box.seen.shape == [6, 2] and len(runs) <= 3


def test_states_in_a_list_are_read_where_they_stand():
    box = Box(states=[paddle.zeros([2]), paddle.zeros([2])])

    def f(x):
        a, b = box.states
        box.states = [a + x, b * 2 + x]
        return a + b

    static, runs = counted(f)
    assert [static(ones()).tolist()[0] for _ in range(4)] == [0, 2, 5, 10]
    assert len(runs) == 1


def test_the_same_tensor_twice_and_views_of_one():
    def f(x, y):
        x.add_(ones())
        return x * y

    static = paddle.jit.to_static(f)
    for g in (f, static, static):
        a = paddle.ones([2])
        assert g(a, a).tolist() == [4, 4]
        rows = paddle.ones([2, 2])
        assert g(rows[0], rows[0]).tolist() == [4, 4] and rows.tolist() == [[2, 2], [1, 1]]
        assert g(paddle.ones([2]), paddle.ones([2])).tolist() == [2, 2]


def test_containers_returned_are_the_very_objects():
    box = Box(items=[1, 2], log=[])

    def f(xs, pair, d):
        xs.append(pair.a)
        box.log.append(xs[0])
        return xs, {"pair": pair, "d": (d, box.items, box.log)}

    static = paddle.jit.to_static(f)
    for _ in range(3):
        xs, pair, d = [ones()], Pair(ones() * 2, 3), {"k": ones()}
        first, rest = static(xs, pair, d)
        assert first is xs and rest["pair"] is pair and len(xs) == 2
        assert rest["d"][0] is d and rest["d"][1] is box.items and rest["d"][2] is box.log


def test_a_place_that_the_path_taken_leaves_alone_keeps_its_object():
    value = paddle.ones([2])
    box = Box(value=value)

    def f(x):
        if x.sum() > 0:
            box.value = x * 2
        return x

    static = paddle.jit.to_static(f)
    for _ in range(2):
        static(-ones())
        assert box.value is value
    static(ones())
    assert box.value.tolist() == [2, 2]


class Scaled(paddle.nn.Layer):
    """Multiplies by a plain attribute, and asks for its training flag without being called."""

    def __init__(self, by):
        super().__init__()
        self.by = by

    def forward(self, x):
        return x * self.by


def test_plain_attributes_of_layers_are_looked_at_when_one_is_set():
    layer = Scaled(2.0)
    static = paddle.jit.to_static(layer)
    assert static(ones()).tolist() == [2, 2]
    layer.by = 3.0
    assert static(ones()).tolist() == [3, 3]
    layer.__dict__["by"] = 3.0
    Scaled(1.0)  # sets attributes of its own
    assert static(ones()).tolist() == [3, 3] and len(layer.forward.program_cache) == 2


def test_the_training_flag_of_a_layer_that_is_only_looked_at():
    box = Box(layer=Scaled(1.0))

    def f(x):
        return x * 2 if box.layer.training else x

    static = paddle.jit.to_static(f)
    assert static(ones()).tolist() == [2, 2]
    box.layer.eval()
    assert static(ones()).tolist() == [1, 1]


def test_a_container_in_several_places_is_one_object():
    box = Box(cache=None)

    def f(x):
        cache = {"k": x * 2}
        box.cache = cache
        pair = [cache, cache]
        return pair, cache, (pair, 1)

    static = paddle.jit.to_static(f)
    for _ in range(2):
        pair, cache, (again, _) = static(ones())
        assert pair[0] is pair[1] is cache is box.cache and again is pair
        assert cache["k"].tolist() == [2, 2]


def test_a_container_that_holds_itself():
    def f(x):
        items = [x * 2]
        items.append(items)
        return items

    static = paddle.jit.to_static(f)
    for _ in range(2):
        found = static(ones())
        assert found[1] is found and found[0].tolist() == [2, 2]
