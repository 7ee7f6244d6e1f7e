"""Tensors that stand twice in lists of unknown length, or there and elsewhere, are one object behind the call."""

from typing import NamedTuple

import numpy as np
import pytest

import vitrify as paddle
from vitrify.core.errors import UnsupportedError

from .test_handed import of_one_object


class Pair(NamedTuple):
    first: object
    second: object


CALLS = [[1.0, 2.0, 3.0], [-1.0, -2.0, 0.5], [0.25, -0.5, 0.4]]


def put_in_twice(x):
    found = []
    for v in x:
        made = v * 2
        found.append(made)
        if v > 0:
            found.append(made)
    return found


def known_by_three_names(x):
    found = []
    if x.sum() > 0:
        y = x * 2
        z = y
        found.append((y, z, y.detach()))
    return found, x


def an_argument_between_others(x):
    found, y = [x], x * 2
    if y.sum() < 1:
        found.append(y)
    while 0 < y.sum() < 20:
        y = y + 3
        found.append(y)
        found.append(x)
        found.append(y)
    return found, y


def by_two_loops(x):
    found, n = [], x.sum() * 0
    while n < 3:
        m = x.sum() * 0
        while m < 2:
            made = x * m
            found.append((made, made))
            m = m + 1
            if n > 1:
                found.append((made, x))
        n = n + 1
    return found, made


def changed_in_place_before(x):
    found = []
    if x.sum() > 0:
        y = x * 2
        z = y
        y.add_(x)
        if y.sum() > 1:
            z.scale_(2.0)
        found.append((y, z, y is z))
    return found


def read_from_it_on_a_path(x):
    found, z = [x], x * 1
    if x.sum() > 0:
        found.pop()
    if x.sum() < 0:
        z = found[0]
    return z, found, x


def of_items_that_an_operator_makes(x):
    found, rows = [], []
    for row in x.reshape([3, 1]):
        if row.sum() > 0:
            rows.append(row)
    for part in rows:
        found.append(part)
        found.insert(0, part)
    return found, rows


def of_a_deque(x):
    q = __import__("collections").deque(maxlen=2)
    for v in x:
        if v > -1.5:
            q.append(v)
    q.rotate(1)
    return list(q), q[0]


FUNCTIONS = [
    put_in_twice,
    known_by_three_names,
    an_argument_between_others,
    by_two_loops,
    changed_in_place_before,
    read_from_it_on_a_path,
    of_items_that_an_operator_makes,
    of_a_deque,
]


def tensors_in(value):
    if isinstance(value, (list, tuple)):
        return [tensor for item in value for tensor in tensors_in(item)]
    return [value] if isinstance(value, paddle.Tensor) else []


def gradient(result, x):
    """What comes to `x` where each place of each tensor counts for itself."""
    total = sum(((t * t).sum() * (i + 1) for i, t in enumerate(tensors_in(result)) if not t.stop_gradient), x.sum() * 0)
    total.backward()
    return x.grad.numpy()


@pytest.mark.parametrize("full_graph", [True, False])
@pytest.mark.parametrize("fn", FUNCTIONS, ids=lambda fn: fn.__name__)
def test_one_object_is_one_and_two_are_two(fn, full_graph):
    static = paddle.jit.to_static(fn, full_graph=full_graph)
    for values in CALLS * 2:
        x, y = (paddle.to_tensor(values, stop_gradient=False) for _ in range(2))
        found, expected = static(x), fn(y)
        assert of_one_object(found, x) == of_one_object(expected, y)
        assert [t.tolist() for t in tensors_in(found)] == [t.tolist() for t in tensors_in(expected)]
        np.testing.assert_allclose(gradient(found, x), gradient(expected, y), rtol=1e-5)


def test_of_a_size_that_only_the_run_knows():
    static = paddle.jit.to_static(
        put_in_twice, full_graph=True, input_spec=[paddle.static.InputSpec([None], "float32")]
    )
    for values in [[1.0], [1.0, -2.0, 3.0, 4.0], []]:
        x = paddle.to_tensor(np.array(values, "float32"))
        assert of_one_object(static(x), x) == of_one_object(put_in_twice(x), x)


def test_a_change_behind_the_call_is_seen_in_both_places():
    static = paddle.jit.to_static(put_in_twice, full_graph=True)
    for _ in range(2):
        found = static(paddle.to_tensor(CALLS[0]))
        found[0].add_(5.0)
        assert [t.item() for t in found] == [7.0, 7.0, 4.0, 4.0, 6.0, 6.0]


