"""What stays the object that it was: containers that loops and branches pass on, values chosen under no_grad."""

from dataclasses import dataclass

import numpy as np

import vitrify as paddle

A = np.array([1.0, 2.0], "float32")
B = np.array([3.0, 2.0], "float32")


@dataclass
class State:
    h: object
    n: int = 0


def carried_as_it_is(x, s):
    while x.sum() > 0.75:
        s = s
        x = x - 1
    s.n += 1


def bound_in_loop(x, s):
    t = s
    while x.sum() > 0.75:
        t = s
        x = x - 1
    t.n += 1


def bound_in_both_branches(x, s):
    if x.sum() > 0.75:
        t = s
    else:
        t = s
    t.n += 1


def chosen_without_gradient(p):
    with paddle.no_grad():
        return max(p, 0)


def ordered_without_gradient(p, q):
    with paddle.no_grad():
        low, high = sorted([p, q])
    return low * 2 + high


def stored_without_gradient(a, b, n):
    xs = [a, b]
    with paddle.no_grad():
        while n > 0:
            xs[n % 2] = xs[1]
            n = n - 1
    return xs[0], xs[1]


def unset_name_on_the_other_path(x):
    if x.sum() > 100:
        while unset:  # noqa: F821
            try:
                if x is None:
                    return x
            except ValueError:
                pass
    return x * 2


def changed_while_iterated(x, table):
    """An error of the user's own that comes after prints and changes."""
    for _ in table.values():
        print("first")
        table["c"] = x
    return x


S = State(B)
LOW, HIGH = np.array(0.5, "float32"), np.array(1.5, "float32")
CASES = [
    (carried_as_it_is, ((A, S), (-A, S))),
    (bound_in_loop, ((A, S), (-A, S))),
    (bound_in_both_branches, ((A, S), (-A, S))),
    (chosen_without_gradient, ((np.array(1.5, "float32"),), (np.array(-1.5, "float32"),))),
    (ordered_without_gradient, ((LOW, HIGH), (HIGH, LOW))),
    (stored_without_gradient, ((A, B, np.array(2)), (A, B, np.array(0)))),
    (changed_while_iterated, ((A, {"a": A, "b": B}),)),
    (unset_name_on_the_other_path, ((A,), (-A,))),
]
