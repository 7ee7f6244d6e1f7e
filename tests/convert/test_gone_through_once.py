"""Iterators know how far they were gone through, whoever decides that: `any`, `next`, a loop with `break`."""

import pytest

import vitrify as paddle
from tests.end_to_end.differential import compare
from vitrify.core.errors import UnsupportedError

ROWS = [([0.1, 0.7, -0.2],), ([-1.0, -2.0, -3.0],), ([2.0, 3.0, 4.0],)]


def any_of_a_generator_over_an_iterator(x):
    left = iter([x[0], x[1], x[2]])
    return any(v > 0.5 for v in left), list(left)


def all_of_a_generator_over_a_tensor(x):
    left = iter(x)
    return all(v > 0.5 for v in left), [v * 2 for v in left]


def any_of_an_iterator(x):
    left = iter([x[0] > 0.5, x[1] > 0.5, x[2] > 0.5])
    return any(left), list(left)


def next_of_a_generator(x):
    left = iter([x[0], x[1], x[2]])
    return next((v for v in left if v > 0.5), None) is None, list(left)


def two_clauses(x):
    left = iter([x[0], x[1], x[2]])
    return any(v > 0.5 or u > 2 for v in left for u in left), list(left)


def loop_in_a_loop(x):
    left, seen = iter([x[0], x[1], x[2]]), []
    for v in left:
        for u in left:
            if u > 0.5:
                break
            seen.append(u)
        if v > 0.5:
            break
    return list(left), seen


class Rows:
    def __init__(self, rows):
        self.rows = rows

    def __iter__(self):
        return iter(self.rows)


def each_time_anew(x):
    rows = Rows([x[0], x[1], x[2]])
    return any(v > 0.5 for v in rows), all(v > 0.5 for v in rows)


def enumerate_kept(x):
    numbered = enumerate(x)
    for i, v in numbered:  # noqa: B007 - it is what the loop leaves
        if v > 0.5:
            break
    return i, list(numbered)


def zip_gone_through_twice(x):
    pairs = zip(x, x * 2)
    return [a + b for a, b in pairs], [a - b for a, b in pairs]


def twice(v):
    return v * 2


def map_summed_twice(x):
    doubled = map(twice, x)
    return sum(doubled), sum(doubled)


def reversed_unpacked(x):
    backwards = reversed(x)
    a, b, c = backwards
    return a, b, c, list(backwards)


def next_of_a_map(x):
    doubled = map(twice, x)
    return next(doubled), next(doubled, None), [*doubled], next(doubled, 7)


def any_of_what_enumerate_gave(x):
    numbered = enumerate(x)
    return any(v > 0.5 for _, v in numbered), list(numbered)


def numbered_from_one(x):
    return enumerate(x, 1)


def kept_by_another_function(x):
    numbered = numbered_from_one(x)
    return [i * v for i, v in numbered], [v for _, v in numbered]


def kept_in_an_attribute(x):
    rows = Rows(None)
    rows.rows = enumerate(x)
    for i, v in rows.rows:  # noqa: B007 - it is what the loop leaves
        if v > 0:
            break
    return i, [v for _, v in rows.rows]


def of_a_list_that_a_tensor_made(x):
    kept = [v for v in x if v > 0]
    pairs = zip(kept, kept)
    return [a + b for a, b in pairs], list(pairs)


def dict_of_a_generator(x):
    return dict((i, v) for i, v in enumerate(x) if v > 0)  # noqa: C402 - what is tested


def any_of_a_reversed_list(x):
    left = reversed([x[0], x[1], x[2]])
    return any(v > 0.5 for v in left), list(left)


def zip_of_lists_left(x):
    pairs = zip([x, x * 2], [1, 2])
    for a, b in pairs:
        if (a * b).sum() > 0:
            break
    return a, list(pairs)


def zip_of_tuples_taken_from_on_a_path(x):
    pairs = zip((x, x * 2, x * 3), range(3))
    a = next(pairs)
    if x.sum() > 0:
        a = next(pairs)
    return a[0] * a[1], list(pairs)


def enumerate_given_to_a_function(x):
    def after(pairs):
        for _, v in pairs:
            if v > 0.5:
                break
        return next(pairs, None)

    return after(enumerate([x[0], x[1], x[2]]))


def generator_kept(x):
    found = (v > 1 for v in x)
    return any(found), list(found)


