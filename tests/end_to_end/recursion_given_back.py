"""Recursive functions that give back what they got: objects, lists and dicts, or such made anew in each call."""

from dataclasses import dataclass

from .functions import N, X

AREA = "recursion"


@dataclass
class Sums:
    total: object
    count: object


def as_it_is(x, sums):
    if x.sum() > 20:
        return sums
    return as_it_is(x.abs() * 2 + 1, sums)


def made_anew(x, sums):
    if x.sum() > 20:
        return sums
    return made_anew(x.abs() * 2 + 1, Sums(sums.total + x, sums.count + 1))


def changed(x, sums):
    sums.total = sums.total + x
    sums.count += 1
    if x.sum() > 20:
        return sums
    return changed(x.abs() * 2 + 1, sums)


def object_as_it_is(x):
    sums = Sums(x * 1, 0)
    found = as_it_is(x, sums)
    found.count += 1
    return sums.count, found.total


def object_made_anew(x):
    found = made_anew(x, Sums(x * 0, 0))
    return found.total, found.count


def object_that_may_be_the_one_given(x):
    sums = Sums(x * 1, 0)
    found = made_anew(x, sums)
    found.total = found.total * 2
    return found is sums, sums.total, found.total


def object_changed(x):
    sums = Sums(x * 1, 0)
    found = changed(x, sums)
    changed(x, sums)
    return found.count, sums.count, sums.total


def key_added(x, held):
    if x.sum() > 20:
        return held
    return key_added(x.abs() * 2 + 1, {"k": held["k"] + x})


def dict_made_anew(x):
    return key_added(x, {"k": x * 1})["k"]


CASES = [
    (f, [(X,), ([20.0, 30.0, 1.0],), (N,)]) for f in (
        object_as_it_is, object_made_anew, object_that_may_be_the_one_given, object_changed, dict_made_anew,
    )
]  # fmt: skip
