"""What Python asks about a variable whose class, dtype or rank a tensor decides: answered for the path taken."""

import numpy as np

import vitrify as paddle

from .functions import N, X

WHOLE = np.array([1, 2, 3])


def dtype_asked_in_a_loop_that_changes_it(x):
    while x.sum() < 20:
        x = x * 3 if x.dtype == paddle.float32 else x + 0.5
    return x


def stop_gradient_asked_in_a_loop(x):
    y = paddle.ones([3])
    while y.sum() < 30:
        y = y + x * x if y.stop_gradient else y * 2
    return y


def rank_asked_in_a_loop_that_changes_it(x):
    y = x.sum()
    while y.sum() < 30:
        if y.ndim == 0:
            y = (y + 3).reshape([1])
        else:
            y = y * 2
    return y


def number_or_tensor(x):
    m = 1
    if x.sum() > 0:
        m = x.sum()
    return x * 2 if isinstance(m, int) else x * 3


def computed_of_number_or_tensor(x):
    m = n = 0
    for v in x:
        if v > 0:
            m = m + v
            n += 1
    return m / max(n, 1), m / 2, m**2, -m // 2, m * n, sum([v for v in x if v > 0])


def number_or_tensor_in_a_loop(x):
    total = 0.0
    while x.sum() < 12:
        if isinstance(total, float):
            x = x + 10
        total = total + x.sum()
        x = x + 1
    return x * isinstance(total, float), total


def one_of_two_numbers(x):
    m = 1
    if x.sum() > 0:
        m = 2.0
    print(m, f"{m}")
    return x * 2 if isinstance(m, int) else x * 3


def three_classes(x):
    m = 1
    if x.sum() > 0:
        m = 2.5
        if x.sum() > 7:
            m = x.mean()
    print(m)
    return m, isinstance(m, (int, float)), isinstance(m, paddle.Tensor), isinstance(m, float)


def attributes_of_number_or_tensor(x):
    m = 1.0
    if x.sum() > 0:
        m = x
    return x * 2 if hasattr(m, "shape") else x * 3


def attribute_missing_on_one_path(x):
    m = 1
    if x.sum() > 0:
        m = x.sum()
    return m.shape


def class_pattern(x):
    m = 1
    if x.sum() > 0:
        m = x.sum()
    match m:
        case int():
            return x * 2
        case _:
            return x * 3


def text_of_a_total_of_no_items(x):
    total = 0.0
    while x.sum() > 10:
        total = total + x.sum()
        x = x - 1
    print("total", total)
    return x


CASES = [
    (dtype_asked_in_a_loop_that_changes_it, [(X,), (WHOLE,)]),
    (stop_gradient_asked_in_a_loop, [(X,)]),
    (rank_asked_in_a_loop_that_changes_it, [(X,)]),
    *[
        (function, [(X,), (N,), ([3.0, 4.0, 5.0],)])
        for function in (
            number_or_tensor, computed_of_number_or_tensor, number_or_tensor_in_a_loop,
            one_of_two_numbers, three_classes,
            attributes_of_number_or_tensor, attribute_missing_on_one_path, class_pattern, text_of_a_total_of_no_items,
        )
    ],
]  # fmt: skip