def generator_taken_from_on_a_path(x):
    found = (x * i for i in range(6) if i % 2 == 0)
    y = next(found)
    if x.sum() > 0:
        y = y + next(found)
    return y, list(found)


def generator_taken_from_in_a_loop(x):
    found, total, turns = (v * 2 for v in [x, x * 2, x * 3, x * 4]), x * 0, 0
    while total.sum() < 6 and turns < 3:
        total = total + next(found)
        turns += 1
    return total, turns, [v + 1 for v in found]


def generator_left_and_gone_on_with(x):
    found = (v * 2 for v in [x, x * 2, x * 3, x * 4])
    for v in found:
        if v.sum() > 3:
            break
    for w in found:
        v = v + w
    return v


def generator_of_a_text(x):
    found = (c.upper() for c in "abc")
    text = next(found)
    if x.sum() > 0:
        text += next(found)
    return text + "".join(found)


def generator_that_calls(x):
    seen = []

    def noted(v):
        seen.append(v)
        return v * 2

    found = (noted(v) for v in [x, x * 2, x * 3])
    first = next(found)
    if x.sum() > 0:
        first = first + next(found)
    before = len(seen)
    return first, before, list(found), seen


def generator_in_an_attribute(x):
    class Box:
        pass

    box = Box()
    box.found = (v * 2 for v in [x, x * 2, x * 3])
    if x.sum() > 0:
        next(box.found)
    return next(box.found)


def generator_over_what_grows(x):
    items = [x]
    found = (v * 2 for v in items)
    items.append(x * 5)
    if x.sum() > 0:
        items.append(x * 7)
    return list(found)


def generator_closed(x):
    found = (v for v in [x, x * 2])
    next(found)
    found.close()
    return list(found)


def generator_of_two_clauses_left(x):
    for v in (a * b for a in [x, x * 2] for b in [1, 2]):
        if v.sum() > 1:
            break
    return v


def generator_of_two_clauses_taken_from(x):
    found = (a * b for a in [x, x * 2] for b in [1, 2])
    return next(found), next(found), list(found)


def next_that_binds(x):
    def doubled(v):
        return v * 2

    first = next((y for v in x if (y := doubled(v)) > 1), None)
    second = next((y, w) for v in x for w in [1, 2, 100] if (y := v.abs() * w) > 2)
    return first, second, y


@pytest.mark.parametrize(
    "function",
    [
        generator_kept,
        generator_taken_from_on_a_path,
        generator_taken_from_in_a_loop,
        generator_left_and_gone_on_with,
        generator_of_a_text,
        generator_that_calls,
        generator_in_an_attribute,
        generator_over_what_grows,
        generator_closed,
        generator_of_two_clauses_left,
        generator_of_two_clauses_taken_from,
        next_that_binds,
        any_of_a_generator_over_an_iterator,
        any_of_a_reversed_list,
        zip_of_lists_left,
        zip_of_tuples_taken_from_on_a_path,
        enumerate_given_to_a_function,
        all_of_a_generator_over_a_tensor,
        any_of_an_iterator,
        next_of_a_generator,
        two_clauses,
        loop_in_a_loop,
        each_time_anew,
        enumerate_kept,
        zip_gone_through_twice,
        map_summed_twice,
        reversed_unpacked,
        next_of_a_map,
        any_of_what_enumerate_gave,
        kept_by_another_function,
        kept_in_an_attribute,
        of_a_list_that_a_tensor_made,
        dict_of_a_generator,
    ],
)
def test_goes_on_where_it_stands(function):
    compare(function, *ROWS)


class Counted:
    def __init__(self, x):
        self.x = x
        self.given = 0

    def __iter__(self):
        return self

    def __next__(self):
        if self.given == 3:
            raise StopIteration
        self.given += 1
        return self.x[self.given - 1]


def users_iterator(x):
    left = Counted(x)
    return any(v > 0.5 for v in left), left.given


@pytest.mark.parametrize("function", [users_iterator])
def test_refused_where_nobody_could_tell(function):
    with pytest.raises(UnsupportedError):
        paddle.jit.to_static(function, full_graph=True)(paddle.to_tensor(ROWS[0][0]))
    compare(function, *ROWS, full_graph=False)


@pytest.mark.parametrize("pairs", [[(1, 2), (1, 2, 3)], [(1, 2), 3]])
def test_what_is_no_pair_raises_what_dict_raises(pairs):
    def function(pairs):
        return dict(pair for pair in pairs)

    compare(function, (pairs,))
