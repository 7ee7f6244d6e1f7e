"""Tensors that are one object on some paths only: names, branches that choose, loops that rebind; changed in place."""

import numpy as np

import vitrify as paddle

from .differential import Fresh, given
from .functions import N, X

ZERO, THREE = np.array(0), np.array(3)


class Box:
    def __init__(self, h):
        self.h = h


def one():
    return paddle.ones([1])


def loop_changes_then_rebinds(x):
    x = x * 1
    y = x
    i = 0
    while x.sum() < 50 and i < 5:
        x.add_(one())
        x = x * 2
        i += 1
    return y, x, i


def branch_changes_then_rebinds(x):
    x = x * 1
    y = x
    if x.sum() > 0:
        x.add_(one())
        x = x * 2
    return y, x


def two_names_in_a_loop(x, n):
    a = b = x * 1
    for _ in range(n):
        a.add_(one())
    return a, b


def rebinds_then_changes(x, n):
    a = b = x * 1
    for _ in range(n):
        a = a * 2
        a.add_(one())
    return a, b


def becomes_another(x, n):
    a, b = x * 1, x * 2
    for _ in range(n):
        a = b
        a.add_(one())
    a.add_(one())
    return a, b


def ternary_chooses(x):
    a, b = x * 1, x * 2
    c = a if x.sum() > 0 else b
    c.add_(one())
    return a, b, c


def statement_chooses(x):
    a, b = x * 1, x * 2
    if x.sum() > 0:
        c = a
    else:
        c = b
    c[0] = 9.0
    return a, b, c


def chosen_one_is_changed_by_its_own_name(x):
    a, b = x * 1, x * 2
    c = a if x.sum() > 0 else b
    a[0] = 9.0
    return a, b, c


def elif_chain_then_setitem(x):
    x = x * 1
    first = x
    if x.sum() > 9:
        x = x + 1
    elif x.sum() > 0:
        x = x * 2
    elif x.sum() > -4.6:
        x = x * 3
    x.add_(one())
    first[1] = 7.0
    return x, first


def while_then_setitem(x):
    x = x * 1
    first = x
    while x.sum() < 1:
        x = x + 1
    x[0] = 9.0
    return x, first


def for_with_break_then_setitem(x, n):
    x = x * 1
    first = x
    for _ in range(n):
        if x.sum() > 1:
            break
        x = x + 1
    x[0] = 9.0
    return x, first


def rebinds_on_one_path_only(x, n):
    x = x * 1
    first = x
    for i in range(n):
        if x.sum() > 1:
            x = x * 2
        x[0] = i + 1.0
    return x, first


def first_object_is_changed_while_read(x, n):
    x = x * 1
    first = x
    s = x * 0
    for _ in range(n):
        if x.sum() > 1:
            x = x * 2
        first.add_(one())
        s = s + x
    return x, first, s


def twins_of_both_branches(x):
    if x.sum() > 0:
        a = b = x * 2
    else:
        a = b = x * 3
    a.add_(one())
    return a, b


def attribute_takes_another_tensor(x):
    o, p = Box(x * 1), Box(x * 2)
    if x.sum() > 0:
        o.h = p.h
    o.h.add_(one())
    return o.h, p.h


def changed_in_a_later_branch(x):
    a, b = x * 1, x * 2
    c = a
    if x.sum() > 0:
        c = b
    if x[0] > 1:
        c.add_(one())
    else:
        a.multiply_(one() * 3)
    return a, b, c


def chosen_anew_in_each_iteration(x, n):
    a, b = x * 1, x * 2
    for _ in range(n):
        c = a if a.sum() < b.sum() else b
        c.add_(one() * 5)
    return a, b


def chosen_before_the_loop(x, n):
    a, b = x * 1, x * 2
    c = a if x.sum() > 0 else b
    for _ in range(n):
        c.add_(one() * 5)
        a.multiply_(one() * 2)
    return a, b, c


def view_of_the_chosen(x):
    a, b = x * 1, x * 2
    c = a if x.sum() > 0 else b
    v = c[1:]
    v.add_(one())
    return a, b, c


def attribute_made_and_changed_in_a_branch(x):
    o = Box(x)
    if x.sum() > 0:
        o.h = x * 2
        o.h.add_(one())
    return o.h


def item_made_and_changed_in_a_branch(x):
    items = [x * 1]
    if x.sum() > 0:
        items[0] = x * 2
        items[0].add_(one())
    return items


def attribute_changed_in_the_other_branch(x):
    o = Box(x * 1)
    if x.sum() > 0:
        o.h = x * 2
    else:
        o.h.add_(one())
    return o.h


def nonlocal_made_and_changed_in_a_branch(x):
    h = x

    def update():
        nonlocal h
        h = h * 2
        h.add_(one())

    if x.sum() > 0:
        update()
    return h


def while_test_writes_a_nonlocal(x):
    n = 0

    def going():
        nonlocal n
        n += 1
        return x.sum() < 20

    while going():
        x = x + 1
    return x, n


def python_test_that_counts(x):
    n = 0

    def going(v):
        nonlocal n
        n += 1
        return n < 4

    while going(x):
        x = x + 1
    return x, n


def while_test_prints(x):
    def going(v):
        print("asked")
        return v.sum() < 20

    while going(x):
        x = x + 1
    return x


class Scale:
    def __init__(self, k):
        self.k = k

    def __call__(self, x):
        return x * self.k


def returns_a_callable(x):
    return (Scale(x * 2),)


def returned_twice(x):
    a = [x * 2]
    b = {"a": a, "b": [a]}
    return a, b, b["b"]


def twice(values):
    return Fresh(lambda: [given([np.array(values)])] * 2)


def inner_lists_shared(pair):
    pair[0].append(pair[1][0] + 1)
    return pair[1], pair[0] is pair[1]


CASES = [
    (returns_a_callable, ((X,), (N,))),
    (returned_twice, ((X,), (N,))),
    (inner_lists_shared, ((twice(X),), ([[np.array(X)], [np.array(X)]],), (twice(N),))),
    *[(f, ((X,), (N,))) for f in (
        loop_changes_then_rebinds, branch_changes_then_rebinds, ternary_chooses, statement_chooses,
        chosen_one_is_changed_by_its_own_name, elif_chain_then_setitem, while_then_setitem, twins_of_both_branches,
        attribute_takes_another_tensor, changed_in_a_later_branch, view_of_the_chosen,
        attribute_made_and_changed_in_a_branch, item_made_and_changed_in_a_branch,
        attribute_changed_in_the_other_branch, nonlocal_made_and_changed_in_a_branch,
        while_test_writes_a_nonlocal, python_test_that_counts, while_test_prints,
    )],
    *[(f, ((X, ZERO), (X, THREE), (N, THREE))) for f in (
        two_names_in_a_loop, rebinds_then_changes, becomes_another, for_with_break_then_setitem,
        rebinds_on_one_path_only, first_object_is_changed_while_read, chosen_anew_in_each_iteration,
        chosen_before_the_loop,
    )],
]  # fmt: skip
