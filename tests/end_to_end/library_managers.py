"""Context managers of the standard library that call what they were given: at every call, in order, once."""

import contextlib

from .differential import Fresh
from .functions import N, X


class Resource:
    """Something that is closed."""

    def __init__(self):
        self.count = 0

    def close(self):
        self.count += 1
        print("close", self.count)

    def __enter__(self):
        self.count += 10
        return self

    def __exit__(self, *error):
        self.count += 100


class Decorator(contextlib.ContextDecorator):
    """A manager of the user's that decorates functions."""

    def __init__(self, resource):
        self.resource = resource

    def __enter__(self):
        self.resource.count += 1
        return self

    def __exit__(self, *error):
        self.resource.count += 10


@contextlib.contextmanager
def counted(resource):
    resource.count += 1
    print("in", resource.count)
    try:
        yield resource.count
    finally:
        resource.count += 10


def closing(x, r):
    with contextlib.closing(r) as same:
        y = x * 2 + same.count
    return y


def closing_and_raising(x, r):
    with contextlib.closing(r):
        y = x * 2
        if x.sum() > 0:
            raise ValueError("positive")
    return y


def stack_of_callbacks(x, r):
    with contextlib.ExitStack() as stack:
        stack.callback(r.close)
        y = x * 2
    return y


def stack_of_managers(x, r):
    with contextlib.ExitStack() as stack:
        stack.enter_context(contextlib.closing(r))
        stack.push(lambda *error: print("left"))
        y = x * stack.enter_context(r).count
    return y


def several(x, r):
    with Decorator(r), contextlib.closing(r):
        y = x + 1
    return y


def decorated(x, r):
    @Decorator(r)
    def double(y):
        return y * 2

    return double(x) + double(x)


def decorated_by_a_generator(x, r):
    @counted(r)
    def double(y):
        return y * 2 if y.sum() > 0 else y

    return double(x)


def closed_in_a_branch(x, r):
    if x.sum() > 0:
        with contextlib.closing(r):
            x = x * 2
    return x


CASES = [
    (f, tuple((values, Fresh(Resource)) for values in (X, N)))
    for f in (
        closing, closing_and_raising, stack_of_callbacks, stack_of_managers, several, decorated,
        decorated_by_a_generator, closed_in_a_branch,
    )
]  # fmt: skip
