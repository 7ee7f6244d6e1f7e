"""What a program raises while it runs, where `with` and `try` of the function see it: eager code takes over."""

import contextlib

import vitrify as paddle

P, N = [1.0, 2.0], [-1.0, -2.0]


class Log:
    def __init__(self):
        self.level = 1

    def __enter__(self):
        return self

    def __exit__(self, kind, error, traceback):
        print("left", kind, self.level)


@contextlib.contextmanager
def swallowing(kind):
    try:
        yield
    except kind as err:
        print("swallowed", err)


@contextlib.contextmanager
def at_level(log, level):
    before, log.level = log.level, level
    try:
        yield log
    finally:
        print("back from", log.level)
        log.level = before


def manager_is_left(x, log):
    print("first")
    with log:
        print("inside", x.sum())
        if x.sum() > 0:
            raise ValueError("large")
        print("small")
    return x * 2


def generator_swallows(x, log):
    y = x
    with swallowing(ValueError):
        if x.sum() > 0:
            raise ValueError("large")
        y = x * 3
    return y


def generator_puts_back(x, log):
    with at_level(log, 5) as same:
        if x.sum() > 0:
            raise ValueError(same.level)
        return x * same.level


def index_is_caught(x, i):
    try:
        return x[i]
    except IndexError:
        print("caught")
        return x.sum()


def every_turn_is_caught(x, i):
    for _ in range(3):
        try:
            x = paddle.gather(x, i)
        except IndexError:
            print("caught")
            x = paddle.concat([x, x * 2])
        finally:
            x = x + 1
    return x


def caught_by_the_caller(x, i):
    def taken():
        return x[i] * 2

    try:
        return taken()
    except IndexError:
        return x * 0.5


CASES = [
    *[
        (fn, [(P, Log()), (N, Log())], {"full_graph": whole})
        for fn in (manager_is_left, generator_swallows, generator_puts_back)
        for whole in (True, False)
    ],
    *[
        (fn, [(P, paddle.to_tensor(i)) for i in (1, 2, 0)], {"full_graph": whole})
        for fn in (index_is_caught, caught_by_the_caller)
        for whole in (True, False)
    ],
    (every_turn_is_caught, [(P, paddle.to_tensor([i])) for i in (1, 2, 0)]),
]
