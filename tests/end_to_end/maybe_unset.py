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


CASES = [
    (function, ((X,), (N,)))
    for function in (
        augmented, method_looked_up, read_by_closure, read_by_closure_made_before, read_by_lambda,
        read_in_comprehension, captured_and_read, own_parameter_of_that_name,
        never_set_and_read_beside_a_closure,
    )
]  # fmt: skip
