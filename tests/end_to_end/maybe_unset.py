"""Variables that a tensor's decision may leave unset: each way of reading one fails on the path that did not set it."""

from .functions import N, X


def augmented(x):
    if x.sum() > 0:
        y = x * 2
    y += 1
    return x


def method_looked_up(x):
    if x.sum() > 0:
        y = x * 2
    y.mean
    return x


def read_by_closure(x):
    if x.sum() > 0:
        y = x * 2

    def inner(a):
        y.sum
        return a + 1

    return inner(x)


def read_by_closure_made_before(x):
    def inner(a):
        return a + (y if x is None else a)

    def sure(a):
        return (y, a)[1]

    z = inner(x)
    if x.sum() > 0:
        y = x * 2
    return sure(z)


def read_by_lambda(x):
    if x.sum() > 0:
        y = x * 2
    return (lambda a: (y, a)[1])(x)


def read_in_comprehension(x):
    if x.sum() > 0:
        y = x * 2
    return [(y, a)[1] for a in (x, x + 1)]


def captured_and_read(x):
    if x.sum() > 0:
        y = x * 2

    def inner():
        return y

    y.mean
    return x + 1


def own_parameter_of_that_name(x):
    if x.sum() > 0:
        y = x * 2

    def inner(y):
        return y + 1

    return inner(x) if x.sum() <= 0 else y


def never_set_and_read_beside_a_closure(x, flag=False):
    if flag:
        y = x * 2
    if x.sum() > 0:

        def inner():
            return y

        return y + 1
    return x


class Holder:
    """Nothing but attributes."""


def attribute_without_tensors(x):
    held = Holder()
    if x.sum() > 0:
        held.name, held.nothing, held.items = "up", None, []
    if hasattr(held, "items"):
        held.items.append(x)
        return held.items, getattr(held, "name", "down"), held.nothing
    return getattr(held, "name", "down")


def attribute_that_is_read(x):
    held = Holder()
    if x.sum() > 0:
        held.name = "up"
    return held.name


def attribute_set_again(x):
    held = Holder()
    if x.sum() > 0:
        held.name = "up"
    if x.sum() > 3:
        held.name = "high"
    return held


def attribute_with_a_container_of_tensors(x):
    held = Holder()
    if x.sum() > 0:
        held.seen = [x, x * 2]
    return getattr(held, "seen", None), held


def attribute_set_in_a_loop(x):
    held = Holder()
    while x.sum() < 4:
        held.last = "turn"
        x = x + 1
    return hasattr(held, "last"), x


CASES = [
    (function, ((X,), (N,)))
    for function in (
        augmented, method_looked_up, read_by_closure, read_by_closure_made_before, read_by_lambda,
        read_in_comprehension, captured_and_read, own_parameter_of_that_name,
        never_set_and_read_beside_a_closure, attribute_without_tensors, attribute_that_is_read, attribute_set_again,
        attribute_with_a_container_of_tensors, attribute_set_in_a_loop,
    )
]  # fmt: skip
