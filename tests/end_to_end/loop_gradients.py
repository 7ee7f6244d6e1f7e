"""Gradients through loops and branches that data decides."""

# ruff: noqa: B007

import numpy as np

import vitrify as paddle

A = [1.0, -2.0, 3.0]
B = [-4.0, 0.5, -1.0]
L = [2.0, 1.0, -1.0, 3.0, 0.5]
I0, I1, I3, I5, IM = (np.array(v) for v in (0, 1, 3, 5, -2))


def trip_count_is_data(x, n):
    for i in range(n):
        x = x * x + 0.1
    return x


def early_return_in_a_loop(x, n):
    for i in range(n):
        if x.sum() > 3:
            return x * x
        x = x * 1.5 + 1
    return x.sum() * x


def one_branch_uses_a_value(x):
    y = x * 3
    if x.sum() > 0:
        z = y * y
    else:
        z = x
    return z


def body_without_gradient(x, n):
    k = paddle.to_tensor(0)
    for i in range(n):
        k = k + i
    return x * k.astype("float32")


def no_grad_region_in_the_body(x, n):
    for i in range(n):
        with paddle.no_grad():
            s = x.sum()
        x = x * s + 1
    return x


def stop_gradient_in_the_body(x, n):
    for i in range(n):
        s = x * 2
        s.stop_gradient = True
        x = x * s * 0.1 + 1
    return x


def detached_carry(x, n):
    h = x
    for i in range(n):
        h = h.detach() * x
    return h


def outer_value_used_in_and_after_the_loop(x, n):
    c = x * x
    h = x
    for i in range(n):
        h = h * c + c
    return h + c


def loop_test_of_a_value_with_gradient(x, n):
    s = x.sum()
    i = paddle.to_tensor(0)
    while s > i and i < n:
        x = x * s * 0.1
        i = i + 1
    return x


def nested_loops_with_break_and_continue(x, n):
    h = x
    for i in range(n):
        for j in range(n):
            if h.sum() > 20:
                break
            h = h * 1.1 + x
        if h.sum() > 30:
            continue
        h = h + x * i
    return h


def list_of_tensors_read_in_a_loop(x, n):
    ws = [x, x * 2, x * 3]
    h = x * 0
    for i in range(n):
        for w in ws:
            h = h * 0.5 + w
    return h


def growing_carry(x, n):
    y = x
    for i in range(n):
        y = paddle.concat([y, y.sum().reshape([1]) * x * 0.1])
    return y


def value_set_at_the_break(x, n):
    best = x
    i = paddle.to_tensor(0)
    while True:
        i = i + 1
        c = x * i.astype("float32")
        if c.sum() > 5:
            best = c
            break
        if i > n:
            break
    return (best, i)


def shape_changes_and_comes_back(x, n):
    h = x
    for i in range(n):
        h = h.reshape([1, -1]).transpose([1, 0]).reshape([-1]) * 2
    return h


def carry_unused_behind_a_loop_that_does_not_run(x):
    c = x * 2
    y = x + c.abs() + 1
    while y.sum() < 18:
        c = c + y
        y = y + c.abs()
    return y


CASES = [
    (carry_unused_behind_a_loop_that_does_not_run, (([1.0, 2.0],), ([100.0, 3.0],))),
    *[(f, ((A, I0), (A, I1), (A, I3))) for f in (
        trip_count_is_data,
    )],
    *[(f, ((A, I0), (A, I3))) for f in (
        early_return_in_a_loop, body_without_gradient, no_grad_region_in_the_body,
        stop_gradient_in_the_body, detached_carry, outer_value_used_in_and_after_the_loop,
        loop_test_of_a_value_with_gradient, nested_loops_with_break_and_continue,
    )],
    *[(f, ((A,), (B,))) for f in (
        one_branch_uses_a_value,
    )],
    *[(f, ((A, I3), (A, I0))) for f in (
        list_of_tensors_read_in_a_loop, growing_carry, value_set_at_the_break, shape_changes_and_comes_back,
    )],
]  # fmt: skip
