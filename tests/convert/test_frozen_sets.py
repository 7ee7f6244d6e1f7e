"""`frozenset` of items of which a tensor decides which they are, or how many."""

import pytest

from tests.end_to_end.differential import compare

CALLS = ([1.0, -2.0, 3.0],), ([-1.0, -2.0, 0.5],), ([-1.0, -2.0, -0.5],)


def of_a_list(x):
    found = [int(v) for v in x if v > 0]
    held = frozenset(found)
    return held, held == frozenset([1, 3]), 1 in held, len(held), frozenset(held), set(held), [v + 1 for v in held]


def of_a_range(x):
    s = frozenset(range(int((x > 0).sum())))
    made = s | {5}, {5} | s, s & {0}, s - {0}, frozenset({0}) | s, s.union([9]), s.copy(), s ^ {0}, {1} - s
    return made, sorted(s), s <= {0, 1, 2}, isinstance(s, frozenset), isinstance(s, set), s.isdisjoint({0})


def bound_anew(x):
    before = held = frozenset(int(v) for v in x)
    held |= {7}
    try:
        held.add(3)
    except AttributeError as err:
        return before, held, str(err)


def by_path(x):
    held = frozenset([1])
    if x.sum() > 0:
        held = held | {int(x[0])}
    else:
        held = frozenset([2, int(x[1])])
    print(held)
    return held, held == {1}


def of_a_set_that_a_path_changed(x):
    held = {1}
    if x.sum() > 0:
        held.add(2)
    frozen = frozenset(held)
    return frozen, 2 in frozen, len(frozen)


def grown_in_a_loop(x):
    held = frozenset()
    for v in x:
        held = held | frozenset([int(v)])
    return held, frozenset(), frozenset("ab"), frozenset(x.tolist())


FUNCTIONS = [of_a_list, of_a_range, bound_anew, by_path, of_a_set_that_a_path_changed, grown_in_a_loop]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("full_graph", [True, False])
def test_it_holds_what_pythons_holds(function, full_graph):
    compare(function, *CALLS, full_graph=full_graph)
