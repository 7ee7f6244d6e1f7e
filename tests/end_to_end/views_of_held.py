"""Tensors that an object holds, changed through a view on one path and by their own name on another."""

import vitrify as paddle

from .differential import Fresh

P, S, N = [3.0, 4.0], [1.0, 2.0], [-1.0, 0.0]


class Holder:
    """An object with a tensor."""

    def __init__(self):
        self.held = paddle.ones([3])


class Both:
    """An object that holds a tensor and a view of it."""

    def __init__(self):
        self.whole = paddle.to_tensor([1.0, 2.0, 3.0])
        self.part = self.whole[1:]


def part_of_the_changed(x, b):
    b.whole.add_(x.sum())
    return b.part * x


def whole_of_the_changed(x, b):
    if x.sum() > 0:
        b.part.scale_(2.0)
    return b.whole * x.sum()


def part_stored_then_changed(x, b):
    b.part = b.part * 2
    b.whole.scale_(2.0)
    return b.part + x


def changed_or_reshaped(x, b):
    s = x.sum()
    if s < 0:
        b.held.squeeze_()
    else:
        v = b.held[0]
        v.add_(s)


def changed_or_stored(x, b):
    s = x.sum()
    if s < 0:
        b.held = b.held * 1
    else:
        v = b.held[0]
        v.add_(s)


def view_or_base(x, b):
    v = b.held[0]
    for i in range(3):
        if x.sum() > i * 3:
            v.add_(x.sum())
        else:
            b.held.scale_(2.0)
    return b.held + v


def view_in_a_loop_and_stored(x, b):
    v = b.held[0]
    n = 0
    while n < x.sum():
        v.add_(x.sum())
        n = n + 1
        if n > 1:
            b.held = b.held * 2
    return v


def stored_then_the_view(x, b):
    i = 0
    v = b.held[0]
    while i < x.sum():
        if i > 1:
            b.held = b.held + 1
        v.add_(x.sum())
        i = i + 1
        b.held.scale_(2.0)
    v.add_(paddle.ones([]))
    return v, b.held * 1


def stored_or_the_first_changed(x, b):
    first = b.held
    for i in range(4):
        if x.sum() > i:
            b.held = b.held + 1
        else:
            first.add_(paddle.ones([]))
        b.held.scale_(2.0)
    return first


def list_of_held_and_view(x, b):
    parts = [b.held, b.held[1]]
    i = 0
    while i < x.sum():
        parts[1].add_(x.sum())
        i = i + 1
        parts[0].add_(parts[1])
    return parts[0] * parts[1]


def called_or_view(x, b):
    def store():
        b.held[0] = x.sum()

    v = b.held[:2]
    if x.sum() > 2:
        store()
    else:
        v.scale_(2.0)
    return v * 1


def argument_changed_by_a_test(x):
    x = x * 1
    while x.add_(paddle.ones([1])).sum() < 10:
        pass
    return x * 2


def held_changed_by_a_test(x, b):
    while b.held[0].add_(paddle.ones([])) < x.sum():
        pass
    return b.held * x.sum()


CASES = [
    *[(f, ((P, Holder()), (S, Holder()), (N, Holder()))) for f in (
        changed_or_reshaped, changed_or_stored, view_or_base, view_in_a_loop_and_stored, stored_then_the_view,
        stored_or_the_first_changed, list_of_held_and_view, called_or_view, held_changed_by_a_test,
    )],
    *[(f, tuple((values, Fresh(Both)) for values in (P, S, N))) for f in (
        part_of_the_changed, whole_of_the_changed, part_stored_then_changed,
    )],
    (argument_changed_by_a_test, ((P,), (S,), (N,))),
]  # fmt: skip
