"""A tensor that a program read from a list is the object that was put into it, behind the call and between segments."""

import pytest

import vitrify as paddle

CALLS = [[1.0, 2.0, 3.0], [-1.0, -2.0, -3.0], [0.5, -2.0, 1.0]]


def grown(x):
    y = x * 2
    found = [x, y, x.detach(), x.clone()]
    if x.sum() > 0:
        found.append(x)
        found.append(y)
    else:
        found.insert(0, y)
    return y, found


def read(x):
    found = [x.detach()]
    if x.sum() > 0:
        found.append(x)
    return found[-1], found


def the_one_that_is_not_none(x):
    return [v for v in [x if x.sum() > 0 else None, x] if v is not None][-1]


def first_that_is_large(x):
    found = [v for v in (x * 2, x) if v.sum() > 0]
    return found[-1] if len(found) else None, x


def in_pairs(x):
    found = [(x, 1)]
    while x.sum() < 10:
        x = x + 3
        found.append((x, 2))
    return found, x


def on_one_path(x):
    first, second, y = None, 1, x * 2
    found = [None, 0]
    if x.sum() > 0:
        first, second = x, y
        found[0] = x
    else:
        second = found[1] = x
    return first, second, found, y


def one_of_two_made(x):
    y, z = x * 2, x * 3
    chosen = y if x.sum() > 0 else z
    again = chosen if x.sum() < 5 else x
    return chosen, again, [y, {"z": z}]


def of_one_object(value, x, found=None):
    """Each tensor in `value`, by the first place that it, or `x`, has."""
    found = [x] if found is None else found
    if isinstance(value, dict):
        value = [*value.values()]
    if isinstance(value, (list, tuple)):
        return [of_one_object(item, x, found) for item in value]
    if not isinstance(value, paddle.Tensor):
        return None
    place = next((i for i, other in enumerate(found) if other is value), len(found))
    if place == len(found):
        found.append(value)
    return place


@pytest.mark.parametrize("full_graph", [True, False])
@pytest.mark.parametrize(
    "fn",
    [grown, read, the_one_that_is_not_none, first_that_is_large, in_pairs, on_one_path, one_of_two_made],
    ids=lambda fn: fn.__name__,
)
def test_what_a_list_gives_back_is_what_was_put_into_it(fn, full_graph):
    static = paddle.jit.to_static(fn, full_graph=full_graph)
    for values in CALLS * 3:
        x = paddle.to_tensor(values, stop_gradient=False)
        assert of_one_object(static(x), x) == of_one_object(fn(x), x)


def changed_behind_a_choice(x):
    y, z = x * 2, x * 3
    chosen = y if x.sum() > 0 else z
    print(float(x.sum()))
    chosen.add_(1.0)
    return chosen is y, chosen is z, y.tolist(), z.tolist()


def asked_behind_a_list(x):
    found = [x * 2]
    if x.sum() > 0:
        found.append(x)
    last = found[-1]
    return last is x, last is found[0], x is found[0]


@pytest.mark.parametrize("fn", [asked_behind_a_list, changed_behind_a_choice])
def test_segments_hand_on_the_objects(fn):
    static = paddle.jit.to_static(fn)
    for values in CALLS * 3:
        x = paddle.to_tensor(values, stop_gradient=False)
        assert static(x) == fn(x)


@pytest.mark.parametrize("full_graph", [True, False])
def test_one_tensor_given_for_two(full_graph):
    kept = paddle.ones([2])

    def compared(x, y):
        return x is y, x is kept, x + y

    static = paddle.jit.to_static(compared, full_graph=full_graph)
    x, y = paddle.ones([2]), paddle.ones([2])
    for given in [(x, y), (x, x), (kept, y), (kept, kept), (y, x)] * 3:
        assert static(*given)[:2] == compared(*given)[:2]


def test_what_is_changed_behind_the_call_is_the_argument():
    static = paddle.jit.to_static(grown, full_graph=True)
    for values in CALLS[:2] * 2:
        x = paddle.to_tensor(values)
        _, found = static(x)
        found[4 if values[0] < 0 else 3].add_(5.0)
        assert x.tolist() == values
        next(t for t in found if t is x).add_(1.0)
        assert x.tolist() == [v + 1 for v in values]


def chosen_twice(x):
    y, z, w = x * 2, x * 3, x * 4
    return y if x[0] > 0 else z, y if x[2] > 0 else w


def beside_none(x):
    y = x * 2
    return [y if v > 0 else None for v in x], {i: y if v > 0 else x for i, v in enumerate(x)}


def put_into_two_lists(x):
    y, first, second = x * 2, [], []
    for v in x:
        if v > 0:
            first.append(y)
            second.append((y, v))
        else:
            first.append(None)
    return first, second


def of_equal_tensors(x):
    y, z, found = x * 2, x * 2, []
    for v in x:
        found.append(y if v > 0 else z)
    grown = [found[0]]
    for v in x:
        if v > 0:
            grown.append(grown[-1])
        else:
            grown.append(y + v)
    return found, grown


@pytest.mark.parametrize("full_graph", [True, False])
@pytest.mark.parametrize(
    "fn", [chosen_twice, beside_none, put_into_two_lists, of_equal_tensors], ids=lambda fn: fn.__name__
)
def test_one_tensor_in_two_places_is_one(fn, full_graph):
    static = paddle.jit.to_static(fn, full_graph=full_graph)
    for values in CALLS * 3:
        x = paddle.to_tensor(values, stop_gradient=False)
        assert of_one_object(static(x), x) == of_one_object(fn(x), x)


def test_a_number_or_a_tensor_on_two_paths():
    def fn(x):
        n = len([v for v in x if v > 0])
        return n and x, n or x

    static = paddle.jit.to_static(fn, full_graph=True)
    for values in CALLS * 2:
        x = paddle.to_tensor(values, stop_gradient=False)
        found, expected = static(x), fn(x)
        assert [v is x for v in found] == [v is x for v in expected]
        assert [float(v.sum()) if v is x else v for v in found] == [float(v.sum()) if v is x else v for v in expected]


def put_in_by_turns(x):
    y, found = x * 2, [x]
    n = x.sum() + 10
    while n > 8:
        if n > 10:
            found.append(x)
        else:
            found.append(y)
        n = n - 1
    return found, y


def noted(x):
    kept.clear()
    for v in x:
        kept.append(x if v > 0 else v)
    return x * 2, list(kept)


kept = []


@pytest.mark.parametrize("fn", [put_in_by_turns, noted], ids=lambda fn: fn.__name__)
def test_objects_are_handed_on_however_often_the_program_ran(fn):
    static = paddle.jit.to_static(fn, full_graph=True)
    with paddle.no_grad():
        for _ in range(60):
            x = paddle.to_tensor(CALLS[0])
            found = of_one_object(static(x), x)
            assert found == of_one_object(fn(x), x)