def of_truth_values(x):
    a, b, c = x[0] > 0, x[1] > 0, x[2] > 0.45
    both, either, all_of = a and b, a or b, a and b and c
    return both is a, both is b, either is a, either is b, all_of is c, both, either, a, b


def changed_through_and(x):
    a, b = x[0] > 0, x[1] > 0
    both = a and b
    both.logical_not_()
    return both, a, b


def a_pair_or_two_of_it(x):
    pair = (x * 2, x * 3)
    if x.sum() > 0:
        return pair
    return (pair, pair)


@pytest.mark.parametrize("full_graph", [True, False])
@pytest.mark.parametrize("fn", [of_truth_values, changed_through_and, a_pair_or_two_of_it], ids=lambda fn: fn.__name__)
def test_which_object_a_path_gives(fn, full_graph):
    static = paddle.jit.to_static(fn, full_graph=full_graph)
    for values in [*CALLS, [1.0, -1.0, 1.0], [-1.0, 1.0, 0.0]] * 2:
        x = paddle.to_tensor(values)
        found, expected = static(x), fn(x)
        assert of_one_object(found, x) == of_one_object(expected, x)
        assert [t.tolist() for t in tensors_in(found)] == [t.tolist() for t in tensors_in(expected)]
        assert [v for v in found if isinstance(v, bool)] == [v for v in expected if isinstance(v, bool)]


def test_a_pair_that_one_path_gives_is_that_very_one():
    def fn(x, pair):
        if x.sum() > 0:
            return pair
        return (pair, pair)

    static = paddle.jit.to_static(fn, full_graph=True)
    pair = Pair(paddle.ones([2]), paddle.zeros([2]))
    for _ in range(2):
        assert static(paddle.ones([1]), pair) is pair
        assert all(given is pair for given in static(-paddle.ones([1]), pair))


def leaf_of(x):
    leaf = x.detach()
    leaf.stop_gradient = False
    return leaf


def computed_of_a_leaf(x):
    return (leaf_of(x) * x.detach()).sum()


def computed_of_a_leaf_on_a_path(x):
    found = None
    if x.sum() > 0:
        found = leaf_of(x) * 2
    return found


def computed_of_a_leaf_in_a_list(x):
    found = []
    for v in x:
        if v > 0:
            found.append(leaf_of(x) * v.detach())
    return found


def a_leaf_in_a_list(x):
    found, leaf = [], leaf_of(x)
    for v in x:
        if v > 0:
            found.append(leaf)
    return found


@pytest.mark.parametrize(
    "fn",
    [
        computed_of_a_leaf,
        computed_of_a_leaf_on_a_path,
        computed_of_a_leaf_in_a_list,
        a_leaf_in_a_list,
    ],
    ids=lambda fn: fn.__name__,
)
def test_what_is_computed_of_a_leaf_made_inside_is_none_and_wants_a_gradient(fn):
    static = paddle.jit.to_static(fn)

    def told(function, values):
        tensors = tensors_in([function(paddle.to_tensor(values))])
        for tensor in tensors:
            tensor.sum().backward()
        return [(t.stop_gradient, t.is_leaf, None if t.grad is None else t.grad.tolist()) for t in tensors]

    for values in CALLS * 2:
        assert told(static, values) == told(fn, values)


def handed_back(x, n):
    return x if n <= 0 else handed_back(x, n - 1)


def what_a_recursive_function_gives_back(x):
    kept, n = x * 1, x.abs().sum()
    found = [kept]
    for v in x:
        if v > 0:
            kept = handed_back(kept, n)
            found.append(kept)
    return found, kept


@pytest.mark.parametrize("full_graph", [True, False])
def test_what_a_recursive_function_gives_back_is_what_it_was_given(full_graph):
    static = paddle.jit.to_static(what_a_recursive_function_gives_back, full_graph=full_graph)
    for values in CALLS * 2:
        x = paddle.to_tensor(values, stop_gradient=False)
        assert of_one_object(static(x), x) == of_one_object(what_a_recursive_function_gives_back(x), x)


