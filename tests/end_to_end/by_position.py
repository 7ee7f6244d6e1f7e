"""Items of Python's sequences at a position that a tensor says."""

from collections import deque, namedtuple

import numpy as np

import vitrify as paddle
from vitrify import nn

from .functions import N, X


def filled(value):
    return nn.initializer.Constant(value)


LAYERS = nn.LayerList([nn.Linear(3, 3, weight_attr=filled(k + 1.0)) for k in range(3)])
WEIGHTS = nn.ParameterList([paddle.create_parameter([3], "float32", default_initializer=filled(2.0)) for _ in range(3)])
Pair = namedtuple("Pair", "a b")


def of_a_tuple(x, i):
    return (x, x * 2, x + 1)[i]


def of_a_display(x, i):
    return [x, x * 2, x + 1][i]


def of_a_slice_of_a_display(x, i):
    rows = [x, x * 2, x + 1, x - 1][:3]
    rows[i] = x * 5
    return rows, rows[i]


def of_an_argument_of_a_function(x, i):
    def pick(rows, j):
        return rows[j] if len(rows) > 1 else rows

    return pick([x, x * 2, x.exp()], i)


def of_a_merge_sort(x, i):
    def split(rows):
        if len(rows) <= 1:
            return rows
        left, right = split(rows[: len(rows) // 2]), split(rows[len(rows) // 2 :])
        merged = []
        a = b = 0
        while a < len(left) and b < len(right):
            if left[a] <= right[b]:
                merged.append(left[a])
                a += 1
            else:
                merged.append(right[b])
                b += 1
        return merged + left[a:] + right[b:]

    return split([x[2], x[0], x[1]]), i


def slices(x, i):
    pair = (x, x * 2, x + 1)
    return pair[i:], pair[:i], [x, x * 2, x + 1][i:]


def functions(x, i):
    known = [lambda v: v, lambda v: v * 2, paddle.tanh]
    return known[int(i)](x), (paddle.sin, paddle.cos, abs)[i](x)


def layers(x, i):
    return LAYERS[int(i)](x) * WEIGHTS[int(i)]


def layers_in_a_loop(x, i):
    k = i
    while k >= 0:
        x = paddle.tanh(LAYERS[k](x))
        k = k - 1
    return x


def texts_and_numbers(x, i):
    names = ("up", "down", "on")
    return names[int(i)], "abc"[int(i)], [1, 2, 3][i] * x, x * (1.5, 2.5, 0.5)[i], range(5, 9)[i] * x


def a_key_of_a_dict(x, i):
    return {"a": x, "b": x * 2, "c": x + 1}["abc"[int(i)]]


def rows_that_grow(x, i):
    rows = [[], [], [x]]
    rows[i].append(x)
    if x.sum() > 0:
        rows[0].append(x * 2)
    return rows, [len(row) for row in rows]


def rows_of_a_loop(x, i):
    rows = [[] for _ in range(2)]
    for v in x:
        rows[0 if v > 0 else 1].append(v)
    return rows, i


def rows_told_by_a_tensor(x, i):
    rows = [[], []]
    for v in x:
        rows[(v > 0).astype("int64")].append(v)
    return rows, i


def dicts(x, i):
    rows = [{"a": x}, {"a": x * 2}, {"a": x}]
    rows[i]["a"] = x * 7
    return rows


def pairs(x, i):
    value, factor = ((x, 1), (x * 2, 2), (x, 3))[i]
    return value * factor, Pair(x, x * 2)[(i > 1).astype("int64")]


def sizes_that_differ(x, i):
    return [x, x.sum(), x.reshape([3, 1])][i] * 2


def by_a_condition(x, i):
    return (x * 2, x * 3)[x.sum() > 0], i


def from_the_end(x, i):
    return [lambda: x, lambda: x * 2, lambda: x * 3][-1 - i]()


def of_a_deque(x, i):
    queue = deque([x, x * 2, x + 1])
    queue[i] = x * 9
    return queue[i], list(queue)


def out_of_range(x, i):
    return (x, x.exp())[i]


def out_of_range_caught(x, i):
    try:
        return (1, 2)[i]
    except IndexError as err:
        return type(err).__name__


def stored_out_of_range(x, i):
    rows = [[x], [x]]
    rows[i] = [x * 2]
    return rows


POSITIONS = tuple((x, np.array(i)) for x, i in ((X, 0), (X, 1), (N, 2)))
CASES = [(f, POSITIONS) for f in (
    of_a_tuple, of_a_display, of_a_slice_of_a_display, of_an_argument_of_a_function, of_a_merge_sort, slices,
    functions, layers, layers_in_a_loop, texts_and_numbers, a_key_of_a_dict, rows_that_grow, rows_of_a_loop,
    rows_told_by_a_tensor, dicts, pairs, sizes_that_differ, by_a_condition, from_the_end, of_a_deque, out_of_range,
    out_of_range_caught, stored_out_of_range,
)]  # fmt: skip
