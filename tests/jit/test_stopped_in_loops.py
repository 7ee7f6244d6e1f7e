"""Whether what a compiled function gives wants a gradient, where loops decide it: as the turns taken left it."""

import pytest

import vitrify as paddle
from vitrify.core.errors import UnsupportedError


def decided_in_each_turn(x, n):
    y = x * 2
    for i in range(n):
        if x[0] > i:
            y = y.detach()
        else:
            y = y + x
    return y, y * 2


def decided_by_what_it_computes(x, n):
    y = x * 2
    while y.abs().sum() < 20:
        if y[0] > 5:
            y = (y * 2).detach()
        else:
            y = y + 1 + y * 1.5 + n
    return y, y + 1, y + x


def exchanged_until_a_break(x, n):
    y, z = x.detach() * 2, x * 3
    i = 0
    while i < n:
        if y.sum() > 5:
            break
        y, z = z, y
        i += 1
    else:
        y = y * z.detach()
    return y, z


def exchanged_in_two_loops(x, n):
    y, z = x * 2, x.detach() * 1
    for i in range(n):
        for j in range(i):
            if y.sum() > j + 2:
                continue
            y, z = z, y
        if z.sum() > 50:
            break
    return [y * 1, z * 1]


def decided_in_front_of_a_loop(x, n):
    y = x * 2
    if x[0] > 0:
        y = y.detach()
    for _ in range(n):
        y = y * 2
    return y


def decided_in_front_and_within(x, n):
    y = x * 2
    if x[0] > 0:
        y = y.detach()
    for i in range(n):
        if i == 1:
            y = y + x
        if i == 2:
            y = y.detach() if x[1] > 0 else y
        y = y * 2
    if x[1] < 0:
        y = y * 1
    return y


def told_to_stop(x, n):
    y = x * 2
    for i in range(n):
        y = y * 2
        if i == 1:
            z = y * 1
            z.stop_gradient = True
            y = z * 3
    return y


def key_set_behind_a_break(x, n):
    d = {"a": x * 1}
    for i in range(n):
        if x[1] > i + 1:
            break
        d["b"] = d["a"].detach()
        d["a"] = d["a"] + 1
    return d


def set_in_place(x, n):
    y = paddle.zeros([2])
    i = paddle.zeros([], "int64")
    while i < n:
        if x.sum() > 8:
            break
        y[0] = x[1] * 2
        y.add_(x)
        i += 1
    return y, y * 2


def set_in_place_behind_a_break(x, n):
    y = paddle.ones([2]) * 2
    for i in range(n):
        if x[0] > i:
            continue
        y[i % 2] = x[0]
        if y.sum() > 3:
            break
    else:
        y = y.detach()
    return y


def exchanged_without_gradient(x, n):
    y, x = (x * 3).detach(), x * 1
    with paddle.no_grad():
        i = 0
        while i < n:
            x, y = y, x
            i += 1
    return x, y, x * y


def returned_from_within(x, n):
    y = x * 2
    for _ in range(n):
        if x[0] < 0:
            return y.detach()
        y = y + x
        if y.sum() > 7:
            return y
    return x.detach() * 2


def in_a_loop_in_a_loop(x, n):
    y = x * 1
    while y.sum() < 30:
        w = x.detach() * 1
        while w.sum() < y.sum() + n:
            if w.sum() > 4:
                w = w + y
            w = w + 1
        y = w + 2
    return y


def beside_what_wants_one(x, n):
    y, z = paddle.zeros([2]), x * 1
    for _ in range(n):
        z = z * 2
        y = y + 1
    return y, z


def of_three_turns(x, n):
    a, b, c = x * 1, x.detach() * 2, x.detach() * 3
    for _ in range(n):
        a, b, c = b, c, a
    return a * 1, b * 1, c * 1


def in_a_branch(x, n):
    y = x * 2
    if x[0] > 0:
        for i in range(n):
            y = y.detach() if x[1] > i else y * 2
    return y


def kept_in_an_object(x, n):
    for i in range(n):
        if x[0] > i:
            Kept.value = Kept.value.detach()
        else:
            Kept.value = Kept.value * x
    return Kept.value * 3


class Kept:
    value = None


FUNCTIONS = [
    decided_in_each_turn, decided_by_what_it_computes, exchanged_until_a_break, exchanged_in_two_loops,
    decided_in_front_of_a_loop, decided_in_front_and_within, told_to_stop, key_set_behind_a_break, set_in_place,
    set_in_place_behind_a_break, exchanged_without_gradient, returned_from_within, in_a_loop_in_a_loop,
    beside_what_wants_one, of_three_turns, in_a_branch, kept_in_an_object,
]  # fmt: skip
ROWS = [[1.0, 2.0], [-1.0, -2.0], [2.5, -1.0], [0.2, 0.4]]
TURNS = [2, 0, 1, 3, 5, 2]


def outcome(function, row, turns, stop_gradient=False):
    """What a call gives, whether each tensor in it wants a gradient, and the gradient from each."""
    x = paddle.to_tensor(row, stop_gradient=stop_gradient)
    Kept.value = x * 1
    result = function(x, paddle.to_tensor(turns))
    found = []
    for tensor in [*paddle.utils.flatten(result), Kept.value]:
        x.clear_grad()
        if not tensor.stop_gradient:
            tensor.sum().backward(retain_graph=True)
        found.append((tensor.tolist(), tensor.stop_gradient, None if x.grad is None else x.grad.tolist()))
    return found


