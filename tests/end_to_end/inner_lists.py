"""Lists that are items of lists whose length a tensor decides: changed by every name that they have."""

import numpy as np

from .functions import N, X

COUNT, ONE = np.array(3), np.array(1)


def rows(x, n):
    made = []
    for i in range(n + 1):
        made.append([x * i])
        if x.sum() > 0:
            made[-1].append(x + i)
    return made


def total(lists):
    result = 0.0
    place = 1
    for row in lists:
        for value in row:
            result = result + (value * place).sum()
            place = place + 1
    return result


def two_names(x, n):
    w = rows(x, n)
    p = w[0]
    q = w[0]
    p.append(x)
    q.append(x * 2)
    return len(p), len(q), total(w)


def read_before_a_change_by_place(x, n):
    w = rows(x, n)
    p = w[0]
    w[0].append(x)
    w[-1].append(x * 2)
    return len(p), p[-1], total(w)


def put_and_changed_by_place(x, n):
    w = rows(x, n)
    v = [x]
    w.append(v)
    w[-1].append(x * 3)
    v.append(x)
    return len(v), total(w)


def put_then_others_come(x, n):
    w = rows(x, n)
    v = [x]
    w.append(v)
    w.append([x * 2])
    v.append(x * 3)
    return total(w), w[-2][1]


def last_then_others_come(x, n):
    w = rows(x, n)
    p = w[-1]
    w.append([x * 2])
    p.append(x * 3)
    return total(w), len(p)


def changed_in_a_branch(x, n):
    w = rows(x, n)
    p = w[0]
    if x.sum() > 0:
        w[0].append(x)
    p.append(x * 2)
    return len(p), total(w)


def changed_in_a_loop(x, n):
    w = rows(x, n)
    p = w[0]
    for i in range(n):
        w[0].append(x * i)
        w[i].append(x)
    return len(p), total(w)


def read_at_the_end_of_an_iteration(x, n):
    w = rows(x, n)
    p = w[0]
    s = 0.0
    for i in range(n):
        s = s + len(p)
        p = w[i]
        w[0].append(x)
    return total(w), len(p), s


def rows_gone_through(x, n):
    w = rows(x, n)
    for row in w:
        row.append(x)
        row[0] = x * 2
    return total(w)


def taken_out_and_put_back(x, n):
    w = rows(x, n)
    for i in range(n):
        row = w.pop(0)
        row.append(x * i)
        w.append(row)
    return total(w)


def rows_of_known_length(x, n):
    w = []
    for i in range(n + 1):
        w.append([x * i, x])
    p = w[0]
    w[0][1] = x * 5
    p[0] = x * 7
    return p[1], total(w)


def names_that_leave(x, n):
    w = rows(x, n)
    return w, w[0], w[-1], w[n - 1]


def names_without_the_outer_list(x, n):
    w = rows(x, n)
    p, q, r = w[0], w[0], w[n - 1]
    p.append(x)
    return {"p": p, "others": [q, r]}


def sharing_without_a_change(x, n):
    w = rows(x, n)
    p = w[0] if x.sum() > 0 else w[1]
    both = w + [p] + w[1:]
    return total(both), total(sorted(w, key=lambda row: row[0].sum())), total([row for row in w if len(row) > 1])


def changed_where_the_other_path_stores(x, n):
    a = [x]
    w = [a, [x], a]
    if n > 2:
        a.append(x * 2)
    else:
        w[0] = [x * 3]
    return total(w)


def chunks_ended_by_a_tensor(x, n):
    w, chunk = [], []
    for v in x:
        chunk.append(v * n)
        if v > 1.5:
            w.append(chunk)
            chunk = []
    w.append(chunk)
    return w


def chunks_that_are_falling(x, n):
    w, chunk = [], []
    for v in x * (n - 1):
        if chunk and v < chunk[-1]:
            w.append(chunk)
            chunk = [v]
        else:
            chunk.append(v)
    return w, chunk


def chunks_between_others(x, n):
    w, chunk = [], []
    for v in x * (n - 1):
        if v > 0:
            chunk.append(v)
        elif chunk:
            w.append(chunk)
            chunk = []
    return w, chunk


def chunks_of_two_kinds(x, n):
    w, small, large = [], [], []
    for v in x:
        if v > 1.5:
            large.append(v * n)
        else:
            small.append(v)
        if len(large) > 1:
            w.append(large)
            large = []
        if len(small) > 1:
            w.append(small)
            small = []
    return w, small, large


def put_on_both_paths(x, n):
    w = []
    for v in x:
        row = [v]
        if v > n:
            w.append(row)
        else:
            w.append(row)
        row.append(v * 2)
    return w


def put_on_one_path(x, n):
    w = rows(x, n)
    row = [x]
    if n > 2:
        w.append(row)
    else:
        row.append(x * 2)
    return total(w), total([row])


CASES = [
    (f, ((X, COUNT), (N, ONE), (X, ONE)))
    for f in (
        two_names, read_before_a_change_by_place, put_and_changed_by_place, put_then_others_come, last_then_others_come,
        changed_in_a_branch, changed_in_a_loop, read_at_the_end_of_an_iteration, rows_gone_through,
        taken_out_and_put_back, rows_of_known_length, names_that_leave, names_without_the_outer_list,
        sharing_without_a_change, changed_where_the_other_path_stores, chunks_ended_by_a_tensor,
        chunks_that_are_falling, chunks_between_others, chunks_of_two_kinds, put_on_both_paths, put_on_one_path,
    )
]  # fmt: skip
