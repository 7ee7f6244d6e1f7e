"""Functions that go through a list whose length a tensor decides: reduced, its extremes, looked through, joined."""

import functools

import vitrify as paddle

from .functions import N, X


def above_one(x):
    found = []
    for v in x:
        if v > 1:
            found.append(v)
    return found


def reduced(x):
    return functools.reduce(lambda a, b: a * 2 + b, above_one(x), x.sum())


def reduced_without_a_start(x):
    return functools.reduce(lambda a, b: a * 2 + b, above_one(x))


def extremes(x):
    found = above_one(x)
    return max(found), min(found)


def extremes_by_key(x):
    found = above_one(x)
    return max(found, key=lambda v: -v), min(found, key=lambda v: (v - 2.5) ** 2)


def looked_through(x):
    found = above_one(x)
    return x * 2 if x[1] in found else x, 2.0 in found, 7.0 not in found


def side_by_side(x):
    rows = [x]
    while x.sum() < 10:
        x = x + 1
        rows.append(x)
    return paddle.hstack(rows), paddle.vstack(rows), paddle.dstack(rows)


def filtered(x):
    found = list(filter(lambda v: v > 0, x))
    return len(found), paddle.stack(found) if len(found) > 0 else x


def filtered_sum(x):
    return sum(filter(lambda v: v > 1, [x[0], x[1], x[2]]))


def grown_on_one_path(x):
    found = [3, 1, 2, 1]
    if x.sum() > 0:
        found.append(5)
        found.append(1)
    return found


def looked_for(x):
    found = grown_on_one_path(x)
    return found.index(1), found.index(1, 2), found.index(1, -2), found.count(1), found.count(9), found.index(5)


def looked_for_a_number(x):
    n = int((x > 0).sum())
    return [1, 2, 3].index(n), [3, 1, 3].count(n), [x[0], x[1]].index(2.0)


def removed(x):
    found = grown_on_one_path(x)
    found.remove(1)
    found.remove(5)
    return found


def compared(x):
    found = grown_on_one_path(x)
    other = [3, 1, 2, 1]
    same = found == other, found != other, other == found, found == [*other, 5, 1], found == (1,), found == [3, 1, 2, 0]
    return same, found < other, found <= other, found > [3], other >= found, (*found,) == (3, 1, 2, 1)


def repeated(x):
    found = grown_on_one_path(x)
    n = int((x > 0).sum())
    found *= 2
    return found, n * [x], [x, x] * n


def slice_put_between_tensors(x):
    n = int((x > 0).sum())
    numbers, rows = [1, 2, 3, 4], [x, x * 2, x * 3, x * 4]
    numbers[n : n + 2] = [7]
    numbers[n - 2 : 3] = [8, 9]
    numbers[-n:] = [5]
    rows[n:1] = [x * 5]
    del rows[n - 1 : -1]
    return numbers, rows


def item_deleted_where_a_tensor_says(x):
    rows = [x, x * 2, x * 3]
    n = int((x > 0).sum())
    del rows[n]
    return rows


def outside_of_a_list(x):
    return grown_on_one_path(x)[4] * x


def outside_of_a_tuple(x):
    return tuple(grown_on_one_path(x))[5] * x


def put_outside(x):
    found = grown_on_one_path(x)
    found[5] = 1
    return found


def popped_outside(x):
    found = grown_on_one_path(x)
    found.pop(4)
    return found


def popped_too_often(x):
    found = [x]
    if x.sum() > 0:
        found.append(x)
    found.pop()
    return found.pop()


def matched(x):
    found = [x]
    if x.sum() > 0:
        found += [x * 2, x * 3]
    match found:
        case [only]:
            return only + 1
        case [first, *others, last]:
            return first + last, others, len(others)


FUNCTIONS = [
    *(looked_for, looked_for_a_number, removed, compared, repeated, slice_put_between_tensors, matched),
    *(outside_of_a_list, item_deleted_where_a_tensor_says, outside_of_a_tuple, put_outside, popped_outside),
    popped_too_often,
    *(reduced, reduced_without_a_start, extremes, extremes_by_key, looked_through, side_by_side, filtered),
    filtered_sum,
]
CASES = [(function, [(X,), (N,)]) for function in FUNCTIONS]
