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


def flags_that_are_true(x):
    flags = [True, False]
    if x.sum() > 0:
        flags[0] = False
    return [i for i, flag in enumerate(flags) if flag is True]


def appended_flags_that_are_true(x):
    flags = []
    for v in x:
        flags.append(bool(v > 1.5))
    return len([flag for flag in flags if flag is True]), len([flag for flag in flags if flag is not False])


def one_is_not_true(x):
    flag = True
    if x.sum() > 0:
        flag = 1
    return x * 2 if flag is True else x


def attribute_that_is_true(x, state):
    state.h = True
    if x.sum() > 0:
        state.h = False
    return x * 2 if state.h is True else x


def computed_anew(x):
    y = x * 2
    if x.sum() > 0:
        y = y + 1
    return (x * 3 if y is x else x), x.reshape([1, -1]) is x


def same_tensor(x):
    y = x
    if x.sum() > 0:
        y = x * 2
    return x * 3 if y is x else x


def same_tensor_after_loop(x):
    y = x
    for _ in range((x > 0).sum()):
        y = y * 2
    return x if y is x else x * 5


def view_on_one_path(x, u):
    y = x
    if u.sum() > 0:
        y = x[:]
    return y is x, y is not u, y


def chosen_twice(x, u):
    y = x if u.sum() > 0 else u
    z = x if u.sum() > 4 else u * 2
    return y is z, y is x, z is x, y is u, z is u


def swapped(x, u):
    a, b = (x, u) if u.sum() > 0 else (u, x)
    return a is b, a is x, b is x, a is not u


def returned_from_a_loop(x, u):
    for i in range(4):
        scaled = x * i
        if scaled.sum() > u.sum():
            return x
        if scaled.sum() < -6:
            return u
    return scaled


def who_was_returned(x, u):
    found = returned_from_a_loop(x, u)
    return found is x, found is u, found


S = State(B)
LOW, HIGH = np.array(0.5, "float32"), np.array(1.5, "float32")
CASES = [
    (carried_as_it_is, ((A, S), (-A, S))),
    (bound_in_loop, ((A, S), (-A, S))),
    (bound_in_both_branches, ((A, S), (-A, S))),
    (chosen_without_gradient, ((np.array(1.5, "float32"),), (np.array(-1.5, "float32"),))),
    (ordered_without_gradient, ((LOW, HIGH), (HIGH, LOW))),
    (stored_without_gradient, ((A, B, np.array(2)), (A, B, np.array(0)))),
    (flags_that_are_true, ((A,), (-A,))),
    (appended_flags_that_are_true, ((A,), (-A,))),
    (one_is_not_true, ((A,), (-A,))),
    (attribute_that_is_true, ((A, S), (-A, S))),
    (computed_anew, ((A,), (-A,))),
    *[(f, ((A,), (-A,))) for f in (same_tensor, same_tensor_after_loop)],
    *[(f, ((A, B), (A, -B), (-A, B), (-A, 9 * B))) for f in (view_on_one_path, chosen_twice, swapped)],
    *[(f, ((A, B), (A, -B), (-A, B), (-A, 9 * B))) for f in (returned_from_a_loop, who_was_returned)],
    (changed_while_iterated, ((A, {"a": A, "b": B}),)),
    (unset_name_on_the_other_path, ((A,), (-A,))),
]
