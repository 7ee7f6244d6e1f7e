"""Recursive functions that end in an exception alone, decided by a tensor."""

from .functions import N, X

AREA = "recursion"


def counts_down(x):
    if x.sum() < 0:
        raise ValueError(f"below zero: {x.sum()}")
    return counts_down(x - 1) * 2 + 1


def what_follows_is_not_reached(x):
    y = counts_down(x)
    print("not reached")
    return y * 2


def on_one_path(x):
    if x.sum() > 5:
        return x * 2
    return counts_down(x)


def asserts(x):
    assert x.sum() > 0, "too low"
    return asserts(x - 1)


def counted(x, depth=0):
    if x.sum() < 0:
        raise ValueError("ended", depth)
    return counted(x - 1, depth + 1)


def raises_behind_itself(x):
    if x.sum() > 100:
        raise ValueError("ended")
    raises_behind_itself(x.abs() * 2 + 1)
    raise KeyError("not reached")


def prints(x):
    print(x.sum())
    if x.sum() < 0:
        raise KeyError("ended")
    prints(x - 1)


def notes(x, seen):
    seen.append(1)
    if x.sum() < 0:
        raise ValueError("ended")
    return notes(x - 1, seen)


def takes_notes(x):
    return notes(x, [])


def in_a_loop(x):
    total = x
    for i in range(3):
        if x.sum() > i + 1:
            total = counts_down(total)
    return total


def raises_another(x):
    try:
        return counts_down(x)
    except RuntimeError:
        return x * 3


def bounded_by_a_number(x, n):
    assert x.sum() > -100
    if n == 0:
        return x
    return bounded_by_a_number(x * 1.01, n - 1)


def bounded(x):
    return bounded_by_a_number(x, 120) * bounded_by_a_number(x, 3)


def by_the_other_path(x):
    if x.sum() > 0:
        y = by_the_other_path(x - 1)
    else:
        raise ValueError("ended")
    return y * 2


CASES = [
    (f, [(X,), (X * 9,), (N,)]) for f in (
        what_follows_is_not_reached, on_one_path, asserts, counted, raises_behind_itself, prints, takes_notes,
        in_a_loop, raises_another, bounded, by_the_other_path,
    )
]  # fmt: skip
