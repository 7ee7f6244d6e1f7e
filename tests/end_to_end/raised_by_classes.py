"""`try` around operators, items and attributes whose methods, of the user's classes, raise by what a tensor holds."""

from .functions import N, X


class Bounded:
    """A value that its own methods refuse to give, to take or to change where it is too large or negative."""

    def __init__(self, value):
        self.value = value
        self.note = ""

    def _check(self, value):
        if value.sum() > 5:
            raise ValueError("large")
        return value

    @property
    def doubled(self):
        return self._check(self.value) * 2

    @doubled.setter
    def doubled(self, value):
        if value.sum() < 0:
            raise ValueError("negative")
        self.value = value * 0.5

    def __add__(self, other):
        return Bounded(self._check(self.value) + other)

    def __iadd__(self, other):
        self.value = self._check(self.value) + other
        return self

    def __neg__(self):
        return Bounded(-self._check(self.value))

    def __eq__(self, other):
        return self._check(self.value).shape == other.value.shape

    def __contains__(self, item):
        return self._check(self.value).shape[0] == item

    def __getitem__(self, index):
        return self._check(self.value)[index]

    def __setitem__(self, index, value):
        if value < 0:
            raise KeyError(index)
        self.value = self.value + value

    __hash__ = None


def attribute_read(x):
    try:
        y = Bounded(x).doubled
    except ValueError as err:
        return x * 7, str(err)
    return y, "fine"


def attribute_stored(x):
    kept = Bounded(x)
    try:
        kept.doubled = x * 3
        kept.note = "stored"
    except ValueError:
        kept.note = "left"
    return kept.value, kept.note


def attribute_updated(x):
    kept = Bounded(x)
    try:
        kept.doubled += 1
    except ValueError as err:
        return kept.value, str(err)
    return kept.value, ""


def operators(x):
    kept = Bounded(x)
    steps = []
    try:
        if kept == Bounded(x):
            steps.append("equal")
        if 3 in kept:
            steps.append("of three")
        kept = -(kept + 1)
        steps.append("negated")
    except ValueError:
        steps.append("refused")
    return kept.value, steps


def updated_in_place(x):
    kept = other = Bounded(x)
    try:
        kept += 1
    except ValueError:
        return other.value * 3
    return other.value, kept is other


def items_stored(x):
    kept, plain = Bounded(x), [x, x]
    try:
        plain[0] = x * 2
        kept[0] = x.sum()
        plain[1] = kept[0]
        kept[1] += 1
    except KeyError as err:
        return plain, kept.value, err.args
    except ValueError:
        return plain, kept.value, ()
    return plain, kept.value * 2, ()


def items_of_a_tensor(x):
    y = x * 1
    try:
        y[0] = Bounded(x).doubled[1]
        y[1] += 2
    except ValueError:
        y[2] = 0
    return y


def order_of_evaluation(x):
    order = []

    def seen(name, value):
        order.append(name)
        return value

    try:
        seen("owner", Bounded(x)).doubled = seen("value", x)
        seen("items", [x])[seen("index", 0)] = seen("item", x)
    except ValueError:
        order.append("refused")
    return order


LARGE, SMALL = ([40.0, 2.0, 3.0],), ([0.1, 0.2, 0.1],)
CALLS = [(X,), (N,), SMALL, LARGE]
CASES = [
    (fn, CALLS)
    for fn in (
        attribute_read, attribute_stored, attribute_updated, operators, updated_in_place, items_stored,
        items_of_a_tensor, order_of_evaluation,
    )
]  # fmt: skip
