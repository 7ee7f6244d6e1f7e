"""Corpus: generator functions, whose parts that contain no yield are converted."""

from __future__ import annotations

from tests.transformers.corpus import Corpus

CORPUS = Corpus()


def evens(xs):
    for x in xs:
        if x % 2:
            continue
        if x > 100:
            break
        if x < 0:
            y = -x
        else:
            y = x
        yield y
    else:
        yield "all"


@CORPUS.case(([1, 2, 3, 4],), ([2, 102, 4],), ([-2],))
def consumed(xs):
    return list(evens(xs)), [x for x in evens(xs)], tuple(evens(xs)), {*evens(xs)}  # noqa: C416


@CORPUS.case(([1, 2, 3, 4],), ([],))
def step_by_step(xs):
    found = evens(xs)
    first = next(found, None)
    a, *rest = [first, *found]
    return a, rest, next(found, "over")


def guarded(x):
    if x is None:
        return
    total = 0
    for i in range(3):
        if i == x:
            total += 10
        total += i
    yield total
    while True:
        x -= 1
        if x < 0:
            return "done"
        yield x


@CORPUS.case(2, 0, None)
def guards_and_values(x):
    def outer():
        value = yield from guarded(x)
        yield "value", value

    return list(outer())


@CORPUS.case(([1, 2, 3],))
def sent(xs):
    def averager():
        total = count = 0
        mean = None
        while True:
            x = yield mean
            if x is None:
                break
            total += x
            count += 1
            mean = total / count
        return mean

    running = averager()
    next(running)
    out = [running.send(x) for x in xs]
    try:
        running.send(None)
    except StopIteration as stop:
        out.append(("stopped", stop.value))
    return out


@CORPUS.case((True,), (False,))
def cleaned_up(fail):
    log = []

    def work():
        try:
            if fail:
                log.append("before")
            yield 1
            yield 2
        except ValueError as err:
            log.append(str(err))
            yield 3
        finally:
            log.append("finally")

    running = work()
    log.append(next(running))
    if fail:
        log.append(running.throw(ValueError("thrown")))
    running.close()
    return log


class Tree:
    def __init__(self, value, *children):
        self.value = value
        self.children = children

    def __iter__(self):
        yield self.value
        for child in self.children:
            yield from child

    def leaves(self, depth=0):
        if not self.children:
            yield depth, self.value
        for child in self.children:
            yield from child.leaves(depth + 1)


@CORPUS.case(1)
def methods(x):
    tree = Tree(x, Tree(2, Tree(3)), Tree(4))
    return list(tree), list(tree.leaves()), sum(value for _, value in tree.leaves()), 3 in tree


@CORPUS.case((3,), (0,))
def in_expressions(n):
    def gen():
        y = (yield 1) or n
        z = [y, (yield 2)] if n else (yield 3)
        assert n >= 0, n
        yield y and z, 0 <= n < 2

    return list(gen())


@CORPUS.case(([3, 1],))
def zipped(xs):
    out = []
    for i, (a, b) in enumerate(zip(evens([2, 4, 6]), xs), 1):
        if a > b:
            out.append(i)
        else:
            out.append((a, b))
    return out


@CORPUS.case(5)
def unset_in_generator(x):
    def gen():
        if x > 9:
            y = 1
        yield y

    return list(gen())


@CORPUS.case(3)
def nonlocal_in_generator(n):
    calls = 0

    def gen():
        nonlocal calls
        for i in range(n):
            calls += 1
            if i > 0:
                calls += 10
            yield calls

    return list(gen()), calls


@CORPUS.case([1, [2, [3, []]]], [])
def recursive(xs):
    def flat(x):
        match x:
            case [first, *rest]:
                yield from flat(first)
                yield from flat(rest)
            case []:
                return
            case _:
                yield x

    return list(flat(xs))


@CORPUS.case((["a 1", "b 2", "", "c 3"],))
def walrus_loop(lines):
    source = iter(lines)

    def gen():
        while line := next(source):
            yield line.split()

    return list(gen())
