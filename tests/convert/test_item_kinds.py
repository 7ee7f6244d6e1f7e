"""Lists of unknown length whose items are of several kinds: tensors of two ranks or dtypes, None, tuples, texts."""

import re
from array import array

import pytest

import vitrify as paddle
from vitrify.core.errors import UnsettledError


def rank(x):
    found = [x]
    if x.sum() > 0:
        found.append(x.sum())
    return found, sum(found), len(found)


def dtype(x):
    found = [x]
    if x.sum() > 0:
        found.append(x.astype("int64"))
    return found, [v.dtype for v in found]


def numbers(x):
    found = [0]
    for v in x:
        if v > 0:
            found.append(0.5)
    return found, max(found)


def marks(x):
    found = []
    for v in x:
        if v > 0:
            found.append(v)
        if v > 1:
            found.append("large")
        if v < -1 and len(found) > 0:
            found.pop()
    return found


def missing(x):
    found = [None] * 4
    for i in range(3):
        if x[i] > 0:
            found[i] = x[i]
    return [i for i, v in enumerate(found) if v is not None], len([v for v in found if v is not None])


def stack_of_work(x):
    work, done, total = [("leaf", x)], 0, 0.0
    while work:
        kind, held = work.pop()
        if kind == "leaf":
            total = total + held.sum()
            if done < 3 and total > 0:
                work.append(("pair", (held, held * 2)))
        else:
            total = total + (held[0] * held[1]).sum()
            if done < 2:
                work.append(("leaf", held[1]))
        done += 1
    return total, done


def by_place(x):
    work = [("leaf", x)]
    if x.sum() > 0:
        work.append(("pair", (x, x * 2)))
    found = []
    while work:
        item = work.pop()
        if item[0] == "pair":
            work.extend([("leaf", item[1][0]), ("leaf", item[1][1] + 1)])
        else:
            found.append(item[1])
    return found


def told_by_a_path(x):
    item = ("leaf", x) if x.sum() > 0 else ("pair", (x, x * 2))
    kind, held = item
    if kind == "leaf":
        return held.sum()
    return held[0] * held[1]


def both_sides(x):
    first, second = [x], [x]
    if x.sum() > 0:
        first.append(None)
    else:
        second.append((x, 1))
    first.extend(second)
    return first[::-1], first == first


ONE, TWO = array("i", [1]), array("i", [2])
LETTER, DIGIT = re.compile("[a-z]"), re.compile("[0-9]")


def patterns(x):
    kept = []
    for value in x:
        kept.append(LETTER if value > 0 else DIGIT)
    return len(kept), kept, x


FUNCTIONS = [patterns, rank, dtype, numbers, marks, missing, stack_of_work, by_place, told_by_a_path, both_sides]
VALUES = [[1.0, 2.0, -3.0], [-1.0, 2.0, 3.0], [-2.0, -1.0, -3.0], [3.0, 1.5, -4.0]]


def outcome(fn, values):
    x = paddle.to_tensor(values, stop_gradient=False)
    found = fn(x)
    tensors = {id(t): t for t in paddle.utils.flatten(found) if isinstance(t, paddle.Tensor) and not t.stop_gradient}
    if tensors:
        sum((t * (n + 1)).sum() for n, t in enumerate(tensors.values())).backward()
    return paddle.utils.map_structure(shown, found), None if x.grad is None else x.grad.tolist()


def shown(value):
    return (value.tolist(), value.dtype, value.stop_gradient) if isinstance(value, paddle.Tensor) else value


@pytest.mark.parametrize("fn", FUNCTIONS, ids=lambda fn: fn.__name__)
def test_items_are_what_eager_code_has(fn):
    static = paddle.jit.to_static(fn, full_graph=True)
    for values in VALUES + VALUES[:1]:
        assert outcome(static, values) == outcome(fn, values)


def arrays(x):
    kept = []
    for value in x:
        kept.append(ONE if value > 0 else TWO)
    return len(kept), kept


def test_items_that_no_program_tells_apart_are_refused():
    x = paddle.to_tensor([1.0, -2.0, 3.0])
    spec = [paddle.static.InputSpec([None])]
    with pytest.raises(UnsettledError, match="one branch gives a array"):
        paddle.jit.to_static(arrays, input_spec=spec, full_graph=True)(x)
    plain = paddle.jit.to_static(arrays, input_spec=spec)
    assert plain(x) == plain(x) == arrays(x)


def one_of_two_texts_behind_tensors(x):
    found = []
    for v in x:
        if v < 0:
            break
        found.append(v)
    found.append("a" if x[0] > 0.5 else "b")
    found.insert(0, "c" if x[1] > 0.5 else "d")
    return len(found), found[0], found[-1], found[1]


def what_a_generator_returns_behind_its_items(x):
    def given():
        for v in x:
            if v < 0:
                return "negative"
            yield v
        return "done"

    def all_given():
        last = yield from given()
        yield last

    return list(all_given())


@pytest.mark.parametrize("full_graph", [True, False])
@pytest.mark.parametrize(
    "function", [one_of_two_texts_behind_tensors, what_a_generator_returns_behind_its_items], ids=lambda f: f.__name__
)
def test_one_of_several_texts_is_put_behind_tensors(function, full_graph):
    static = paddle.jit.to_static(function, full_graph=full_graph)
    for values in ([1.0, 2.0, 3.0], [0.25, -2.0, 3.0], [-1.0, 2.0, 0.5], [0.25, 0.5, 4.0]) * 2:
        x = paddle.to_tensor(values)
        assert repr(static(x)) == repr(function(x))


def doubled(items):
    return [item * 2 if isinstance(item, (int, float)) else item for item in items]


def classes_of_numbers_beside_none(x):
    found = [0.5, 3]
    for v in x:
        if v < 2.5:
            found.append(None)
    found = doubled(found)
    told = [type(item) is int for item in found]
    if x[1] > 0:
        if x[2] > 0.3:
            found = [*found, 2]
    else:
        found.append(3)
    return found, told, [type(item).__name__ for item in found[:2]], [type(item) is int for item in found]


@pytest.mark.parametrize("full_graph", [True, False])
def test_classes_of_numbers_beside_none(full_graph):
    static = paddle.jit.to_static(classes_of_numbers_beside_none, full_graph=full_graph)
    for values in ([1.0, 2.0, 3.0], [0.25, -2.0, 3.0], [-1.0, 2.0, 0.25], [3.0, 3.0, 4.0]) * 2:
        x = paddle.to_tensor(values)
        assert repr(static(x)) == repr(classes_of_numbers_beside_none(x))
