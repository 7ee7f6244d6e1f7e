"""Tuples whose length a tensor decides: made of lists, grown in loops and branches, used and given back."""

import vitrify as paddle

from .functions import N, X


def positive(x):
    found = []
    for value in x:
        if value > 0:
            found.append(value)
    return found


def grown_in_a_loop(x):
    states = ()
    while x.sum() < 20:
        states += (x,)
        x = x + 2
    return x, states, len(states)


def grown_in_front_and_cut(x):
    states = (x * 0, x)
    while x.sum() < 20:
        states = (x,) + states
        states = states + (x * 2,)
        if x.sum() > 10:
            states = states[1:]
        x = x + 2
    return states, states[-1], states[0]


def begun_again(x):
    states = (x,)
    while x.sum() < 30:
        states = states + (x,)
        if x.sum() > 15:
            states = ()
        x = x + 2
    return states


def pairs_in_a_loop(x):
    states = ()
    count = 0
    while x.sum() < 20:
        states += ((x, count),)
        x = x + 2
        count += 1
    return states, [a * b for a, b in states]


def used_in_all_ways(x):
    found = tuple(positive(x))
    total = 0
    for place, value in enumerate(found):
        total = total + value * place
    first = found[0] if len(found) > 0 else x[0]
    stacked = paddle.stack(found) if found else x
    pairs = [a * b for a, b in zip(found, found[1:])]
    return total, first, found[1:], found + (x[0],), isinstance(found, tuple), stacked, sum(found), list(found), pairs


def unpacked(x):
    found = tuple([x[0], *tuple(positive(x))])  # noqa: C409
    first, *rest = found
    return first, rest, max(found), sorted(found, reverse=True), type(found) is tuple, isinstance(found, list)


def of_a_generator(x):
    rows = [(v, v * 2) for v in positive(x)]
    kept = tuple(v + w for v, w in rows if w > 1)
    return {"hidden": kept, "count": len(kept)}, kept


def of_either_path(x):
    found = positive(x)
    chosen = tuple(found) if x.sum() > 2 else (x[1],)
    if x[0] > 0:
        chosen = chosen + (x[0] * 2,)
    return chosen


def of_a_list_that_changes(x):
    found = positive(x)
    before = tuple(found)
    found.append(x[0])
    return before, found, len(before)


def tuples_in_a_list(x):
    rows = []
    while x.sum() < 12:
        rows.append((x.sum(), tuple(positive(x))))
        x = x + 1
    return rows, [len(row) for _, row in rows]


def held_by_an_object(x):
    box = {"states": ()}
    for value in x:
        if value > 0:
            box["states"] += (value,)
    return box


def total(*values, bias=0.0):
    for value in values:
        bias = bias + value
    return bias, len(values)


def weighted(first, *rest, **named):
    return first + sum(value * named.get("by", 2) for value in rest)


def handed_on(*args, **kwargs):
    return total(*args, **kwargs), args[0]


class Adder:
    def __init__(self, start):
        self.start = start

    def add(self, x, *values):
        return x + self.start + sum(values)


def behind_stars(x):
    found = positive(x)
    both = total(*found), total(x[0], *found, x[1], bias=1.5)
    return both, weighted(x, *found, by=3), Adder(x).add(x, *found, *found)


def behind_stars_of_several_calls(x):
    return handed_on(*[*positive(x), x.sum()], bias=x)


def in_tuple_displays(x):
    found = positive(x)
    both = (x[0], *found, *(y * 2 for y in found))
    total = x[0]
    for value in (*both, x[1]):
        total = total + value
    return both, total, (*found,), len((*found, *found))


def behind_stars_in_a_loop(x):
    found = []
    while x.sum() < 20:
        found.append(x)
        x = x + total(*found)[0].abs() + 1
    return x, found


CASES = [(f, ((X,), (N,))) for f in (
    grown_in_a_loop, grown_in_front_and_cut, begun_again, pairs_in_a_loop, used_in_all_ways, unpacked, of_a_generator,
    of_either_path, of_a_list_that_changes, tuples_in_a_list, held_by_an_object,
    behind_stars, behind_stars_of_several_calls, behind_stars_in_a_loop, in_tuple_displays,
)]  # fmt: skip
