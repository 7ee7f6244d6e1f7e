"""Operators and items of the user's own classes whose methods ask tensors."""

from collections import defaultdict

from .functions import N, X


class Clipped:
    """A value that its operators keep below a limit."""

    def __init__(self, value):
        self.value = value

    def __add__(self, other):
        total = self.value + (other.value if isinstance(other, Clipped) else other)
        if total.sum() > 10:
            total = total * 0.5
        return Clipped(total)

    def __radd__(self, other):
        return self + other

    def __rsub__(self, other):
        return Clipped(other - self.value if self.value.sum() > 0 else other + self.value)

    def __neg__(self):
        value = self.value
        if value.sum() > 0:
            value = -value
        return Clipped(value)

    def __eq__(self, other):
        if self.value.sum() > 0:
            return (self.value == other.value).all()
        return False

    def __lt__(self, other):
        if self.value.sum() > 0:
            return (self.value < other.value).all()
        return True

    def __getitem__(self, index):
        if self.value.sum() > 0:
            return self.value[index]
        return self.value[index] * 2

    def __mul__(self, other):
        return NotImplemented

    __hash__ = None


class Table(dict):
    def __missing__(self, key):
        return len(key)


def added(x):
    return (Clipped(x) + Clipped(x)).value + (x + Clipped(x * 2)).value + (Clipped(x) + 1.0).value


def swapped(x):
    return (1.0 - Clipped(x)).value


def negated(x):
    return (-Clipped(x)).value


def in_place(x):
    total = Clipped(x)
    for _ in range(3):
        total += x * x
    return total.value


def compared(x):
    a, b = Clipped(x), Clipped(x * 2)
    y = x * 2 if a == b else x
    z = y + 1 if a < b else y - 1
    return z * 2 if a > b else z


def items(x):
    held = Clipped(x)
    return held[0] + held[1:].sum() + held[-1]


def summed(x):
    a, b = Clipped(x), Clipped(x * 2)
    if a == b:
        b = b + 1
    return sum([a, b]).value, sum([a, b], a).value, sum([x, 1, b]).value, sum([0.1] * 10, 0)


def refused_operand(x):
    return Clipped(x) * 2


def missing_key(x):
    table = Table(a=2)
    return x * table["a"] + table["long"]


def default_made_by_reading(x, d):
    first = d["q"]
    return x + len(d) + first


def counted_by_default(x):
    counts = defaultdict(int)
    for name in ("a", "b", "a"):
        counts[name] += 1
    return x * counts["a"] + len(counts), counts["c"], len(counts)


BOTH = (added, swapped, negated, in_place, compared, summed, items, missing_key, counted_by_default)
CASES = [
    *[(f, [(X,), (N,)]) for f in BOTH],
    (refused_operand, [(X,)]),
    (default_made_by_reading, [(X, defaultdict(float)), (X, defaultdict(float, q=2.0))]),
]