def terminates(function, row):
    return function is not in_a_loop_in_a_loop or sum(row) > 0


@pytest.mark.parametrize("full_graph", [True, False])
@pytest.mark.parametrize("function", FUNCTIONS)
def test_outputs_want_a_gradient_where_eager_ones_do(function, full_graph):
    static = paddle.jit.to_static(function, full_graph=full_graph)
    for turns in TURNS:
        for row in filter(lambda row: terminates(function, row), ROWS):
            assert outcome(static, row, turns) == outcome(function, row, turns), (row, turns)
    for turns in TURNS[:3]:
        expected = outcome(function, ROWS[0], turns, stop_gradient=True)
        assert outcome(static, ROWS[0], turns, stop_gradient=True) == expected


def leaf_of_nothing(x, n):
    y = x.detach() * n
    y.stop_gradient = False
    return y


def leaves_made_in_turns(x, n):
    y = x.detach() * 2
    for _ in range(n):
        y = y.detach()
        y.stop_gradient = False
    return y, y * 2


def leaves_made_and_used_in_turns(x, n):
    y = x.detach()
    y.stop_gradient = False
    for i in range(n):
        if x[0] > i:
            y = y.detach()
            y.stop_gradient = False
        y = y * x.detach()
    return y


def leaf_made_on_a_path(x, n):
    y = x.detach() * n
    if x[0] > 0:
        y = y.detach()
        y.stop_gradient = False
    return y, y * 2


def told_to_want_one_behind_a_decision(x, n):
    y = x * n
    if x[0] > 0:
        y = y.detach()
    y.stop_gradient = False
    return y, y * x.detach()


def told_to_want_one_in_turns(x, n):
    y = x * 2
    for i in range(n):
        y = y * x if x[0] > i else y.detach()
        y.stop_gradient = False
    return y + 1


STARTED = [
    leaf_of_nothing, leaves_made_and_used_in_turns,
    told_to_want_one_behind_a_decision, told_to_want_one_in_turns,
]  # fmt: skip


@pytest.mark.parametrize("full_graph", [True, False])
@pytest.mark.parametrize("function", STARTED)
def test_tensors_that_are_told_to_want_a_gradient(function, full_graph):
    static = paddle.jit.to_static(function, full_graph=full_graph)
    for turns in TURNS:
        for row in ROWS:
            assert outcome(static, row, turns) == outcome(function, row, turns), (row, turns)


@pytest.mark.parametrize("function", [leaves_made_in_turns, leaf_made_on_a_path])
def test_a_leaf_made_inside_gets_its_gradient_from_what_leaves_beside_it(function):
    row, turns = ROWS[0], paddle.to_tensor(2)
    with pytest.raises(UnsupportedError, match="a leaf that was made inside leaves the function beside a tensor"):
        paddle.jit.to_static(function, full_graph=True)(paddle.to_tensor(row), turns)
    static = paddle.jit.to_static(function)
    for _ in range(2):
        leaf, computed = static(paddle.to_tensor(row, stop_gradient=False), turns)
        computed.sum().backward()
        assert leaf.grad.tolist() == [2.0] * len(row)
        assert outcome(static, row, 2) == outcome(function, row, 2)


def asks_in_each_turn(x, n):
    y = x * 2
    for _ in range(n):
        y = y + x if y.stop_gradient else y.detach() * 2
    return y


def asks_behind_a_loop(x, n):
    y = x * 2
    for i in range(n):
        y = y.detach() if x[0] > i else y * 2
    return y if y.stop_gradient else y * 3


def asks_what_is_computed_of_it(x, n):
    y = x * 2
    if x[0] > n:
        y = y.detach()
    z = y * 3
    return z * 2 if z.stop_gradient else z + 1


@pytest.mark.parametrize("full_graph", [True, False])
@pytest.mark.parametrize("function", [asks_in_each_turn, asks_behind_a_loop, asks_what_is_computed_of_it])
def test_python_may_ask(function, full_graph):
    static = paddle.jit.to_static(function, full_graph=full_graph)
    for turns in TURNS:
        for row in ROWS:
            assert outcome(static, row, turns) == outcome(function, row, turns), (row, turns)


def test_decisions_in_many_turns():
    def function(x, n):
        y = x * 1
        for i in range(30):
            if x.sum() > i:
                y = y.detach()
            for _ in range(n):
                y = y + 1 if y.sum() > 0 else y.detach()
        return y

    static = paddle.jit.to_static(function, full_graph=True)
    for row in ROWS[:2]:
        assert outcome(static, row, 2) == outcome(function, row, 2)


def test_loops_in_which_nothing_stops_carry_no_flags():
    def function(x, n):
        y = x * 1
        while y.sum() < 5:
            y = y * 2 if y[0] > n else y * 3
        return y

    static = paddle.jit.to_static(function, full_graph=True)
    assert outcome(static, [1.0, 2.0], 2) == outcome(function, [1.0, 2.0], 2)
    (loop,) = [op for op in static.concrete_program.block.ops if op.op.name == "while"]
    assert loop.attrs["n_carried"] == 1 and len(static.concrete_program.block.outputs) == 1
