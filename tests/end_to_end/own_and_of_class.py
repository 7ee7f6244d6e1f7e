"""Attributes that an object holds itself and its class, too: set, deleted, seen through."""

from .differential import Fresh
from .functions import N, X


class Stepper:
    """A number of the class that instances shadow."""

    k = 1

    def __init__(self, k=None):
        if k is not None:
            self.k = k


def set_and_deleted_on_one_path(x, p):
    p.k = p.k + 1
    y = x * p.k
    if x.sum() > 0:
        del p.k
    return y * p.k


def own_deleted(x, p):
    y = x * p.k
    del p.k
    return y * p.k


def own_deleted_on_one_path(x, p):
    if x.sum() > 0:
        del p.k
    return x * p.k


def equal_one_deleted(x, p):
    del p.k
    return x * 2


CASES = [
    (set_and_deleted_on_one_path, ((X, Fresh(Stepper)), (N, Fresh(Stepper)))),
    (own_deleted, tuple((X, Fresh(lambda k=k: Stepper(k))) for k in (4, 5, 6, None))),
    (own_deleted_on_one_path, tuple((v, Fresh(lambda: Stepper(3))) for v in (X, N))),
    (equal_one_deleted, ((X, Fresh(lambda: Stepper(1))),)),
]
