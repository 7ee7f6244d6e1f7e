"""Loops in loops, every kind of iterable, the loop variable afterwards."""

# ruff: noqa: B007

import numpy as np

import vitrify as paddle

A = [1.0, -2.0, 3.0]
B = [-4.0, 0.5, -1.0]
L = [2.0, 1.0, -1.0, 3.0, 0.5]
I0, I1, I3, I5, IM = (np.array(v) for v in (0, 1, 3, 5, -2))
ROWS = tuple((np.ones((n, 2), "float32"),) for n in (3, 5, 0))


def python_tensor_python_loops_with_else(x):
    s = x * 0
    for i in range(4):
        j = paddle.to_tensor(0)
        while j < 3:
            for k in range(3):
                if s.sum() > 40:
                    break
                s = s + x * k
            else:
                j = j + 1
                continue
            if s.sum() > 60:
                return s
            j = j + 1
            if i == 2:
                break
        else:
            s = s + 1
    else:
        s = s * 2
    return s


def three_tensor_loops_with_every_jump(x):
    s = x * 0 + 0.5
    n = paddle.to_tensor(3)
    for i in range(n):
        j = paddle.to_tensor(0)
        while j < n:
            j = j + 1
            for k in range(n):
                if k == 1:
                    continue
                s = s + x * k
                if s.sum() > 30:
                    break
                if s.sum() < -30:
                    return s * i
            if j > 1 and i > 1:
                break
        else:
            s = s + 1
        if s.sum() > 100:
            break
    else:
        s = s - 1
    return s


def while_true_with_four_exits(x):
    n = 0
    while True:
        n += 1
        x = x + 1
        if x.sum() > 30:
            return (x, n)
        if n > 10:
            break
        if x[0] > 5:
            x = x - 0.5
            continue
        if x[1] > 100:
            return (x * 2, n)
    return (-x, n)


def range_downwards_from_a_tensor(x, n):
    s = x * 0
    for i in range(n, -3, -1):
        s = s + x * i
    return s


def loop_variable_after_the_loop(x, n):
    for i in range(n):
        x = x + i
    return (x, i)


def loop_variable_set_before_the_loop(x, n):
    i = -1
    for i in range(n):
        x = x + i
    return (x, i)


def loop_variable_changed_in_the_body(x, n):
    i = -1
    for i in range(n):
        i = i * 2
        x = x + i
    return (x, i)


def items_of_a_tensor(x):
    s = 0.0
    for v in x:
        s = s + v * v
    return s


def rows_of_a_tensor(x):
    s = paddle.zeros([2])
    r = None
    for r in x:
        s = s + r
    return s


def last_row_after_the_loop(x):
    s = paddle.zeros([2])
    for r in x:
        s = s + r
    return (s, r)


def zip_of_unequal_lengths(x, y):
    s = 0.0
    for a, b in zip(x, y):
        s = s + a * b
    return s


def enumerate_from_two_with_continue(x):
    s = 0.0
    for i, v in enumerate(x, 2):
        if v < 0:
            continue
        s = s + i * v
    return s


def reversed_tensor(x):
    s = 0.0
    for v in reversed(x):
        s = s * 2 + v
    return s


def reversed_range_of_a_size(x):
    s = 0.0
    for i in reversed(range(x.shape[0])):
        s = s * 2 + x[i]
    return s


def reversed_range_of_a_tensor(x, n):
    s = 0.0
    for i in reversed(range(n)):
        s = s * 2 + x[i]
    return s


def enumerate_of_a_tensor_range(x, n):
    s = 0.0
    for k, i in enumerate(range(1, n), 1):
        s = s * 2 + x[i] * k
    return s


def zip_of_a_tensor_range(x, n):
    s = 0.0
    for i, v in zip(range(n), x):
        s = s * 2 + v * i
    return s


def nonlocal_counted_in_a_loop(x, n):
    c = 0

    def f(v):
        nonlocal c
        c = c + 1
        return v + c

    for i in range(n):
        x = f(x)
    return (x, c)


def python_loop_with_tensor_break_inside(x, n):
    s = x * 0
    i = paddle.to_tensor(0)
    while i < n:
        for w in [1.0, 2.0, 3.0]:
            s = s + x * w
            if s.sum() > 8:
                break
        i = i + 1
    return s


def python_loop_with_tensor_return_inside(x, n):
    s = x * 0
    i = paddle.to_tensor(0)
    while i < n:
        for w in [1.0, 2.0, 3.0]:
            s = s + x * w
            if s.sum() > 8:
                return (s, w)
        i = i + 1
    return (s, -1.0)


def tensor_loops_with_else_in_a_python_loop(x):
    for k in range(3):
        while x.sum() < 10 * k:
            x = x + 1
        else:
            x = x * 1.1
    return x


def for_else_returns(x):
    for v in x:
        if v > 100:
            return v
    else:
        return x.sum()


CASES = [
    *[(f, ((A,),(B,),(L,))) for f in (
        python_tensor_python_loops_with_else, three_tensor_loops_with_every_jump,
        while_true_with_four_exits, tensor_loops_with_else_in_a_python_loop, for_else_returns,
    )],
    *[(f, ((A, I0), (A, I3), (A, IM))) for f in (
        range_downwards_from_a_tensor, loop_variable_after_the_loop, loop_variable_set_before_the_loop,
        loop_variable_changed_in_the_body,
    )],
    *[(f, ((A,), (L,), ([],))) for f in (
        items_of_a_tensor,
    )],
    *[(f, ROWS) for f in (
        rows_of_a_tensor, last_row_after_the_loop,
    )],
    *[(f, ((A, L), (L, A), (A, A))) for f in (
        zip_of_unequal_lengths,
    )],
    *[(f, ((A,), (L,))) for f in (
        enumerate_from_two_with_continue, reversed_tensor, reversed_range_of_a_size,
    )],
    *[(f, ((A, I3), (A, I0))) for f in (
        reversed_range_of_a_tensor, enumerate_of_a_tensor_range, zip_of_a_tensor_range,
        nonlocal_counted_in_a_loop, python_loop_with_tensor_break_inside,
        python_loop_with_tensor_return_inside,
    )],
]  # fmt: skip
