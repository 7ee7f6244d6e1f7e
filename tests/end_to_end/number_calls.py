"""Builtins and module math of Python numbers: what takes no Tensor in eager code raises, numbers are computed with."""

import math

import vitrify as paddle

A, B, C = [1.0, 2.0], [-1.0, -2.0], [2.5, -1.25]
ALL = ((A,), (B,), (C,))


def rounded(x):
    return round(float(x[0])), round(int(x[0])), round(int(x[0] * 10), -1), round(number=float(x[0]), ndigits=1)


def rounded_by_number(x):
    return round(float(x[0]), int(x[1] * 0 + 1))


def rounded_tensor(x):
    return round(x.sum())


def rounded_count(x):
    return round((x > 0).sum())


def rounded_tensor_in_branch(x):
    if x.sum() < 0:
        return round(x.sum(), 1)
    return x


def rounded_tensor_caught(x):
    try:
        return round(x.sum())
    except TypeError:
        return x * 2


def divided(x):
    return divmod(float(x[0]), 2), divmod(7, int(x[0]))


def divided_tensor(x):
    return divmod(x, 2)


def divides_tensor(x):
    return divmod(7, (x > 0).sum())


def power_modulo(x):
    return pow(int(x[0] * 2), 2, 5), pow(int(x[0] * 2), 3, -5), pow(7, int(x[0] * x[0] * 60), 1000)


def power_modulo_number(x):
    return pow(7, 3, int(x[0]))


def power_modulo_of_float(x):
    return pow(float(x[0]), 2, 5)


def power_modulo_of_tensor(x):
    return pow(x.sum(), 2, 3)


def truncated(x):
    return math.trunc(float(x[0])), math.trunc(int(x[0])), math.trunc(True)


def truncated_tensor(x):
    return math.trunc(x.sum())


def length_of_three(x):
    return math.hypot(x[0], x[1], 1.0), math.hypot(1.0, 2.0, x[0]), math.hypot(x[0])


def given_to_operations(x):
    return paddle.tanh(2.5), paddle.exp(2), paddle.sin(True), paddle.abs(-1), paddle.tanh(0.5) * x


CASES = [
    (rounded, ALL),
    (rounded_by_number, ALL),
    (rounded_tensor, ALL),
    (rounded_count, ALL),
    (rounded_tensor_in_branch, ALL),
    (rounded_tensor_caught, ALL),
    (divided, ALL),
    (divided_tensor, ALL),
    (divides_tensor, ALL),
    (power_modulo, ALL),
    (power_modulo_number, ((A,), ([0.0, 1.0],))),
    (power_modulo_of_float, ALL),
    (power_modulo_of_tensor, ALL),
    (truncated, ALL),
    (truncated_tensor, ALL),
    (length_of_three, ALL),
    (given_to_operations, ALL),
]
