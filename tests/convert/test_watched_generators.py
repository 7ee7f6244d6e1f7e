"""Generators that yield inside of `try` and `with`, where a tensor decides what they yield."""

import numpy as np
import pytest

import vitrify as paddle
from vitrify.core.errors import UnsupportedError

from ..end_to_end.differential import compare


def up_to_negative(x, log):
    try:
        for v in x:
            if v < 0:
                return
            yield v
    finally:
        log.append("left")


def each_noted(x, log):
    for v in x:
        try:
            yield v
        finally:
            log.append("large" if v > 1 else "small")


def or_its_negative(x):
    for v in x:
        try:
            if v < 0:
                raise ValueError("negative")
            yield v
        except ValueError:
            yield -v


def without_gradient(x):
    with paddle.no_grad():
        for v in x:
            if v > 0:
                yield v * 2


def numbers(n, log):
    try:
        while n:
            n -= 1
            yield n
    finally:
        log.append("left")


def in_a_loop(x):
    log, total = [], 0
    for v in up_to_negative(x, log):
        total = total + v
    return total, log


def in_a_list(x):
    log = []
    return list(up_to_negative(x, log)), log


def summed(x):
    log = []
    return sum(up_to_negative(x, log)), log


def noted(x):
    log = []
    return [v * 2 for v in each_noted(x, log)], log


def handled_inside(x):
    return list(or_its_negative(x))


def raising_consumer(x):
    total = x.sum() * 0
    for v in or_its_negative(x):
        total = total + v
        if v > 2:
            raise ValueError("of the consumer")
    return total


def in_a_mode(x):
    total = 0
    for v in without_gradient(x):
        total = total + v * x
    return total * x


def left_by_a_break(x):
    log, made = [], numbers(3, [])
    for i in numbers(3, log):
        if i == 1:
            break
        log.append(i)
    for i in made:  # what is left here ends with the function
        x = x + i
        break
    return x, log


@pytest.mark.parametrize(
    "f",
    [in_a_loop, in_a_list, summed, noted, handled_inside, raising_consumer, in_a_mode, left_by_a_break],
)
def test_they_give_their_items(f):
    given = [(np.array(values, "float32"),) for values in ([1.0, 2.0, 3.0], [0.5, -4.0, 2.0], [-1.0, -2.0, 1.0])]
    compare(f, *given, full_graph=True)


def running_sum():
    total = 0.0
    while True:
        value = yield total
        if value is None:
            return
        total = total + value


def test_a_value_sent_on_one_path_is_refused_and_stays_python_in_a_segment():
    """The generator of the trace would go on whether that path is taken or not."""

    def f(x):
        sums = running_sum()
        next(sums)
        found = x[0]
        if x[1] > 0:
            found = sums.send(x[1])
        if x[2] > 0:
            found = found + sums.send(x[2])
        return found

    given = [(np.array(values, "float32"),) for values in ([1.0, 2.0, 3.0], [0.5, -4.0, 2.0], [-1.0, -2.0, -1.0])]
    compare(f, *given, full_graph=False)
    with pytest.raises(UnsupportedError, match="whether the next item of a generator is taken here"):
        paddle.jit.to_static(f, full_graph=True)(paddle.to_tensor([1.0, 2.0, 3.0]))


@pytest.mark.parametrize("end", ["close", "throw"])
def test_a_generator_ended_on_one_path_is_refused(end):
    def f(x):
        log = []
        items = numbers(3, log)
        next(items)
        if x.sum() > 0:
            items.close() if end == "close" else items.throw(ValueError("enough"))
        return x, log

    with pytest.raises(UnsupportedError, match="whether the next item of a generator is taken here"):
        paddle.jit.to_static(f, full_graph=True)(paddle.to_tensor([1.0, 2.0, 3.0]))


def _catching(x, log):
    try:
        while True:
            try:
                yield x
            except ValueError as err:
                log.append(err.args)
                yield x * 2
    finally:
        log.append("closed")


def thrown_into(x):
    log = []
    waiting = _catching(x, log)
    results = [next(waiting), waiting.throw(ValueError("a")), next(waiting)]
    if x.sum() > 0:
        results[0] = -x
    waiting.close()
    return results, log


def thrown_through(x):
    log = []
    waiting = _catching(x, log)
    first = next(waiting)
    try:
        waiting.throw(KeyError)
    except KeyError as err:
        return first, err.args, log


@pytest.mark.parametrize("fn", [thrown_into, thrown_through])
def test_an_exception_thrown_into_a_generator_is_caught_where_python_catches_it(fn):
    compare(fn, ([1.0, -2.0, 3.0],), ([-1.0],))