@pytest.mark.parametrize("full_graph", [True, False])
def test_two_tensors_on_one_memory_change_places(full_graph):
    held = [paddle.ones([2])]
    held.append(held[0].detach())
    first, second = held

    @paddle.jit.to_static(full_graph=full_graph)
    def exchange(x):
        if x.sum() > 0:
            held[0], held[1] = held[1], held[0]
        return x * 1

    for sign, is_exchanged in [(1.0, True), (1.0, False), (-1.0, False), (1.0, True)]:
        exchange(paddle.full([1], sign))
        assert held[0] is (second if is_exchanged else first)
        assert held[1] is (first if is_exchanged else second)


def beside_a_view_of_it(x):
    first = second = x * 2
    found = [first, second]

    def kept():
        return second

    if x.sum() > 0:
        return 0, first, found
    second = first.detach()
    return first, second, found, kept()


def test_a_tensor_beside_its_view_on_a_path_is_the_one_in_a_list():
    static = paddle.jit.to_static(beside_a_view_of_it, full_graph=True)
    for values in CALLS * 2:
        x = paddle.to_tensor(values, stop_gradient=False)
        assert of_one_object(static(x), x) == of_one_object(beside_a_view_of_it(x), x)


def view_of_what_changes_on_a_path(x):
    base = x * 2
    first = second = base.detach()
    if x.sum() > 0:
        base.scale_(0.5)
    else:
        first = x
    return base, first, {"kept": second}


@pytest.mark.parametrize("full_graph", [True, False])
def test_a_view_of_what_changes_on_a_path_is_the_object_that_it_was(full_graph):
    static = paddle.jit.to_static(view_of_what_changes_on_a_path, full_graph=full_graph)
    for values in CALLS * 2:
        x = paddle.to_tensor(values, stop_gradient=False)
        base, first, held = static(x)
        expected = view_of_what_changes_on_a_path(x)
        assert (first is held["kept"], first is x) == (expected[1] is expected[2]["kept"], expected[1] is x)
        assert [t.tolist() for t in (base, first, held["kept"])] == [
            t.tolist() for t in (*expected[:2], expected[2]["kept"])
        ]
        assert first.stop_gradient is expected[1].stop_gradient


def listed_by_each_call(x, n):
    if n <= 0:
        return [x]
    found = listed_by_each_call(x, n - 1)
    found.append(x)
    return found


def what_a_recursive_function_lists(x):
    kept = x * 1
    return listed_by_each_call(kept, x.abs().sum()), kept


def one_tensor_in_a_list_of_a_recursive_function(x):
    return listed_by_each_call(x * 2, x.abs().sum())


def twice_in_each_call(x, n):
    if n <= 0:
        return [x]
    made = x * 1
    found = twice_in_each_call(x, n - 1)
    found.append(made)
    found.append(made)
    return found


def made_and_listed_twice_by_calls(x):
    return twice_in_each_call(x * 2, x.abs().sum())


KNOWN = [what_a_recursive_function_lists, one_tensor_in_a_list_of_a_recursive_function]


@pytest.mark.parametrize("full_graph", [True, False])
@pytest.mark.parametrize("function", KNOWN)
def test_lists_of_recursive_functions_hold_the_objects_that_were_put_into_them(function, full_graph):
    static = paddle.jit.to_static(function, full_graph=full_graph)
    for values in CALLS * 2:
        x = paddle.to_tensor(values, stop_gradient=False)
        assert of_one_object(static(x), x) == of_one_object(function(x), x)


def test_what_calls_make_and_list_twice_is_refused_by_whole_programs_and_left_to_python():
    whole = paddle.jit.to_static(made_and_listed_twice_by_calls, full_graph=True)
    with pytest.raises(UnsupportedError, match="a list that a recursive function makes") as caught:
        whole(paddle.to_tensor(CALLS[0]))
    assert caught.value.loc is not None and caught.value.loc.file == __file__
    static = paddle.jit.to_static(made_and_listed_twice_by_calls, full_graph=False)
    for values in CALLS * 2:
        x = paddle.to_tensor(values, stop_gradient=False)
        assert of_one_object(static(x), x) == of_one_object(made_and_listed_twice_by_calls(x), x)


def made_by_each_call(x, n):
    return [x * 1] if n <= 0 else made_by_each_call(x * 2, n - 1)


def test_lists_of_tensors_that_only_they_hold_are_part_of_whole_programs():
    static = paddle.jit.to_static(lambda x: made_by_each_call(x, x.abs().sum()), full_graph=True)
    for values in CALLS:
        x = paddle.to_tensor(values)
        assert [t.tolist() for t in static(x)] == [t.tolist() for t in made_by_each_call(x, x.abs().sum())]
