"""any() and all() of a map: its function runs for the items that eager code gets to, with all that it does."""

import pytest

from tests.end_to_end.differential import compare

ROWS = [([1.0, 2.0],), ([-1.0, -2.0],), ([5.0, 6.0],)]


def appends(x):
    seen = []

    def ok(t):
        seen.append(t.sum() * 1)
        return (t > 0).all()

    return all(map(ok, [x, x * 2, x - 1])), seen


def prints_of_two(x):
    seen = []

    def ok(t, k):
        print(t, k)
        seen.append(k)
        return (t > k).all()

    return any(map(ok, [x, x * 2, x - 1], (0, 1, 3))), seen


def counts_in_an_object(x):
    class Counting:
        n = 0

        def ok(self, t):
            self.n += 1
            return t.sum() > 2

    counting = Counting()
    return any(map(counting.ok, x)) or all(map(counting.ok, [x, x])), counting.n


def meets_plain_values(x):
    log = []

    def ok(v):
        log.append(v)
        return v if isinstance(v, int) else v.sum() > 3

    return any(map(ok, [0, x, 0, 1, x])), log


@pytest.mark.parametrize("function", [appends, prints_of_two, counts_in_an_object, meets_plain_values])
def test_effects_as_far_as_eager_code_goes(function):
    compare(function, *ROWS)
