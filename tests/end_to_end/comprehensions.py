"""Comprehensions, generator expressions and their consumers, over tensors and under tensor conditions."""

# ruff: noqa: C416

import vitrify as paddle

from .functions import M, N, X, Z


def over_rows(x):
    return [row * 2 for row in x], {i: row for i, row in enumerate(x)}


def over_pairs(x):
    return [a * b for a, b in zip(x, x + 1)]


def nested_targets(x):
    return [i * a + b for i, (a, b) in enumerate(zip(x, x * 2))]


def python_filter(x, n):
    return [x * i for i in range(6) if i % n == 0]


def two_loops(x):
    return sum(x[i] * x[j] for i in range(3) for j in range(3) if i != j)


def any_tensor(x):
    if any(v > 2 for v in x):
        return x * 2
    return x


def all_tensor(x):
    if all(v > 0 for v in x):
        return x * 2
    return x


def any_filtered(x):
    return any(v > 1 for v in x if v < 3), all(v > 1 for v in x if v < 3)


def any_nested(x):
    return any(a + b > 4 for a in x for b in x), all(a + b > 1 for a in x for b in x if a > b)


def sum_filtered(x):
    return sum((v * v for v in x if v > 0), paddle.zeros([]))


def sum_start(x):
    return sum((v * 2 for v in x), paddle.ones([]))


def max_of(x):
    return max(v * 2 for v in x), min(v - 1 for v in x)


def element_decided(x):
    return [v * 2 if v > 0 else -v for v in x]


def element_calls(x):
    def relu(v):
        if v > 0:
            return v
        return v * 0.1

    return paddle.stack([relu(v) for v in x])


def under_condition(x):
    if x.sum() > 0:
        ys = [v * 2 for v in x]
    else:
        ys = [v * 3 for v in x]
    return sum(ys)


def in_tensor_loop(x):
    while x.sum() < 20:
        x = x + paddle.stack([v * v + 1 for v in x])
    return x


def set_and_dict(x):
    d = {k: x * k for k in {n % 3 for n in range(5)}}
    return d[0] + d[1] * d[2]


def any_dynamic(x):
    if any(v > 2 for v in x):
        return x * 2
    return x * 3


def all_dynamic(x):
    return all(v > 0 for v in x)


def sum_dynamic(x):
    return sum(v * v for v in x)


def sum_dynamic_filtered(x):
    return sum((v * v for v in x if v > 0), paddle.ones([]))


def sum_range(x):
    return sum((x * i for i in range(x.astype("int32").abs().max())), x)


def any_prints(x):
    def loud(v):
        print("asked", v)
        return v > 1

    return any(loud(v) for v in x)


def generator_kept(x):
    g = (v * 2 for v in x)
    first = next(g)
    return first, list(g), list(g)


def generator_zipped(x):
    return [a + b for a, b in zip((v * 2 for v in x), (v * 3 for v in x))]


def joined(x):
    return ",".join(str(i) for i in range(3)), x


def captured(x):
    fs = [lambda: v for v in x]
    return [f() for f in fs]


def matrix(x):
    return [[v * 2 for v in row] for row in x], sum(v for row in x for v in row if v > 1)


CASES = [
    *[(f, ((X,), (N,), (Z,))) for f in (
        over_rows, over_pairs, nested_targets, two_loops, any_tensor, all_tensor, any_filtered, any_nested,
        sum_filtered, sum_start, max_of, element_decided, element_calls, under_condition, in_tensor_loop,
        set_and_dict, any_dynamic, all_dynamic, sum_dynamic, sum_dynamic_filtered, sum_range, any_prints,
        generator_kept, generator_zipped, joined, captured,
    )],
    (python_filter, ((X, 2), (X, 3))),
    (matrix, ((M,),)),
    *[(f, ((X,), (N,), ([1.0, 2.0, 3.0, 4.0],), ([-1.0],))) for f in (
        any_dynamic, all_dynamic, sum_dynamic, sum_dynamic_filtered, any_filtered, sum_filtered,
    )],
]  # fmt: skip
