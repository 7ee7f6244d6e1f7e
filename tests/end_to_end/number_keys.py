"""Dicts asked for a number that a tensor gives, and loop variables that change their rank."""

import vitrify as paddle

P, N, Z = [1.0, 2.0, 3.0], [-1.0, -2.0, 0.5], [0.0, 0.0, 0.0]


def item_by_number(x):
    held = {0: x, 1: x * 2}
    return held[int(x.sum() > 0)]


def item_with_default(x):
    held = {0: x, 1.0: x * 2, "a": x, 6: x * 3}
    return held.get(int(x.sum()), -x), held.get(int(x.max())), held[0]


def item_that_is_missing(x):
    held = {1: x}
    return held[int(x.sum() > 0)]


def function_by_number(x):
    table = {0: lambda v: v * 2, 1: lambda v: v - 1}
    return table[int(x.sum() > 0)](x)


def next_state(x):
    following = {0: 1, 1: 2, 2: 0}
    state = 0
    while x.sum() < 20:
        x = x + state + 1
        state = following[state]
    return x, state


def rank_grows(x):
    y = x
    while y.sum() < 20:
        y = (y + 1).unsqueeze(0) if y.ndim < 3 else y + 1
    return y


def rank_of_the_first_turn(x):
    y = x.sum()
    while y.sum() < 20:
        y = y + x.abs() + 1
    return y, paddle.mean(y)


def item_set_by_number(x):
    parts = {0: x, 1: x * 2, 2: x * 3}
    parts[int(x.argmax())] = x * 10
    return parts[0] + parts[1] - parts[2], parts


def items_added_to(x):
    parts = {}
    for k in range(3):
        parts[k] = x * k
    k = paddle.zeros([], "int64")
    while k < 3:
        parts[int(k)] += x
        k = k + 1
    return parts


def histogram(x):
    counts = {0: 0, 1: 0, "x": x}
    for v in x.flatten():
        counts[int((v > 0).astype("int64"))] += 1
    return counts


def item_of_the_callers(parts, x):
    parts[int(x.sum() > 0)] = x * 2
    return x


CASES = [
    *[(item_of_the_callers, (({0: P, 1: N}, P), ({0: P, 1: N}, N)))],
    *((f, ((P,), (N,), (Z,))) for f in (item_set_by_number, items_added_to, histogram)),
    *(
        (f, ((P,), (N,), (Z,)))
        for f in (
            item_by_number, item_with_default, item_that_is_missing, function_by_number, next_state, rank_grows,
            rank_of_the_first_turn,
        )
    ),
]  # fmt: skip
