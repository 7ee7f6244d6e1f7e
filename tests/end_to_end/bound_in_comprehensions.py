"""`:=` in comprehensions and in what any() and all() use up, decided by tensors."""

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


CASES = [
    *[(f, ((X, [2.5]), (N, [-1.5]), (X, [100.0]))) for f in (kept_in_a_list, tested, found_by_any, found_by_all)],
    (last_of_a_dict, ((X, [2.5]), (N, [-1.5]))),
    (nested, ((M, [2.5]), (M, [-100.0]))),
]
