"""`:=` in comprehensions and in what any() and all() use up, decided by tensors."""

from functools import reduce

from .functions import M, N, X


def kept_in_a_list(x, c):
    found = [(y := v * 2) for v in x if v > c.sum()]
    return found, y if found else x


def tested(x, c):
    return [y * v for v in x if (y := v * 2) > c.sum()]


def found_by_any(x, c):
    if any((y := v) > c.sum() for v in x):
        return y * 3
    return x


def found_by_all(x, c):
    if not all((y := v * v) > c.sum() for v in x):
        return y + c
    return y


def last_of_a_dict(x, c):
    held = {k: (y := v * k) for k, v in enumerate(x)}
    z = x
    return held, y, sum((z := v) for v in x if v > c.sum()), z


def nested(m, c):
    return [y + row.sum() for row in m for v in row if (y := v * 2) > c.sum()]


def functions_and_generators_inside(x, c):
    found = [y for v in x if (y := v * sum(w * 0.5 for w in x)) > c.sum()]
    y = max(x, key=lambda w: -w)
    above = [y + v for v in x if (y := reduce(lambda a, b: a * 0.5 + b, [v, c.sum()])) > c.sum()]
    within = all((y := v) < sum(v * w for w in x) + c.sum() for v in x)
    return found, above, within, y


def function_that_keeps_the_item(x, c):
    functions = [(y := v, lambda: v)[1] for v in x]
    return [f() for f in functions], y


CASES = [
    *[(f, ((X, [2.5]), (N, [-1.5]), (X, [100.0]))) for f in (
        kept_in_a_list, tested, found_by_any, found_by_all, functions_and_generators_inside,
        function_that_keeps_the_item,
    )],
    (last_of_a_dict, ((X, [2.5]), (N, [-1.5]))),
    (nested, ((M, [2.5]), (M, [-100.0]))),
]  # fmt: skip
